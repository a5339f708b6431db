//! Searches that several threads share: one sequence, whatever the threads and the instruction set.

use jostle_pairs::SERIAL_BELOW;
use jostle_testkit::algebra::Relation;

use super::bench::Bench;
use super::matrix::case;
use super::scenes::{WAYS, large, spaces};

fn one_sequence<const D: usize>() {
    let (mut bench, raw) = (Bench::<D>::new(), large::<D>());
    assert!(raw.bodies.len() >= SERIAL_BELOW);
    for (at, way) in WAYS.iter().enumerate() {
        let other = &WAYS[(at + 5) % WAYS.len()];
        // For each way, as many spaces as there is time for.
        let places = spaces(&raw);
        let (place, space, raw) = &places[(at + D) % 5];
        let name = format!("{D}D, {}, {place}", way.name);
        bench.check_sequence(&name, &case(raw, &[way], Relation::Within, *space));
        let (place, space, raw) = &places[(at + D + 2) % 5];
        let name = format!("{D}D, {} against {}, {place}", way.name, other.name);
        bench.check_sequence(&name, &case(raw, &[way, other], Relation::Between, *space));
    }
}

#[test]
fn one_sequence_in_2d() {
    one_sequence::<2>();
}

#[test]
fn one_sequence_in_3d() {
    one_sequence::<3>();
}

//! Searches that several threads share: one sequence, whatever the threads and the instruction set.

use jostle_pairs::SERIAL_BELOW;
use jostle_testkit::algebra::Relation;

use crate::bench::Bench;
use crate::matrix::case;
use crate::scenes::{WAYS, large, spaces};

fn one_sequence<const D: usize>() {
    let (mut bench, raw) = (Bench::<D>::new(), large::<D>());
    assert!(raw.bodies.len() >= SERIAL_BELOW);
    for (at, way) in WAYS.iter().enumerate() {
        let other = &WAYS[(at + 5) % WAYS.len()];
        // Of each way, as many spaces as there is time for.
        for (place, space, raw) in spaces(&raw).into_iter().take(5).skip(at % 2).step_by(2) {
            let name = |ways: &str| format!("{D}D, {ways}, {place}");
            bench.check_sequence(&name(way.name), &case(&raw, &[way], Relation::Within, space));
            let two = name(&format!("{} against {}", way.name, other.name));
            bench.check_sequence(&two, &case(&raw, &[way, other], Relation::Between, space));
        }
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

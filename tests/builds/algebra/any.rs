//! Any bodies: in any box and lattice, at any scale, moving in any way.

use std::sync::{LazyLock, Mutex, PoisonError};

use jostle_testkit::algebra::{Case, PlainMoves, PlainSet, PlainSpace};
use proptest::prelude::*;

use super::bench::Bench;

static PLANE: LazyLock<Mutex<Bench<2>>> = LazyLock::new(|| Mutex::new(Bench::new()));
static SPACE: LazyLock<Mutex<Bench<3>>> = LazyLock::new(|| Mutex::new(Bench::new()));

fn check<const D: usize>(bench: &Mutex<Bench<D>>, set: PlainSet<D>, space: PlainSpace<D>) {
    let case = Case::within(set, space);
    bench.lock().unwrap_or_else(PoisonError::into_inner).check("any", &case);
}

fn snapped(snap: bool, values: impl Iterator<Item = f64>) -> Vec<f64> {
    values.map(|x| if snap { x.round() } else { x }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn bodies_in_any_cell(
        bodies in prop::collection::vec((-40.0_f64..40.0, -40.0_f64..40.0, 0.0_f64..1.2), 0..40),
        (lo, width, slant) in (-20.0_f64..20.0, 2.0_f64..30.0, -20.0_f64..20.0),
        which in 1_usize..4,
        snap in any::<bool>(),
        single in any::<bool>(),
    ) {
        let centers = [0, 1].map(|axis| snapped(snap, bodies.iter().map(|body| [body.0, body.1][axis])));
        let radii = bodies.iter().map(|body| if snap { 0.5 } else { body.2 }).collect();
        let [lo, width, slant] = [lo, width, slant].map(|x| if snap { x.round() } else { x });
        let set = PlainSet::doubles(centers, radii);
        let set = || if single { set.clone().narrowed() } else { set.clone() };
        let repeats = [0, 1].map(|axis| which >> axis & 1 == 1);
        check(&PLANE, set(), PlainSpace::Periodic(repeats.map(|repeats| repeats.then_some([lo, lo + width]))));
        let vectors = [[width, 0.0], [slant, width]];
        check(&PLANE, set(), PlainSpace::Lattice { origin: [lo; 2], vectors, periodic: repeats });
    }

    #[test]
    fn bodies_at_any_scale(
        bodies in prop::collection::vec((-1.0_f64..1.0, -1.0_f64..1.0, -1.0_f64..1.0, 0.0_f64..0.3), 0..50),
        origin in prop_oneof![Just(0.0), -1e9_f64..1e9, -1e20_f64..1e20],
        scale in prop_oneof![Just(1.0), 1e-6_f64..1e6, 1e-30_f64..1e30],
        margin in prop_oneof![Just(0.0), 0.0_f64..0.1],
    ) {
        let column = |of: fn(&(f64, f64, f64, f64)) -> f64| -> Vec<f64> {
            bodies.iter().map(|body| origin + of(body) * scale).collect()
        };
        let radii = bodies.iter().map(|body| body.3 * scale).collect();
        let set = PlainSet::doubles([column(|b| b.0), column(|b| b.1), column(|b| b.2)], radii);
        check(&SPACE, set.with_margin(margin * scale), PlainSpace::Open);
    }

    #[test]
    fn bodies_that_touch_up_to_an_ulp(
        places in prop::collection::vec((0_i32..6, 0_i32..6, -2_i64..3), 2..40),
        origin in -1e12_f64..1e12,
        periodic in any::<bool>(),
    ) {
        let nudged = |x: f64, ulps: i64| f64::from_bits((x.to_bits() as i64 + ulps) as u64);
        let x: Vec<f64> = places.iter().map(|p| nudged(origin + f64::from(p.0), p.2)).collect();
        let y: Vec<f64> = places.iter().map(|p| nudged(origin + f64::from(p.1), -p.2)).collect();
        let space = if periodic { PlainSpace::Periodic([Some([origin, origin + 6.0]); 2]) } else { PlainSpace::Open };
        check(&PLANE, PlainSet::doubles([x, y], vec![0.5; places.len()]), space);
    }

    #[test]
    fn any_paths(
        bodies in prop::collection::vec((-9.0_f64..9.0, -9.0_f64..9.0, 0.0_f64..1.0, -9.0_f64..9.0, -9.0_f64..9.0), 0..30),
        snap in any::<bool>(),
        origin in prop_oneof![Just(0.0_f64), -1e6_f64..1e6],
        periodic in any::<bool>(),
        single in any::<bool>(),
    ) {
        let column = |of: fn(&(f64, f64, f64, f64, f64)) -> f64| snapped(snap, bodies.iter().map(of));
        let centers = [column(|b| b.0), column(|b| b.1)].map(|column| column.iter().map(|x| origin + x).collect());
        let radii = bodies.iter().map(|body| if snap { 0.5 } else { body.2 }).collect();
        let set = PlainSet::doubles(centers, radii);
        let set = if single { set.narrowed() } else { set };
        let moves = PlainMoves::Double([column(|b| b.3), column(|b| b.4)]);
        let space = if periodic { PlainSpace::Periodic([Some([origin - 9.0, origin + 9.0]); 2]) } else { PlainSpace::Open };
        check(&PLANE, PlainSet { moves: Some(moves), ..set }, space);
    }
}

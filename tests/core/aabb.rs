//! Boxes alone: rounding of boxes may lose no pair that the predicate accepts.

use jostle_core::Aabb;
use jostle_core::aabb::{GROWTH, outward_hi, outward_lo};
use jostle_testkit::oracle;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

/// Returns the box of one circle, as a leaf has it.
fn boxed([x, y]: [f32; 2], radius: f32) -> Aabb<2> {
    let reach = radius * GROWTH;
    Aabb { lo: [x, y].map(|v| outward_lo(v - reach)), hi: [x, y].map(|v| outward_hi(v + reach)) }
}

/// Returns whether a circle reaches a box, by the test that the join makes before it looks into a leaf.
fn touches(center: [f32; 2], radius: f32, aabb: &Aabb<2>) -> bool {
    let reach = radius * GROWTH;
    (0..2).all(|axis| aabb.lo[axis] <= center[axis] + reach && center[axis] - reach <= aabb.hi[axis])
}

/// Checks that the boxes of two circles lose no pair, and returns whether the circles are one.
fn survives(p: [f32; 2], p_radius: f32, q: [f32; 2], q_radius: f32) -> bool {
    let hit = oracle::overlaps(p, p_radius, q, q_radius);
    let (p_box, q_box) = (boxed(p, p_radius), boxed(q, q_radius));
    if hit {
        assert!(p_box.overlaps(&q_box), "boxes of {p:?} {p_radius} and {q:?} {q_radius}");
        assert!(touches(p, p_radius, &q_box), "{p:?} {p_radius} and the box of {q:?} {q_radius}");
        assert!(touches(q, q_radius, &p_box), "{q:?} {q_radius} and the box of {p:?} {p_radius}");
    }
    hit
}

#[test]
fn unions_and_relations() {
    let unit = Aabb { lo: [0.0; 2], hi: [1.0; 2] };
    let touching = Aabb { lo: [1.0; 2], hi: [2.0, 3.0] };
    assert_eq!(unit.union(touching), Aabb { lo: [0.0; 2], hi: [2.0, 3.0] });
    assert_eq!((unit.union(Aabb::EMPTY), Aabb::EMPTY.with_point([1.0; 2]).widest()), (unit, 0.0));
    assert_eq!((unit.union(touching).widest(), Aabb::<3>::EMPTY.widest()), (3.0, f32::NEG_INFINITY));
    assert!(unit.overlaps(&touching) && !unit.overlaps(&Aabb { lo: [1.5, 0.0], hi: [2.0, 1.0] }));
    assert!(!unit.overlaps(&Aabb::EMPTY) && unit.holds(&Aabb::EMPTY) && unit.holds(&unit) && !unit.holds(&touching));
}

#[test]
fn margins_are_small_and_outward() {
    for x in [0.0, -0.0, f32::from_bits(1), 1e-30, 0.1, 1.0, 1e7, 1e18] {
        for x in [x, -x] {
            assert!(outward_lo(x) < x && x < outward_hi(x), "{x}");
            let margin = f64::from(outward_hi(x)) - f64::from(x);
            assert!(margin <= f64::from(x.abs()) * 1e-6 + 1e-21, "{x}: {margin}");
        }
    }
}

/// Tests all neighbours in the last digits around touching, at magnitudes of all sorts.
#[test]
fn pairs_within_some_ulps_of_touching_survive() {
    let mut hits = 0;
    for place in [0.0_f32, 1.0, -0.3, 1e3, 1e7, -1e18] {
        for radii in [[0.5_f32, 0.5], [0.1, 0.2], [0.0, 1.3], [1e-3, 1e3], [3.0e-20, 1e-20], [1e10, 0.7]] {
            let touching = place + (radii[0] + radii[1]);
            for ulps in -6..=6_i32 {
                let x = f32::from_bits(touching.to_bits().saturating_add_signed(ulps));
                hits += usize::from(survives([place, 2.0], radii[0], [x, 2.0], radii[1]));
            }
        }
    }
    assert!(hits > 150, "{hits} hits test little");
}

/// Draws any magnitude from the smallest subnormal number to 2^57, of either sign.
fn magnitude() -> impl Strategy<Value = f32> {
    (any::<bool>(), 0..(127_u32 + 57) << 23).prop_map(|(negative, bits)| {
        let x = f32::from_bits(bits);
        if negative { -x } else { x }
    })
}

/// Keeps failures beside this file, to be tried first from then on.
fn config() -> ProptestConfig {
    let beside = FileFailurePersistence::WithSource("regressions");
    ProptestConfig { cases: 2_000, failure_persistence: Some(Box::new(beside)), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    /// The second circle stands where it touches the first, apart from rounding and some units in the last place.
    #[test]
    fn touching_pairs_survive(
        p in [magnitude(), magnitude()],
        radii in [magnitude().prop_map(f32::abs), magnitude().prop_map(f32::abs)],
        axis in 0..2_usize,
        ulps in -4..=4_i32,
        negative: bool,
    ) {
        let apart = radii[0] + radii[1];
        let mut q = p;
        q[axis] = if negative { p[axis] - apart } else { p[axis] + apart };
        q[axis] = f32::from_bits(q[axis].to_bits().saturating_add_signed(ulps));
        prop_assume!(q[axis].abs() + radii[1] <= oracle::LIMIT);
        survives(p, radii[0], q, radii[1]);
    }

    /// Below about 2^-75 differences square to zero.
    #[test]
    fn vanishing_differences_survive(p in -1.0_f32..1.0, q in -1.0_f32..1.0, radius in 0.0_f32..1.0, scale in 70..150_i32) {
        let scale = 0.5_f32.powi(scale);
        survives([p * scale, 0.0], radius * scale, [q * scale, 0.0], 0.0);
        survives([p * scale, 1.0], 0.0, [q * scale, 1.0], 0.0);
    }
}

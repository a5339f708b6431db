//! Questions to prepared sets in every space, against plain loops over all images.

use core::array::from_fn;

use jostle::{PreparedBatch, PreparedSet, QueryError, QueryReason, Seen, SeenAt, Spheres64, Threads};
use jostle_testkit::algebra::{Case, Relation};
use jostle_testkit::random::Random;

use super::batches::Questions;
use super::scenes::{Raw, WAYS, scenes, spaces};

fn plain<const D: usize>(found: &[Seen<D>]) -> Vec<(u32, [i32; D])> {
    found.iter().map(|seen| (seen.id, seen.image_shift)).collect()
}

fn plain_at<const D: usize>(found: &[SeenAt<D>]) -> Vec<(f64, (u32, [i32; D]))> {
    found.iter().map(|seen| (seen.distance, (seen.body.id, seen.body.image_shift))).collect()
}

/// Asks a set about places near some of its bodies, and about other places.
fn ask<const D: usize>(name: &str, case: &Case<D>, raw: &Raw<D>, random: &mut Random) {
    let mut set = PreparedSet::new();
    set.build(case.sets[0].set(), case.space.space(), Threads::Serial).expect(name);
    let (queries, open) = (set.queries(), case.space.is_open());
    let unit = raw.mean_radius().max(1e-9 * raw.width());
    let (mut found, mut reached, mut all) = (Vec::new(), Vec::new(), Questions::new((3, 2.0 * unit)));
    for turn in 0..6 {
        let body = case.sets[0].len().checked_sub(1).map(|last| case.sets[0].center(random.below(last + 1)));
        let mut near = |by: f64| -> [f64; D] { from_fn(|_| by * (2.0 * random.unit() - 1.0)) };
        let (base, off) = (body.unwrap_or([0.0; D]), near([0.0, 1.0, 3.0, 40.0][turn % 4] * unit));
        let at: [f64; D] = from_fn(|k| base[k] + off[k]);
        let radius = [0.0, 0.5, 2.0][turn % 3] * unit;
        queries.circle(at, radius, &mut found).expect(name);
        assert_eq!(plain(&found), case.in_circle(at, radius), "{name}: circle of {radius} about {at:?}");
        all.circles.add((at, radius), &found, |visit| queries.visit_circle(at, radius, visit));
        queries.point(at, &mut found).expect(name);
        assert_eq!(plain(&found), case.in_circle(at, 0.0), "{name}: {at:?}");
        all.points.add(at, &found, |visit| queries.visit_point(at, visit));
        let sides = near(2.0 * unit);
        let hi: [f64; D] = from_fn(|k| at[k] + sides[k].abs());
        queries.aabb(at, hi, &mut found).expect(name);
        assert_eq!(plain(&found), case.in_box(at, hi), "{name}: box from {at:?} to {hi:?}");
        all.aabbs.add((at, hi), &found, |visit| queries.visit_aabb(at, hi, visit));
        let mut direction = near(1.0);
        if turn == 1 {
            direction = from_fn(|k| if k == 0 { -2.0 } else { 0.0 });
        }
        let reach = 5.0 * unit;
        queries.ray(at, direction, reach, &mut reached).expect(name);
        let hits = case.on_ray(at, direction, reach);
        assert_eq!(plain_at(&reached), hits, "{name}: ray from {at:?} along {direction:?}");
        let ray = (at, direction, reach);
        all.rays.add(ray, &reached, |visit| queries.visit_ray(at, direction, reach, visit));
        let first = queries.first_hit(at, direction, reach).expect(name);
        assert_eq!(plain_at(first.as_slice()), hits[..hits.len().min(1)], "{name}: first hit");
        for (count, within) in [(1, f64::INFINITY), (7, f64::INFINITY), (3, 2.0 * unit)] {
            queries.nearest(at, count, within, &mut reached).expect(name);
            // As far as the engine has looked, or farther.
            let farthest = reached.last().map_or(0.0, |seen| seen.distance) * 1.001 + unit;
            let enough = if within.is_finite() || open { within } else { farthest };
            let expected = case.nearest_to(at, count, enough);
            assert_eq!(plain_at(&reached), expected, "{name}: {count} nearest to {at:?} within {within}");
            let most = if open { case.sets[0].len() } else { count };
            if within.is_infinite() && !case.sets[0].is_empty() {
                assert_eq!(reached.len(), count.min(most), "{name}: {count} nearest");
            }
            if (count, within) == all.of_nearest {
                all.nearest.note(at, &reached);
            }
            let one = queries.nearest_one(at, within).expect(name);
            assert_eq!(one, reached.first().copied(), "{name}: the nearest to {at:?} within {within}");
        }
    }
    // Few sets are enough to see that all threads give the same.
    all.check(name, queries, random.below(25) == 0);
}

fn in_every_space<const D: usize>() {
    let mut random = Random(11);
    let ways = ["f32, one radius, margin", "f32", "f64", "f64, cutoff"];
    for raw in scenes::<D>() {
        for (place, space, raw) in spaces(&raw) {
            for way in WAYS.iter().filter(|way| ways.contains(&way.name) && (way.double || !raw.double_only)) {
                let case = Case { sets: vec![way.set(&raw, 1)], relation: Relation::Within, space };
                ask(&format!("{D}D, {}, {place}, {}", raw.name, way.name), &case, &raw, &mut random);
            }
        }
    }
}

#[test]
fn questions_in_2d() {
    in_every_space::<2>();
}

#[test]
fn questions_in_3d() {
    in_every_space::<3>();
}

#[test]
fn questions_without_an_answer_are_refused() {
    let mut set = PreparedSet::new();
    let space = jostle::Space::periodic([Some([0.0, 1.0]), None, None]);
    set.build(Spheres64::new(&[0.5], &[0.0], &[0.0], 0.1), space, Threads::Serial).expect("a sphere");
    let (queries, mut found, mut hits) = (set.queries(), vec![Seen { id: 7, image_shift: [0; 3] }], Vec::new());
    let refused = |reason| Err(QueryError::Query(reason));
    let x = [1.0, 0.0, 0.0];
    assert_eq!(queries.ray([0.0; 3], x, f64::INFINITY, &mut hits), refused(QueryReason::EndlessRay));
    assert_eq!(queries.first_hit([0.0; 3], x, f64::INFINITY).map(|_| ()), refused(QueryReason::EndlessRay));
    assert_eq!(queries.circle([0.0; 3], 1e7, &mut found), refused(QueryReason::TooManyImages));
    assert_eq!(queries.circle([1e12, 0.0, 0.0], 1.0, &mut found), refused(QueryReason::TooManyPeriods { vector: 0 }));
    assert_eq!(queries.point([f64::NAN, 0.0, 0.0], &mut found), refused(QueryReason::CoordinateNotFinite { axis: 0 }));
    assert_eq!(queries.circle([0.0; 3], -1.0, &mut found), refused(QueryReason::RadiusNegative));
    assert_eq!(queries.aabb([1.0; 3], [0.0; 3], &mut found), refused(QueryReason::LoAboveHi { axis: 0 }));
    assert_eq!(queries.nearest([0.0; 3], 1, -1.0, &mut hits), refused(QueryReason::NoDistance));
    assert_eq!(found.len(), 1);
    let mut batch = PreparedBatch::new();
    batch.points(queries, &[[0.5, 0.0, 0.0]], Threads::Serial).expect("a point");
    let circles = [([0.0; 3], 1.0), ([0.0; 3], 1e7), ([0.0; 3], -1.0)];
    let first = vec![(1, QueryReason::TooManyImages), (2, QueryReason::RadiusNegative)];
    let refused = batch.circles(queries, &circles, Threads::Serial).map(|_| ());
    assert_eq!(refused, Err(QueryError::Queries { count: 2, first }));
    assert_eq!(batch.last().found(), [Seen { id: 0, image_shift: [0; 3] }]);
}

/// A direction may be as long or as short as a number can be: its length counts for nothing.
#[test]
fn directions_may_have_any_length() {
    let (x, y, z) = ([3.0, -9.0, 40.0], [1.5, 1.0, 20.0], [0.0, 0.0, 0.25]);
    let (mut set, mut hits) = (PreparedSet::new(), Vec::new());
    set.build(Spheres64::new(&x, &y, &z, 0.75), jostle::Space::open(), Threads::Serial).expect("three spheres");
    let queries = set.queries();
    queries.ray([0.0; 3], [2.0, 1.0, 0.0], f64::INFINITY, &mut hits).expect("a ray");
    assert_eq!(hits.iter().map(|hit| hit.body.id).collect::<Vec<_>>(), [0, 2]);
    for exponent in [-1074, -1000, -600, -512, -301, 299, 301, 512, 600, 1022] {
        let (unit, mut others) = (2.0_f64.powi(exponent / 2) * 2.0_f64.powi(exponent - exponent / 2), Vec::new());
        let direction = [2.0 * unit, unit, 0.0];
        queries.ray([0.0; 3], direction, f64::INFINITY, &mut others).expect("a ray");
        assert_eq!(others, hits, "{direction:?}");
        assert_eq!(queries.first_hit([0.0; 3], direction, 1e3), Ok(Some(hits[0])), "{direction:?}");
    }
}

//! Bad queries are refused by index and reason. Lists and last answers stay as they are.

use jostle::{
    Aabb, Circle, Circles, Circles64, CoherentFinder, Input, InputError, LinearTree, PairFinder, Queries, QueryBatch,
    QueryError, QueryReason, Ray, Reached, Set, Threads,
};
use jostle_testkit::oracle::LIMIT;
use jostle_testkit::{Kind, scene};

use crate::queries::check::tree_of;

fn tree() -> LinearTree<2> {
    tree_of(&scene::scene::<2>(Kind::Uniform, 500, 1))
}

fn bad_points() -> [([f32; 2], QueryReason); 4] {
    [
        ([f32::NAN, 0.0], QueryReason::CoordinateNotFinite { axis: 0 }),
        ([0.0, f32::NEG_INFINITY], QueryReason::CoordinateNotFinite { axis: 1 }),
        ([0.0, LIMIT.next_up()], QueryReason::TooFar { axis: 1 }),
        ([-f32::MAX, 0.0], QueryReason::TooFar { axis: 0 }),
    ]
}

fn bad_circles() -> Vec<(Circle<2>, QueryReason)> {
    let radii = [
        (f32::NAN, QueryReason::RadiusNotFinite),
        (f32::INFINITY, QueryReason::RadiusNotFinite),
        (-f32::from_bits(1), QueryReason::RadiusNegative),
        (LIMIT, QueryReason::TooFar { axis: 1 }),
    ];
    let by_radius = radii.map(|(radius, reason)| (Circle::new([0.0, 1e12], radius), reason));
    bad_points().map(|(point, reason)| (Circle::new(point, 1.0), reason)).into_iter().chain(by_radius).collect()
}

fn bad_aabbs() -> Vec<(Aabb<2>, QueryReason)> {
    let mut bad = vec![(Aabb { lo: [0.0, 1.0], hi: [0.0, 1.0_f32.next_down()] }, QueryReason::LoAboveHi { axis: 1 })];
    for (point, reason) in bad_points() {
        bad.push((Aabb { lo: point, hi: [1.0; 2] }, reason));
        bad.push((Aabb { lo: [-1.0; 2], hi: point }, reason));
    }
    bad
}

fn bad_rays() -> Vec<(Ray<2>, QueryReason)> {
    let mut bad = vec![
        (Ray::new([0.0; 2], [0.0, -0.0]), QueryReason::DirectionZero),
        (Ray::new([0.0; 2], [0.0, f32::INFINITY]), QueryReason::DirectionNotFinite { axis: 1 }),
        (Ray::new([0.0; 2], [f32::NAN, 1.0]), QueryReason::DirectionNotFinite { axis: 0 }),
        (Ray::new([0.0; 2], [1.0; 2]).within(f32::NAN), QueryReason::NoDistance),
        (Ray::new([0.0; 2], [1.0; 2]).within(-1.0), QueryReason::NoDistance),
    ];
    bad.extend(bad_points().map(|(point, reason)| (Ray::new(point, [1.0; 2]), reason)));
    bad
}

/// After a search in `f64` or of moving bodies, the finder's tree holds bodies at other places.
#[test]
fn trees_of_stand_ins_are_refused_and_still_number_the_bodies() {
    let (x, y) = ([0.0, 100.0, 200.0], [0.0; 3]);
    let double = x.map(f64::from);
    let moving = Set::from(Circles::new(&x, &y, 1.0)).moving([&[300.0, 0.0, 0.0_f32], &[0.0; 3]]);
    let mut finder = PairFinder::new();
    for input in [Input::within(Circles64::new(&double, &[0.0; 3], 1.0)), Input::within(moving)] {
        let tree = finder.find(input).expect("three circles").tree().clone();
        let (queries, mut batch) = (Queries::new(&tree), QueryBatch::new());
        let refused = Err(QueryError::Query(QueryReason::StandIns));
        assert_eq!(queries.point([100.0, 0.0], &mut Vec::new()), refused);
        assert_eq!(queries.nearest([0.0; 2], 1, 1.0, &mut Vec::new()), refused);
        assert_eq!(batch.points(queries, &[[100.0, 0.0]], Threads::Serial).map(drop), refused);
        let error = finder.find_between(Circles::new(&x, &y, 1.0), &tree).map(drop).unwrap_err();
        assert!(matches!(error.by_set(), (Some(1), InputError::Combination { .. })), "{error}");
        let mut order: Vec<u32> = finder.last().rank_to_id().collect();
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2]);
    }
    let tree = finder.find(Circles::new(&x, &y, 1.0)).expect("three circles").tree();
    assert_eq!(Queries::new(tree).nearest_one([90.0, 0.0], 20.0), Ok(Some(Reached { id: 1, distance: 10.0 })));
}

/// Where a list of coherent frames is kept, the tree is that of the list: its bodies stand where they are expected, with
/// margins. A frame that is searched from scratch has the tree of its bodies.
#[test]
fn trees_of_coherent_frames_are_refused_while_a_list_is_kept() {
    let mut scene = scene::scene::<2>(Kind::Dense, 600, 5);
    let (mut finder, mut refused, mut found) = (CoherentFinder::new(), 0, Vec::new());
    for frame in 0..60 {
        scene.centers[0].iter_mut().zip(0..).for_each(|(x, id)| *x += ((id % 7) as f32 - 3.0) * 0.005);
        let tree = finder.find(scene.view()).expect("sound bodies").tree();
        let point = [scene.centers[0][frame], scene.centers[1][frame]];
        let answer = Queries::new(tree).point(point, &mut found);
        if finder.margin() > 0.0 {
            assert_eq!(answer, Err(QueryError::Query(QueryReason::StandIns)), "frame {frame}");
            refused += 1;
        } else {
            answer.expect("the tree of these bodies");
            assert!(found.contains(&(frame as u32)), "frame {frame}");
        }
        let mut order: Vec<u32> = finder.last().rank_to_id().collect();
        order.sort_unstable();
        assert!(order.into_iter().eq(0..600), "frame {frame}");
    }
    assert!((20..60).contains(&refused), "{refused} frames");
}

#[test]
fn single_queries_are_refused_and_lists_stand() {
    let (tree, mut ids, mut reached) = (tree(), vec![7], Vec::new());
    let queries = Queries::new(&tree);
    for (point, reason) in bad_points() {
        let refused = Err(QueryError::Query(reason));
        assert_eq!(queries.point(point, &mut ids), refused);
        assert_eq!(queries.visit_point(point, |_| panic!("called")), refused);
        assert_eq!(queries.nearest(point, 1, 1.0, &mut reached), refused);
        assert_eq!(queries.nearest_one(point, 1.0), Err(QueryError::Query(reason)));
    }
    for (circle, reason) in bad_circles() {
        assert_eq!(queries.circle(circle, &mut ids), Err(QueryError::Query(reason)));
        assert_eq!(queries.visit_circle(circle, |_| panic!("called")), Err(QueryError::Query(reason)));
    }
    for (aabb, reason) in bad_aabbs() {
        assert_eq!(queries.aabb(aabb, &mut ids), Err(QueryError::Query(reason)));
        assert_eq!(queries.visit_aabb(aabb, |_| panic!("called")), Err(QueryError::Query(reason)));
    }
    for (ray, reason) in bad_rays() {
        assert_eq!(queries.ray(ray, &mut reached), Err(QueryError::Query(reason)));
        assert_eq!(queries.visit_ray(ray, |_| panic!("called")), Err(QueryError::Query(reason)));
        assert_eq!(queries.first_hit(ray), Err(QueryError::Query(reason)));
    }
    for within in [f32::NAN, -1.0, f32::NEG_INFINITY] {
        let refused = Err(QueryError::Query(QueryReason::NoDistance));
        assert_eq!(queries.nearest([0.0; 2], 1, within, &mut reached), refused);
    }
    assert_eq!((ids, reached.len()), (vec![7], 0));
}

#[test]
fn what_is_on_the_limit_is_answered() {
    let (tree, mut ids) = (tree(), Vec::new());
    let (queries, world) = (Queries::new(&tree), Aabb { lo: [-LIMIT; 2], hi: [LIMIT; 2] });
    queries.aabb(world, &mut ids).expect("a box");
    assert_eq!(ids.len(), 500);
    queries.circle(Circle::new([0.0; 2], LIMIT), &mut ids).expect("a circle");
    assert_eq!(ids.len(), 500);
    queries.point([LIMIT, -LIMIT], &mut ids).expect("a point");
    assert!(ids.is_empty());
    assert!(queries.first_hit(Ray::new([LIMIT; 2], [-f32::MAX; 2])).is_ok());
}

#[test]
fn batches_name_the_first_sixteen_and_stand() {
    let (tree, mut batch) = (tree(), QueryBatch::new());
    let queries = Queries::new(&tree);
    let good = [Circle::new([1.0; 2], 5.0)];
    let before = batch.circles(queries, &good, Threads::Serial).expect("a circle").ids().to_vec();
    let circles: Vec<_> = (0..100).map(|i| Circle::new([0.0; 2], if i % 3 == 1 { -1.0 } else { 1.0 })).collect();
    let refused = batch.circles(queries, &circles, Threads::Current).map(|_| ());
    let first: Vec<_> = (0..16).map(|i| (3 * i + 1, QueryReason::RadiusNegative)).collect();
    assert_eq!(refused, Err(QueryError::Queries { count: 33, first }));
    let message = refused.expect_err("a refusal").to_string();
    assert!(message.starts_with("33 queries refused: query 1: radius negative; query 4: "), "{message}");
    assert!(message.ends_with("query 46: radius negative; ..."), "{message}");
    assert_eq!(batch.last().ids(), before);

    let alone = |reason| Err(QueryError::Queries { count: 1, first: vec![(1, reason)] });
    for (point, reason) in bad_points() {
        let points = [[0.0; 2], point];
        assert_eq!(batch.points(queries, &points, Threads::Serial).map(|_| ()), alone(reason));
        assert_eq!(batch.nearest(queries, &points, 1, 1.0, Threads::Serial).map(|_| ()), alone(reason));
    }
    for (aabb, reason) in bad_aabbs() {
        let aabbs = [Aabb { lo: [0.0; 2], hi: [1.0; 2] }, aabb];
        assert_eq!(batch.aabbs(queries, &aabbs, Threads::Serial).map(|_| ()), alone(reason));
    }
    for (ray, reason) in bad_rays() {
        let rays = [Ray::new([0.0; 2], [1.0; 2]), ray];
        assert_eq!(batch.rays(queries, &rays, Threads::Serial).map(|_| ()), alone(reason));
        assert_eq!(batch.first_hits(queries, &rays, Threads::Serial).map(|_| ()), alone(reason));
    }
    let shared = batch.nearest(queries, &[[0.0; 2]], 1, f32::NAN, Threads::Serial).map(|_| ());
    assert_eq!(shared, Err(QueryError::Query(QueryReason::NoDistance)));
    assert_eq!(batch.last().ids(), before);
    assert_eq!(QueryError::Query(QueryReason::DirectionZero).to_string(), "query refused: direction zero");
}

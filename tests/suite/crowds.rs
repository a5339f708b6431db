//! Scenes of which no `f32` frame tells the bodies apart take no more tests than others.

use jostle::{
    ActivationTable, Boxes64, Capsules64, Circles, Circles64, CoherentFinder, Input, NeighborLists, PairFinder,
    PreparedSet, Rows, Set, Space, Threads,
};
use jostle_testkit::pairs::ascending;
use jostle_testkit::random::Random;
use jostle_testkit::shapes::{Solid, solid_pairs};

/// Tests for each body, at most. A frame takes half as many as there are bodies.
const TESTS: u64 = 400;

/// A crowd of `count` discs that is a hundred millionth as wide as the rest of the scene.
fn crowd(count: usize) -> [Vec<f64>; 3] {
    let (mut random, spacing) = (Random(3), 1e-6 / (count as f64).sqrt());
    let mut columns = [const { Vec::new() }; 3];
    for id in 0..count + count / 16 {
        let (width, radius) = if id < count { (1e-6, 0.3 * spacing) } else { (100.0, 0.1) };
        let at = [50.0 + width * (random.unit() - 0.5), 50.0 + width * (random.unit() - 0.5), radius];
        columns.iter_mut().zip(at).for_each(|(column, value)| column.push(value));
    }
    columns
}

/// The pairs of circles, by a sweep along x.
fn swept([x, y, r]: &[Vec<f64>; 3]) -> Vec<[u32; 2]> {
    let (mut order, widest): (Vec<usize>, _) = ((0..x.len()).collect(), r.iter().copied().fold(0.0, f64::max));
    order.sort_by(|&a, &b| x[a].total_cmp(&x[b]));
    let mut pairs = Vec::new();
    for (at, &a) in order.iter().enumerate() {
        for &b in order[at + 1..].iter().take_while(|&&b| x[b] - x[a] <= 1.1 * (r[a] + widest)) {
            let (first, second) = (a.min(b), a.max(b));
            let (dx, dy, s) = (x[second] - x[first], y[second] - y[first], r[a] + r[b]);
            if dx * dx + dy * dy <= s * s {
                pairs.push([first as u32, second as u32]);
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

#[test]
fn a_crowd_takes_few_tests() {
    let columns = crowd(4_000);
    let [x, y, r] = &columns;
    let expected = swept(&columns);
    let circles = || Circles64::new(x, y, r);
    let mut finder = PairFinder::<2>::new();
    let found = finder.find(circles()).expect("sound bodies");
    assert!(found.stats().circle_tests < TESTS * x.len() as u64, "{:?}", found.stats());
    assert_eq!(ascending(found.pairs()), expected);
    let mut ranks: Vec<_> = found.rank_to_id().collect();
    ranks.sort_unstable();
    assert!(ranks.into_iter().eq(0..x.len() as u32));
    let mut lists = NeighborLists::new();
    let stats = finder.neighbors(circles(), Rows::Full, &mut lists).expect("sound bodies");
    assert!(stats.circle_tests < TESTS * x.len() as u64, "{stats:?}");
    assert_eq!(lists.neighbors().len(), 2 * expected.len());
    let mut prepared = PreparedSet::<2>::new();
    prepared.build(circles(), Space::open(), Threads::Serial).expect("sound bodies");
    let found = finder.find(&prepared).expect("sound bodies");
    assert!(found.stats().circle_tests < TESTS * x.len() as u64, "{:?}", found.stats());
    assert_eq!(ascending(found.pairs()), expected);
    let mut walls = PreparedSet::<2>::new();
    walls.build(Circles::new(&[0.0, 100.0], &[0.0, 9.0], 1.0), Space::open(), Threads::Serial).expect("sound bodies");
    let (sets, table) = ([Set::from(&walls), circles().into()], ActivationTable::none(2).with(0, 1).with(1, 1));
    let found = finder.find(Input::among(&sets, &table)).expect("sound bodies");
    assert!(found.stats().circle_tests < TESTS * x.len() as u64, "{:?}", found.stats());
    assert_eq!(ascending(found.pairs_between(1, 1)), expected);
    let mut coherent = CoherentFinder::<2>::new();
    for _ in 0..5 {
        assert_eq!(ascending(coherent.find(circles()).expect("sound bodies").pairs()), expected);
    }
}

/// Among bodies of two sets a crowd of one of them takes no ordinals, unless its bodies are sought.
#[test]
fn a_crowd_that_is_not_sought_is_left_alone() {
    let columns = crowd(4_000);
    let [x, y, r] = &columns;
    let mut finder = PairFinder::<2>::new();
    let probe = Circles64::new(&[0.5], &[0.5], 0.5);
    let found = finder.find(Input::between(Circles64::new(x, y, r), probe)).expect("sound bodies");
    assert!(found.stats().circle_tests < TESTS * x.len() as u64, "{:?}", found.stats());
}

/// Circles and boxes of any size about a point, the farther the larger, which move a little.
#[test]
fn bodies_of_all_sizes_that_move_take_few_tests() {
    let mut random = Random(5);
    let mut columns = [const { Vec::new() }; 4];
    for _ in 0..3_000 {
        let (far, turn) = (10.0_f64.powf(40.0 * random.unit() - 20.0), 6.0 * random.unit());
        let radius = 2e-2 * far;
        let body = [far * turn.cos(), far * turn.sin(), radius, radius * (random.unit() - 0.5)];
        columns.iter_mut().zip(body).for_each(|(column, value)| column.push(value));
    }
    let [x, y, r, by] = &columns;
    let (high, right): (Vec<_>, Vec<_>) = (0..x.len()).map(|at| (y[at] + r[at], x[at] + r[at])).unzip();
    let circles = Set::from(Circles64::new(x, y, r)).moving([by, by]);
    let boxes = Set::from(Boxes64::new([x, y], [&right, &high])).moving([by, by]);
    let mut finder = PairFinder::<2>::new();
    for set in [circles, boxes] {
        let found = finder.find(set).expect("sound bodies");
        assert!(found.stats().circle_tests < TESTS * x.len() as u64, "{:?}", found.stats());
        assert!(found.pairs().len() > 20, "{} pairs", found.pairs().len());
    }
}

/// Boxes half a unit apart beside some that are wider than any frame, and capsules among them.
#[test]
fn boxes_beside_endless_ones_take_few_tests() {
    let mut random = Random(4);
    let mut corners = [const { Vec::new() }; 4];
    let mut push = |x: [f64; 2], y: [f64; 2]| {
        corners.iter_mut().zip([x[0], y[0], x[1], y[1]]).for_each(|(column, corner)| column.push(corner));
    };
    for at in 0..3_000 {
        let [x, y] = [at % 60, at / 60].map(|cell| 0.5 * f64::from(cell) + 0.3 * random.unit());
        push([x, x + 0.4], [y, y + 0.3]);
    }
    for at in 0..9 {
        let (wide, y) = (2.0_f64.powi(58 - at), 3.0 * f64::from(at));
        push([-wide, wide], [y, y + 0.01]);
    }
    let [left, low, right, high] = &corners;
    let ends = [0, 1].map(|end| (0..40).map(|at| 0.7 * f64::from(at) + 0.4 * f64::from(end)).collect::<Vec<_>>());
    let boxes = Boxes64::new([left, low], [right, high]);
    let capsules = Capsules64::new([&ends[0], &ends[0]], [&ends[1], &ends[0]], 0.05);
    let solids: Vec<_> = (0..left.len()).map(|at| Solid::Boxed([[left[at], low[at]], [right[at], high[at]]])).collect();
    let rods: Vec<_> =
        (0..40).map(|at| Solid::Long([[ends[0][at], ends[0][at]], [ends[1][at], ends[0][at]]], 0.05)).collect();
    let mut finder = PairFinder::<2>::new();
    for (input, [expected, unsure]) in [
        (Input::within(boxes), solid_pairs(&solids, &None)),
        (Input::between(boxes, capsules), solid_pairs(&solids, &Some(rods))),
    ] {
        let found = finder.find(input).expect("sound bodies");
        assert!(found.stats().circle_tests < TESTS * left.len() as u64, "{:?}", found.stats());
        let mut pairs = ascending(found.pairs());
        pairs.retain(|pair| !unsure.contains(pair));
        let expected: Vec<_> = expected.into_iter().filter(|pair| !unsure.contains(pair)).collect();
        assert_eq!(pairs, expected);
    }
    let mut prepared = PreparedSet::<2>::new();
    prepared.build(boxes, Space::open(), Threads::Serial).expect("sound bodies");
    let stats = *finder.find(Input::between(&prepared, capsules)).expect("sound bodies").stats();
    assert!(stats.circle_tests < TESTS * left.len() as u64, "{stats:?}");
}

//! Rods, thin capsules, and what they go through: whether they touch it, and their contacts.

use jostle::{
    BoxView, Boxes64, CapsuleView, Capsules64, Circles64, Column, Contact, Input, PairFinder, PreparedSet, Set, Space,
    Threads, between, contacts_f64,
};
use jostle_testkit::pairs::assert_same;
use jostle_testkit::random::Random;

/// Searches for the pair of two bodies that touch; returns their contact.
fn contact_of<'a, const D: usize>(a: impl Into<Set<'a, D>>, b: impl Into<Set<'a, D>>) -> Contact<D, f64> {
    let (input, mut finder, mut list) = (between(a, b), PairFinder::new(), Vec::new());
    let found = finder.find(input).expect("two bodies");
    assert_eq!(found.pairs(), [[0, 0]]);
    contacts_f64(found, input, Threads::Serial, &mut list).expect("a pair");
    list[0]
}

/// One capsule.
fn rod<'a, const D: usize>(p: &'a [f64; D], q: &'a [f64; D], radius: f64) -> CapsuleView<'a, D, f64> {
    let [from, to] = [p, q].map(|end| core::array::from_fn(|axis| Column::from(&end[axis..=axis])));
    CapsuleView::from_columns(from, to, radius)
}

/// Rods of no width through a wall of no thickness, and thick ones.
#[test]
fn rods_go_through_flat_walls() {
    let mut random = Random(5);
    let mut number = |scale: f64| (random.unit() - 0.5) * scale;
    for round in 0..2000 {
        let radius = f64::from(round % 2) * 0.5;
        let (x, y, slope) = (number(3.0), number(100.0), number(2.0));
        let (above, below) = (1.0 + number(1.0), -1.0 + number(1.0));
        let height = [y];
        let wall = Boxes64::new([&[-8.0], &height], [&[8.0], &height]);
        let [p, q] = [[x + slope * above, y + above], [x + slope * below, y + below]];
        let contact = contact_of(wall, rod(&p, &q, radius));
        // Along an axis the whole rod leaves the wall, or across itself.
        let along = [q[0] - p[0], q[1] - p[1]];
        let across = |x: f64| ((x - p[0]) * along[1] - (y - p[1]) * along[0]) / along[0].hypot(along[1]);
        let ends = [across(-8.0), across(8.0)];
        let ways = [p[1] - y, y - q[1], 8.0 - p[0].min(q[0]), 8.0 + p[0].max(q[0])];
        let around = [ends[0].max(ends[1]), (-ends[0]).max(-ends[1])];
        let least = ways.into_iter().chain(around).fold(f64::INFINITY, f64::min) + radius;
        assert!((contact.depth - least).abs() < 1e-12, "{round}: {contact:?}, expected {least}");
    }
    let wall = Boxes64::new([&[-2.0], &[0.0], &[-2.0]], [&[2.0], &[0.0], &[2.0]]);
    let through = rod(&[0.0, 1.0, 0.1], &[0.0, -48.0, 0.3], 0.0);
    assert_eq!(contact_of(wall, through).normal, [0.0, -1.0, 0.0]);
}

/// Rods that lie on a block or have sunk into it, with both ends beside it: the point is of the rod and of the block.
#[test]
fn contacts_of_rods_that_lie_across_blocks_lie_in_both() {
    let mut random = Random(7);
    let block = Boxes64::new([&[0.0], &[0.0], &[0.0]], [&[1.0], &[1.0], &[1.0]]);
    for round in 0..2000 {
        let mut number = |from: f64, to: f64| from + random.unit() * (to - from);
        let (radius, above) = (f64::from(round % 2) * 0.1, f64::from(round % 4 / 2) * number(0.0, 0.05));
        let (x, y, turn) = (number(0.1, 0.9), number(0.1, 0.9), number(0.0, 6.3));
        let end = |by: f64| [x + by * turn.cos(), y + by * turn.sin(), 1.0 - above];
        let (p, q) = (end(number(0.0, 5.0)), end(number(-5.0, 0.0)));
        let contact = contact_of(block, rod(&p, &q, radius));
        let [depth, height, off] = [
            contact.depth - radius - above,
            contact.point[2] - 1.0 + contact.depth / 2.0,
            (contact.point[0] - x) * turn.sin() - (contact.point[1] - y) * turn.cos(),
        ];
        let is_upwards = contact.normal == [0.0, 0.0, 1.0];
        assert!(
            is_upwards && [depth, height, off].iter().all(|x| x.abs() < 1e-9),
            "{round}: {contact:?}, {p:?}, {q:?}"
        );
    }
}

/// Rods that cut a corner off a block: the point lies on the way from that corner to the rod, wherever the ends are.
#[test]
fn contacts_of_rods_at_corners_lie_at_these_corners() {
    let mut random = Random(11);
    let block = Boxes64::new([&[0.0], &[0.0], &[0.0]], [&[1.0], &[1.0], &[1.0]]);
    let square = Boxes64::new([&[0.0], &[0.0]], [&[1.0], &[1.0]]);
    for round in 0..2000 {
        let mut number = |from: f64, to: f64| from + random.unit() * (to - from);
        let (radius, deep, turn) = (f64::from(round % 2) * 0.1, number(0.0, 0.1), number(0.2, 1.37));
        let (x, y) = (1.0 - deep * turn.cos(), 1.0 - deep * turn.sin());
        let end = |by: f64| [x - by * turn.sin(), y + by * turn.cos(), 0.25];
        let (p, q) = (end(number(1.0, 9.0)), end(number(-9.0, -1.0)));
        let ([px, py, _], [qx, qy, _]) = (p, q);
        let (flat, solid) =
            (contact_of(square, rod(&[px, py], &[qx, qy], radius)), contact_of(block, rod(&p, &q, radius)));
        let half = (deep + radius) / 2.0;
        let expected = [2.0 * half, turn.cos(), turn.sin(), 1.0 - half * turn.cos(), 1.0 - half * turn.sin()];
        let near = |found: [f64; 5]| (0..5).all(|k| (found[k] - expected[k]).abs() < 1e-9);
        let is_flat_near = near([flat.depth, flat.normal[0], flat.normal[1], flat.point[0], flat.point[1]]);
        let is_solid_near = near([solid.depth, solid.normal[0], solid.normal[1], solid.point[0], solid.point[1]]);
        assert!(is_flat_near && is_solid_near && solid.point[2] == 0.25, "{round}: {flat:?}, {solid:?}, {expected:?}");
    }
}

/// A rod that passes through a corner, or by it so near that the way there is of rounding alone.
#[test]
fn rods_at_corners_part_across() {
    let [unit, up] = [[&[0.0], &[0.0]], [&[1.0], &[1.0]]];
    for (s, t) in (1..60).flat_map(|s| (1..60).map(move |t| (0.1 * f64::from(s), 0.1 * f64::from(t)))) {
        let [p, q] = [[1.0 + s, 1.0 - s], [1.0 - t, 1.0 + t]];
        let contact = contact_of(Boxes64::new(unit, up), rod(&p, &q, 0.5));
        assert!((contact.depth - 0.5).abs() < 1e-12, "{s} {t}: {contact:?}");
        assert!(contact.normal.iter().all(|x| (x - 0.5_f64.sqrt()).abs() < 1e-9), "{s} {t}: {contact:?}");
    }
    let [p, q] = [[98.5, 100.0, 101.5], [102.5, 101.0, 102.0]];
    let beside = Boxes64::new([&[101.7], &[100.2], &[100.7]], [&[102.3], &[100.8], &[102.3]]);
    let contact = contact_of(beside, rod(&p, &q, 0.5));
    let [along, across] = [[4.0, 1.0, 0.5], contact.normal];
    let dot = (0..3).map(|axis| along[axis] * across[axis]).sum::<f64>();
    assert!((contact.depth - 0.5).abs() < 1e-9 && dot.abs() < 1e-9, "{contact:?}");
}

/// Short rods across the corners of boxes, on a grid so far from the origin that the way between the two, of rounding
/// alone, is long beside the rods' own rounding, and shorter than coordinates tell apart.
#[test]
fn rods_at_corners_far_from_the_origin_part_across() {
    for base in [1e3, 1e5, 1e7] {
        let at = |step: i32| base + 0.1 * f64::from(step);
        let corners = (0..20).flat_map(|i| (0..20).map(move |j| [i, j]));
        for (corner, sides) in
            corners.flat_map(|corner| [[1, 1], [1, -1], [-1, 1], [-1, -1]].map(|sides| (corner, sides)))
        {
            let end = |by: i32| core::array::from_fn(|axis| at(corner[axis] + by * sides[axis] * [-1, 1][axis]));
            let (p, q) = (end(1), end(-1));
            let lo = [0, 1].map(|axis| [at(corner[axis] - 10 - 10 * sides[axis])]);
            let hi = [0, 1].map(|axis| [at(corner[axis] + 10 - 10 * sides[axis])]);
            let contact = contact_of(Boxes64::new(lo.each_ref(), hi.each_ref()), rod(&p, &q, 0.5));
            let near = |[x, y]: [f64; 2], most: f64| (x - y).abs() <= most;
            assert!(near([contact.depth, 0.5], base * 1e-15), "{p:?} {q:?}: {contact:?}");
            let across = |axis: usize| [contact.normal[axis], f64::from(sides[axis]) * 0.5_f64.sqrt()];
            assert!((0..2).all(|axis| near(across(axis), 1e-3)), "{p:?} {q:?}: {contact:?}");
        }
    }
}

#[test]
fn no_depth_is_below_0() {
    let depths_of = |input: Input<'_, 2>| {
        let (mut finder, mut list) = (PairFinder::new(), Vec::new());
        let found = finder.find(input).expect("two bodies");
        contacts_f64(found, input, Threads::Serial, &mut list).expect("pairs");
        list.iter().map(|contact| contact.depth).collect::<Vec<_>>()
    };
    let [long, steep] = [[[0.5, 1e9], [0.5, 1.0 + 5e-8]], [[2.0, -2.0], [-1.0, 2.0]]];
    let beside = Boxes64::new([&[-1.5000000000000004], &[2.0000000000000004]], [&[-4.470098094551546e-16], &[3.5]]);
    let [one, other] = [[[-2.5, -2.5], [3.0, 3.0]], [[-1.5, -2.5], [1.5, 1.5]]];
    let [one, other, long, steep] = [&one, &other, &long, &steep].map(|[p, q]| rod(p, q, 0.0));
    let unit = Boxes64::new([&[0.0], &[0.0]], [&[1.0], &[1.0]]);
    for input in [between(unit, long), between(beside, steep), between(one, other)] {
        let depths = depths_of(input);
        assert!(depths.iter().all(|&depth| depth >= 0.0), "{depths:?}");
    }
}

/// Rods that cross are parted across both, however long they are.
#[test]
fn rods_of_any_length_cross() {
    for unit in [-332, -300, -270, 0, 250, 400].map(|power: i32| 2.0_f64.powi(power)) {
        let [p, q] = [[6.0, 8.0, 5.0], [-5.0, -8.0, 6.0]].map(|end| end.map(|x| x * unit));
        let [p_end, q_end] = [p, q].map(|end| end.map(|x| -x));
        let contact = contact_of(rod(&p, &p_end, unit / 2.0), rod(&q, &q_end, unit / 2.0));
        assert!((contact.depth / unit - 1.0).abs() < 1e-12, "{unit}: {contact:?}");
        let dot = |end: [f64; 3]| (0..3).map(|axis| end[axis] / unit * contact.normal[axis]).sum::<f64>();
        assert!(dot(p).abs() < 1e-12 && dot(q).abs() < 1e-12, "{unit}: {contact:?}");
    }
}

/// Rods that pass each other by a millionth of their length and by far less: the normal is straight across both.
#[test]
fn rods_that_nearly_cross_part_across_both() {
    let mut random = Random(6);
    for round in 0..400 {
        let gap = 10.0_f64.powi(-6 - round % 9);
        let mut point = || core::array::from_fn::<_, 3, _>(|_| random.unit() - 0.5);
        let (middle, d, e) = (point(), point(), point());
        let across: [f64; 3] =
            core::array::from_fn(|k| d[(k + 1) % 3] * e[(k + 2) % 3] - d[(k + 2) % 3] * e[(k + 1) % 3]);
        let length = across.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length < 0.05 {
            continue;
        }
        let end = |along: [f64; 3], part: f64, off: f64| -> [f64; 3] {
            core::array::from_fn(|axis| middle[axis] + part * along[axis] + off * across[axis] / length)
        };
        let (p, q) = (end(d, -0.6, 0.0), end(d, 0.4, 0.0));
        let (r, s) = (end(e, -0.3, gap), end(e, 0.7, gap));
        let contact = contact_of(rod(&p, &q, 0.1), rod(&r, &s, 0.1));
        let off = (0..3).map(|axis| (contact.normal[axis].abs() - across[axis].abs() / length).abs());
        assert!(off.fold(0.0, f64::max) < 1e-9, "{round}: {contact:?}, {across:?}");
        let far = if gap > 2e-12 { 1e-14 } else { 2.0 * gap + 1e-15 };
        assert!((contact.depth - (0.2 - gap)).abs() < far, "{round}: {contact:?}, {gap}");
    }
}

/// Rods that end at the side of a block, or next to it by less than squares tell apart, and come nearest to its corner
/// far along.
#[test]
fn rods_that_begin_beside_a_border_touch_what_they_come_near_to() {
    let mut random = Random(8);
    for round in 0..2000 {
        let mut number = || 0.5 + 1.5 * random.unit();
        let (height, width, back) = (number(), number(), round % 2 == 1);
        let beside = [0.0, 1.0, -1.0][round / 2 % 3] * 10.0_f64.powi(-13 - (round / 6 % 9) as i32);
        let (p, q) = ([0.0, -height, 0.25], [width, 0.0, 0.25]);
        let (p, q) = if back { (q, p) } else { (p, q) };
        let flat = [p, q].map(|[x, y, _]| [x, y]);
        let (lo, hi) = ([-1.0, 0.0, -1.0], [beside, 1.0, 1.0]);
        let [x, y, z] = core::array::from_fn(|axis| [&lo[axis..=axis], &hi[axis..=axis]]);
        let (square, block) =
            (Boxes64::new([x[0], y[0]], [x[1], y[1]]), BoxView::new([x[0], y[0], z[0]], [x[1], y[1], z[1]]));
        let apart = height * width / height.hypot(width);
        for radius in [0.99 * apart, 1.01 * apart] {
            let in_plane = between(square, rod(&flat[0], &flat[1], radius));
            let in_space = between(block, rod(&p, &q, radius));
            let found = (PairFinder::new().count(in_plane), PairFinder::new().count(in_space));
            let touching = u64::from(radius > apart);
            assert_eq!(found, (Ok(touching), Ok(touching)), "{round}: {beside:e}, {p:?} to {q:?}, {radius}");
        }
        let [thick, depth] = [1.01 * apart, 0.01 * apart];
        let contact = contact_of(square, rod(&flat[0], &flat[1], thick));
        let [nx, ny] = contact.normal;
        let (side, above) = (height / height.hypot(width), -width / height.hypot(width));
        assert!((contact.depth - depth).abs() < 1e-12, "{round}: {beside:e}, {contact:?}, expected {depth}");
        assert!((nx - side).abs() < 1e-9 && (ny - above).abs() < 1e-9, "{round}: {beside:e}, {contact:?}");
    }
}

/// Rods that end beside another rod, and corners of blocks beside rods, by a millionth of their length and by far less:
/// the normal is straight across the rod, from either side, and what is moved by the depth along it just touches.
#[test]
fn normals_beside_rods_are_straight_across_them() {
    let mut random = Random(9);
    for round in 0..900 {
        let gap = 10.0_f64.powi(-3 - round % 9);
        let mut number = || random.unit() - 0.5;
        let (x, y, part) = (number(), number(), number() * 0.8);
        let length = x.hypot(y);
        let (along, across) = ([x / length, y / length], [-y / length, x / length]);
        let middle = [number(), number()];
        let at =
            |by: f64, off: f64| -> [f64; 2] { core::array::from_fn(|k| middle[k] + by * along[k] + off * across[k]) };
        let (p, q) = (at(-0.5, 0.0), at(0.5, 0.0));
        let (near, far) = (at(part, gap), at(part + number(), 1.0 + number()));
        let radius = 2.0 * gap;
        let beyond: [f64; 2] = core::array::from_fn(|k| near[k] + across[k].signum() * 0.25);
        let [lo, hi]: [[f64; 2]; 2] = [f64::min, f64::max].map(|of| core::array::from_fn(|k| of(near[k], beyond[k])));
        let (rod_of, other) = (rod(&p, &q, radius), rod(&near, &far, radius / 4.0));
        let block = BoxView::<2, f64>::new([&lo[..1], &lo[1..]], [&hi[..1], &hi[1..]]);
        for (contact, back) in [
            (contact_of(rod_of, other), contact_of(other, rod_of)),
            (contact_of(rod_of, block), contact_of(block, rod_of)),
        ] {
            let [[dx, dy], [nx, ny]] = [[q[0] - p[0], q[1] - p[1]], contact.normal];
            assert!((nx * dx + ny * dy).abs() < 1e-15, "{round}: {gap:e}, {contact:?}");
            assert_eq!(contact.normal, back.normal.map(|x| -x), "{round}: {gap:e}");
            assert_eq!(contact.depth, back.depth, "{round}: {gap:e}");
        }
        let touch = contact_of(rod_of, other);
        // How far the other's end is from the rod, once moved, as what leads there from its nearer end says.
        let [ex, ey]: [f64; 2] = core::array::from_fn(|k| near[k] - p[k] + touch.depth * touch.normal[k]);
        let [dx, dy]: [f64; 2] = core::array::from_fn(|k| q[k] - p[k]);
        let off = (dx * ey - dy * ex).abs() / dx.hypot(dy);
        assert!((off - 1.25 * radius).abs() < 1e-15, "{round}: {gap:e}, {touch:?}, {off}");
    }
}

/// Where rounding leaves touching in doubt, a question decides as a search does.
#[test]
fn points_are_found_on_segments_by_questions_where_they_are_by_pairs() {
    let reach = |id: u32| f64::from(id % 37 + 1) * 0.013;
    let x: Vec<_> = (0..500).map(|id| f64::from(id) * 3.7 + 0.1).collect();
    let y: Vec<_> = (0..500).map(|id| f64::from(id) * 0.31).collect();
    let [points, ends]: [Vec<_>; 2] =
        [0.3, 1.0].map(|part| (0..).zip(&x).map(|(id, x)| x + part * reach(id)).collect());
    let segments = Capsules64::new([&x, &y], [&ends, &y], 0.0);
    let mut finder = PairFinder::new();
    let found = finder.find(between(Circles64::new(&points, &y, 0.0), segments)).expect("points and segments");
    let mut pairs = found.pairs().to_vec();
    pairs.sort_unstable();
    let (mut set, mut seen, mut answers) = (PreparedSet::new(), Vec::new(), Vec::new());
    set.build(segments, Space::open(), Threads::Serial).expect("segments");
    for (id, point) in (0_u32..).zip(points.iter().zip(&y)) {
        set.queries().point([*point.0, *point.1], &mut seen).expect("a point");
        answers.extend(seen.iter().map(|seen| [id, seen.id]));
    }
    assert!(pairs.len() > 100 && pairs.len() < 500, "{} of 500 touch", pairs.len());
    assert_same("points", &answers, &pairs);
}

//! What neighbour lists of boxes and capsules tell beside ids: distances, shifts and vectors, against the pairs of the
//! same search and against halving.

use jostle::{
    Boxes, Boxes64, Capsules, Circles, Input, NeighborLists, PairFinder, PreparedSet, Rows, Set, Space, Threads,
    between,
};
use jostle_testkit::shapes::{Seen, Solid};

use crate::embed::ways::{Way, Ways};
use crate::shapes::vectors_of;

/// A neighbour in a row with its shift, the vector that leads to it, and the square of its length.
type Entry<const D: usize> = (Seen<D>, [f64; D], f64);

fn all_columns() -> NeighborLists {
    NeighborLists::new().and_distances().and_distances_f64().and_image_shifts().and_vectors()
}

fn entries<const D: usize>(way: &mut Way<D>, input: Input<'_, D>, kind: Rows) -> Vec<Entry<D>> {
    let mut lists = all_columns();
    way.search().neighbors(input, kind, &mut lists).expect("rows");
    assert!(lists.distances2().iter().zip(lists.distances2_f64()).all(|(single, double)| *single == *double as f32));
    let row = |id: usize| {
        let seen = lists.of(id).iter().map(move |&other| [id as u32, other]).zip(lists.image_shifts_of(id).to_vec());
        let measured = lists.vectors_of(id).iter().zip(lists.distances2_f64_of(id));
        seen.zip(measured).map(|(seen, (&vector, &distance2))| (seen, vector, distance2)).collect::<Vec<_>>()
    };
    (0..lists.len()).flat_map(row).collect()
}

/// The body without its radius.
fn core<const D: usize>(solid: &Solid<D>) -> Solid<D> {
    match *solid {
        Solid::Boxed(_) => *solid,
        Solid::Long(ends, _) => Solid::Long(ends, 0.0),
    }
}

/// Checks the rows of a search, which are of the pairs `found`, with all that they tell. The bodies are `of`; there is
/// one set where both are the same.
pub(crate) fn check_columns<const D: usize>(
    (ways, name): (&mut Ways<D>, &str),
    (input, space): (Input<'_, D>, Space<D>),
    found: &[Seen<D>],
    (of, one_set): ([&[Solid<D>]; 2], bool),
) {
    let full = ways.same(name, |way| entries(way, input, Rows::Full));
    let half = ways.by_turns(|way| entries(way, input, Rows::Half));
    let sorted = |mut seen: Vec<Seen<D>>| {
        seen.sort_unstable();
        seen
    };
    let seen = |entries: &[Entry<D>]| sorted(entries.iter().map(|&(seen, ..)| seen).collect());
    let turned = found.iter().filter(|_| one_set).map(|&([a, b], steps)| ([b, a], steps.map(|step| -step)));
    assert!(seen(&full) == sorted(found.iter().copied().chain(turned).collect()), "{name}: other full rows");
    assert!(seen(&half) == sorted(found.to_vec()), "{name}: other half rows");
    assert!(half.iter().all(|entry| full.contains(entry)), "{name}: half rows tell something else");
    let vectors = vectors_of(space);
    for &(([a, b], steps), vector, distance2) in &full {
        let part = |axis: usize, k: usize| f64::from(steps[k]) * vectors[k].map_or(0.0, |vector| vector[axis]);
        let shift: [f64; D] = core::array::from_fn(|axis| (0..D).map(|k| part(axis, k)).sum());
        let [from, to] = [core(&of[0][a as usize]), core(&of[1][b as usize]).at(shift)];
        let (distance, back) = (distance2.sqrt(), vector.map(|x| -x));
        let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        // The gap of two boxes is along one axis, and they are no nearer than that.
        let (gap, is_exact) = (from.gap(&to).max(0.0), !matches!((from, to), (Solid::Boxed(_), Solid::Boxed(_))));
        assert!(gap < distance + 1e-6 && (!is_exact || distance < gap + 1e-6), "{name}: {a} {b} {distance}, {gap}");
        assert!((length - distance).abs() < 1e-9, "{name}: {a} {b} {vector:?}, {distance}");
        assert!(from.gap(&to.at(back)) < 1e-6, "{name}: {a} {b} {vector:?} does not lead from one to the other");
    }
}

/// The distances of boxes and capsules are of what the caller gave, whatever the margin, and of where they begin.
#[test]
fn margins_and_paths_leave_distances_as_they_are() {
    let boxes = Boxes::new([&[0.0, 4.0], &[0.0, 5.0]], [&[1.0, 6.0], &[1.0, 7.0]]);
    let rods = Capsules::new([&[-3.0], &[-4.0]], [&[-3.0], &[9.0]], 0.5);
    let (mut finder, mut lists) = (PairFinder::new(), all_columns());
    finder.neighbors(boxes.with_margin(2.0), Rows::Full, &mut lists).expect("boxes");
    assert_row(&lists, 0, (1, 25.0, [3.0, 4.0]));
    assert_row(&lists, 1, (0, 25.0, [-3.0, -4.0]));
    finder.neighbors(between(boxes, rods.with_margin(3.0)), Rows::Full, &mut lists).expect("sets");
    assert_row(&lists, 0, (0, 9.0, [-3.0, 0.0]));
    let coming = Set::from(boxes).moving([&[9.0, -30.0], &[0.0, 0.0]]);
    finder.neighbors(between(rods, coming), Rows::Full, &mut lists).expect("sets");
    assert_row(&lists, 0, (1, 49.0, [7.0, 0.0]));
}

/// Checks the only neighbour of a body, the square of its distance, and the vector to it.
fn assert_row(lists: &NeighborLists, id: usize, (neighbor, distance2, vector): (u32, f64, [f64; 2])) {
    assert_eq!((lists.of(id), lists.distances2_f64_of(id)), (&[neighbor][..], &[distance2][..]));
    assert_eq!(lists.vectors_of(id), [vector]);
}

/// Boxes without an end on an axis that does not repeat, and bodies that meet themselves, in sets that stay sorted.
#[test]
fn endless_boxes_and_images_of_a_body_itself_have_columns() {
    let endless = [f64::NEG_INFINITY, f64::INFINITY];
    let walls = Boxes64::new([&[0.0], &endless[..1]], [&[2.5], &endless[1..]]);
    let space = Space::periodic([Some([0.0, 2.0]), None]);
    // The wall stands there at two images: from 0 to 2.5, and from 2 to 4.5.
    let disc = Circles::new(&[3.0], &[1e9], 0.5);
    let mut kept = PreparedSet::new();
    kept.build(walls, space, Threads::Serial).expect("a wall");
    let (mut finder, mut lists) = (PairFinder::new(), all_columns());
    for set in [Set::from(walls), (&kept).into()] {
        finder.neighbors(between(disc, set).space(space), Rows::Full, &mut lists).expect("a disc");
        assert_eq!((lists.of(0), lists.image_shifts_of(0)), (&[0, 0][..], &[[1, 0], [0, 0]][..]));
        assert_eq!(lists.vectors_of(0), [[0.0, 0.0], [-0.5, 0.0]]);
        finder.neighbors(Input::within(set).space(space), Rows::Full, &mut lists).expect("a wall");
        assert_eq!((lists.of(0), lists.image_shifts_of(0)), (&[0, 0][..], &[[1, 0], [-1, 0]][..]));
        assert_eq!(lists.distances2_f64_of(0), [0.0; 2]);
    }
}

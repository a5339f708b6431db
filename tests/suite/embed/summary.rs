//! `Debug` tells in one line how much there is, and not what, so that a finder printed by chance is no page of numbers.

use core::fmt::Debug;

use jostle::{
    ActivationTable, Boxes, Capsules, Circle, CoherentFinder, ContactTracker, Input, Keys, Layers, LinearTree,
    NeighborLists, PairFinder, Permutation, PreparedBatch, PreparedSet, Queries, QueryBatch, Rows, Set, Skin, Space,
    Threads, Values, between, radix::RadixSort,
};
use jostle_testkit::{Kind, scene};

fn summary(value: &dyn Debug, says: &str) {
    let text = format!("{value:?}");
    assert!(text.len() < 800 && !text.contains('\n'), "{} bytes: {:.200}...", text.len(), text);
    assert!(text.contains(says), "{text} says not {says}");
}

#[test]
fn debug_is_a_line() {
    let scene = scene::scene::<2>(Kind::Uniform, 5_000, 1);
    let view = scene.view().with_margin(0.5);
    let mut finder = PairFinder::new();
    let found = finder.find(view).expect("a sound scene");
    let pairs = found.pairs().to_vec();
    summary(&found, &format!("pairs: {}, bodies: 5000", pairs.len()));
    summary(&finder, &format!("PairFinder {{ bodies: 5000, pairs: {}", pairs.len()));
    summary(&finder.on(Threads::Serial), "finder: PairFinder");
    summary(&finder.find(Input::among(&[view.into(); 2], &ActivationTable::all(2))).expect("sound sets"), "pairs: ");
    let mut lists = NeighborLists::with_distances();
    finder.neighbors(view, Rows::Half, &mut lists).expect("a sound scene");
    summary(&lists, &format!("bodies: 5000, neighbors: {}, columns: Wanted {{ distances2: true", pairs.len()));
    let mut skin = Skin::default();
    skin.keep(view).expect("a sound scene");
    summary(&skin, "sets: 1, bodies: 5000");

    let mut tree = LinearTree::new();
    tree.build(view, Threads::Serial).expect("a sound scene");
    let mut order = Permutation::new();
    order.take(&tree);
    summary(&tree, "LinearTree { bodies: 5000, leaves: ");
    summary(&tree.levels()[0], "Level { boxes: ");
    summary(&order, "Permutation { bodies: 5000");
    summary(&Queries::new(&tree), "bodies: 5000");
    let mut batch = QueryBatch::new();
    let asked = [Circle::new([0.0; 2], 5.0); 3];
    summary(&batch.circles(Queries::new(&tree), &asked, Threads::Serial).expect("sound queries"), "queries: 3");
    summary(&batch, "queries: 3");

    let keys: Vec<u64> = (0..5_000).collect();
    let mut tracker = ContactTracker::new();
    let changes = tracker.update(&pairs, &keys).expect("sound pairs");
    summary(&changes, &format!("begin: {}", pairs.len()));
    summary(&changes.begin(), &format!("len: {}", pairs.len()));
    summary(&tracker, &format!("contacts: {}", pairs.len()));
    summary(&tracker.on(Threads::Serial), "tracker: ContactTracker");
    summary(&Keys::from(&keys), "Within(5000 keys)");

    summary(&view, "len: 5000");
    let category: Vec<u32> = vec![1; 5_000];
    let set = Set::from(view).layers(Layers::new(&category, 1));
    summary(&set, "Each(5000 values)");
    summary(&Values::<u32>::from(&category), "Each(5000 values)");
    summary(&between(set, &tree), "bodies: 5000");
    summary(&Input::within(view).periodic([None::<[f32; 2]>; 2]), "len: 5000");
    summary(&Set::from(view).moving([&scene.radii; 2]), "Displacements([5000, 5000])");

    let (boxes, capsules) =
        (Boxes::new([&scene.radii; 2], [&scene.radii; 2]), Capsules::new([&scene.radii; 2], [&scene.radii; 2], 1.0));
    summary(&boxes, "5000");
    summary(&capsules, "5000");
    let mut prepared = PreparedSet::new();
    prepared.build(view, Space::open(), Threads::Serial).expect("a sound scene");
    summary(&prepared, "PreparedSet { bodies: 5000");
    summary(&prepared.queries(), "bodies: 5000");
    let mut batch = PreparedBatch::new();
    summary(&batch.points(prepared.queries(), &[[0.0; 2]; 3], Threads::Serial).expect("sound queries"), "queries: 3");
    summary(&batch, "queries: 3");
    let mut coherent = CoherentFinder::new();
    coherent.find(scene.view()).expect("a sound scene");
    summary(&coherent, "CoherentFinder { pairs: ");
    let (_, recording) = finder.on(Threads::Serial).find_recorded(view).expect("a sound scene");
    summary(&recording, "Recording { regions: ");
    summary(&recording.regions[0], "tasks: ");
    let mut sort = RadixSort::new();
    sort.sort_by_code(&mut keys.clone(), Threads::Serial, |&key| key);
    summary(&sort, "scratch: 5000");
}

//! From the second frame of a size on, a search allocates nothing, and it holds little: every allocation of the process
//! is counted.

mod coherent;
mod contacts;
mod counting;
mod limits;

use std::env;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};

use jostle::{
    ActivationTable, Bodies, Capsules, Circle, Input, Layers, LinearTree, NeighborLists, PairFinder, PreparedSet,
    Queries, QueryBatch, Ray, Rows, Set, Space, Threads, between,
};
use jostle_testkit::shapes::{BoxKind, boxes};
use jostle_testkit::{Kind, Scene, scene};

use counting::{allocations, live};

/// Returns the scene in a mirror, with its axes exchanged: every code changes, and the pairs stay exactly the same.
fn mirrored<const D: usize>(scene: &Scene<D>) -> Scene<D> {
    let mut centers = scene.centers.clone();
    centers.reverse();
    Scene { centers: centers.map(|column| column.into_iter().map(|x| -x).collect()), radii: scene.radii.clone() }
}

/// Returns the scene stretched a little from the origin, which adds no pairs.
fn spread<const D: usize>(scene: &Scene<D>) -> Scene<D> {
    let centers = scene.centers.each_ref().map(|column| column.iter().map(|x| x * 1.01).collect());
    Scene { centers, radii: scene.radii.clone() }
}

/// Runs one frame, and returns the number of its allocations and of the pairs found.
fn frame<const D: usize>(finder: &mut PairFinder<D>, threads: Threads<'_>, scene: &Scene<D>) -> (usize, usize) {
    let before = allocations();
    let pairs = finder.on(threads).find(scene.view()).expect("a scene within the contract").pairs().len();
    (allocations() - before, pairs)
}

/// Runs frames of two sizes by turns. The first of each size may allocate, no later one may.
fn only_first_frames_allocate<const D: usize>(kind: Kind, threads: Threads<'_>) {
    let sizes = [12_000, 500].map(|n| {
        let scene = scene::scene::<D>(kind, n, 1);
        [scene.clone(), mirrored(&scene), spread(&scene)]
    });
    let mut finder = PairFinder::new();
    for [first, ..] in &sizes {
        let (_, pairs) = frame(&mut finder, threads, first);
        assert!(pairs > 0, "{kind}: a scene without pairs tests nothing");
    }
    for frames in sizes.iter().chain(&sizes) {
        for (number, scene) in frames.iter().enumerate() {
            let (allocations, pairs) = frame(&mut finder, threads, scene);
            assert_eq!(allocations, 0, "{kind}, {D}D, n = {}, {pairs} pairs, frame {number}, {threads:?}", scene.len());
        }
    }
}

/// Runs frames of boxes, and of boxes with capsules and circles, of two sizes by turns. The first of each size may
/// allocate, no later one may.
fn only_first_frames_of_boxes_allocate<const D: usize>(threads: Threads<'_>) {
    for kind in [BoxKind::Uniform, BoxKind::Beams, BoxKind::Clustered] {
        let sizes = [20_000, 500].map(|n| boxes::<D>(kind, n));
        let (mut finder, mut lists, mut pairs) = (PairFinder::new(), NeighborLists::new(), 0);
        for (turn, boxes) in sizes.iter().cycle().take(8).enumerate() {
            let (view, before) = (boxes.view(), allocations());
            pairs += finder.on(threads).find(view).expect("boxes").pairs().len();
            finder.on(threads).count(view.with_margin(0.125)).expect("boxes");
            let allocations = allocations() - before;
            assert!(turn < 2 || allocations == 0, "{allocations}, {kind:?}, {D}D, turn {turn}, {threads:?}");
        }
        assert!(pairs > 0, "{kind:?}: a scene without pairs tests nothing");
        // Mixed shapes have a finder of their own: it keeps proxies, too.
        let mut finder = PairFinder::new();
        for turn in 0..3 {
            let ([large, small], before) = (sizes.each_ref(), allocations());
            let capsules = Capsules::new(large.lo.each_ref(), large.hi.each_ref(), 0.125);
            let circles = Bodies::from_slices(large.lo.each_ref().map(Vec::as_slice), 0.25);
            finder.on(threads).find(between(small.view(), capsules)).expect("sets");
            finder.on(threads).find(between(circles, small.view())).expect("sets");
            finder.on(threads).neighbors(small.view(), Rows::Full, &mut lists).expect("boxes");
            let allocations = allocations() - before;
            assert!(turn == 0 || allocations == 0, "{allocations} by shapes, {kind:?}, {D}D, turn {turn}, {threads:?}");
        }
    }
}

/// Checks what a finder holds between frames besides its pair list, counted by the allocator: at most 100 bytes a body.
fn little_is_held<const D: usize>(kind: Kind, threads: Threads<'_>) {
    const BODIES: usize = 200_000;
    let scene = scene::scene::<D>(kind, BODIES, 1);
    let before = live();
    let mut finder = PairFinder::new();
    for _ in 0..2 {
        frame(&mut finder, threads, &scene);
    }
    let held = live() - before;
    let stats = *finder.last().stats();
    assert!(held.abs_diff(stats.bytes) <= BODIES, "{kind}, {D}D: {held} bytes held, {} stated", stats.bytes);
    let beside = (held - stats.list_bytes) / BODIES;
    println!("{kind}, {D}D, {threads:?}: {beside} bytes a body");
    assert!(beside <= 100, "{kind}, {D}D, {threads:?}: {beside} bytes a body beside the pair list");
}

/// Checks what a finder of a small world holds, perhaps one of a thousand: at most `most` bytes besides its pair list,
/// and as many as it states, whatever else it was used for. Its scratch belongs to the thread.
fn small_worlds_take_little<const D: usize>(kind: Kind, threads: Threads<'_>, most: usize) {
    let worlds = [1, 2, 3].map(|seed| scene::scene::<D>(kind, 200, seed));
    for scene in &worlds {
        frame(&mut PairFinder::new(), threads, scene);
    }
    let before = live();
    let mut finder = PairFinder::new();
    for scene in worlds.iter().chain(&worlds) {
        frame(&mut finder, threads, scene);
    }
    let (held, stats) = (live() - before, *finder.last().stats());
    assert!(held - stats.list_bytes <= most, "{kind}, {D}D: {held} bytes held, {} of them pairs", stats.list_bytes);
    assert!(held.abs_diff(stats.bytes) <= 1_000, "{kind}, {D}D: {held} bytes held, {} stated", stats.bytes);
    let mut lists = NeighborLists::new();
    for scene in &worlds {
        finder.on(threads).neighbors(scene.view(), Rows::Full, &mut lists).expect("a scene within the contract");
        let periodic = Input::within(scene.view()).periodic([Some([0.0, 90.0]); D]);
        finder.on(threads).find(periodic).expect("a scene within the contract");
        for _ in 0..3 {
            frame(&mut finder, threads, scene);
        }
        assert_eq!(finder.last().stats().bytes, finder.bytes(), "{kind}, {D}D");
    }
}

/// Runs batches of queries by turns, so large that threads share them. The first of each may allocate, no later one
/// may.
fn only_first_batches_allocate<const D: usize>(threads: Threads<'_>) {
    let scene = scene::scene::<D>(Kind::Dense, 12_000, 1);
    let mut finder = PairFinder::new();
    let queries = Queries::new(finder.find(scene.view()).expect("a scene within the contract").tree());
    let points: Vec<_> = (0..3_000).map(|id| scene.view().center(id)).collect();
    let circles: Vec<_> = points.iter().map(|&center| Circle::new(center, 2.0)).collect();
    let rays: Vec<_> = points.iter().map(|&origin| Ray::new(origin, [1.0; D]).within(9.0)).collect();
    let mut batch = QueryBatch::new();
    for turn in 0..4 {
        let before = allocations();
        batch.circles(queries, &circles, threads).expect("circles");
        batch.rays(queries, &rays, threads).expect("rays");
        batch.nearest(queries, &points, 5, f32::INFINITY, threads).expect("points");
        let allocations = allocations() - before;
        assert!(turn == 0 || allocations == 0, "{allocations} in batch {turn}, {D}D, {threads:?}");
    }
}

/// What is kept from frame to frame for one kind of search.
struct Kept<const D: usize> {
    finder: PairFinder<D>,
    lists: NeighborLists,
}

/// A kind of search and its name. The search returns how many pairs it has found.
type Search<'a, const D: usize> = (&'a str, &'a dyn Fn(&mut Kept<D>, &Scene<D>) -> usize);

/// Runs frames of one kind of search, all of one size. The first may allocate, no later one may.
fn only_the_first_allocates<const D: usize>(
    (name, search): Search<'_, D>,
    kind: Kind,
    frames: &[Scene<D>],
    lists: NeighborLists,
) {
    let mut kept = Kept { finder: PairFinder::new(), lists };
    for (number, scene) in frames.iter().chain(frames).enumerate() {
        let before = allocations();
        let pairs = search(&mut kept, scene);
        let allocations = allocations() - before;
        assert!(pairs > 0, "{name}, {kind}: a scene without pairs tests nothing");
        assert!(number == 0 || allocations == 0, "{allocations} by {name}, {kind}, {D}D, frame {number}");
    }
}

/// Checks every search beyond that of one view, by turns of frames.
fn only_first_searches_allocate<const D: usize>(kind: Kind, threads: Threads<'_>) {
    let scene = scene::scene::<D>(kind, 12_000, 1);
    let frames = [scene.clone(), mirrored(&scene), spread(&scene)];
    let (mut tree, still) = (LinearTree::new(), scene::scene::<D>(kind, 12_000, 2));
    tree.build(still.view(), Threads::Serial).expect("a scene within the contract");
    let category: Vec<u32> = (0..12_000).map(|id| 1 << (id % 5)).collect();
    let layers = Layers::new(&category, 0b1_0111);
    let (odd, table) = (|a: u32, b: u32| (a ^ b) & 1 == 1, ActivationTable::none(3).with(0, 1).with(1, 1).with(0, 2));
    let moves = vec![0.1_f32; 12_000];
    let moves: [&[f32]; D] = core::array::from_fn(|_| moves.as_slice());
    let bounds = jostle::bounds(scene.view(), Threads::Serial).expect("a scene within the contract");
    let side = |k: usize| 0.9 * f64::from(bounds.hi[k] - bounds.lo[k]);
    let vectors = core::array::from_fn(|k| core::array::from_fn(|axis| if axis == k { side(k) } else { 0.0 }));
    let space = Space::lattice(vectors, [true; D]).at(bounds.lo.map(f64::from));
    let mut walls = PreparedSet::new();
    walls.build(still.view(), Space::open(), Threads::Serial).expect("a scene within the contract");
    let rebuilt = Mutex::new(PreparedSet::new());
    let dust: [Vec<f64>; D] =
        still.centers.each_ref().map(|column| column.iter().map(|&x| 1e-9 * f64::from(x)).collect());
    let dust_radii: Vec<f64> = still.radii.iter().map(|&radius| 1e-9 * f64::from(radius)).collect();
    let dust = Bodies::from_slices(dust.each_ref().map(Vec::as_slice), dust_radii.as_slice());
    let within_dust = ActivationTable::none(2).with(0, 0);
    let searches: [Search<'_, D>; 17] = [
        ("dust among larger bodies, by ordinals", &|kept, scene| {
            let sets = [dust.into(), scene.view().into()];
            let found = kept.finder.on(threads).find(Input::among(&sets, &within_dust)).expect("sets");
            assert!(found.stats().circle_tests < 1_000 * 12_000, "no ordinals: {:?}", found.stats());
            found.pairs().len()
        }),
        ("between a view and a prepared set", &|kept, scene| {
            1 + kept.finder.on(threads).find(between(scene.view(), &walls)).expect("sets").pairs().len()
        }),
        ("a set prepared anew", &|kept, scene| {
            let mut set = rebuilt.lock().expect("one thread");
            set.build(scene.view(), Space::open(), threads).expect("a scene within the contract");
            kept.finder.on(threads).find(&*set).expect("a set").pairs().len()
        }),
        ("between views", &|kept, scene| {
            kept.finder.on(threads).find(between(scene.view(), scene.view())).expect("sets").pairs().len()
        }),
        ("between a view and a tree", &|kept, scene| {
            1 + kept.finder.on(threads).find(between(scene.view(), &tree)).expect("sets").pairs().len()
        }),
        ("within a tree", &|kept, _| kept.finder.on(threads).find(&tree).expect("a tree").pairs().len()),
        ("layers", &|kept, scene| {
            kept.finder.on(threads).find(Set::from(scene.view()).layers(layers)).expect("a set").pairs().len()
        }),
        ("layers of a tree", &|kept, scene| {
            let tree = Set::from(&tree).layers(layers);
            1 + kept.finder.on(threads).find(between(scene.view(), tree)).expect("sets").pairs().len()
        }),
        ("a test", &|kept, scene| kept.finder.on(threads).only(&odd).find(scene.view()).expect("a view").pairs().len()),
        ("many sets", &|kept, scene| {
            let sets = [scene.view().into(), Set::from(scene.view()).layers(layers), (&tree).into()];
            let found = kept.finder.on(threads).find(Input::among(&sets, &table)).expect("sets");
            found.pairs_between(0, 1).len() + found.pairs_between(1, 1).len() + found.pairs_between(0, 2).len()
        }),
        ("rows of many sets", &|Kept { finder, lists }, scene| {
            let sets = [scene.view().into(), Set::from(scene.view()).layers(layers), (&tree).into()];
            finder.on(threads).neighbors(Input::among(&sets, &table), Rows::Full, lists).expect("sets");
            lists.neighbors().len()
        }),
        ("rows of many sets in a lattice", &|Kept { finder, lists }, scene| {
            let sets = [scene.view().into(), Set::from(scene.view()).layers(layers), (&tree).into()];
            let input = Input::among(&sets, &table).space(space);
            finder.on(threads).neighbors(input, Rows::Half, lists).expect("sets");
            lists.neighbors().len()
        }),
        ("a margin", &|kept, scene| {
            let pairs = kept.finder.on(threads).find(scene.view().with_margin(1e-4)).expect("a view").pairs().len();
            assert!(kept.finder.on(threads).still_valid(scene.view()));
            pairs
        }),
        ("many sets with a margin", &|kept, scene| {
            let with_margin = scene.view().with_margin(1e-4);
            let sets = [with_margin.into(), Set::from(with_margin).layers(layers), (&tree).into()];
            let pairs = kept.finder.on(threads).find(Input::among(&sets, &table)).expect("sets").pairs().len();
            assert!(kept.finder.on(threads).still_valid(Input::among(&sets, &table)));
            pairs
        }),
        ("a lattice", &|kept, scene| {
            let input = Input::within(scene.view()).space(space);
            let found = kept.finder.on(threads).find(input).expect("a lattice");
            assert_eq!(found.image_shifts().len(), found.pairs().len());
            found.pairs().len()
        }),
        ("many sets in a lattice, one of them moving", &|kept, scene| {
            let sets = [Set::from(scene.view()).moving(moves), Set::from(scene.view()).layers(layers), (&tree).into()];
            let input = Input::among(&sets, &table).space(space);
            let found = kept.finder.on(threads).find(input).expect("a lattice");
            assert_eq!(found.times_of_impact().len(), found.pairs().len());
            found.pairs_between(0, 1).len()
        }),
        ("without a list", &|kept, scene| {
            let among = between(scene.view(), Set::from(scene.view()).layers(layers));
            let visited = AtomicUsize::new(0);
            let visit = |_, _| {
                visited.fetch_add(1, Ordering::Relaxed);
            };
            kept.finder.on(threads).for_each_pair(among, visit).expect("sets");
            assert_eq!(kept.finder.on(threads).count(among).expect("sets") as usize, visited.load(Ordering::Relaxed));
            visited.into_inner()
        }),
    ];
    for search in searches {
        only_the_first_allocates(search, kind, &frames, NeighborLists::new());
    }
    for rows in [Rows::Half, Rows::Full] {
        let within: Search<'_, D> = (&format!("{rows:?} rows"), &|kept, scene| {
            kept.finder.on(threads).neighbors(scene.view(), rows, &mut kept.lists).expect("a view").pairs as usize
        });
        let across: Search<'_, D> = ("rows between sets", &|kept, scene| {
            let among = between(scene.view(), scene.view());
            kept.finder.on(threads).neighbors(among, rows, &mut kept.lists).expect("sets").pairs as usize
        });
        for search in [within, across] {
            only_the_first_allocates(search, kind, &frames, NeighborLists::new());
            only_the_first_allocates(search, kind, &frames, NeighborLists::with_distances());
        }
    }
}

fn every_kind(threads: Threads<'_>) {
    only_first_batches_allocate::<2>(threads);
    only_first_batches_allocate::<3>(threads);
    only_first_frames_of_boxes_allocate::<2>(threads);
    only_first_frames_of_boxes_allocate::<3>(threads);
    coherent::later_frames_allocate_nothing::<2>(threads);
    coherent::later_frames_allocate_nothing::<3>(threads);
    limits::too_many_pairs_take_little_memory::<2>(threads);
    limits::too_many_pairs_take_little_memory::<3>(threads);
    limits::rows_beyond_memory_are_refused(threads);
    for kind in Kind::ALL {
        only_first_frames_allocate::<2>(kind, threads);
        only_first_frames_allocate::<3>(kind, threads);
        only_first_searches_allocate::<2>(kind, threads);
        only_first_searches_allocate::<3>(kind, threads);
        little_is_held::<2>(kind, threads);
        little_is_held::<3>(kind, threads);
        small_worlds_take_little::<2>(kind, threads, 16_000);
        small_worlds_take_little::<3>(kind, threads, 20_000);
    }
}

/// Makes every worker steal once, since rayon allocates at a thread's first theft.
fn warm_up() {
    // There are as many tasks as workers, and tasks wait for each other. So no worker takes two tasks, and all but the
    // worker that lists them steal.
    fn meet() {
        let all = Barrier::new(rayon::current_num_threads());
        rayon::scope(|scope| {
            for _ in 0..rayon::current_num_threads() {
                scope.spawn(|_| {
                    all.wait();
                });
            }
        });
    }
    meet();
    // Then another worker lists them.
    let stolen = AtomicBool::new(false);
    let wait = || {
        while !stolen.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    };
    rayon::join(wait, || {
        stolen.store(true, Ordering::Release);
        meet();
    });
    rayon::broadcast(|_| ());
}

/// Runs everything on the calling thread alone.
fn on_one_thread() {
    every_kind(Threads::Serial);
    contacts::later_rounds_allocate_nothing(Threads::Serial);
}

/// Runs everything within a pool, since a call from outside goes through rayon's injector, which allocates.
fn in_a_pool() {
    jostle_testkit::pool(3).install(|| {
        warm_up();
        every_kind(Threads::Current);
        contacts::later_rounds_allocate_nothing(Threads::Current);
    });
}

/// Says which half a process is to run. The test sets it for the two processes that it starts.
const HALF: &str = "JOSTLE_ALLOCATION_HALF";

/// Runs without the test harness, which allocates when it reports that a test takes long: allocations of the whole
/// process are counted.
///
/// So each half is a process of its own, and the two run side by side.
fn main() {
    let halves = [("one thread", on_one_thread as fn()), ("a pool", in_a_pool)];
    if let Ok(asked) = env::var(HALF) {
        let (_, run) = halves.into_iter().find(|(name, _)| *name == asked).expect("a half by its name");
        return run();
    }
    let program = env::current_exe().expect("the path of this program");
    let start = |(name, _)| (name, Command::new(&program).env(HALF, name).spawn().expect("a process"));
    let ended = halves.map(start).map(|(name, mut half)| (name, half.wait().expect("a process that was started")));
    for (name, status) in ended {
        assert!(status.success(), "{name}: {status}");
    }
}

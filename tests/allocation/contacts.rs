//! From the second frame of a size on, contacts over time, their geometry and the sorting of arrays allocate nothing.

use jostle::{Bodies, Capsules, Contact, ContactTracker, PairFinder, Permutation, Threads, contacts, contacts_between};
use jostle_testkit::{Kind, Scene, scene};

use crate::counting::allocations;

/// Everything that is kept from frame to frame.
#[derive(Default)]
struct Host {
    finder: PairFinder<2>,
    tracker: ContactTracker,
    contacts: Vec<Contact<2>>,
    of_rods: Vec<Contact<2>>,
    order: Permutation,
    names: Vec<u64>,
    buffer: Vec<u64>,
}

impl Host {
    /// Runs one frame of the first bodies of a scene, and returns the number of allocations.
    fn frame(&mut self, threads: Threads<'_>, scene: &Scene<2>, keys: &[u64]) -> usize {
        let before = allocations();
        let centers = scene.centers.each_ref().map(|column| &column[..keys.len()]);
        let bodies = Bodies::from_slices(centers, &scene.radii[..keys.len()]);
        let found = self.finder.on(threads).find(bodies).expect("a sound scene");
        self.tracker.on(threads).update(found.pairs(), keys).expect("keys");
        contacts(found.pairs(), bodies, threads, &mut self.contacts).expect("sound pairs");
        let [x, y] = centers;
        let rods = Capsules::new([&x[..1], &y[..1]], [&x[1..2], &y[1..2]], 0.5);
        let pairs = found.pairs().first().map_or(&[][..], |_| &[[0, 0]]);
        contacts_between(pairs, rods, bodies, threads, &mut self.of_rods).expect("sound pairs");
        self.order.take(found.tree());
        self.names.clear();
        self.names.extend_from_slice(keys);
        self.order.sort_by_rank_copy(&mut self.names, &mut self.buffer, threads).expect("a name each");
        self.order.sort_by_rank(&mut self.names).expect("a name each");
        allocations() - before
    }
}

/// Runs frames in which bodies come, go and change places. From the second round on, nothing is allocated.
pub(crate) fn later_rounds_allocate_nothing(threads: Threads<'_>) {
    let scene = scene::scene::<2>(Kind::Dense, 40_000, 1);
    let all: Vec<u64> = (0..40_000).collect();
    let backwards: Vec<u64> = all.iter().rev().copied().collect();
    let others: Vec<u64> = (100_000..140_000).collect();
    let rounds = [&all[..], &all, &all[..39_000], &others, &backwards[..38_000], &backwards, &all[..100], &all];
    let mut host = Host::default();
    for round in 0..3 {
        for (frame, keys) in rounds.iter().enumerate() {
            let allocations = host.frame(threads, &scene, keys);
            assert!(round == 0 || allocations == 0, "{allocations} in frame {frame} of round {round}, {threads:?}");
        }
    }
    let begun = host.tracker.last().begin().len();
    assert!(begun > 100_000, "{begun} contacts begin: the frame before had few bodies");
}

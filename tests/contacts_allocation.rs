//! From the second frame of a size on, contacts over time, their geometry and the sorting of arrays allocate nothing:
//! every allocation of the process is counted.
#![allow(unsafe_code, reason = "a counting allocator is an implementation of the unsafe trait GlobalAlloc")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use jostle::{Bodies, Contact, ContactTracker, PairFinder, Permutation, Threads, Workers, contacts};
use jostle_testkit::{Kind, Scene, scene};
use rayon::ThreadPoolBuilder;

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on unchanged to the system's allocator, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, and all memory came from `System`.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`, and all memory came from `System`.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Everything that is kept from frame to frame.
#[derive(Default)]
struct Host {
    finder: PairFinder<2>,
    tracker: ContactTracker,
    contacts: Vec<Contact<2>>,
    order: Permutation,
    names: Vec<u64>,
    buffer: Vec<u64>,
}

impl Host {
    /// One frame of the first bodies of a scene; the number of allocations.
    fn frame(&mut self, threads: Threads<'_>, scene: &Scene<2>, keys: &[u64]) -> usize {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        let centers = scene.centers.each_ref().map(|column| &column[..keys.len()]);
        let bodies = Bodies::from_slices(centers, &scene.radii[..keys.len()]);
        let found = self.finder.on(threads).find(bodies).expect("a sound scene");
        self.tracker.on(threads).update(found.pairs(), keys).expect("keys");
        contacts(found.pairs(), bodies, threads, &mut self.contacts).expect("sound pairs");
        self.order.take(found.tree());
        self.names.clear();
        self.names.extend_from_slice(keys);
        let workers = if matches!(threads, Threads::Serial) { Workers::Serial } else { Workers::current() };
        self.order.sort_by_rank_copy(&mut self.names, &mut self.buffer, workers).expect("a name each");
        self.order.sort_by_rank(&mut self.names).expect("a name each");
        ALLOCATIONS.load(Ordering::Relaxed) - before
    }
}

/// Frames in which bodies come, go and change places; the second time round, nothing is allocated.
fn later_rounds_allocate_nothing(threads: Threads<'_>) {
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

/// Lets every worker run and steal, so that what rayon allocates once a thread is allocated.
fn warm_up() {
    fn split(depth: u32) {
        if depth > 0 {
            rayon::join(|| split(depth - 1), || split(depth - 1));
        }
    }
    for _ in 0..20 {
        split(10);
        rayon::broadcast(|_| ());
    }
}

/// One test in the file: the tests of a binary run side by side, and the count is of the whole process.
#[test]
fn later_frames_allocate_nothing() {
    later_rounds_allocate_nothing(Threads::Serial);
    ThreadPoolBuilder::new().num_threads(3).build().expect("threads").install(|| {
        warm_up();
        later_rounds_allocate_nothing(Threads::Current);
    });
}

//! A long simulation whose bodies come, go, grow and move, on changing threads. Answers are the same to the last frame,
//! and memory at the end is no more than after a fifth of it.

use jostle::{ContactTracker, Input, InputError, Layers, NeighborLists, PairFinder, Rows, Set, Spheres64, Threads};
use jostle_testkit::pairs::ascending;
use jostle_testkit::random::Random;
use jostle_testkit::{Scene, hash, pool, sweep};
use rayon::ThreadPool;

/// Frames from one trough of the number of bodies to the next.
const WAVE: usize = 4_000;

/// Bodies at a trough, and how many more at a crest. One thread searches some frames alone; threads share the others.
const BODIES: [usize; 2] = [5_000, 5_000];

/// The width of the world. At a crest bodies cover a third of it.
const WIDTH: f32 = 160.0;

/// One frame in so many is refused.
const REFUSED: usize = 97;

/// In one frame of so many, everything else that a finder does is done as well; in one of so many, pairs are found
/// again in another way.
const REST: usize = 50;
const SWEPT: usize = 1_000;

/// Returns a number from 0 to 1.
fn unit(random: &mut Random) -> f32 {
    (random.next() >> 40) as f32 / (1 << 24) as f32
}

/// Bodies on their way, each with a key of its own.
struct World {
    bodies: Scene<2>,
    velocities: [Vec<f32>; 2],
    keys: Vec<u64>,
    next_key: u64,
    random: Random,
}

impl World {
    fn new() -> Self {
        let bodies = Scene { centers: [const { Vec::new() }; 2], radii: Vec::new() };
        Self { bodies, velocities: [const { Vec::new() }; 2], keys: Vec::new(), next_key: 0, random: Random(2026) }
    }

    fn add(&mut self) {
        for axis in 0..2 {
            self.bodies.centers[axis].push(WIDTH * unit(&mut self.random));
            self.velocities[axis].push(unit(&mut self.random) - 0.5);
        }
        self.bodies.radii.push(0.2 + 0.3 * unit(&mut self.random));
        self.keys.push(self.next_key);
        self.next_key += 1;
    }

    /// Removes a body. The last body takes its id.
    fn remove(&mut self, id: usize) {
        for column in self.bodies.centers.iter_mut().chain(&mut self.velocities).chain([&mut self.bodies.radii]) {
            column.swap_remove(id);
        }
        self.keys.swap_remove(id);
    }

    /// Moves all bodies, has some come and go, and now and then makes one a giant, or puts it far away.
    fn step(&mut self, frame: usize) {
        for (column, velocities) in self.bodies.centers.iter_mut().zip(&mut self.velocities) {
            for (x, v) in column.iter_mut().zip(velocities) {
                *x += *v;
                if !(0.0..=WIDTH).contains(x) {
                    *v = -*v;
                    *x = x.clamp(0.0, WIDTH);
                }
            }
        }
        let phase = frame % WAVE;
        let crest = phase.min(WAVE - phase) as f32 / (WAVE / 2) as f32;
        let wanted = BODIES[0] + (BODIES[1] as f32 * crest) as usize;
        for _ in 0..20.min(self.keys.len()) {
            let id = self.random.below(self.keys.len());
            self.remove(id);
        }
        while self.keys.len() > wanted {
            let id = self.random.below(self.keys.len());
            self.remove(id);
        }
        while self.keys.len() < wanted {
            self.add();
        }
        let id = self.random.below(self.keys.len());
        match frame % 200 {
            100 => self.bodies.radii[id] = 20.0,
            150 => self.bodies.centers[0][id] = 1e18,
            // All giants shrink again.
            199 => self.bodies.radii.iter_mut().for_each(|radius| *radius = radius.min(0.5)),
            _ => {}
        }
    }
}

/// All that is kept from frame to frame.
struct Run {
    finder: PairFinder<2>,
    finder_in_space: PairFinder<3>,
    lists: [NeighborLists; 2],
    tracker: ContactTracker,
    pools: [ThreadPool; 2],
    hash: u64,
}

impl Run {
    fn new() -> Self {
        Self {
            finder: PairFinder::new(),
            finder_in_space: PairFinder::new(),
            lists: [NeighborLists::new(), NeighborLists::with_distances()],
            tracker: ContactTracker::new(),
            pools: [2, 3].map(pool),
            hash: 0,
        }
    }

    fn take(&mut self, numbers: &[[u32; 2]]) {
        self.hash = self.hash.rotate_left(1) ^ hash::sequence(numbers);
    }

    fn frame(&mut self, frame: usize, world: &mut World) {
        let view = world.bodies.view();
        let pool = [None, Some(0), Some(1)][frame % 3];
        let found = match pool {
            None => self.finder.on(Threads::Serial).find(view).map(|found| found.pairs()),
            Some(at) => self.pools[at].install(|| self.finder.find(view).map(|found| found.pairs())),
        };
        let pairs = found.expect("a sound frame");
        let changes = self.tracker.update(pairs, &world.keys).expect("sound pairs");
        let numbers = [changes.begin(), changes.persist(), changes.end()].map(|list| list.len() as u32);
        self.hash = self.hash.rotate_left(1) ^ hash::sequence(pairs) ^ hash::sequence(&[[numbers[0], numbers[2]]]);
        assert_eq!((numbers[0] + numbers[1]) as usize, pairs.len());
        if frame.is_multiple_of(SWEPT) {
            assert!(ascending(pairs) == sweep::pairs(view), "frame {frame}: other pairs than a sweep finds");
        }
        if frame.is_multiple_of(REFUSED) {
            self.refuse(frame, world);
        }
        if frame.is_multiple_of(REST) {
            self.rest(world);
        }
    }

    /// Checks that a frame with an unsound body is refused by its id, and that the last result stands.
    fn refuse(&mut self, frame: usize, world: &mut World) {
        let before = self.finder.last().pairs().len();
        let id = frame % world.keys.len();
        let x = core::mem::replace(&mut world.bodies.centers[frame % 2][id], f32::NAN);
        let refused = self.finder.find(world.bodies.view()).map(|found| found.pairs().len());
        assert!(
            matches!(refused, Err(InputError::Bodies { count: 1, ref first }) if first[0].0 == id as u32),
            "frame {frame}: {refused:?}"
        );
        world.bodies.centers[frame % 2][id] = x;
        assert_eq!(self.finder.last().pairs().len(), before);
    }

    /// Runs lists, layers, periods, paths and `f64`.
    fn rest(&mut self, world: &World) {
        let view = world.bodies.view();
        for lists in &mut self.lists {
            self.finder.neighbors(view, Rows::Full, lists).expect("a sound frame");
        }
        let sum = self.lists[1].distances2().iter().fold(0, |sum: u64, x| sum.wrapping_add(x.to_bits().into()));
        let neighbors = self.lists[0].neighbors().len() as u32;
        self.take(&[[neighbors, sum as u32], [(sum >> 32) as u32, 0]]);
        let category: Vec<u32> = world.keys.iter().map(|key| 1 << (key % 3)).collect();
        let layered = Set::from(view).layers(Layers::new(&category, 5));
        let found = self.finder.find(layered).expect("a sound frame").pairs().to_vec();
        self.take(&found);
        let moves = world.velocities.each_ref().map(Vec::as_slice);
        let giants = view.radii();
        let small = (0..view.len()).all(|id| giants.get(id) < 1.0 && view.center(id)[0] < 1e9);
        if small {
            let swept = self.finder.find(Set::from(view).moving(moves)).expect("a sound frame").pairs().to_vec();
            let borders = [Some([0.0, WIDTH]), Some([10.0, WIDTH])];
            let periodic =
                self.finder.find(Input::within(view).periodic(borders)).expect("a sound frame").pairs().to_vec();
            self.take(&swept);
            self.take(&periodic);
        }
        let [x, y] = world.bodies.centers.each_ref().map(|column| column.iter().map(|&x| f64::from(x) + 1e9).collect());
        let (x, y): (Vec<f64>, Vec<f64>) = (x, y);
        let space = Spheres64::new(&x, &y, &y, 0.4);
        let found = self.finder_in_space.find(space).expect("a sound frame").pairs().to_vec();
        self.take(&found);
    }
}

/// Returns resident memory in kilobytes, where the system tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Returns the hash of so many frames, and resident memory after each hundredth of them.
fn soak(frames: usize) -> (u64, Vec<u64>) {
    let (mut world, mut run, mut memory) = (World::new(), Run::new(), Vec::new());
    for frame in 0..frames {
        world.step(frame);
        run.frame(frame, &mut world);
        if (frame + 1).is_multiple_of(frames / 100) {
            memory.extend(resident());
        }
    }
    (run.hash, memory)
}

#[test]
fn a_hundred_frames() {
    assert_eq!(format!("{:016x}", soak(100).0), "fe4db1a17a57f18b");
}

/// `cargo test --release --test builds soak -- --ignored --nocapture`
#[test]
#[ignore = "takes minutes"]
fn a_hundred_thousand_frames() {
    let (hash, memory) = soak(100_000);
    println!("hash {hash:016x}, kilobytes resident after each hundredth: {memory:?}");
    assert_eq!(format!("{hash:016x}"), "9afa943311b59719");
    // Two tenths are five waves: later waves seldom find a list larger than it ever was. Memory that a frame takes and
    // gives back at once is resident at some hundredths, and not at others.
    let most = |part: &[u64]| part.iter().copied().max();
    let (warm, last) = (most(&memory[..memory.len() / 5]), most(&memory[memory.len() * 9 / 10..]));
    if let (Some(warm), Some(last)) = (warm, last) {
        assert!(last * 100 <= warm * 101, "resident memory grew: {memory:?}");
    }
}

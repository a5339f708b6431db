//! Frames of bodies that move little, by a [`CoherentFinder`] and from scratch. The two take turns in one process,
//! sixteen frames in succession each. So each finds in the caches what its last frame has left there, as in a program
//! that makes all of its frames by one of the two. Each body moves straight on, in all directions, all at one speed, or
//! at the speeds of a gas with that speed as their root mean square. For each scene it prints what a frame costs,
//! rebuilds included, relative to a search from scratch; what kept frames and rebuilds cost alone; and how many frames
//! a list lasts.
//!
//! `cargo bench -p jostle-benches --bench coherent -- [2d|3d] [rows] [gas|flow|walls|turnover|turning|springs] [periodic|oblique] [double] [layers] [parts|many] [moving] [SCENE...] [N...] [SPEED%...] [THREADSt]`

mod asked;
mod springs;
mod way;

use std::time::Instant;

use jostle::{CoherentFinder, Input, NeighborLists, PairFinder, Rows};
use jostle_testkit::pairs::ascending;
use jostle_testkit::{Kind, scene};

use asked::Asked;
use way::Way;

/// Frames are searched until they have taken so many milliseconds and made more than so many lists, but at most so many
/// frames.
const MILLISECONDS: f64 = 2_500.0;
const LISTS: usize = 5;
const FRAMES: usize = 400;

/// Successive frames by one of the two. The last one is checked.
const ROW: usize = 16;

/// Seconds of one frame.
#[derive(Default)]
struct Frame {
    coherent: f64,
    scratch: f64,
    is_new: bool,
}

/// Both ways to the same answer.
struct Both<const D: usize> {
    rows: bool,
    coherent: CoherentFinder<D>,
    scratch: PairFinder<D>,
    lists: [NeighborLists; 2],
}

impl<const D: usize> Both<D> {
    fn time(&mut self, input: Input<'_, D>, coherent: bool) -> f64 {
        let (started, [of_coherent, of_scratch]) = (Instant::now(), &mut self.lists);
        match (coherent, self.rows) {
            (true, false) => drop(self.coherent.find(input).expect("a sound scene")),
            (false, false) => drop(self.scratch.find(input).expect("a sound scene")),
            (true, true) => drop(self.coherent.neighbors(input, Rows::Full, of_coherent).expect("a sound scene")),
            (false, true) => drop(self.scratch.neighbors(input, Rows::Full, of_scratch).expect("a sound scene")),
        }
        started.elapsed().as_secs_f64()
    }

    /// Searches `ROW` successive frames from number `first` on, each by both ways.
    fn row(&mut self, first: usize, way: &mut Way<D>, frames: &mut Vec<Frame>) {
        frames.resize_with(first + ROW, Frame::default);
        let coherent_first = (first / ROW).is_multiple_of(2);
        for coherent in [coherent_first, !coherent_first] {
            for number in first..first + ROW {
                way.go_to(number);
                let before = self.coherent.rebuilds();
                let (took, frame) = (self.time(way.input(&mut Vec::new()), coherent), &mut frames[number]);
                if coherent {
                    (frame.coherent, frame.is_new) = (took, self.coherent.rebuilds() > before);
                } else {
                    frame.scratch = took;
                }
            }
        }
        self.check();
    }

    fn check(&self) {
        if self.rows {
            let [a, b] = &self.lists;
            assert!(a.offsets() == b.offsets() && a.neighbors() == b.neighbors(), "the same rows");
        } else {
            let [a, b] = [self.coherent.last(), self.scratch.last()];
            assert!(ascending(a.pairs()) == ascending(b.pairs()), "the same pairs");
        }
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn run<const D: usize>(asked: &Asked, kind: Kind, n: usize, speed: f64) {
    let mut way = Way::new(scene::scene::<D>(kind, n, 1), speed / 100.0, asked);
    let mut both = Both {
        rows: asked.rows,
        coherent: CoherentFinder::new(),
        scratch: PairFinder::new(),
        lists: [NeighborLists::new(), NeighborLists::new()],
    };
    // The first frames tell how fast bodies move.
    let (mut frames, mut lists, mut spent) = (Vec::new(), 0, 0.0);
    while frames.len() < FRAMES && (lists <= LISTS || spent < asked.milliseconds) {
        let first = frames.len();
        both.row(first, &mut way, &mut frames);
        for frame in &frames[first..] {
            lists += usize::from(frame.is_new);
            spent += (frame.coherent + frame.scratch) * 1e3;
        }
    }
    // Only whole lists count: from one rebuild to the next. The first of more than two is left out, since it takes
    // memory. Single searches from scratch together count as one list.
    let mut starts: Vec<_> = (3..frames.len()).filter(|&at| frames[at].is_new).collect();
    if starts.len() > 3 {
        starts.remove(0);
    }
    let (Some(&first), Some(&last)) = (starts.first(), starts.last()) else { return };
    let (frames, count) = (&frames[first..last.max(first + 1)], starts.len().saturating_sub(1).max(1));
    let scratch = median(frames.iter().map(|frame| frame.scratch));
    let of =
        |is_new| median(frames.iter().filter(|frame| frame.is_new == is_new).map(|frame| frame.coherent)) / scratch;
    let by_list = frames.chunk_by(|_, next| !next.is_new);
    let sums = by_list.map(|list| {
        let sum = |time: fn(&Frame) -> f64| list.iter().map(time).sum::<f64>();
        sum(|frame| frame.coherent) / sum(|frame| frame.scratch)
    });
    println!(
        "{D}D {:10} {n:>8} {speed:5}% {:8.2} ns a body from scratch; a frame {:5.3} of it: kept {:5.3}, anew {:5.2}, lists of {:5.1} frames",
        kind.to_string(),
        scratch * 1e9 / n as f64,
        median(sums),
        of(false),
        of(true),
        frames.len() as f64 / count as f64,
    );
}

fn main() {
    let asked = Asked::new();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(asked.threads).build().expect("threads");
    pool.install(|| {
        for &dim in &asked.dims {
            for &kind in &asked.kinds {
                for (&n, &speed) in asked.sizes.iter().flat_map(|n| asked.speeds.iter().map(move |speed| (n, speed))) {
                    if dim == 2 { run::<2>(&asked, kind, n, speed) } else { run::<3>(&asked, kind, n, speed) }
                }
            }
        }
    });
}

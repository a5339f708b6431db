//! Frames of bodies that go on, turn, swell, jump, come and go. Each frame has the pairs or the rows of a search from
//! scratch, in one order on one thread and on three and by any instruction set, or is refused where that search
//! refuses.

use jostle::{CoherentFinder, CoherentSearch, Isa, NeighborLists, PairFinder, Rows, Threads};
use jostle_testkit::Scene;
use jostle_testkit::algebra::PlainLayers;

use crate::crowd::Crowd;
use crate::layering::{Layering, set};
use crate::number::Number;
use crate::ways::{POOL, ascending};

/// The most frames, and the most frames where bodies stand in company.
const FRAMES: u8 = 40;
const FRAMES_IN_COMPANY: u8 = 6;

arbitrary! {
    /// What happens to a body before a frame.
    #[derive(Debug)]
    struct Turn {
        frame: u8,
        id: u8,
        kind: u8,
        number: Number,
    }
}

arbitrary! {
    #[derive(Debug)]
    struct Input {
        crowd: Crowd,
        in_space: bool,
        isa: u8,
        frames: u8,
        /// Steps of a frame, repeated over the bodies, in units of two to the power of `exponent`.
        steps: Vec<Number>,
        exponent: i8,
        turns: Vec<Turn>,
        layering: Option<Layering>,
        /// Borders of the first axis, where it repeats.
        borders: Option<[Number; 2]>,
        /// A bit for each frame that is asked for rows, half or full.
        rows: u16,
        half: bool,
        /// Only pairs whose ids differ in one of these bits are kept.
        only: Option<u8>,
    }
}

pub(crate) fn run(bytes: &[u8]) {
    crate::with(bytes, |input: &Input| if input.in_space { check::<3>(input) } else { check::<2>(input) });
}

/// Bodies and their steps, a column for each axis.
struct Way<const D: usize> {
    now: Scene<D>,
    steps: [Vec<f32>; D],
}

impl<const D: usize> Way<D> {
    fn new(input: &Input) -> Self {
        let (now, unit): (Scene<D>, _) = (input.crowd.scene(), input.unit());
        // Far steps would put thousands of points in one place.
        let far = if input.crowd.in_company() { 1.0 } else { f32::INFINITY };
        let step = |at: usize| match input.steps.len() {
            0 => 0.0,
            count => (input.steps[at % count].sound() * unit).clamp(-far, far),
        };
        let steps = core::array::from_fn(|axis| (0..now.len()).map(|id| step(id * D + axis)).collect());
        Self { now, steps }
    }

    fn go(&mut self) {
        for (column, steps) in self.now.centers.iter_mut().zip(&self.steps) {
            column.iter_mut().zip(steps).for_each(|(x, step)| *x += step);
        }
    }

    /// Changes bodies, and returns whether the finders are to forget what they have kept.
    fn turn(&mut self, turn: &Turn, unit: f32) -> bool {
        let (id, axis) = (usize::from(turn.id), usize::from(turn.kind >> 4) % D);
        let Way { now, steps } = self;
        match turn.kind % 8 {
            0 => steps[axis].iter_mut().for_each(|step| *step = -*step),
            1 => steps[axis].get_mut(id).into_iter().for_each(|step| *step = turn.number.sound() * unit),
            2 => now.centers[axis].get_mut(id).into_iter().for_each(|x| *x = turn.number.sound()),
            3 => now.centers[axis].get_mut(id).into_iter().for_each(|x| *x = turn.number.value()),
            4 => now.radii.get_mut(id).into_iter().for_each(|radius| *radius = turn.number.sound().abs()),
            5 => now.radii.iter_mut().for_each(|radius| *radius *= 1.0 + f32::from(turn.id) / 256.0),
            6 => {
                now.centers.iter_mut().for_each(|column| column.truncate(column.len() - column.len() / 8));
                now.radii.truncate(now.centers[0].len());
            }
            _ => return true,
        }
        false
    }
}

impl Input {
    fn unit(&self) -> f32 {
        2.0_f32.powi((self.exponent % 32).into())
    }

    fn among<'a, const D: usize>(&self, scene: &'a Scene<D>, layers: Option<&'a PlainLayers>) -> jostle::Input<'a, D> {
        let within = jostle::Input::within(set(scene.view(), layers));
        let Some(borders) = self.borders else { return within };
        // The period is long, so that each body has few images.
        let largest = scene.radii.iter().fold(0.0, |largest: f32, radius| largest.max(radius.abs()));
        let [lo, hi] = borders.map(Number::sound);
        let hi = lo.max(hi).max(lo + 4.1 * largest).max(lo + 64.0);
        let mut axes = [None; D];
        axes[0] = Some([lo, hi].map(f64::from));
        within.periodic(axes)
    }
}

/// The answer of a frame: pairs in their order, or rows with distances as bits. A refused frame has none.
#[derive(Debug, PartialEq)]
enum Answer {
    Pairs(Vec<[u32; 2]>),
    Rows(Vec<usize>, Vec<u32>, Vec<u32>),
}

impl Answer {
    fn of(lists: &NeighborLists) -> Self {
        let bits = lists.distances2().iter().map(|x| x.to_bits()).collect();
        Self::Rows(lists.offsets().to_vec(), lists.neighbors().to_vec(), bits)
    }

    fn ascending(self) -> Self {
        if let Self::Pairs(pairs) = self { Self::Pairs(ascending(pairs)) } else { self }
    }
}

fn check<const D: usize>(input: &Input) {
    let mut way = Way::<D>::new(input);
    let layers = input.layering.as_ref().map(|layering| layering.of(way.now.len()));
    let isas: Vec<_> = Isa::available().collect();
    let mut finders = [CoherentFinder::<D>::new(), CoherentFinder::new()];
    finders[1].set_isa(isas[usize::from(input.isa) % isas.len()]);
    let (mut scratch, mut lists) = (PairFinder::<D>::new(), [(); 3].map(|()| NeighborLists::with_distances()));
    let rows = if input.half { Rows::Half } else { Rows::Full };
    let keeps = |a: u32, b: u32| input.only.is_none_or(|only| (a ^ b) & u32::from(only) != 0);
    let most = if input.crowd.in_company() { FRAMES_IN_COMPANY } else { FRAMES };
    for frame in 0..=input.frames % most {
        for turn in input.turns.iter().filter(|turn| turn.frame % FRAMES == frame) {
            if way.turn(turn, input.unit()) {
                finders.iter_mut().for_each(CoherentFinder::forget);
            }
        }
        let among = input.among(&way.now, layers.as_ref());
        // Rows are not compared where space repeats: images of one neighbour come in an order of their own.
        let of_rows = input.borders.is_none() && input.rows >> (frame % 16) & 1 == 1;
        let [in_one, in_several, from_scratch] = &mut lists;
        let search = |search: CoherentSearch<'_, '_, D>, lists: &mut NeighborLists| {
            let search = if input.only.is_some() { search.only(&keeps) } else { search };
            if of_rows {
                search.neighbors(among, rows, lists).ok().map(|_| Answer::of(lists))
            } else {
                search.find(among).ok().map(|found| Answer::Pairs(found.pairs().to_vec()))
            }
        };
        let [one, several] = &mut finders;
        let found = search(one.on(Threads::Serial), in_one);
        let again = POOL.install(|| search(several.on(Threads::Current), in_several));
        assert!(found == again, "another result on three threads, frame {frame}");
        let plain = if input.only.is_some() { scratch.only(&keeps) } else { scratch.on(Threads::Serial) };
        let expected = if of_rows {
            plain.neighbors(among, rows, from_scratch).ok().map(|_| Answer::of(from_scratch))
        } else {
            plain.find(among).ok().map(|found| Answer::Pairs(found.pairs().to_vec()))
        };
        let [found, expected] = [found, expected].map(|answer| answer.map(Answer::ascending));
        // Where space repeats, a coherent finder accepts bodies that have gone too far since they were listed.
        if input.borders.is_some() && expected.is_none() {
            way.go();
            continue;
        }
        assert!(found == expected, "another result than from scratch, frame {frame}");
        way.go();
    }
}

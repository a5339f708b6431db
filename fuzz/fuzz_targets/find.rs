//! Any bodies at all: the pairs are the oracle's, in one order on one thread and on two and by any instruction set, or
//! the input is refused exactly as it should be.
#![no_main]

use std::sync::LazyLock;

use arbitrary::Arbitrary;
use jostle::{Isa, PairFinder, Threads};
use jostle_testkit::{Scene, oracle, sweep};
use libfuzzer_sys::fuzz_target;
use rayon::{ThreadPool, ThreadPoolBuilder};

static TWO_THREADS: LazyLock<ThreadPool> =
    LazyLock::new(|| ThreadPoolBuilder::new().num_threads(2).build().expect("threads"));

/// A number worth trying. Most are such that distances and sums of radii meet exactly or almost.
#[derive(Debug, Clone, Copy, Arbitrary)]
enum Number {
    Lattice(i8),
    Tenths(i8),
    Unit(u16),
    Power { exponent: i8, negative: bool },
    UlpsFrom { start: u8, steps: i8 },
    Bits(u32),
}

impl Number {
    fn value(self) -> f32 {
        match self {
            Self::Lattice(i) => f32::from(i) * 0.5,
            Self::Tenths(i) => f32::from(i) * 0.1,
            Self::Unit(fraction) => f32::from(fraction) / 65_536.0,
            Self::Power { exponent, negative } => 2.0_f32.powi(exponent.into()) * if negative { -1.0 } else { 1.0 },
            Self::UlpsFrom { start, steps } => {
                let start =
                    [0.0, 1.0, 0.1, 1e7, 1e-30, 1e18, oracle::LIMIT, oracle::LIMIT / 2.0][usize::from(start % 8)];
                f32::from_bits(start.to_bits().saturating_add_signed(steps.into()))
            }
            Self::Bits(bits) => f32::from_bits(bits),
        }
    }
}

/// Some bodies in a row, each a step from the last.
#[derive(Debug, Clone, Copy, Arbitrary)]
struct Row {
    center: [Number; 3],
    step: [i8; 3],
    radius: Number,
    more: u8,
}

impl Row {
    /// The step in units of the radius keeps neighbours near touching.
    fn bodies<const D: usize>(self) -> impl Iterator<Item = ([f32; D], f32)> {
        let radius = self.radius.value();
        let at =
            move |i: u8, axis: usize| self.center[axis].value() + f32::from(i) * f32::from(self.step[axis]) * radius;
        (0..=self.more % 32).map(move |i| (core::array::from_fn(|axis| at(i, axis)), radius))
    }
}

#[derive(Debug, Arbitrary)]
struct Input {
    rows: Vec<Row>,
    in_space: bool,
    /// Which instruction set runs on two threads.
    isa: u8,
    /// So many others stand beside the bodies that two threads do share the work.
    in_company: bool,
}

/// More bodies than a search leaves to one thread.
const OTHERS: usize = 4_100;

/// Points of a lattice, 64 a row.
fn company<const D: usize>() -> impl Iterator<Item = ([f32; D], f32)> {
    (0..).map(|i: usize| (core::array::from_fn(|axis| (i / [1, 64, 2048][axis] % 64) as f32), 0.0))
}

fn check<const D: usize>(input: &Input) {
    let bodies = input.rows.iter().flat_map(|row| row.bodies());
    let others = if input.in_company { OTHERS } else { 0 };
    let scene: Scene<D> = bodies.chain(company().take(others)).collect();
    let pairs = if input.in_company { sweep::pairs } else { oracle::pairs };
    let expected = oracle::check(scene.view()).map(|()| pairs(scene.view()));
    let mut finder = PairFinder::new();
    let serial = finder.on(Threads::Serial).find(scene.view()).map(|found| found.pairs().to_vec());
    assert_eq!(finder.last().tree().validate(), Ok(()));
    let isas: Vec<_> = Isa::available().collect();
    finder.set_isa(isas[usize::from(input.isa) % isas.len()]);
    let parallel = finder.on(Threads::Pool(&TWO_THREADS)).find(scene.view()).map(|found| found.pairs().to_vec());
    assert_eq!(serial, parallel);
    let sorted = serial.map(|mut pairs| {
        pairs.sort_unstable();
        pairs
    });
    assert_eq!(sorted, expected);
}

fuzz_target!(|input: Input| if input.in_space { check::<3>(&input) } else { check::<2>(&input) });

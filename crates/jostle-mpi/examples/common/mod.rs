//! What the examples share: numbers from the command line, ranks, bodies, and a table.

use std::env;
use std::num::ParseIntError;

use jostle_mpi::{DistributedStats, Transport};
use jostle_testkit::Kind;
use jostle_testkit::Scene;
use jostle_testkit::scene::{scene, world};

/// Reads the numbers on the command line; a number that is left out keeps its default.
#[allow(dead_code, reason = "the model has words among its arguments")]
pub(crate) fn arguments<const N: usize>(defaults: [usize; N]) -> Result<[usize; N], ParseIntError> {
    let mut numbers = defaults;
    for (number, argument) in numbers.iter_mut().zip(env::args().skip(1)) {
        *number = argument.parse()?;
    }
    Ok(numbers)
}

/// This rank's part of a uniform scene of so many bodies over all ranks, lying anywhere in the world, and the side of that.
pub(crate) fn uniform<const D: usize>(ranks: &impl Transport, bodies: usize) -> (Scene<D>, f32) {
    let (rank, size) = (ranks.rank() as usize, ranks.size() as usize);
    let own = bodies * (rank + 1) / size - bodies * rank / size;
    let (mut part, side) = (scene::<D>(Kind::Uniform, own, rank as u64), world::<D>(Kind::Uniform, bodies));
    let factor = side / world::<D>(Kind::Uniform, own);
    part.centers.iter_mut().flatten().for_each(|x| *x *= factor);
    (part, side)
}

/// What takes so long on the slowest rank, in milliseconds, of each stage.
#[allow(dead_code, reason = "the model takes no time")]
pub(crate) fn slowest(ranks: &impl Transport, all: &[DistributedStats]) -> [f64; 7] {
    let mut stages = [0.0; 7];
    for stats in all {
        let time = stats.time;
        let of_step = [time.decompose, time.migrate, time.survey, time.halo, time.local, time.remote, time.total()];
        stages.iter_mut().zip(of_step).for_each(|(sum, time)| *sum += time.as_secs_f64() * 1e3 / all.len() as f64);
    }
    ranks.max(&mut stages);
    stages
}

/// Greatest and mean of a number over ranks.
pub(crate) fn over_ranks(ranks: &impl Transport, value: u64) -> [f64; 2] {
    let (mut greatest, mut sum) = ([value as f64], [value]);
    ranks.max(&mut greatest);
    ranks.sum(&mut sum);
    [greatest[0], sum[0] as f64 / f64::from(ranks.size())]
}

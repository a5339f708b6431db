//! Agents that bounce about, as many as the sources of three systems report at 60 frames a second. A frame of each
//! system is timed beside a frame of Jostle, in the same run.

use jostle_classics::{SetupError, System};
use jostle_core::Aabb;
use jostle_testkit::{Kind, Scene, scene};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::ThreadPool;

use super::row::{OURS, Way, engines};
use crate::Common;
use crate::race::{Timing, milliseconds};
use crate::table::Table;

/// The systems, in the order of the numbers asked for.
const SYSTEMS: [System; 3] = [System::DynamicQuadtree, System::LooseQuadtree, System::LooseTightGrid];

/// Frames that are not timed, while kept memory grows to its size.
const WARM: usize = 5;

/// Frames that are timed.
const FRAMES: usize = 30;

/// Distance that an agent moves in a frame, in the mean radius.
const SPEED: f64 = 0.15;

/// What the table says.
pub(crate) const LEGEND: &str = "\
Agents that bounce off the walls, all moving by 15 % of the mean radius a frame: update and list of all pairs, one thread,
no drawing. The systems take turns within each frame; the number of pairs is checked in each. Times in ms, medians.
";

/// Columns of the table.
const COLUMNS: [&str; 9] =
    ["scene", "agents", "system", "threads", "clock", "ms a frame", "p90", "bytes", "times ours"];

/// Times each system with the agents asked for, beside Jostle.
pub(super) fn table(sizes: &[usize], pool: &ThreadPool, common: &Common) -> Result<Table, SetupError> {
    println!("{LEGEND}");
    let mut table = Table::new(COLUMNS);
    for (&n, system) in sizes.iter().zip(SYSTEMS) {
        let first = table.len();
        bar(&mut table, n, system, pool, common)?;
        println!("{}", table.text_from(first));
    }
    Ok(table)
}

/// Times one system, and Jostle on the same frames.
fn bar(table: &mut Table, n: usize, system: System, pool: &ThreadPool, common: &Common) -> Result<(), SetupError> {
    let mut agents = Agents::new(n, common.seed);
    let mut ways: Vec<_> = engines(pool).into_iter().map(|way| (OURS, way, Vec::new())).collect();
    let classic = Way::Classic(system.in_world(agents.world(), agents.scene.view())?);
    ways.push((system.name(), classic, Vec::new()));
    let mut pairs = Vec::new();
    for frame in 0..WARM + FRAMES {
        agents.step();
        let mut counts = Vec::new();
        for (_, way, times) in &mut ways {
            let clock = common.clock.of_threads(way.threads());
            let took = way.frame(agents.scene.view(), &mut pairs, clock);
            counts.push(way.pairs(&pairs).len());
            if frame >= WARM {
                times.push(milliseconds(took.update + took.find));
            }
        }
        assert!(counts.iter().all(|&count| count == counts[0]), "{system} finds other pairs: {counts:?}");
    }
    let timings: Vec<_> = ways.iter().map(|(.., times)| Timing::of(times.clone(), 1)).collect();
    for ((name, way, _), timing) in ways.iter().zip(&timings) {
        table.push(vec![
            Kind::Uniform.to_string().into(),
            n.into(),
            (*name).into(),
            way.threads().into(),
            common.clock.of_threads(way.threads()).name().into(),
            timing.median.into(),
            timing.p90.into(),
            way.bytes().into(),
            (timing.median / timings[0].median).into(),
        ]);
    }
    Ok(())
}

/// Circles between four walls.
struct Agents {
    scene: Scene<2>,
    velocities: Vec<[f32; 2]>,
    side: f32,
}

impl Agents {
    fn new(n: usize, seed: u64) -> Self {
        let scene = scene::scene::<2>(Kind::Uniform, n, seed);
        let mean = scene.radii.iter().map(|&radius| f64::from(radius)).sum::<f64>() / n.max(1) as f64;
        let mut rng = Pcg64Mcg::seed_from_u64(!seed);
        let velocity = |_| {
            let angle = std::f64::consts::TAU * rng.random::<f64>();
            [angle.cos(), angle.sin()].map(|part| (SPEED * mean * part) as f32)
        };
        let velocities = (0..n).map(velocity).collect();
        Self { scene, velocities, side: scene::world::<2>(Kind::Uniform, n) }
    }

    fn world(&self) -> Aabb<2> {
        Aabb { lo: [0.0; 2], hi: [self.side; 2] }
    }

    /// Moves all agents. Agents whose centres would leave the world turn around.
    fn step(&mut self) {
        for (axis, column) in self.scene.centers.iter_mut().enumerate() {
            for (x, velocity) in column.iter_mut().zip(&mut self.velocities) {
                let speed = &mut velocity[axis];
                if !(0.0..=self.side).contains(&(*x + *speed)) {
                    *speed = -*speed;
                }
                *x += *speed;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Agents;

    #[test]
    fn agents_stay_between_the_walls_and_all_move() {
        let mut agents = Agents::new(300, 1);
        for _ in 0..200 {
            let before = agents.scene.centers.clone();
            agents.step();
            assert!(agents.scene.centers.iter().flatten().all(|x| (0.0..=agents.side).contains(x)));
            let still = (0..300).filter(|&id| (0..2).all(|axis| agents.scene.centers[axis][id] == before[axis][id]));
            assert_eq!(still.count(), 0);
        }
    }
}

//! Pictures of the world: which part of it they show, and the words above.

use anyhow::{Context, Result};
use jostle::{Aabb, Bodies};

use super::agents::Agents;
use super::world::World;
use crate::args::{Part, SimulateArgs};
use crate::picture::{self, Image, Item, Viewport, Window, span, with_caption};
use crate::report::counted;

/// Agents in an animation, unless told otherwise: few enough that each is seen, and that the file stays small.
const SEEN: usize = 600;

/// Nearest agents by which the search for a place tells how close agents are there: clusters hold more.
const NEAREST: usize = 200;

/// Least pixels that agents move from one picture of an animation to the next, unless told otherwise.
const MOVED: f64 = 1.5;

/// Least width of what an animation shows, in root mean squares of all radii: however slow agents are, whole agents are
/// seen.
const NARROWEST: f64 = 30.0;

/// Places that are tried for the part of the world that an animation shows.
const PLACES: usize = 16;

/// Contacts for each agent for which the line of figures has room.
const CONTACTS: u64 = 10;

/// What pictures show.
pub(super) struct View<'a> {
    args: &'a SimulateArgs,
    window: Window,
    viewport: Viewport,
}

impl<'a> View<'a> {
    /// Makes the view of a still picture: the world, unless told otherwise.
    pub(super) fn still<const D: usize>(args: &'a SimulateArgs, walls: Aabb<D>) -> Result<Self> {
        Self::of(args, walls, whole(walls), args.picture.still_size())
    }

    /// Makes the view of an animation: where most agents are, unless told otherwise.
    pub(super) fn film<const D: usize>(args: &'a SimulateArgs, agents: &Agents<D>) -> Result<Self> {
        let (size, walls) = (args.picture.film_size(), agents.walls());
        let moving = agents.stride() * f64::from(args.every()) * f64::from(size) / MOVED;
        let widest = if moving > 0.0 { moving.max(NARROWEST * agents.mean_square().sqrt()) } else { f64::INFINITY };
        Self::of(args, walls, crowd(agents.view()?, walls, widest), size)
    }

    fn of<const D: usize>(args: &'a SimulateArgs, walls: Aabb<D>, default: Window, size: u32) -> Result<Self> {
        let window = match args.window {
            None => default,
            Some(Part::World) => whole(walls),
            Some(Part::Window(window)) => window.of_world(whole(walls))?,
        }
        .roomy();
        let viewport = Viewport::new(window, size);
        if args.coverage {
            let refused = || format!("--window and --size {size} do not fit --coverage");
            picture::check_coverage(window, viewport).with_context(refused)?;
        }
        Ok(Self { args, window, viewport })
    }

    pub(super) fn window(&self) -> Window {
        self.window
    }

    /// A picture of the world as it is.
    pub(super) fn draw<const D: usize>(&self, world: &World<D>) -> Result<Image> {
        let bodies = world.agents.view()?;
        let image = if self.args.coverage {
            picture::draw_coverage::<D>(bodies, self.window, self.viewport)?
        } else {
            let cells = if self.args.picture.cells { world.cells()? } else { Vec::new() };
            let touching = |id| world.contacts.count(id) > 0;
            picture::draw(&bodies, touching, &cells, self.viewport)
        };
        Ok(with_caption(&[self.figures(world), self.legend()], image))
    }

    /// Figures that take the same room in each picture.
    fn figures<const D: usize>(&self, world: &World<D>) -> Vec<Item> {
        let speed = self.args.speed.to_string();
        let decimals = speed.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let time = |frame: u64| format!("{:.decimals$}", frame as f64 * f64::from(self.args.speed));
        let (frame, frames) = (world.frame, u64::from(self.args.frames));
        let agents = world.agents.bodies.len() as u64;
        let contacts = |count: u64| counted(count, "contacts");
        let padded = |name: &str, value: String, last: String| {
            let room = last.len();
            Item::figure(format!("{name} {value:>room$}"), name.len() + 1 + room)
        };
        let agents_now = counted(agents, "agents");
        let room = agents_now.len();
        vec![
            padded("frame", frame.to_string(), frames.to_string()),
            padded("time", time(frame), time(frames)),
            Item::figure(agents_now, room),
            Item::figure(contacts(world.contacts.pairs() as u64), contacts(agents * CONTACTS).len()),
        ]
    }

    fn legend(&self) -> Vec<Item> {
        if self.args.coverage {
            return picture::legend_of_groups().into();
        }
        let mut items: Vec<_> = picture::legend().into();
        items.extend(self.viewport.depth.map(|_| picture::legend_of_depth()));
        items.extend(self.args.picture.cells.then(picture::legend_of_cells));
        items
    }
}

pub(super) fn whole<const D: usize>(walls: Aabb<D>) -> Window {
    span(walls.lo.map(f64::from), walls.hi.map(f64::from))
}

/// Returns a square or cube of [`SEEN`] bodies, no wider than `widest`. Of [`PLACES`] places it takes the one where
/// bodies are closest. The top of a cube is the upper end of the third axis, from where it is seen.
fn crowd<const D: usize>(bodies: Bodies<'_, D>, walls: Aabb<D>, widest: f64) -> Window {
    let [low, high] = [walls.lo, walls.hi].map(|corner| corner.map(f64::from));
    let mut distances: Vec<f64> = Vec::with_capacity(bodies.len());
    // Half the side of the square about body `middle` that holds `count` other bodies.
    let mut half = |middle: usize, count: usize| {
        let middle = bodies.center(middle);
        distances.clear();
        distances.extend((0..bodies.len()).map(|other| {
            let center = bodies.center(other);
            let away = |axis: usize| match axis {
                2 => (high[axis] - f64::from(center[axis])) / 2.0,
                _ => f64::from((center[axis] - middle[axis]).abs()),
            };
            (0..D).map(away).fold(0.0, f64::max)
        }));
        let all = count >= distances.len();
        if all { f64::INFINITY } else { *distances.select_nth_unstable_by(count, f64::total_cmp).1 }
    };
    let places = (0..bodies.len()).step_by((bodies.len() / PLACES).max(1));
    let places = places.map(|id| (half(id, NEAREST), id)).min_by(|a, b| a.0.total_cmp(&b.0));
    let Some((_, id)) = places else { return whole(walls) };
    let side = (2.0 * half(id, SEEN)).min(widest);
    let middle = bodies.center(id);
    // No part of the square lies beyond a wall, where it would be empty.
    let sides: [f64; D] = std::array::from_fn(|axis| side.min(high[axis] - low[axis]));
    let from: [f64; D] = std::array::from_fn(|axis| match axis {
        2 => high[axis] - sides[axis],
        _ => (f64::from(middle[axis]) - side / 2.0).clamp(low[axis], high[axis] - sides[axis]),
    });
    span(from, std::array::from_fn(|axis| from[axis] + sides[axis]))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::search::Search;
    use super::{Agents, View, World};
    use crate::args::{Args, Command};
    use crate::threads::Workers;

    #[test]
    fn figures_and_legend_name_what_is_seen() {
        let line = "jostle simulate --agents 300 --dim 3 --frames 12 --speed 0.5 --cells --png out.png";
        let Command::Simulate(args) = Args::parse_from(line.split(' ')).command else { unreachable!("a simulation") };
        let workers = Workers::new(&args.threads).unwrap();
        let mut world = World::new(Agents::<3>::of_scene(args.scene, 300, 1, args.speed), Search::new(None));
        for _ in 0..3 {
            world.step(&workers).unwrap();
        }
        let view = View::still(&args, world.agents.walls()).unwrap();
        let shown = format!("{:?} {:?}", view.figures(&world), view.legend());
        let contacts = format!("\"{} contacts\"", world.contacts.pairs());
        assert!(world.contacts.pairs() > 1, "{shown}");
        let others = ["frame  3", "time 1.5", "300 agents", "free", "in contact", "near to far", "leaves or cells"];
        for words in others.map(|words| format!("\"{words}\"")).iter().chain([&contacts]) {
            assert!(shown.contains(words), "no {words} in {shown}");
        }
    }
}

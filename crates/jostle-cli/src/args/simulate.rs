//! What `jostle simulate` accepts.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args as Group, value_parser};
use jostle_classics::{System, SystemInSpace};
use jostle_testkit::Kind;

use super::{InputArgs, PictureArgs, Precision, ReplaceArgs, ThreadArgs, radius, yes_or_no};
use crate::picture::Window;

/// The options of a scene, which a file takes the place of. What says how to read the file conflicts with them too: an
/// option that a file could not stand beside does not make clap ask for the file.
const OF_SCENES: [&str; 2] = ["agents", "scene"];

/// Simulate agents that bounce off each other and off the walls
///
/// Physical: circles of uniform density exchange momentum along the line of centres without loss, so momentum is
/// conserved between agents, and energy where they meet in pairs. Not physical: agents overlap for a frame before they
/// are pushed apart, and one that touches several at once shares its response among them, which loses energy; there is
/// no spin and no friction.
#[derive(Debug, Group)]
#[command(group(ArgGroup::new("pictures").args(["png", "gif"]).multiple(true)))]
pub(crate) struct SimulateArgs {
    /// Number of agents
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = value_parser!(u32).range(1..u32::MAX.into()))]
    pub(crate) agents: u32,
    /// Number of steps
    #[arg(long, value_name = "F", default_value_t = 300, value_parser = value_parser!(u32).range(1..))]
    pub(crate) frames: u32,
    /// How the agents are spread at the start: uniform, clustered, powerlaw, dense or fluid
    #[arg(long, value_name = "KIND", default_value_t = Kind::Uniform)]
    pub(crate) scene: Kind,
    /// Circles (2) or spheres (3) [default: circles; of a file with a z spheres]
    #[arg(long, value_name = "2|3", value_parser = value_parser!(u8).range(2..=3))]
    pub(crate) dim: Option<u8>,
    /// Start from the bodies of this file, which `pairs` could read, in place of a scene
    ///
    /// Their velocities are its columns vx, vy (and vz of spheres), in lengths a unit of time; where it has none, they are
    /// random. The walls are around all bodies. Places and velocities are rounded to 32-bit floats.
    #[arg(long, value_name = "FILE", conflicts_with_all = OF_SCENES)]
    pub(crate) from: Option<PathBuf>,
    /// One radius for all bodies of the file
    #[arg(long, value_name = "R", value_parser = radius, allow_hyphen_values = true)]
    #[arg(requires = "from", conflicts_with_all = OF_SCENES)]
    radius: Option<f64>,
    /// The columns of the file to read as x, y[, z], r, as in `pairs`
    #[arg(long, value_name = "X,Y[,Z],R", value_delimiter = ',', requires = "from", conflicts_with_all = OF_SCENES)]
    columns: Option<Vec<String>>,
    /// Whether the text of the file begins with a line of names, as in `pairs`
    #[arg(long, value_name = "yes|no", value_parser = yes_or_no, requires = "from", conflicts_with_all = OF_SCENES)]
    header: Option<bool>,
    /// Another seed is another scene, and other random velocities
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// What finds the agents that touch: jostle, or an older system, which runs on one thread
    ///
    /// The agents move in the same way whatever it is: only the time of `find` differs, and what --cells draws. An older system is
    /// refused where it would take more than a second or two a frame.
    #[arg(long, value_name = "NAME", default_value = JOSTLE, value_parser = PossibleValuesParser::new(engines()))]
    pub(crate) engine: String,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Draw the last frame to this file (.png, or `-`): free agents blue, touching ones orange, spheres from above
    #[arg(long, value_name = "OUT")]
    pub(crate) png: Option<PathBuf>,
    /// Draw an animation to this file (.gif, or `-`), 25 pictures a second, repeated for ever
    #[arg(long, value_name = "OUT")]
    pub(crate) gif: Option<PathBuf>,
    /// Draw the start and every Nth frame of the animation [default: 4, or more, so that there are at most 76
    /// pictures]
    #[arg(long, value_name = "N", requires = "gif", value_parser = value_parser!(u32).range(1..))]
    pub(crate) every: Option<u32>,
    /// Draw this part of the world: X0,Y0,X1,Y1, of spheres also X0,Y0,Z0,X1,Y1,Z1, or `world` for all of it [default:
    /// the world; in an animation so much of it that agents are seen to move, some 600 of them at most]
    #[arg(long, value_name = "X0,Y0,X1,Y1", allow_hyphen_values = true, requires = "pictures", value_parser = part)]
    pub(crate) window: Option<Part>,
    /// How fast the agents move: the time that passes in a frame
    ///
    /// Velocities are lengths in a unit of time. Random ones are at most 0.15 mean radii; from a speed of 5 or so on such
    /// agents pass through each other.
    #[arg(long, value_name = "F", default_value_t = 1.0, value_parser = speed, allow_hyphen_values = true)]
    pub(crate) speed: f32,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
    /// Draw in place of the agents what two groups of them cover of each pixel of a coarse bitmap
    ///
    /// Agents of even ids are one group, drawn blue, those of odd ids the other, drawn orange on top: what a coverage bitmap
    /// sees, by which a game asks whether something was hit at all.
    #[arg(long, conflicts_with = "cells", requires = "pictures")]
    pub(crate) coverage: bool,
    #[command(flatten)]
    pub(crate) replace: ReplaceArgs,
}

/// What pictures show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Part {
    World,
    Window(Window),
}

fn part(text: &str) -> Result<Part, String> {
    if text == "world" { Ok(Part::World) } else { text.parse().map(Part::Window) }
}

fn speed(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(speed) if (1e-9..=1e9).contains(&speed) => Ok(speed),
        Ok(_) => Err("a speed is from 1e-9 to 1e9".to_owned()),
        Err(_) => Err("not a number".to_owned()),
    }
}

/// Frames from one picture of an animation to the next: agents are seen to move, and not to jump.
const EVERY: u32 = 4;

/// Pictures of an animation, unless more are asked for.
const PICTURES: u32 = 75;

impl SimulateArgs {
    /// How to read the bodies to start from.
    pub(crate) fn input(&self) -> Option<InputArgs> {
        let (radius, dim, columns, header) = (self.radius, self.dim, self.columns.clone(), self.header);
        let file = self.from.clone()?;
        Some(InputArgs { file, radius, dim, columns, boxes: false, header, precision: Precision::F32 })
    }

    /// Frames from one picture of the animation to the next.
    pub(crate) fn every(&self) -> u32 {
        self.every.unwrap_or_else(|| self.frames.div_ceil(PICTURES).max(EVERY))
    }
}

/// The name of our own engine, among those of [`System`] and [`SystemInSpace`].
pub(crate) const JOSTLE: &str = "jostle";

/// Our own engine, and the systems of the plane and of space, each name once.
fn engines() -> Vec<&'static str> {
    let in_space = SystemInSpace::ALL.map(SystemInSpace::name);
    let mut names: Vec<_> = [JOSTLE].into_iter().chain(System::ALL.map(System::name)).collect();
    names.extend(in_space.into_iter().filter(|name| name.parse::<System>().is_err()));
    names
}

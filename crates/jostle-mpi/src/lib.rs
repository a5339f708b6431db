//! Finds every overlapping pair of bodies that lie on many processes: Jostle under MPI.
//!
//! A [`Decomposition`] deals bodies to ranks along the Morton curve. Each rank searches its own bodies with the engine
//! as it is, and [`DistributedFinder`] finds pairs across borders once. Ranks talk by a [`Transport`]: MPI, with the
//! feature `mpi` (`MpiRanks`), or threads of one process ([`ThreadRanks`]), for tests and models.
//!
//! The files, each of which uses only files before it: `transport`, `wire`, `error` (how ranks talk and agree);
//! `number`, `share`, `input` (what a rank gives); `decomposition`, `migration` (which rank owns which bodies); `cell`,
//! `survey`, `cover`, `neighborhood`, `border`, `halo` (which rank must know which bodies); `engine`, `rows`, `finder`
//! (the search).

mod border;
mod cell;
mod cover;
mod decomposition;
mod engine;
mod error;
mod finder;
mod halo;
mod input;
mod migration;
mod neighborhood;
mod number;
mod rows;
mod share;
mod span;
mod stats;
mod survey;
mod transport;
mod wire;

pub use decomposition::{Decomposition, Weights};
pub use error::DistributedError;
pub use finder::{DistributedFinder, DistributedFound, DistributedGhosts, GlobalHit};
pub use halo::Halo;
pub use input::DistributedInput;
pub use migration::{Field, Migration};
pub use number::Number;
pub use rows::DistributedRows;
pub use share::{Ids, Share};
pub use stats::{DistributedStats, Stages};
#[cfg(feature = "mpi")]
pub use transport::mpi::MpiRanks;
pub use transport::threads::ThreadRanks;
pub use transport::{Messages, Transport};

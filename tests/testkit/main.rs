//! What everything is held against, held against itself and what is known.

mod algebra;
mod hash;
mod layering;
mod oracle;
mod pairs;
mod scene;
mod sweep;
mod ugly;

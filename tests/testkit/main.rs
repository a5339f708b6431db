//! The kit that everything is checked against, checked against itself and against known answers.

mod algebra;
mod hash;
mod layering;
mod oracle;
mod pairs;
mod scene;
mod sweep;
mod ugly;

//! The older systems: all pairs against the double loop, and what each does beside.

mod dynamic;
mod grids;
mod oracle;
mod system;
mod trees;

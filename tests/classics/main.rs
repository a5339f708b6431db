//! The older systems: all pairs against the double loop, and what else each system does.

mod dynamic;
mod grids;
mod oracle;
mod system;
mod trees;

//! The promises of the library that no build can change, tested in one program, since each program compiles anew what
//! it uses of a search.

mod ahead;
mod boxes;
mod coherent;
mod contact_geometry;
mod contacts;
mod crowds;
mod embed;
mod errors;
mod guests;
mod hosts;
mod limits;
mod moving_shapes;
mod oracle;
mod panics;
mod permutation;
mod properties;
mod queries;
mod recordings;
mod rods;
mod rows_of_sets;
mod rows_of_shapes;
mod shapes;
mod vanishing;

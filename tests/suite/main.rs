//! All that the library promises which no build can change, in one program: each of them compiles what it uses of a search
//! anew.

mod ahead;
mod boxes;
mod coherent;
mod contact_geometry;
mod contacts;
mod embed;
mod errors;
mod guests;
mod hosts;
mod oracle;
mod permutation;
mod properties;
mod queries;
mod recordings;
mod shapes;

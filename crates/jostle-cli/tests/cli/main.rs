//! The program as its users meet it: files in, files out, messages and exit codes.

mod boxes;
mod errors;
mod formats;
mod limits;
mod outputs;
mod pictures;
mod pipes;
mod precision;
mod program;
mod simulate;
mod sources;
mod verify;

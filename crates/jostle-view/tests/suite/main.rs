//! A server and its viewers, over real sockets.

mod admission;
mod browser;
mod client;
mod pictures;
mod program;
mod viewers;

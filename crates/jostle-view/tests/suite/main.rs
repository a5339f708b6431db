//! A server and its viewers, over real sockets.

mod admission;
mod client;
mod program;
mod viewers;

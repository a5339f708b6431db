//! A server and its viewers, over real sockets.

mod admission;
mod browser;
mod client;
mod program;
mod viewers;

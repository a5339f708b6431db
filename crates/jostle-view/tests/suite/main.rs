//! A server and its viewers, over real sockets.

mod admission;
mod browser;
mod client;
mod cost;
mod page;
mod pictures;
mod program;
mod viewers;

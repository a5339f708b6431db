//! What an optimizing build could change: the bytes of every kernel. The gate therefore runs these tests in both
//! builds.

mod algebra;
mod golden;
mod kernels;
mod soak;

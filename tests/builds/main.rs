//! What an optimizing build could change, and the gate therefore runs in both: the bytes of every kernel.

mod algebra;
mod golden;
mod kernels;
mod soak;

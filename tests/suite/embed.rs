//! What a finder does besides the pairs of one view: two sets and many, layers and tests of the caller's, lists of
//! neighbours, and lists kept with a margin. All against plain loops, by every instruction set, on any threads.

mod among;
mod between;
mod layers;
mod margin;
mod neighbors;
mod only;
mod oracle;
mod prepared;
mod skin;
mod skin_of_shapes;
mod summary;
pub(crate) mod ways;

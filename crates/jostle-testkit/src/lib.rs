//! What every crate of the workspace is tested and timed with: scenes, two independent ways to find their pairs, and
//! a hash of the answer.
//!
//! [`oracle`] is the definition of the answer and is called wherever n allows. [`sweep`] shares no code with it and is
//! fast enough for millions of bodies. Scenes are the same bits on every platform: they use only `+ - * /` and square
//! roots, which IEEE 754 rounds in one way, and nothing of the platform's mathematics library.

pub mod hash;
pub mod oracle;
pub mod scene;
pub mod sweep;
pub mod ugly;

pub use scene::{Kind, Scene};

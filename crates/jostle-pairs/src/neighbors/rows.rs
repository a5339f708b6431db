//! Which neighbours stand in a row.

/// Which neighbours a row holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rows {
    /// Within a set, neighbours with a greater id than the body's own, and the body itself once for each two opposite
    /// images that it touches: each pair once. Between two sets, as [`Rows::Full`]. Among many, in the row of the body
    /// of the lesser set.
    Half,
    /// All neighbours: within a set, and among many, each pair twice.
    #[default]
    Full,
}

//! Which neighbours stand in a row.

/// Which neighbours a row holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rows {
    /// Neighbours with a greater id than the body's own: each pair once.
    Half,
    /// All neighbours: each pair twice.
    #[default]
    Full,
}

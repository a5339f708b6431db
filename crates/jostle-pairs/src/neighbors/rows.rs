//! Which neighbours stand in a row.

/// Which neighbours a row holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rows {
    /// Those with a greater id than its own: each pair once.
    Half,
    /// All: each pair twice.
    #[default]
    Full,
}

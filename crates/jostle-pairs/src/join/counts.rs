//! How many tests a join has made.

/// Counts of one block of the join.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tests {
    pub(crate) node_tests: u64,
    pub(crate) leaf_tests: u64,
    pub(crate) circle_tests: u64,
    pub(crate) pairs: u64,
}

impl Tests {
    pub(crate) fn plus(mut self, other: Self) -> Self {
        self.node_tests += other.node_tests;
        self.leaf_tests += other.leaf_tests;
        self.circle_tests += other.circle_tests;
        self.pairs += other.pairs;
        self
    }
}

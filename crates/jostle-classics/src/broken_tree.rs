//! The error of `validate`.

/// An invariant of a dynamic tree that does not hold: a bug in this crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BrokenTree {
    /// A vacant slot is not in its chain exactly once, or a count is wrong.
    #[error("the chain of vacant {0} is broken")]
    Vacancies(&'static str),
    /// An occupied slot is not reached from the root exactly once.
    #[error("{reached} {what} are reached from the root, and {occupied} there are")]
    Unreached {
        /// What the slots hold.
        what: &'static str,
        /// How many slots a walk from the root meets.
        reached: usize,
        /// How many slots are occupied.
        occupied: usize,
    },
    /// The count of a leaf is not the length of its list.
    #[error("a leaf counts {count} elements and lists {listed}")]
    Count {
        /// The count of the leaf.
        count: usize,
        /// The length of its list.
        listed: usize,
    },
    /// An element is in a leaf where it does not belong, not in a leaf where it belongs, or twice in one leaf.
    #[error("the element of id {id} is not in the leaves that it belongs in")]
    Placement {
        /// The id it was inserted with.
        id: u32,
    },
    /// A leaf should have been split.
    #[error("a leaf at depth {depth} holds {elements} elements")]
    Crowded {
        /// The depth of the leaf.
        depth: u32,
        /// How many elements it holds.
        elements: usize,
    },
    /// The box of a node does not hold all that is below the node.
    #[error("a box at depth {depth} does not hold what is below it")]
    Box {
        /// The depth of its node.
        depth: u32,
    },
}

impl BrokenTree {
    /// Returns an error unless all occupied slots are reached from the root.
    pub(crate) fn unless_all(what: &'static str, reached: usize, occupied: usize) -> Result<(), Self> {
        if reached == occupied { Ok(()) } else { Err(Self::Unreached { what, reached, occupied }) }
    }

    /// Returns an error unless the vacant slots of each list are each once in their chain.
    pub(crate) fn unless_sound<const N: usize>(lists: [(&'static str, bool); N]) -> Result<(), Self> {
        let broken = lists.into_iter().find(|(_, sound)| !sound);
        broken.map_or(Ok(()), |(what, _)| Err(Self::Vacancies(what)))
    }
}

//! What `validate` finds.

/// An invariant of a dynamic tree that does not hold: a bug in this crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BrokenTree {
    /// Vacant slots that are not each once in their chain, or a count that is off.
    #[error("the chain of vacant {0} is broken")]
    Vacancies(&'static str),
    /// Slots that are occupied, yet not reached from the root exactly once.
    #[error("{reached} {what} are reached from the root, and {occupied} there are")]
    Unreached {
        /// What they hold.
        what: &'static str,
        /// How many a walk meets.
        reached: usize,
        /// How many slots are occupied.
        occupied: usize,
    },
    /// A leaf whose count is not the length of its list.
    #[error("a leaf counts {count} elements and lists {listed}")]
    Count {
        /// What it says.
        count: usize,
        /// What it has.
        listed: usize,
    },
    /// An element that is in a leaf where it has no business, not in one where it has, or in one twice.
    #[error("the element of id {id} is not in the leaves that it belongs in")]
    Placement {
        /// The id it was inserted with.
        id: u32,
    },
    /// A leaf that should have been split.
    #[error("a leaf at depth {depth} holds {elements} elements")]
    Crowded {
        /// Its depth.
        depth: u32,
        /// How many elements it holds.
        elements: usize,
    },
    /// A box that does not hold all that is below it.
    #[error("a box at depth {depth} does not hold what is below it")]
    Box {
        /// The depth of its node.
        depth: u32,
    },
}

impl BrokenTree {
    /// Unless all slots that are occupied are reached from the root.
    pub(crate) fn unless_all(what: &'static str, reached: usize, occupied: usize) -> Result<(), Self> {
        if reached == occupied { Ok(()) } else { Err(Self::Unreached { what, reached, occupied }) }
    }

    /// Unless the vacant slots of each list are each once in their chain.
    pub(crate) fn unless_sound<const N: usize>(lists: [(&'static str, bool); N]) -> Result<(), Self> {
        let broken = lists.into_iter().find(|(_, sound)| !sound);
        broken.map_or(Ok(()), |(what, _)| Err(Self::Vacancies(what)))
    }
}

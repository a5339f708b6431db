//! How rows number bodies.

use jostle_sets::proxy::Exact;

use crate::InputError;

/// Rows of many sets number the bodies of all of them, one set after the other. Else a number is an id.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// The number of the first body of each set, and the number of all bodies at the end; empty where numbers are ids.
    starts: Vec<u32>,
}

impl Numbers {
    pub(super) fn bytes(&self) -> usize {
        self.starts.capacity() * size_of::<u32>()
    }

    /// Numbers the bodies of a search: those of all sets, if it is among many. There are no more than 32 bits tell
    /// apart: see [`check`].
    pub(super) fn begin<const D: usize>(&mut self, exact: &Exact<'_, D>, among: bool) {
        self.starts.clear();
        if among {
            self.starts.push(0);
            for set in exact.sets {
                let end = self.starts[self.starts.len() - 1] + set.len() as u32;
                self.starts.push(end);
            }
        }
    }

    /// Whether bodies of all sets are numbered.
    pub(super) fn are_of_all(&self) -> bool {
        !self.starts.is_empty()
    }

    /// The number of the first body of each set, and the number of all bodies at the end; empty where numbers are ids.
    pub(super) fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The number of rows of a search.
    pub(super) fn rows<const D: usize>(&self, exact: &Exact<'_, D>) -> usize {
        self.starts.last().map_or_else(|| exact.sets[0].len(), |&end| end as usize)
    }

    /// The number of the first body of each of two sets.
    #[inline(always)]
    pub(super) fn first(&self, sets: [u32; 2]) -> [u32; 2] {
        first_of(&self.starts, sets)
    }
}

/// The number of the first body of each of two sets, by [`Numbers::starts`].
#[inline(always)]
pub(super) fn first_of(starts: &[u32], sets: [u32; 2]) -> [u32; 2] {
    let [one, other] = sets;
    if starts.is_empty() { [0; 2] } else { [starts[one as usize], starts[other as usize]] }
}

/// Refuses rows of many sets of so many bodies if 32 bits do not tell all of them apart.
pub(crate) fn check(mut sets: impl Iterator<Item = usize>) -> Result<(), InputError> {
    if sets.try_fold(0_u32, |sum, len| sum.checked_add(u32::try_from(len).ok()?)).is_some() {
        return Ok(());
    }
    Err(InputError::Combination {
        parts: "neighbour lists and 2^32 bodies of all sets together",
        reason: "rows number the bodies of all sets by `u32`; ask for the lists of each two sets",
    })
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn bodies_have_numbers_of_32_bits() {
        let most = u32::MAX as usize;
        assert!(check([most - 5, 5, 0].into_iter()).is_ok());
        assert!(check([most - 5, 6].into_iter()).is_err());
        assert!(check([usize::MAX, 6].into_iter()).is_err());
    }
}

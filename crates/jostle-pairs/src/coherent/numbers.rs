//! One number for each body. The numbers of a set follow those of the set before, with room for a few bodies that may
//! come.

use jostle_core::axes::Both;

use crate::coherent::reference::SHARE;

/// A body of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) set: u32,
    pub(super) id: u32,
}

impl Member {
    /// Returns the ids of these two bodies as a pair of two sets that meet, if the bodies are of these sets.
    pub(super) fn pair(self, other: Self, sets: [u32; 2]) -> Option<[u32; 2]> {
        let [one, other] = if self.set == sets[0] { [self, other] } else { [other, self] };
        let ids = [one.id, other.id];
        let is_within = sets[0] == sets[1];
        ([one.set, other.set] == sets).then_some(if is_within { [ids[0].min(ids[1]), ids[0].max(ids[1])] } else { ids })
    }
}

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// The first number of each set; empty where nothing is known.
    firsts: Vec<u32>,
}

impl Numbers {
    pub(super) fn bytes(&self) -> usize {
        self.firsts.capacity() * size_of::<u32>()
    }

    pub(super) fn clear(&mut self) {
        self.firsts.clear();
    }

    /// Numbers the bodies of sets of such lengths. Returns whether there are numbers for all.
    pub(super) fn begin(&mut self, lens: impl Iterator<Item = usize>) -> bool {
        let mut end = Some(0_u32);
        self.firsts.clear();
        for len in lens {
            self.firsts.push(end.unwrap_or(u32::MAX));
            end = end.and_then(|end| end.checked_add(u32::try_from(len + len / SHARE).ok()?));
        }
        end.is_some()
    }

    /// Returns the first number of a set.
    #[inline(always)]
    pub(super) fn first(&self, set: usize) -> u32 {
        self.firsts.get(set).copied().unwrap_or_default()
    }

    pub(super) fn of(&self, Member { set, id }: Member) -> u32 {
        self.first(set as usize) + id
    }

    /// Returns the body of a number.
    pub(super) fn member(&self, number: u32) -> Member {
        let set = self.firsts.partition_point(|&first| first <= number).saturating_sub(1);
        Member { set: set as u32, id: number - self.first(set) }
    }

    /// Returns the first numbers of two sets.
    pub(super) fn firsts(&self, sets: [u32; 2]) -> [u32; 2] {
        sets.both(|set| self.first(set as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::{Member, Numbers};

    #[test]
    fn each_body_has_a_number_of_its_own() {
        let mut numbers = Numbers::default();
        let lens = [0, 3, 0, 640, 1];
        assert!(numbers.begin(lens.into_iter()));
        let mut next = 0;
        for (set, len) in (0..).zip(lens) {
            for id in 0..len as u32 + len as u32 / 64 {
                let member = Member { set, id };
                assert_eq!((numbers.of(member), numbers.member(next)), (next, member));
                next += 1;
            }
        }
        assert!(!numbers.begin([1 << 31, 1 << 31].into_iter()));
    }

    #[test]
    fn pairs_are_of_their_sets() {
        let [one, other] = [Member { set: 1, id: 7 }, Member { set: 3, id: 5 }];
        assert_eq!([one.pair(other, [1, 3]), other.pair(one, [1, 3])], [Some([7, 5]); 2]);
        assert_eq!([one.pair(other, [1, 1]), one.pair(other, [0, 3]), one.pair(one, [1, 3])], [None; 3]);
        let least = Member { set: 1, id: 2 };
        assert_eq!([one.pair(least, [1, 1]), least.pair(one, [1, 1])], [Some([2, 7]); 2]);
    }
}

//! Neighbours that stray bodies add to the rows of a frame, and neighbours that they take away.

use jostle_core::Workers;
use jostle_core::scratch::ScratchPool;

/// A pair, and whether it is taken away.
type Change = ([u32; 2], bool);

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Changes {
    all: Vec<Change>,
    of_workers: ScratchPool<Vec<Change>>,
}

impl Changes {
    pub(super) fn bytes(&self) -> usize {
        let of = |list: &Vec<Change>| list.capacity() * size_of::<Change>();
        of(&self.all) + self.of_workers.bytes(of)
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
    }

    /// Returns all changes that have been noted, in no order.
    pub(super) fn all(&self) -> &[Change] {
        &self.all
    }

    /// Notes what has changed for each stray body of `some`; one task takes `block` of them. `touched` tells of each
    /// its number, the bodies that it touched in the last frame, and those that it touches now. `pair` returns the pair
    /// that two touching bodies are.
    pub(super) fn note<S: Send>(
        &mut self,
        (some, block): (&mut [S], usize),
        workers: Workers<'_>,
        pair: impl Fn(u32, u32) -> Option<[u32; 2]> + Sync + Send,
        touched: impl for<'s> Fn(usize, &'s mut S) -> (u32, &'s mut Vec<u32>, &'s mut Vec<u32>) + Sync + Send,
    ) {
        let Self { all, of_workers } = self;
        all.clear();
        of_workers.prepare(workers.count(), |_| ());
        workers.fill_blocks("changes", some, block, |first, some| {
            of_workers.with(|changes| {
                for (number, one) in (first..).zip(some) {
                    let (one, before, now) = touched(number, one);
                    before.sort_unstable();
                    now.sort_unstable();
                    let change = |other: u32, taken: bool| Some((pair(one, other)?, taken));
                    changes.extend(without(before, now).filter_map(|other| change(other, true)));
                    changes.extend(without(now, before).filter_map(|other| change(other, false)));
                }
            });
        });
        of_workers.each(|changes| all.append(changes));
    }
}

/// Returns the ids of `some` without those of `others`; both are ascending.
fn without(some: &[u32], others: &[u32]) -> impl Iterator<Item = u32> {
    let mut others = others.iter().peekable();
    some.iter().copied().filter(move |id| {
        while others.next_if(|&other| other < id).is_some() {}
        others.peek() != Some(&id)
    })
}

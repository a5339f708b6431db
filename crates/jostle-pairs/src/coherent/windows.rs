//! Where in a list the pairs of each two sets stand, and where they are to stand when some parts of the list have
//! become longer or shorter. Of each part, the pairs outside of where it is to stand, and its new pairs, go to the
//! places that are left there.

use core::mem::replace;
use core::ops::Range;

/// See the top of this file: where the parts so far end, now and then.
#[derive(Debug, Default)]
pub(super) struct Windows {
    now: usize,
    then: usize,
}

/// Where a part stands and where it is to stand.
#[derive(Debug, Clone)]
pub(super) struct Window {
    now: Range<usize>,
    pub(super) then: Range<usize>,
}

impl Windows {
    /// Returns the window of the next part. The part ends at `end`; its places from `shrunk` on are no more of it, and
    /// `more` pairs are to come.
    pub(super) fn next(&mut self, (end, shrunk): (usize, usize), more: usize) -> Window {
        let now = replace(&mut self.now, end)..shrunk;
        let then = self.then..self.then + now.len() + more;
        self.then = then.end;
        Window { now, then }
    }

    /// Returns where all parts are to end.
    pub(super) fn end(&self) -> usize {
        self.then
    }
}

impl Window {
    /// Returns the places of the pairs that are to go.
    pub(super) fn outside(&self) -> impl Iterator<Item = usize> {
        without(&self.now, &self.then)
    }

    /// Returns the places to which these pairs and the new ones are to go: as many.
    pub(super) fn left(&self) -> impl Iterator<Item = usize> {
        without(&self.then, &self.now)
    }
}

/// Returns the places of `some` that are not among `others`.
fn without(some: &Range<usize>, others: &Range<usize>) -> impl Iterator<Item = usize> {
    let [begin, end] = [others.start, others.end].map(|place| place.clamp(some.start, some.end));
    (some.start..begin).chain(end..some.end)
}

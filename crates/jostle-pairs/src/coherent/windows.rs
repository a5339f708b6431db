//! Where in a list the pairs of each two sets stand, and where they are to stand when some parts of it have become longer or shorter: of each part
//! those outside of where it is to stand, and more of it, go to what is left there.

use core::mem::replace;
use core::ops::Range;

/// See the top of this file: what comes before the next part.
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
    /// The next part, which ends there, but for some at its end that are no more of it; so many more are to come.
    pub(super) fn next(&mut self, (end, shrunk): (usize, usize), more: usize) -> Window {
        let now = replace(&mut self.now, end)..shrunk;
        let then = self.then..self.then + now.len() + more;
        self.then = then.end;
        Window { now, then }
    }

    /// Where all parts are to end.
    pub(super) fn end(&self) -> usize {
        self.then
    }
}

impl Window {
    /// The places of those that are to go.
    pub(super) fn outside(&self) -> impl Iterator<Item = usize> {
        without(&self.now, &self.then)
    }

    /// The places that they, and more, are to go to, as many.
    pub(super) fn left(&self) -> impl Iterator<Item = usize> {
        without(&self.then, &self.now)
    }
}

/// Some places without others.
fn without(some: &Range<usize>, others: &Range<usize>) -> impl Iterator<Item = usize> {
    let [begin, end] = [others.start, others.end].map(|place| place.clamp(some.start, some.end));
    (some.start..begin).chain(end..some.end)
}

//! The pairs that a rival has found: a list that keeps its memory from search to search.

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

/// A list of pairs that is written without a branch on whether there was a hit.
#[derive(Debug, Default, Clone)]
pub(crate) struct Hits {
    /// Slots beyond `len` hold candidates that were written there and were no hits.
    slots: Vec<[u32; 2]>,
    len: usize,
}

impl Hits {
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    pub(crate) fn pairs(&self) -> &[[u32; 2]] {
        &self.slots[..self.len]
    }

    /// Adds the pair of two ids, in any order.
    #[inline(always)]
    pub(crate) fn push(&mut self, a: u32, b: u32) {
        self.room(1)[0] = ordered(a, b);
        self.len += 1;
    }

    /// `count` slots to write candidates to, of which [`Hits::keep`] then takes some.
    #[inline(always)]
    pub(crate) fn room(&mut self, count: usize) -> &mut [[u32; 2]] {
        if self.slots.len() - self.len < count {
            self.grow(count);
        }
        &mut self.slots[self.len..self.len + count]
    }

    /// Takes the first `count` of the slots just written.
    #[inline(always)]
    pub(crate) fn keep(&mut self, count: usize) {
        self.len += count;
    }

    /// Puts the lesser id first in all pairs from number `first` on, for callers that write ids as they come.
    pub(crate) fn order_from(&mut self, first: usize) {
        self.slots[first..self.len].iter_mut().for_each(|pair| *pair = ordered(pair[0], pair[1]));
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[cold]
    fn grow(&mut self, count: usize) {
        self.slots.resize((self.len + count).next_power_of_two().max(1024), [0; 2]);
    }
}

/// The two ids, the lesser first.
#[inline(always)]
pub(crate) fn ordered(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// Runs tasks that find pairs, and gathers the pairs in the order of the tasks. One thread writes straight into one
/// list. Several threads write a list for each task, and the lists are copied side by side at the end.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    all: Hits,
    tasks: Vec<Hits>,
}

impl Gather {
    pub(crate) fn run(&mut self, tasks: usize, find: impl Fn(usize, &mut Hits) + Sync) -> &[[u32; 2]] {
        self.all.clear();
        if rayon::current_num_threads() == 1 || tasks == 1 {
            (0..tasks).for_each(|task| find(task, &mut self.all));
            return self.all.pairs();
        }
        if self.tasks.len() < tasks {
            self.tasks.resize_with(tasks, Hits::default);
        }
        let found = &mut self.tasks[..tasks];
        found.par_iter_mut().with_max_len(1).enumerate().for_each(|(task, hits)| {
            hits.clear();
            find(task, hits);
        });
        concatenate(found, &mut self.all);
        self.all.pairs()
    }
}

/// All lists one after another.
pub(crate) fn concatenate(lists: &[Hits], hits: &mut Hits) {
    let total = lists.iter().map(|list| list.len).sum();
    hits.clear();
    let mut rest = hits.room(total);
    let mut parts = Vec::with_capacity(lists.len());
    for list in lists {
        let (part, after) = rest.split_at_mut(list.len);
        parts.push((part, list));
        rest = after;
    }
    parts.into_par_iter().for_each(|(part, list)| part.copy_from_slice(list.pairs()));
    hits.keep(total);
}

#[cfg(test)]
mod tests {
    use super::Gather;
    use rayon::ThreadPoolBuilder;

    #[test]
    fn tasks_are_gathered_in_order_on_any_threads() {
        for threads in [1, 3] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut gather = Gather::default();
            for tasks in [0, 1, 50, 7] {
                let found = pool.install(|| {
                    gather.run(tasks, |task, hits| (0..task as u32).for_each(|i| hits.push(task as u32, i)))
                });
                let expected: Vec<_> = (0..tasks as u32).flat_map(|task| (0..task).map(move |i| [i, task])).collect();
                assert_eq!(found, expected);
            }
        }
    }
}

//! Slices written part by part, one part per task. A room of `unsafe`: parts that do not overlap.
#![allow(unsafe_code, reason = "tasks write disjoint parts of one slice, which the borrow checker cannot see")]

use core::ops::Range;

use crate::parallel::disjoint::Disjoint;
use crate::parallel::task::Task;
use crate::parallel::workers::Workers;

/// Fills a block of a list, given the position of its first element.
type FillBlock<'a, T> = dyn for<'b> Task<(usize, &'b mut [T])> + 'a;

/// Fills a part of two lists, by its number.
type FillPart<'a, A, B> = dyn for<'b> Task<(usize, &'b mut [A], &'b mut [B])> + 'a;

/// A function that fills a block or a part, as a task: with a closure around it, its body would be optimized once more.
struct Fill<F>(F);

impl<'b, T, F: Fn(usize, &mut [T]) + Sync> Task<(usize, &'b mut [T])> for Fill<F> {
    fn run(&self, (first, block): (usize, &'b mut [T])) {
        (self.0)(first, block);
    }
}

impl<'b, A, B, F: Fn(usize, &mut [A], &mut [B]) + Sync> Task<(usize, &'b mut [A], &'b mut [B])> for Fill<F> {
    fn run(&self, (part, a, b): (usize, &'b mut [A], &'b mut [B])) {
        (self.0)(part, a, b);
    }
}

/// Shares columns with tasks. This function and [`parts`] are functions of their own, since maps of arrays are compiled
/// anew wherever they are.
fn shares<T, const N: usize, const M: usize>(columns: [[&mut [T]; N]; M]) -> [[Disjoint<'_, T>; N]; M] {
    columns.map(|columns| columns.map(Disjoint::new))
}

/// The same part of each column.
///
/// # Safety
/// As of [`Disjoint::range`].
#[allow(clippy::mut_from_ref, reason = "the caller vouches for disjoint ranges")]
unsafe fn parts<'d, T, const N: usize, const M: usize>(
    columns: &'d [[Disjoint<'_, T>; N]; M],
    range: &Range<usize>,
) -> [[&'d mut [T]; N]; M] {
    // SAFETY: the caller's promise.
    let part = |column| unsafe { Disjoint::range(column, range.clone()) };
    columns.each_ref().map(|columns| columns.each_ref().map(part))
}

impl Workers<'_> {
    /// Cuts `list` into blocks of `size` elements, the last one shorter, and calls `fill(first, block)` once for each,
    /// one task per block, with the position of the block's first element.
    ///
    /// ```
    /// use jostle_core::Workers;
    /// let mut squares = [0; 10];
    /// Workers::current().fill_blocks("squares", &mut squares, 4, |first, block| {
    ///     block.iter_mut().zip(first..).for_each(|(square, i)| *square = i * i);
    /// });
    /// assert_eq!(squares, [0, 1, 4, 9, 16, 25, 36, 49, 64, 81]);
    /// ```
    ///
    /// # Panics
    /// When `size` is 0, or a task panics.
    pub fn fill_blocks<T: Send>(
        self,
        name: &'static str,
        list: &mut [T],
        size: usize,
        fill: impl Fn(usize, &mut [T]) + Sync + Send,
    ) {
        self.fill_each(name, list, size, &Fill(fill));
    }

    /// As [`Workers::fill_blocks`], with a trait object, so that this code is compiled once for each type of element.
    fn fill_each<T: Send>(self, name: &'static str, list: &mut [T], size: usize, fill: &FillBlock<'_, T>) {
        let len = list.len();
        let list = Disjoint::new(list);
        self.run(name, len.div_ceil(size), |block| {
            let range = block * size..((block + 1) * size).min(len);
            // SAFETY: blocks do not overlap, and `run` gives each to one task.
            fill.run((range.start, unsafe { list.range(range) }));
        });
    }

    /// As [`Workers::fill_blocks`], for columns that are all as long as the first one: a task gets the same block of
    /// each.
    ///
    /// # Panics
    /// When a column is shorter than the first one, `size` is 0, or a task panics.
    pub fn fill_columns<T: Send, const N: usize, const M: usize>(
        self,
        name: &'static str,
        columns: [[&mut [T]; N]; M],
        size: usize,
        fill: impl Fn(usize, [[&mut [T]; N]; M]) + Sync + Send,
    ) {
        let columns = shares(columns);
        let len = columns.first().and_then(|columns| columns.first()).map_or(0, Disjoint::len);
        self.run(name, len.div_ceil(size), |block| {
            let range = block * size..((block + 1) * size).min(len);
            // SAFETY: blocks of a column do not overlap, and `run` gives each to one task.
            fill(range.start, unsafe { parts(&columns, &range) });
        });
    }

    /// Calls `fill(part, a, b)` once for each part, one task per part, with the elements
    /// `starts[part]..starts[part + 1]` of both lists.
    ///
    /// # Panics
    /// When `starts` is not ascending or goes beyond a list, or a task panics.
    pub fn fill_parts<A: Send, B: Send>(
        self,
        name: &'static str,
        starts: &[usize],
        (a, b): (&mut [A], &mut [B]),
        fill: impl Fn(usize, &mut [A], &mut [B]) + Sync + Send,
    ) {
        self.fill_each_part(name, starts, (a, b), &Fill(fill));
    }

    fn fill_each_part<A: Send, B: Send>(
        self,
        name: &'static str,
        starts: &[usize],
        (a, b): (&mut [A], &mut [B]),
        fill: &FillPart<'_, A, B>,
    ) {
        assert!(starts.is_sorted(), "parts overlap");
        let (a, b) = (Disjoint::new(a), Disjoint::new(b));
        self.run(name, starts.len().saturating_sub(1), |part| {
            let range = starts[part]..starts[part + 1];
            // SAFETY: `starts` is ascending, so that parts do not overlap, and `run` gives each to one task.
            let (a, b) = unsafe { (a.range(range.clone()), b.range(range)) };
            fill.run((part, a, b));
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::parallel::workers::Workers;
    use rayon::ThreadPoolBuilder;

    #[test]
    fn every_part_is_filled_once() {
        crate::parallel::cores::assume(8);
        let pool = ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
        let starts = [0, 0, 5, 6, 100];
        for workers in [Workers::Serial, Workers::Rayon] {
            let (mut a, mut b) = ([0; 100], [0; 101]);
            pool.install(|| {
                workers.fill_parts("parts", &starts, (&mut a, &mut b), |part, a, b| {
                    a.iter_mut().chain(b).for_each(|x| *x += part);
                });
            });
            let expected = |i| {
                if i < 5 {
                    1
                } else if i < 6 {
                    2
                } else {
                    3
                }
            };
            assert!(a.iter().zip(&b).enumerate().all(|(i, (a, b))| a == b && *a == expected(i)));
            assert_eq!(b[100], 0);
        }
    }

    #[test]
    fn columns_are_filled_block_by_block() {
        let (mut x, mut y) = ([0; 10], [0; 10]);
        Workers::Serial.fill_columns("columns", [[&mut x, &mut y]], 4, |first, [[x, y]]| {
            for (at, (x, y)) in x.iter_mut().zip(y).enumerate() {
                (*x, *y) = (first + at, 2 * (first + at));
            }
        });
        assert!((0..10).all(|at| x[at] == at && y[at] == 2 * at));
    }

    #[test]
    fn no_list_is_no_task() {
        Workers::Serial.fill_blocks("none", &mut [0; 0], 8, |_, _| unreachable!());
        Workers::Serial.fill_parts("none", &[], (&mut [0; 3], &mut [0; 3]), |_, _, _| unreachable!());
    }

    #[test]
    #[should_panic(expected = "parts overlap")]
    fn parts_must_not_overlap() {
        Workers::Serial.fill_parts("bad", &[0, 2, 1], (&mut [0; 3], &mut [0; 3]), |_, _, _| ());
    }
}

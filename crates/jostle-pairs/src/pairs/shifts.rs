//! The image shifts of a list of pairs. Of a shift, only what the ids do not tell is kept.

use std::sync::{Arc, Mutex, OnceLock};

use jostle_core::Workers;
use jostle_core::axes::{Axes, Both, from_axes};
use jostle_core::scratch::resize_with_headroom;
use jostle_sets::input::UnitCell;
use jostle_sets::prepare::job::JobsOf;
use jostle_sets::proxy::Exact;

/// Pairs that one task looks at.
const BLOCK: usize = 1 << 13;

/// Pairs whose bits fill a word.
const WORD: usize = u64::BITS as usize;

/// The bit of each pair of a word. With a table, several pairs are looked at side by side.
const BITS: [u64; WORD] = {
    let (mut bits, mut at) = ([0; WORD], 0);
    while at < WORD {
        bits[at] = 1 << at;
        at += 1;
    }
    bits
};

/// How many of each cell vector move the second body of each pair. A shift is made of the steps of the image at which
/// the pair was found, and of the steps that moved either body into the cell. A pair costs a bit, and its shift is
/// computed when asked for.
#[derive(Debug, Default)]
pub(crate) struct Shifts<const D: usize> {
    /// Runs of pairs; none in open space.
    runs: Vec<Run<D>>,
    /// A bit for each pair, set if its bodies change places, so that the image is the opposite one. Empty where no pair
    /// can.
    turned: Vec<u64>,
    /// The words of `turned` at which tasks begin.
    starts: Vec<usize>,
    /// The cell, if each pair is at its nearest image, and the places of the stand-ins for each set, whose memory the
    /// stand-ins own.
    nearest: Option<UnitCell<D>>,
    places: Vec<Arc<Places<D>>>,
    /// For each set, by how many vectors each of its bodies has been moved into the cell; empty if no body has been
    /// moved.
    wraps: Vec<Vec<[i32; D]>>,
    /// All shifts in a slice, once it has been asked for; and the memory of an earlier slice.
    slice: OnceLock<Vec<[i32; D]>>,
    spare: Mutex<Vec<[i32; D]>>,
}

impl<const D: usize> Clone for Shifts<D> {
    fn clone(&self) -> Self {
        let Self { runs, turned, nearest, places, wraps, .. } = self;
        let (runs, turned, nearest) = (runs.clone(), turned.clone(), *nearest);
        Self { runs, turned, nearest, places: places.clone(), wraps: wraps.clone(), ..Self::default() }
    }
}

/// Where bodies of a set are, or their stand-ins, and how many vectors of the cell lead from a stand-in to its body,
/// axis by axis. There are as many places as bodies, and maybe more.
#[derive(Debug, Clone)]
pub(crate) struct Places<const D: usize> {
    pub(crate) centers: [Vec<f32>; D],
    pub(crate) steps: [Vec<f32>; D],
}

impl<const D: usize> Default for Places<D> {
    fn default() -> Self {
        let [centers, steps] = [const { [const { Vec::new() }; D] }; 2];
        Self { centers, steps }
    }
}

impl<const D: usize> Places<D> {
    pub(crate) fn bytes(&self) -> usize {
        self.centers.iter().chain(&self.steps).map(Vec::capacity).sum::<usize>() * size_of::<f32>()
    }
}

/// A run of pairs of the same two sets, all found at the same image, or each at its nearest.
#[derive(Debug, Clone, Copy)]
struct Run<const D: usize> {
    end: usize,
    sets: [u32; 2],
    steps: [i32; D],
}

impl<const D: usize> Shifts<D> {
    /// Forgets all shifts, but keeps their memory.
    pub(crate) fn clear(&mut self) {
        if let (Some(slice), Ok(spare)) = (self.slice.take(), self.spare.get_mut()) {
            *spare = slice;
        }
        self.runs.clear();
        self.nearest = None;
        self.places.clear();
    }

    /// Notes the places of the stand-ins for each set, for pairs at their nearest images. The pairs of each two sets in
    /// `meetings` end at a number in `ends`.
    pub(crate) fn note_nearest<'a>(
        &mut self,
        cell: &UnitCell<D>,
        (meetings, ends): (&[[u32; 2]], &[usize]),
        places: impl Iterator<Item = &'a Arc<Places<D>>>,
    ) {
        self.clear();
        self.nearest = Some(*cell);
        self.runs.extend(meetings.iter().zip(ends).map(|(&sets, &end)| Run { end, sets, steps: [0; D] }));
        self.places.extend(places.cloned());
    }

    /// Notes the shifts of pairs, and puts the lesser id first in pairs within a set. The second body of each given
    /// pair is the one at the image.
    pub(crate) fn note(&mut self, exact: &Exact<'_, D>, of: JobsOf<'_>, pairs: &mut [[u32; 2]], workers: Workers<'_>) {
        self.clear();
        let sets = if exact.cell.is_some() { exact.sets.len() } else { 0 };
        self.wraps.resize(sets, Vec::new());
        for (set, wraps) in self.wraps.iter_mut().enumerate() {
            wraps.clear();
            wraps.extend_from_slice(exact.wraps(set as u32));
        }
        let mut turns = 0;
        if exact.cell.is_some() {
            let runs = of.jobs.iter().zip(of.ends);
            self.runs.extend(runs.map(|(job, &end)| Run {
                end,
                sets: job.sets,
                steps: exact.images.steps[job.image as usize],
            }));
            turns = if of.jobs.iter().any(|job| job.turns()) { pairs.len().div_ceil(WORD) } else { 0 };
        }
        resize_with_headroom(&mut self.turned, turns);
        if turns == 0 {
            return;
        }
        let (whole, (chunks, rest)) = (pairs.len() / WORD, pairs.as_chunks_mut::<WORD>());
        resize_with_headroom(&mut self.starts, whole.div_ceil(BLOCK / WORD) + 1);
        self.starts.iter_mut().enumerate().for_each(|(part, start)| *start = whole.min(part * (BLOCK / WORD)));
        let (words, last) = self.turned.split_at_mut(whole);
        workers.fill_parts("turned", &self.starts, (words, chunks), |part, words, chunks| {
            turn(of, part * BLOCK, chunks.as_flattened_mut(), words);
        });
        turn(of, whole * WORD, rest, last);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.runs.capacity() * size_of::<Run<D>>()
            + self.turned.capacity() * size_of::<u64>()
            + self.starts.capacity() * size_of::<usize>()
            + self.places.capacity() * size_of::<Arc<Places<D>>>()
            + self.wraps.capacity() * size_of::<Vec<[i32; D]>>()
            + self.slice.get().map_or(0, Vec::capacity) * size_of::<[i32; D]>()
            + self.spare.lock().map_or(0, |spare| spare.capacity()) * size_of::<[i32; D]>()
            + self.wraps.iter().map(|wraps| wraps.capacity() * size_of::<[i32; D]>()).sum::<usize>()
    }

    /// As [`Shifts::iter`], in a slice.
    pub(crate) fn slice(&self, pairs: &[[u32; 2]]) -> &[[i32; D]] {
        self.slice.get_or_init(|| {
            let mut slice = self.spare.lock().map(|mut spare| core::mem::take(&mut *spare)).unwrap_or_default();
            resize_with_headroom(&mut slice, self.iter(pairs).len());
            slice.iter_mut().zip(self.iter(pairs)).for_each(|(slot, shift)| *slot = shift);
            slice
        })
    }

    /// The shift of a pair, by its number.
    pub(crate) fn get(&self, pairs: &[[u32; 2]], number: usize) -> Option<[i32; D]> {
        let run = self.runs.get(self.runs.partition_point(|run| run.end <= number))?;
        Some(self.of(run, number, *pairs.get(number)?))
    }

    /// The shifts of all pairs, in their order; none in open space.
    pub(crate) fn iter<'a>(
        &'a self,
        pairs: &'a [[u32; 2]],
    ) -> impl ExactSizeIterator<Item = [i32; D]> + Clone + use<'a, D> {
        let (mut run, len) = (0, if self.runs.is_empty() { 0 } else { pairs.len() });
        (0..len).map(move |number| {
            while self.runs[run].end <= number {
                run += 1;
            }
            self.of(&self.runs[run], number, pairs[number])
        })
    }

    #[inline]
    fn of(&self, run: &Run<D>, number: usize, [a, b]: [u32; 2]) -> [i32; D] {
        if let Some(cell) = &self.nearest {
            return self.of_nearest((cell, run.sets), [a, b]);
        }
        let turned = self.turned.get(number / WORD).is_some_and(|word| word >> (number % WORD) & 1 == 1);
        let mut shift = if turned { run.steps.axes(|step| -step) } else { run.steps };
        let [of_a, of_b] = run.sets.both(|set| &self.wraps[set as usize]);
        if let Some(wraps) = of_a.get(a as usize) {
            for k in 0..D {
                shift[k] += wraps[k];
            }
        }
        if let Some(wraps) = of_b.get(b as usize) {
            for k in 0..D {
                shift[k] -= wraps[k];
            }
        }
        shift
    }

    /// The shift of a pair at its nearest image.
    fn of_nearest(&self, (cell, sets): (&UnitCell<D>, [u32; 2]), [a, b]: [u32; 2]) -> [i32; D] {
        let [from, to] = sets.both(|set| &self.places[set as usize]);
        let (a, b) = (a as usize, b as usize);
        let apart = from_axes(|axis| f64::from(to.centers[axis][b]) - f64::from(from.centers[axis][a]));
        let nearest = cell.steps_to(apart);
        from_axes(|k| (from.steps[k][a] - to.steps[k][b]) as i32 - nearest[k] as i32)
    }
}

/// Puts the lesser id first in pairs of a job that turns pairs, and sets the bits of the pairs whose bodies change
/// places. The first of `pairs` has number `first` in the list.
fn turn(of: JobsOf<'_>, first: usize, pairs: &mut [[u32; 2]], words: &mut [u64]) {
    words.fill(0);
    of.each(first, pairs.len(), |range, job| {
        let mut at = range.start;
        while job.turns() && at < range.end {
            let end = range.end.min((at / WORD + 1) * WORD);
            let mut word = 0;
            for (pair, &bit) in pairs[at..end].iter_mut().zip(&BITS[at % WORD..]) {
                let [a, b] = *pair;
                word |= if b < a { bit } else { 0 };
                *pair = [a.min(b), a.max(b)];
            }
            words[at / WORD] |= word;
            at = end;
        }
    });
}

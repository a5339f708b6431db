//! Ordinals in place of coordinates, for scenes of which no frame tells the bodies apart: a crowd much denser than what
//! lies around it, pebbles on a planet, boxes beside some that have hardly an end. In such a frame, bodies of a crowd lie
//! on one place, and all pairs of them are candidates.
//!
//! Where a body begins and ends on an axis is replaced by how many of some other ends lie below: its ordinal.
//! Ordinals ascend with what they replace, so intervals that overlap still do, whatever the scale. (H. Gabow, J. Bentley
//! and R. Tarjan, "Scaling and related techniques for geometry problems", 1984, call it rank space.) The trees are of
//! boxes whose corners are ordinals, and each hit is decided.
//!
//! - The ends that are counted are those of all bodies, or of a sample. Intervals between two ends of the sample that
//!   follow each other cannot be told apart: of many bodies, some 16.
//! - Intervals have grown by all that is rounded (`ends`).
//! - Where an axis repeats, the ends are taken into the cell, and each period counts as many ordinals as there are ends.
//!   Ordinals, and their sums with those of images, are whole numbers below 2^24, so `f32` holds them exactly.

use jostle_core::Workers;
use jostle_core::axes::{Axes, Both, slices_mut};

use crate::proxy::boxed::BoxColumns;
use crate::proxy::columns::BLOCK;
use crate::proxy::crowded::{is_hopeless, mixed};
use crate::proxy::ends::{AllBodies, Framed, Numbered};

/// The fewest ends that are worth counting.
const LEAST: usize = 256;

/// The ends that are counted: all of so many bodies, and of more bodies one in `SAMPLED`; but no more than `MOST`.
const ALL: usize = 1 << 14;
const SAMPLED: usize = 16;
const MOST: usize = 1 << 20;

/// Ordinals and their sums with those of images stay below this.
const EXACT: usize = 1 << 23;

/// One axis.
#[derive(Debug, Default)]
struct Axis {
    /// The ends that are counted, ascending.
    ends: Vec<f64>,
    /// The lower border of the cell and the period, where the axis repeats.
    period: Option<[f64; 2]>,
}

impl Axis {
    /// In which period a place lies, counted from the cell, and where it is once it has been taken into the cell.
    fn in_cell(&self, at: f64) -> (f64, f64) {
        let Some([lo, period]) = self.period else { return (0.0, at) };
        let periods = ((at - lo) / period).floor();
        (periods, at - periods * period)
    }

    fn ordinal(&self, at: f64) -> f32 {
        let (periods, at) = self.in_cell(at);
        (periods * self.ends.len() as f64) as f32 + self.ends.partition_point(|&end| end < at) as f32
    }
}

/// The axes of a search whose boxes have ordinals for corners.
#[derive(Debug)]
pub(crate) struct Ordinals<const D: usize> {
    axes: [Axis; D],
    /// The ends of bodies of a sample.
    sample: Vec<Numbered<D>>,
    used: bool,
}

impl<const D: usize> Default for Ordinals<D> {
    fn default() -> Self {
        Self { axes: core::array::from_fn(|_| Axis::default()), sample: Vec::new(), used: false }
    }
}

impl<const D: usize> Ordinals<D> {
    pub(crate) fn bytes(&self) -> usize {
        self.axes.iter().map(|axis| axis.ends.capacity() * size_of::<f64>()).sum::<usize>()
            + self.sample.capacity() * size_of::<Numbered<D>>()
    }

    pub(crate) fn clear(&mut self) {
        self.used = false;
    }

    /// Whether the last search had boxes of ordinals.
    pub(crate) fn are_used(&self) -> bool {
        self.used
    }

    /// How many ordinals each period has.
    pub(crate) fn in_period(&self) -> [f32; D] {
        self.axes.each_ref().axes(|axis| axis.ends.len() as f32)
    }

    /// Whether a frame does not tell bodies apart, and ordinals would.
    pub(crate) fn are_due(&mut self, bodies: AllBodies<'_, D>, frame: Framed) -> bool {
        is_hopeless(bodies, frame, &mut self.sample)
    }

    /// Counts the ends of bodies, if their frame does not tell them apart. Images are at most `farthest` periods away.
    pub(crate) fn count(
        &mut self,
        bodies: AllBodies<'_, D>,
        frame: Framed,
        farthest: usize,
        workers: Workers<'_>,
    ) -> bool {
        self.used = false;
        let n = bodies.len();
        let counted = if n <= ALL { n } else { (n / SAMPLED).clamp(ALL, MOST) }.min(EXACT / (farthest + 2));
        if counted < LEAST || !self.are_due(bodies, frame) {
            return false;
        }
        let chosen = |at: usize| if counted == n { at } else { (mixed(at as u64) >> 32) as usize % n };
        self.sample.resize(counted, (0, [[0.0; 2]; D]));
        workers.fill_blocks("ends", &mut self.sample, BLOCK, |first, block| {
            (first..).zip(block).for_each(|(at, ends)| *ends = bodies.numbered(chosen(at)));
        });
        let sample = &self.sample;
        workers.fill_blocks("ends", &mut self.axes, 1, |at, axis| {
            let axis = &mut axis[0];
            let repeats = bodies.cell.filter(|cell| cell.space.repeats[at]);
            axis.period = repeats.map(|cell| [cell.space.origin[at], cell.space.vectors[at][at]]);
            let mut ends = core::mem::take(&mut axis.ends);
            ends.clear();
            ends.extend(sample.iter().map(|(_, ends)| axis.in_cell(ends[at][1]).1));
            ends.sort_unstable_by(f64::total_cmp);
            axis.ends = ends;
        });
        self.used = true;
        true
    }

    /// Makes the boxes of a set.
    pub(crate) fn fill(&self, bodies: AllBodies<'_, D>, set: usize, boxes: &mut BoxColumns<D>, workers: Workers<'_>) {
        boxes.make_room(bodies.input.sets()[set].len());
        let columns = boxes.corners.each_mut().both(slices_mut);
        workers.fill_columns("boxes", columns, BLOCK, |first, mut corners| {
            for at in 0..corners[0][0].len() {
                let ends = bodies.ends(set, first + at);
                for (side, columns) in corners.iter_mut().enumerate() {
                    (0..D).for_each(|axis| columns[axis][at] = self.axes[axis].ordinal(ends[axis][side]));
                }
            }
        });
    }
}

//! What is known of listed pairs beside their ids: their sets, their image shifts, and when they first touch.

use core::ops::Range;
use std::sync::Arc;

use jostle_core::Workers;
use jostle_core::scratch::resize_with_headroom;
use jostle_sets::input::UnitCell;
use jostle_sets::prepare::job::JobsOf;
use jostle_sets::proxy::Exact;

use crate::pairs::shifts::{Places, Shifts};

/// Pairs that one task looks at.
const BLOCK: usize = 1 << 13;

/// Sets, image shifts and times of impact of the pairs of a list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listed<const D: usize> {
    /// The number of pairs, if all are of one set of bodies at rest in open space. Then nothing else is noted.
    plain: Option<usize>,
    /// Each two sets that met, ascending, and where their pairs end.
    meetings: Vec<[u32; 2]>,
    ends: Vec<usize>,
    pub(crate) shifts: Shifts<D>,
    pub(crate) times: Vec<f64>,
    /// Space repeats.
    repeats: bool,
    /// No body can touch several images of another.
    unique: bool,
}

impl<const D: usize> Listed<D> {
    pub(crate) fn bytes(&self) -> usize {
        self.meetings.capacity() * size_of::<[u32; 2]>()
            + self.ends.capacity() * size_of::<usize>()
            + self.shifts.bytes()
            + self.times.capacity() * size_of::<f64>()
    }

    /// Notes where the pairs of each two sets end.
    pub(crate) fn note_meetings(&mut self, meetings: impl Iterator<Item = (usize, usize)>, of: JobsOf<'_>) {
        self.plain = None;
        note_meetings((&mut self.meetings, &mut self.ends), meetings, of);
    }

    /// Notes that all pairs, `pairs` of them, are of one set of bodies at rest in open space.
    pub(crate) fn note_plain(&mut self, pairs: usize) {
        self.plain = Some(pairs);
        (self.repeats, self.unique) = (false, true);
        self.shifts.clear();
        self.times.clear();
    }

    /// Each two sets that met, ascending, and where their pairs end. The end of the last two, which is the end of the
    /// list, is left out.
    pub(crate) fn meetings(&self) -> (&[[u32; 2]], &[usize]) {
        if self.plain.is_some() {
            return (&[[0; 2]], &[]);
        }
        (&self.meetings, &self.ends[..self.ends.len().saturating_sub(1)])
    }

    /// Whether pairs have image shifts.
    pub(crate) fn has_images(&self) -> bool {
        self.repeats
    }

    /// Whether no two pairs can differ in their image shifts alone.
    pub(crate) fn is_unique(&self) -> bool {
        self.unique
    }

    /// Where the pairs of two sets lie in the list.
    pub(crate) fn range(&self, i: usize, j: usize) -> Option<Range<usize>> {
        if let Some(pairs) = self.plain {
            return (i == 0 && j == 0).then_some(0..pairs);
        }
        let at = self.meetings.binary_search(&[i.min(j) as u32, i.max(j) as u32]).ok()?;
        Some(at.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[at])
    }

    /// Notes each two sets that met, and where their pairs end, for bodies at rest in open space.
    pub(crate) fn note(&mut self, meetings: &[[u32; 2]], ends: impl Iterator<Item = usize>) {
        self.plain = None;
        self.meetings.clear();
        self.meetings.extend_from_slice(meetings);
        self.ends.clear();
        self.ends.extend(ends);
        (self.repeats, self.unique) = (false, true);
        self.shifts.clear();
        self.times.clear();
    }

    /// Notes that space repeats, that each pair is at its nearest image, and the places of the stand-ins for the bodies
    /// of each set.
    pub(crate) fn note_nearest<'a>(&mut self, cell: &UnitCell<D>, places: impl Iterator<Item = &'a Arc<Places<D>>>) {
        self.repeats = true;
        self.shifts.note_nearest(cell, (&self.meetings, &self.ends), places);
    }

    /// Notes the image shift and the time of impact of each pair, and puts the lesser id first in pairs within a set.
    /// The second body of each given pair is the one at the image.
    pub(crate) fn tell(&mut self, exact: &Exact<'_, D>, of: JobsOf<'_>, pairs: &mut [[u32; 2]], workers: Workers<'_>) {
        (self.repeats, self.unique) = (exact.cell.is_some(), exact.images.unique);
        resize_with_headroom(&mut self.times, if exact.any_move() { pairs.len() } else { 0 });
        workers.fill_blocks("times", &mut self.times, BLOCK, |first, block| {
            of.each(first, block.len(), |range, job| {
                exact.touches(job.sets, job.image, &pairs[first..][range.clone()], &mut block[range]);
            });
        });
        self.shifts.note(exact, of, pairs, workers);
    }
}

/// Notes each two sets that met, ascending, and where their pairs end.
pub(crate) fn note_meetings(
    (sets, ends): (&mut Vec<[u32; 2]>, &mut Vec<usize>),
    meetings: impl Iterator<Item = (usize, usize)>,
    of: JobsOf<'_>,
) {
    sets.clear();
    ends.clear();
    let (mut job, mut end) = (0, 0);
    for (i, j) in meetings {
        let met = [i as u32, j as u32];
        while job < of.jobs.len() && of.jobs[job].sets == met {
            end = of.ends[job];
            job += 1;
        }
        sets.push(met);
        ends.push(end);
    }
}

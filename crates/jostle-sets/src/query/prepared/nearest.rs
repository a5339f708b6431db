//! Bodies nearest to a point.

use jostle_core::tree::{LEAF, Level};

use super::boxes::{ROUNDING, end};
use super::images::Sweep;
use super::seen::{Kept, Seen, SeenAt};
use super::way::{check_distance, check_point, difference, squared};
use super::{PreparedQueries, lowest_height};
use crate::compiled::compiled_here;
use crate::query::QueryError;

impl<const D: usize> PreparedQueries<'_, D> {
    /// Lists the `count` images of bodies (all, when there are fewer) that are nearest to a point and not beyond
    /// `within`, which may be infinite: by squared distance, then id and image. The distance is that of the centre; of
    /// boxes and capsules, that of the box or the segment. The list is also the memory of the search. When the images
    /// looked at become too many, it is left empty.
    ///
    /// # Errors
    /// See [`PreparedQueries`].
    pub fn nearest(
        &self,
        point: [f64; D],
        count: usize,
        within: f64,
        nearest: &mut Vec<SeenAt<D>>,
    ) -> Result<(), QueryError> {
        list_nearest(self, point, (count, within), nearest)
    }

    /// The first of [`PreparedQueries::nearest`]. Nothing is allocated.
    ///
    /// # Errors
    /// See [`PreparedQueries`].
    pub fn nearest_one(&self, point: [f64; D], within: f64) -> Result<Option<SeenAt<D>>, QueryError> {
        let mut nearest = None;
        find_nearest(self, point, within, &mut nearest)?;
        Ok(nearest)
    }

    fn nearest_to(
        &self,
        point: [f64; D],
        (count, within): (usize, f64),
        nearest: &mut Vec<SeenAt<D>>,
    ) -> Result<(), QueryError> {
        self.check_nearest(point, within)?;
        let mut kept = Kept::new(core::mem::take(nearest), count, within * within);
        let searched = self.offer_all(point, &mut kept);
        let (list, one) = kept.into_sorted();
        *nearest = list;
        nearest.extend(one);
        searched.inspect_err(|_| nearest.clear())
    }

    /// Refuses a point or a greatest distance of a search for the nearest that has a fault.
    pub(super) fn check_nearest(&self, point: [f64; D], within: f64) -> Result<(), QueryError> {
        check_point(&point, 0.0)?;
        check_distance(within)?;
        self.around(point, 0.0).map_or(Ok(()), |sweep| sweep.check())
    }

    fn around(&self, point: [f64; D], reach: f64) -> Option<Sweep<D>> {
        // Bodies that are not round are nearer than their middles.
        let reach = reach + if self.set.boxed.is_some() { self.greatest_radius() } else { 0.0 };
        self.cell.map(|cell| Sweep::around(&cell, point, point, reach, self.far()))
    }

    /// Offers all bodies that may be near enough, image by image from the nearest on.
    fn offer_all(&self, point: [f64; D], kept: &mut Kept<D>) -> Result<(), QueryError> {
        if kept.is_full() || self.set.is_empty() {
            return Ok(());
        }
        let (mut reach, mut before, mut is_seen): (f64, Option<Sweep<D>>, bool) = (0.0, None, false);
        loop {
            let sweep = self.around(point, reach);
            sweep.map_or(Ok(()), |sweep| sweep.check())?;
            self.each_image(sweep.as_ref(), |step| {
                if !before.is_some_and(|before| before.has(step)) {
                    is_seen = true;
                    self.offer_image(point, step, kept);
                }
            });
            // Without a greatest distance, all bodies of an image have been looked at: none passes the test.
            if is_seen && kept.is_empty() && kept.bound() == f64::INFINITY {
                return Ok(());
            }
            // All images within the reach have been looked at.
            let farthest = kept.bound().sqrt();
            if self.cell.is_none() || farthest <= reach {
                return Ok(());
            }
            let next = self.cell.map_or(0.0, |cell| lowest_height(&cell)).max(2.0 * reach);
            (before, reach) = (sweep, next.min(farthest));
        }
    }

    /// Offers all bodies of an image that may be near enough, the nearest boxes of each node first.
    fn offer_image(&self, point: [f64; D], step: [i32; D], kept: &mut Kept<D>) {
        let by = self.shift(step);
        let blur = 2.0 * self.blur(&[point, by], 0.0);
        let mut at = [0.0; D];
        for axis in 0..D {
            at[axis] = (point[axis] - by[axis] - self.origin[axis]) * self.scale;
        }
        let levels = self.set.tree().levels();
        if let Some(top) = levels.len().checked_sub(1) {
            self.offer_node(levels, (top, 0), (point, at, blur), step, kept);
        }
    }

    fn offer_node(
        &self,
        levels: &[Level<D>],
        (level, node): (usize, usize),
        (point, at, blur): ([f64; D], [f64; D], f64),
        step: [i32; D],
        kept: &mut Kept<D>,
    ) {
        let (mut apart, boxes) = ([f64::INFINITY; LEAF], &levels[level].nodes()[node]);
        for (lane, apart) in apart.iter_mut().enumerate() {
            let mut d = [0.0; D];
            for axis in 0..D {
                let (lo, hi) = (boxes.lo[axis].0[lane], boxes.hi[axis].0[lane]);
                d[axis] = (end(lo) - at[axis] - blur).max(0.0).max(at[axis] - end(hi) - blur);
            }
            // Only boxes that fill up a node are infinitely far. Other squares may be too large for a number, since the
            // frame of a few small bodies is small.
            *apart = if boxes.lo[0].0[lane] <= boxes.hi[0].0[lane] { squared(d).min(f64::MAX) } else { f64::INFINITY };
        }
        let mut left =
            (0..LEAF as u16).filter(|&lane| apart[usize::from(lane)] < f64::INFINITY).fold(0_u16, |m, l| m | 1 << l);
        while left != 0 {
            let mut next = left.trailing_zeros() as usize;
            for lane in (0..LEAF).filter(|lane| left & 1 << lane != 0) {
                next = if apart[lane] < apart[next] { lane } else { next };
            }
            left &= !(1 << next);
            if apart[next] > kept.bound() * self.scale * self.scale * (1.0 + ROUNDING) {
                return;
            }
            let child = node * LEAF + next;
            if level > 0 {
                self.offer_node(levels, (level - 1, child), (point, at, blur), step, kept);
                continue;
            }
            self.each_of(child, |id| {
                let image_shift = self.image_shift(step, id);
                let shift = self.shift(image_shift);
                let distance = match self.set.boxed {
                    None => squared(difference(self.set.body(id).0, point, shift)),
                    Some(_) => self.set.solid(id).distance2(point, shift),
                };
                kept.offer(SeenAt { distance, body: Seen { id, image_shift } });
            });
        }
    }
}

compiled_here! {
    fn list_nearest<const D: usize>(
        queries: &PreparedQueries<'_, D>,
        point: [f64; D],
        wanted: (usize, f64),
        nearest: &mut Vec<SeenAt<D>>,
    ) -> Result<(), QueryError> {
        queries.nearest_to(point, wanted, nearest)
    }

    fn find_nearest<const D: usize>(
        queries: &PreparedQueries<'_, D>,
        point: [f64; D],
        within: f64,
        nearest: &mut Option<SeenAt<D>>,
    ) -> Result<(), QueryError> {
        queries.check_nearest(point, within)?;
        let mut kept = Kept::new(Vec::new(), 1, within * within);
        queries.offer_all(point, &mut kept)?;
        *nearest = kept.into_sorted().1;
        Ok(())
    }
}

//! Bodies that a ray hits, and the first of them.

use jostle_core::axes::Axes;
use jostle_core::tree::Level;

use super::boxes::{ROUNDING, crossed};
use super::images::Sweep;
use super::seen::{Seen, SeenAt};
use super::way::{Way, difference};
use super::{PreparedQueries, lowest_height};
use crate::compiled::compiled_here;
use crate::query::QueryError;

impl<const D: usize> PreparedQueries<'_, D> {
    /// Lists the bodies that a ray hits within its reach, which may be infinite in open space.
    ///
    /// # Errors
    /// See [`PreparedQueries`].
    pub fn ray(
        &self,
        origin: [f64; D],
        direction: [f64; D],
        reach: f64,
        hits: &mut Vec<SeenAt<D>>,
    ) -> Result<(), QueryError> {
        list_hits(self, (origin, direction, reach), hits)
    }

    /// As [`PreparedQueries::ray`], calling `visit` for each hit, in the order of images and of the tree, not of
    /// distance.
    ///
    /// # Errors
    /// See [`PreparedQueries`].
    pub fn visit_ray(
        &self,
        origin: [f64; D],
        direction: [f64; D],
        reach: f64,
        mut visit: impl FnMut(SeenAt<D>),
    ) -> Result<(), QueryError> {
        visit_hits(self, (origin, direction, reach), &mut visit)
    }

    /// The first of [`PreparedQueries::ray`], found without most of the others. Nothing is allocated.
    ///
    /// # Errors
    /// See [`PreparedQueries`].
    pub fn first_hit(
        &self,
        origin: [f64; D],
        direction: [f64; D],
        reach: f64,
    ) -> Result<Option<SeenAt<D>>, QueryError> {
        let mut first = None;
        find_first_hit(self, (origin, direction, reach), &mut first)?;
        Ok(first)
    }

    fn first_of_hits(&self, (origin, direction, reach): Line<D>) -> Result<Option<SeenAt<D>>, QueryError> {
        let (ray, _) = self.check_ray(origin, direction, reach)?;
        // Looks as far as a cell is high, then twice as far, and so on, so that images far away are not looked at for
        // nothing.
        let mut ahead = self.cell.map_or(reach, |cell| lowest_height(&cell)).min(reach);
        loop {
            let (sweep, mut first) = (self.check_way(&ray, ahead)?, None);
            self.cast(&ray, sweep.as_ref(), ahead, &mut |hit| {
                first = Some(first.map_or(hit, |first: SeenAt<D>| first.min(hit)));
                first.map(|first| first.distance)
            });
            if first.is_some() || ahead >= reach {
                return Ok(first);
            }
            ahead = (ahead * 2.0).min(reach);
        }
    }

    /// Refuses a ray that has a fault. Returns at which images to look for it.
    pub(super) fn check_ray(
        &self,
        origin: [f64; D],
        direction: [f64; D],
        reach: f64,
    ) -> Result<(Way<D>, Option<Sweep<D>>), QueryError> {
        let ray = Way::new(origin, direction, reach, self.cell.is_some())?;
        let sweep = self.check_way(&ray, reach)?;
        Ok((ray, sweep))
    }

    fn check_way(&self, ray: &Way<D>, reach: f64) -> Result<Option<Sweep<D>>, QueryError> {
        let Some(cell) = self.cell else { return Ok(None) };
        let unit = ray.direction.axes(|part| part / ray.length);
        let sweep = Sweep::along(&cell, (ray.origin, ray.origin), unit, reach, self.greatest_radius(), self.far());
        sweep.check()?;
        Ok(Some(sweep))
    }

    /// Gives each hit within the reach to `take`, which may return a shorter reach.
    fn cast(&self, ray: &Way<D>, sweep: Option<&Sweep<D>>, reach: f64, take: &mut dyn FnMut(SeenAt<D>) -> Option<f64>) {
        let ahead = core::cell::Cell::new(reach);
        self.each_image(sweep, |step| {
            let by = self.shift(step);
            let blur = self.blur(&[ray.origin, by], 0.0);
            let (mut from, unit) = ([0.0; D], ray.direction.axes(|part| part / ray.length));
            for axis in 0..D {
                from[axis] = (ray.origin[axis] - by[axis] - self.origin[axis]) * self.scale;
            }
            let open = |level: &Level<D>, node: usize| {
                let end = ahead.get() * self.scale * (1.0 + ROUNDING) + 4.0 * blur;
                crossed(level, node, (from, unit, end), blur)
            };
            self.each_leaf(open, |leaf| {
                self.each_of(leaf, |id| {
                    let image_shift = self.image_shift(step, id);
                    let shift = self.shift(image_shift);
                    let distance = if self.set.boxed.is_some() {
                        self.set.solid(id).hit_by(ray, shift)
                    } else {
                        let (body, radius) = self.set.body(id);
                        ray.hit(difference(body, ray.origin, shift), radius)
                    };
                    if let Some(distance) = distance.filter(|&distance| distance <= ahead.get()) {
                        let hit = SeenAt { distance, body: Seen { id, image_shift } };
                        ahead.set(take(hit).unwrap_or(ahead.get()));
                    }
                });
            });
        });
    }
}

/// The origin of a ray, its direction and its reach.
type Line<const D: usize> = ([f64; D], [f64; D], f64);

compiled_here! {
    fn list_hits<const D: usize>(
        queries: &PreparedQueries<'_, D>,
        line: Line<D>,
        hits: &mut Vec<SeenAt<D>>,
    ) -> Result<(), QueryError> {
        let (ray, sweep) = queries.check_ray(line.0, line.1, line.2)?;
        hits.clear();
        queries.cast(&ray, sweep.as_ref(), line.2, &mut |hit| {
            hits.push(hit);
            None
        });
        hits.sort_unstable();
        Ok(())
    }

    fn visit_hits<const D: usize>(
        queries: &PreparedQueries<'_, D>,
        line: Line<D>,
        visit: &mut dyn FnMut(SeenAt<D>),
    ) -> Result<(), QueryError> {
        let (ray, sweep) = queries.check_ray(line.0, line.1, line.2)?;
        queries.cast(&ray, sweep.as_ref(), line.2, &mut |hit| {
            visit(hit);
            None
        });
        Ok(())
    }

    fn find_first_hit<const D: usize>(
        queries: &PreparedQueries<'_, D>,
        line: Line<D>,
        first: &mut Option<SeenAt<D>>,
    ) -> Result<(), QueryError> {
        *first = queries.first_of_hits(line)?;
        Ok(())
    }
}

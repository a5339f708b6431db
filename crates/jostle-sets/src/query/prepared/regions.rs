//! Bodies that touch a point, a circle or a box.

use super::PreparedQueries;
use super::boxes::{Span, outward, overlapping};
use super::images::Sweep;
use super::seen::Seen;
use super::way::Region64;
use crate::compiled::compiled_here;
use crate::query::QueryError;

impl<const D: usize> PreparedQueries<'_, D> {
    /// Lists the bodies that hold a point.
    ///
    /// # Errors
    /// See [`PreparedQueries`].
    pub fn point(&self, point: [f64; D], found: &mut Vec<Seen<D>>) -> Result<(), QueryError> {
        self.circle(point, 0.0, found)
    }

    /// As [`PreparedQueries::point`], calling `visit` for each body.
    ///
    /// # Errors
    /// See [`PreparedQueries`].
    pub fn visit_point(&self, point: [f64; D], visit: impl FnMut(Seen<D>)) -> Result<(), QueryError> {
        self.visit_circle(point, 0.0, visit)
    }

    /// Lists the bodies that overlap a circle. Touching counts.
    ///
    /// # Errors
    /// See [`PreparedQueries`].
    pub fn circle(&self, center: [f64; D], radius: f64, found: &mut Vec<Seen<D>>) -> Result<(), QueryError> {
        list_region(self, Region64::Round { center, radius }, found)
    }

    /// As [`PreparedQueries::circle`], calling `visit` for each body.
    ///
    /// # Errors
    /// See [`PreparedQueries`].
    pub fn visit_circle(
        &self,
        center: [f64; D],
        radius: f64,
        mut visit: impl FnMut(Seen<D>),
    ) -> Result<(), QueryError> {
        visit_region(self, Region64::Round { center, radius }, &mut visit)
    }

    /// Lists the bodies that touch a box, borders included.
    ///
    /// # Errors
    /// See [`PreparedQueries`].
    pub fn aabb(&self, lo: [f64; D], hi: [f64; D], found: &mut Vec<Seen<D>>) -> Result<(), QueryError> {
        list_region(self, Region64::Straight { lo, hi }, found)
    }

    /// As [`PreparedQueries::aabb`], calling `visit` for each body.
    ///
    /// # Errors
    /// See [`PreparedQueries`].
    pub fn visit_aabb(&self, lo: [f64; D], hi: [f64; D], mut visit: impl FnMut(Seen<D>)) -> Result<(), QueryError> {
        visit_region(self, Region64::Straight { lo, hi }, &mut visit)
    }

    fn list(&self, region: Region64<D>, found: &mut Vec<Seen<D>>) -> Result<(), QueryError> {
        let sweep = self.check_region(region)?;
        found.clear();
        self.visit(region, sweep.as_ref(), &mut |seen| found.push(seen));
        found.sort_unstable();
        Ok(())
    }

    /// Refuses a region that has a fault. Returns at which images to look for it.
    pub(super) fn check_region(&self, region: Region64<D>) -> Result<Option<Sweep<D>>, QueryError> {
        region.check()?;
        let (lo, hi, more) = region.span();
        let sweep = self.cell.map(|cell| Sweep::around(&cell, lo, hi, more + self.greatest_radius(), self.far()));
        sweep.map_or(Ok(()), |sweep| sweep.check())?;
        Ok(sweep)
    }

    /// Visits all images of bodies that touch a checked region.
    pub(super) fn visit(&self, region: Region64<D>, sweep: Option<&Sweep<D>>, visit: &mut dyn FnMut(Seen<D>)) {
        let (lo, hi, more) = region.span();
        self.each_image(sweep, |step| {
            let by = self.shift(step);
            let mut span = ([0.0; D], [0.0; D]);
            let blur = self.blur(&[lo, hi, by], more) + more * self.scale;
            for axis in 0..D {
                span.0[axis] = outward((lo[axis] - by[axis] - self.origin[axis]) * self.scale - blur, -1.0);
                span.1[axis] = outward((hi[axis] - by[axis] - self.origin[axis]) * self.scale + blur, 1.0);
            }
            self.each_leaf(
                |level, node| overlapping(level, node, &span),
                |leaf| {
                    self.each_touching(leaf, &span, |id| {
                        let image_shift = self.image_shift(step, id);
                        let shift = self.shift(image_shift);
                        let touches = if self.set.boxed.is_some() {
                            region.touches_solid(&self.set.solid(id), shift)
                        } else {
                            let (body, radius) = self.set.body(id);
                            region.touches(body, shift, radius)
                        };
                        if touches {
                            visit(Seen { id, image_shift });
                        }
                    });
                },
            );
        });
    }

    /// Visits the bodies of a leaf whose proxies may touch a span.
    fn each_touching(&self, leaf: usize, (lo, hi): &Span<D>, mut visit: impl FnMut(u32)) {
        let tree = self.set.tree();
        let ids = &tree.leaf_ids()[leaf].0;
        if tree.is_of_boxes() {
            let boxes = &tree.boxes()[leaf];
            for (lane, &id) in ids.iter().enumerate().take(tree.leaf(leaf).len()) {
                let near = |axis: usize| boxes.hi[axis].0[lane] >= lo[axis] && boxes.lo[axis].0[lane] <= hi[axis];
                if (0..D).all(near) && self.only.passes(id) {
                    visit(id);
                }
            }
            return;
        }
        let bodies = &tree.bodies()[leaf];
        for (lane, &id) in ids.iter().enumerate().take(tree.leaf(leaf).len()) {
            let radius = f64::from(bodies.radii.0[lane]);
            let near = (0..D).all(|axis| {
                let center = f64::from(bodies.centers[axis].0[lane]);
                center + radius >= lo[axis].into() && center - radius <= hi[axis].into()
            });
            if near && self.only.passes(id) {
                visit(id);
            }
        }
    }
}

compiled_here! {
    fn list_region<const D: usize>(
        queries: &PreparedQueries<'_, D>,
        region: Region64<D>,
        found: &mut Vec<Seen<D>>,
    ) -> Result<(), QueryError> {
        queries.list(region, found)
    }

    fn visit_region<const D: usize>(
        queries: &PreparedQueries<'_, D>,
        region: Region64<D>,
        visit: &mut dyn FnMut(Seen<D>),
    ) -> Result<(), QueryError> {
        queries.visit(region, queries.check_region(region)?.as_ref(), visit);
        Ok(())
    }
}

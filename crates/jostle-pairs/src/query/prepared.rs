//! Questions to a prepared set: in either precision, in any space.
//!
//! The tree holds proxies in a frame of their own: a query is brought into that frame in `f64`, which rounds next to nothing,
//! and goes down to all leaves that it may touch, once for each image of the cell. What decides are the bodies as they were
//! given, by the predicates of [`PreparedQueries`].
//!
//! No body is lost: a proxy in a frame holds its body, grown as it is; one of bodies in `f32` is the body, its centre rounded
//! by 2^-24 of itself where it was moved into the cell. Spans are let out by that, and by 2^-48 of all numbers that
//! the predicates add up.

use jostle_core::tree::{LEAF, Level};

use super::boxes::{ROUNDING, Span, crossed, descend, outward, overlapping};
use super::error::QueryError;
use super::images::Sweep;
use super::seen::{Kept, Seen, SeenAt};
use super::way::{Region64, Round, Straight, Way, check_distance, check_point, difference, squared};
use crate::compiled::compiled_here;
use crate::input::Cell;
use crate::proxy::prepared::PreparedSet;

/// By how much centres in `f32` were rounded in the cell, twice: 2^-23.
const MOVED: f64 = 1.0 / 8_388_608.0;

/// Answers questions about the bodies of a [`PreparedSet`] and all their images, from as many threads as you like.
///
/// With x the centre and r the radius (margin included) of a body as it was given, in `f64` (`f32` is widened), and
/// `d = (x - q) + shift`, `shift = S0 v0 + S1 v1 ..` of its image summed from left to right, each sum of squares too:
/// - circle of radius `rq` about q, a point being one of radius 0: `d.d <= s*s` with `s = rq + r`;
/// - box: `e.e <= r*r` with `e = max(lo - y, 0, y - hi)` on each axis and `y = x + shift`;
/// - ray from q: that of [`Queries::ray`](super::Queries::ray) with `m = d`, the distance not rounded;
/// - nearest: `d.d`, at most `within * within`; the distance is its root, and radii do not count.
///
/// Answers come in the order of [`Seen`], or of [`SeenAt`]: one for each image. The lists are cleared first; nothing else is
/// allocated. `visit_...` calls a closure for each answer, in an order that is a function of the bodies and the space alone, and
/// allocates nothing. [`PreparedBatch`](super::PreparedBatch) answers many questions at once, in parallel. For bodies in `f32` in open space a [`Queries`](super::Queries) of their tree is faster, by predicates in `f32`.
///
/// Whatever is not finite, has a negative radius or a |coordinate| (+ radius) above 2^500, a box whose `lo` is above its
/// `hi`, a direction of zero, a reach that is negative or NaN, and a ray without end in a space that repeats, which meets
/// endless images, are refused with [`QueryError::Query`], as is what looks at more than 2^20 images or lies more than 2^29
/// cells away; the list is then as it was.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles64, PreparedSet, Seen, Space, Threads};
///
/// let mut atoms = PreparedSet::new();
/// let space = Space::periodic([Some([0.0, 10.0]), None]);
/// atoms.build(Circles64::new(&[0.5, 5.0], &[0.0, 0.0], 0.5), space, Threads::Serial)?;
///
/// let mut found = Vec::new();
/// atoms.queries().circle([9.5, 0.0], 0.5, &mut found)?;
/// assert_eq!(found, [Seen { id: 0, image_shift: [1, 0] }]); // 0.5 + 10 is 1 to the right of 9.5
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PreparedQueries<'p, const D: usize> {
    set: &'p PreparedSet<D>,
    cell: Option<Cell<D>>,
    origin: [f64; D],
    scale: f64,
}

impl<const D: usize> PreparedSet<D> {
    /// Answers questions about its bodies and their images.
    #[must_use]
    pub fn queries(&self) -> PreparedQueries<'_, D> {
        PreparedQueries::new(self)
    }
}

impl<'p, const D: usize> PreparedQueries<'p, D> {
    /// Questions to this set.
    #[must_use]
    pub fn new(set: &'p PreparedSet<D>) -> Self {
        let (origin, scale) = set.frame.map_or(([0.0; D], 1.0), |frame| (frame.origin, frame.scale));
        let cell = (!set.space.is_open()).then(|| Cell::of(&set.space));
        Self { set, cell, origin, scale }
    }

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
        list_round(self, Round { center, radius }, found)
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
        visit_round(self, Round { center, radius }, &mut visit)
    }

    /// Lists the bodies that touch a box, borders included.
    ///
    /// # Errors
    /// See [`PreparedQueries`].
    pub fn aabb(&self, lo: [f64; D], hi: [f64; D], found: &mut Vec<Seen<D>>) -> Result<(), QueryError> {
        list_straight(self, Straight { lo, hi }, found)
    }

    /// As [`PreparedQueries::aabb`], calling `visit` for each body.
    ///
    /// # Errors
    /// See [`PreparedQueries`].
    pub fn visit_aabb(&self, lo: [f64; D], hi: [f64; D], mut visit: impl FnMut(Seen<D>)) -> Result<(), QueryError> {
        visit_straight(self, Straight { lo, hi }, &mut visit)
    }

    fn list(&self, region: impl Region64<D>, found: &mut Vec<Seen<D>>) -> Result<(), QueryError> {
        let sweep = self.check_region(region)?;
        found.clear();
        self.visit(region, sweep.as_ref(), &mut |seen| found.push(seen));
        found.sort_unstable();
        Ok(())
    }

    /// Refuses a region, or tells at which images to look for it.
    pub(super) fn check_region(&self, region: impl Region64<D>) -> Result<Option<Sweep<D>>, QueryError> {
        region.check()?;
        let (lo, hi, more) = region.span();
        let sweep = self.cell.map(|cell| Sweep::around(&cell, lo, hi, more + self.greatest_radius(), self.far()));
        sweep.map_or(Ok(()), |sweep| sweep.check())?;
        Ok(sweep)
    }

    /// Visits all that touches a region that has been checked.
    pub(super) fn visit(&self, region: impl Region64<D>, sweep: Option<&Sweep<D>>, visit: &mut dyn FnMut(Seen<D>)) {
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
                        let (body, radius) = self.set.body(id);
                        if region.touches(body, self.shift(image_shift), radius) {
                            visit(Seen { id, image_shift });
                        }
                    });
                },
            );
        });
    }

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

    /// As [`PreparedQueries::ray`], calling `visit` for each hit, in the order of images and of the tree, not of distance.
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
        // As far as a cell is high, then twice as far, so that images far away are not looked at for nothing.
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

    /// Refuses a ray, or tells at which images to look for it.
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
        let unit = ray.direction.map(|part| part / ray.length);
        let sweep = Sweep::along(&cell, (ray.origin, ray.origin), unit, reach, self.greatest_radius(), self.far());
        sweep.check()?;
        Ok(Some(sweep))
    }

    /// Gives each hit within the reach to `take`, which may shorten it.
    fn cast(&self, ray: &Way<D>, sweep: Option<&Sweep<D>>, reach: f64, take: &mut dyn FnMut(SeenAt<D>) -> Option<f64>) {
        let ahead = core::cell::Cell::new(reach);
        self.each_image(sweep, |step| {
            let by = self.shift(step);
            let blur = self.blur(&[ray.origin, by], 0.0);
            let (mut from, unit) = ([0.0; D], ray.direction.map(|part| part / ray.length));
            (0..D).for_each(|axis| from[axis] = (ray.origin[axis] - by[axis] - self.origin[axis]) * self.scale);
            let open = |level: &Level<D>, node: usize| {
                let end = ahead.get() * self.scale * (1.0 + ROUNDING) + 4.0 * blur;
                crossed(level, node, (from, unit, end), blur)
            };
            self.each_leaf(open, |leaf| {
                self.each_of(leaf, |id| {
                    let image_shift = self.image_shift(step, id);
                    let (body, radius) = self.set.body(id);
                    let distance = ray.hit(difference(body, ray.origin, self.shift(image_shift)), radius);
                    if let Some(distance) = distance.filter(|&distance| distance <= ahead.get()) {
                        let hit = SeenAt { distance, body: Seen { id, image_shift } };
                        ahead.set(take(hit).unwrap_or(ahead.get()));
                    }
                });
            });
        });
    }

    /// Lists the `count` images of bodies whose centres are nearest to a point (all there are, when that is fewer) and not
    /// beyond `within`, which may be infinite: by squared distance, then id and image. The list is also the memory of the search; when the images looked at become
    /// too many, it is left empty.
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

    /// Refuses what cannot be the point of a search for the nearest.
    pub(super) fn check_nearest(&self, point: [f64; D], within: f64) -> Result<(), QueryError> {
        check_point(&point, 0.0)?;
        check_distance(within)?;
        self.around(point, 0.0).map_or(Ok(()), |sweep| sweep.check())
    }

    fn around(&self, point: [f64; D], reach: f64) -> Option<Sweep<D>> {
        self.cell.map(|cell| Sweep::around(&cell, point, point, reach, self.far()))
    }

    /// Offers all bodies that may be near enough, image by image from the nearest on.
    fn offer_all(&self, point: [f64; D], kept: &mut Kept<D>) -> Result<(), QueryError> {
        if kept.is_full() || self.set.is_empty() {
            return Ok(());
        }
        let (mut reach, mut before): (f64, Option<Sweep<D>>) = (0.0, None);
        loop {
            let sweep = self.around(point, reach);
            sweep.map_or(Ok(()), |sweep| sweep.check())?;
            self.each_image(sweep.as_ref(), |step| {
                if !before.is_some_and(|before| before.has(step)) {
                    self.offer_image(point, step, kept);
                }
            });
            // All images within the reach have been looked at.
            let farthest = kept.bound().sqrt();
            if self.cell.is_none() || farthest <= reach {
                return Ok(());
            }
            let next = self.cell.map_or(0.0, |cell| lowest_height(&cell)).max(2.0 * reach);
            (before, reach) = (sweep, if kept.is_full() { farthest } else { next.min(farthest) });
        }
    }

    /// Offers all bodies of an image that may be near enough, the nearest boxes of each node first.
    fn offer_image(&self, point: [f64; D], step: [i32; D], kept: &mut Kept<D>) {
        let by = self.shift(step);
        let blur = 2.0 * self.blur(&[point, by], 0.0);
        let mut at = [0.0; D];
        (0..D).for_each(|axis| at[axis] = (point[axis] - by[axis] - self.origin[axis]) * self.scale);
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
        let mut apart = [f64::INFINITY; LEAF];
        for (lane, apart) in apart.iter_mut().enumerate() {
            let mut d = [0.0; D];
            for axis in 0..D {
                let (lo, hi) = (levels[level].lo()[axis][node].0[lane], levels[level].hi()[axis][node].0[lane]);
                d[axis] = (f64::from(lo) - at[axis] - blur).max(0.0).max(at[axis] - f64::from(hi) - blur);
            }
            *apart = squared(d);
        }
        // Boxes that fill a node up are infinitely far.
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
                let distance = squared(difference(self.set.body(id).0, point, self.shift(image_shift)));
                kept.offer(SeenAt { distance, body: Seen { id, image_shift } });
            });
        }
    }

    fn shift(&self, steps: [i32; D]) -> [f64; D] {
        self.cell.map_or([0.0; D], |cell| cell.shift(steps.map(f64::from)))
    }

    /// By how many vectors a body is moved to the image of the cell that is so many steps on.
    fn image_shift(&self, mut step: [i32; D], id: u32) -> [i32; D] {
        let wraps = self.set.sorted.proxies.wraps_of(id);
        (0..D).for_each(|k| step[k] -= wraps[k]);
        step
    }

    fn greatest_radius(&self) -> f64 {
        self.set.extent.radius
    }

    /// Of all bodies, what their coordinates are computed of, at most.
    fn far(&self) -> f64 {
        let extent = &self.set.extent;
        let widest = (0..D).map(|axis| extent.lo[axis].abs().max(extent.hi[axis].abs()));
        if self.set.is_empty() { 0.0 } else { widest.fold(extent.far, f64::max) }
    }

    /// By how much spans are let out, in the frame: see the top of this file.
    fn blur(&self, numbers: &[[f64; D]], radius: f64) -> f64 {
        let far = self.far();
        let origin = self.origin.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let widest: f64 = numbers.iter().flatten().fold(0.0, |sum, x| sum + x.abs());
        let moved = if self.set.frame.is_none() && self.cell.is_some() { far * MOVED } else { 0.0 };
        let rounded = (widest + far + origin + radius + self.greatest_radius()) * ROUNDING;
        (rounded + moved) * self.scale + f64::MIN_POSITIVE.sqrt()
    }

    /// Calls `visit` with all images of a sweep, or with the only one.
    fn each_image(&self, sweep: Option<&Sweep<D>>, mut visit: impl FnMut([i32; D])) {
        match sweep {
            Some(sweep) => sweep.each(visit),
            None => visit([0; D]),
        }
    }

    /// Visits the leaves of all boxes that `open` names.
    fn each_leaf(&self, open: impl Fn(&Level<D>, usize) -> u16, mut visit: impl FnMut(usize)) {
        let levels = self.set.tree().levels();
        if let Some(top) = levels.len().checked_sub(1) {
            descend(levels, (top, 0), &open, &mut visit);
        }
    }

    fn each_of(&self, leaf: usize, visit: impl FnMut(u32)) {
        let tree = self.set.tree();
        let present = tree.leaf(leaf).len();
        tree.leaf_ids()[leaf].0[..present].iter().copied().for_each(visit);
    }

    /// The bodies of a leaf whose proxies may touch a span.
    fn each_touching(&self, leaf: usize, (lo, hi): &Span<D>, mut visit: impl FnMut(u32)) {
        let tree = self.set.tree();
        let (bodies, ids) = (&tree.bodies()[leaf], &tree.leaf_ids()[leaf].0);
        for (lane, &id) in ids.iter().enumerate().take(tree.leaf(leaf).len()) {
            let radius = f64::from(bodies.radii.0[lane]);
            let near = (0..D).all(|axis| {
                let center = f64::from(bodies.centers[axis].0[lane]);
                center + radius >= lo[axis].into() && center - radius <= hi[axis].into()
            });
            if near {
                visit(id);
            }
        }
    }
}

/// The origin of a ray, its direction and its reach.
type Line<const D: usize> = ([f64; D], [f64; D], f64);

compiled_here! {
    fn list_round<const D: usize>(
        queries: &PreparedQueries<'_, D>,
        region: Round<D>,
        found: &mut Vec<Seen<D>>,
    ) -> Result<(), QueryError> {
        queries.list(region, found)
    }

    fn list_straight<const D: usize>(
        queries: &PreparedQueries<'_, D>,
        region: Straight<D>,
        found: &mut Vec<Seen<D>>,
    ) -> Result<(), QueryError> {
        queries.list(region, found)
    }

    fn visit_round<const D: usize>(
        queries: &PreparedQueries<'_, D>,
        region: Round<D>,
        visit: &mut dyn FnMut(Seen<D>),
    ) -> Result<(), QueryError> {
        queries.visit(region, queries.check_region(region)?.as_ref(), visit);
        Ok(())
    }

    fn visit_straight<const D: usize>(
        queries: &PreparedQueries<'_, D>,
        region: Straight<D>,
        visit: &mut dyn FnMut(Seen<D>),
    ) -> Result<(), QueryError> {
        queries.visit(region, queries.check_region(region)?.as_ref(), visit);
        Ok(())
    }

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

fn lowest_height<const D: usize>(cell: &Cell<D>) -> f64 {
    let heights = (0..D).filter(|&k| cell.space.repeats[k]).map(|k| 1.0 / squared(cell.duals[k]).sqrt());
    heights.fold(f64::INFINITY, f64::min)
}

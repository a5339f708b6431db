//! Questions to a built tree: which bodies hold a point, touch a box or a circle, are hit by a ray, or are nearest.
//!
//! The files: `shape` (what is asked with), `error` (what is refused), `walk` (down the levels), `region`, `ray`,
//! `nearest` (the predicates, and proofs that no box loses what they accept), `answer`, `blocks` and `batch` (many
//! queries at once). The folder `prepared` asks sets in any space and either precision.

mod answer;
mod batch;
mod blocks;
mod error;
mod nearest;
mod prepared;
mod ray;
mod region;
mod shape;
mod walk;

use core::fmt;

use jostle_core::{Aabb, Isa, LinearTree};

pub use batch::{Answers, QueryBatch};
pub use error::{QueryError, QueryReason};
pub use prepared::{PreparedAnswers, PreparedBatch, PreparedQueries, Seen, SeenAt};
pub use shape::{Circle, Ray, Reached};

use crate::compiled::compiled_here;
use crate::simd::{self, LANES};
use answer::{NearestInto, NearestTo};
use nearest::FindNearest;
use ray::{FindFirst, VisitHits};
use region::{Take, VisitRegion, append, sort_ids};
use shape::{Checked, check_distance};

/// Answers questions about the bodies of a tree, from as many threads as you like.
///
/// Each question comes in two forms. `visit_...` calls a closure for each body found, in an order that is a function of
/// the bodies alone; nothing is allocated. The other form fills a list of the caller's, which is cleared first: ids
/// ascending, or [`Reached`] by distance, then id. [`QueryBatch`] answers many at once, in parallel.
///
/// All predicates are decided in `f32` (rays in `f64`), from left to right, multiply and add apart; they do not depend
/// on the instruction set. A query takes O(log n + found) for bodies spread out.
///
/// Queries refuse, with [`QueryError::Query`], whatever is not finite, has a negative radius or a |coordinate|
/// (+ radius) above 2^60, a box whose `lo` is above its `hi`, a direction of zero, and a greatest distance that is
/// negative or NaN. They also refuse the tree of a search in `f64`, of moving bodies or of coherent frames
/// ([`QueryReason::StandIns`]). The list then stays as it was.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Aabb, Circle, Circles, LinearTree, Queries, Ray, Reached, Threads};
///
/// let mut tree = LinearTree::new();
/// tree.build(Circles::new(&[0.0, 1.5, 9.0], &[0.0, 0.0, 0.0], 1.0), Threads::Serial)?;
/// let queries = Queries::new(&tree);
///
/// let (mut ids, mut reached) = (Vec::new(), Vec::new());
/// queries.point([0.75, 0.0], &mut ids)?;
/// assert_eq!(ids, [0, 1]);
/// queries.aabb(Aabb { lo: [2.0, -3.0], hi: [10.0, 3.0] }, &mut ids)?;
/// assert_eq!(ids, [1, 2]);
/// queries.circle(Circle::new([6.0, 0.0], 2.0), &mut ids)?;
/// assert_eq!(ids, [2]);
/// queries.ray(Ray::new([-4.0, 0.0], [2.0, 0.0]), &mut reached)?;
/// assert_eq!(reached[1], Reached { id: 1, distance: 4.5 });
/// queries.nearest([8.0, 0.0], 2, f32::INFINITY, &mut reached)?;
/// assert_eq!(reached, [Reached { id: 2, distance: 1.0 }, Reached { id: 1, distance: 6.5 }]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Queries<'t, const D: usize> {
    tree: &'t LinearTree<D>,
    isa: Isa,
    only: Only<'t>,
    takes_stand_ins: bool,
}

/// Which bodies count.
#[derive(Clone, Copy)]
enum Only<'t> {
    All,
    /// Those that pass a test of the caller's.
    Passing(&'t (dyn Fn(u32) -> bool + Sync)),
    /// Those that pass a test that knows the number of the question.
    PassingFor(&'t (dyn Fn(usize, u32) -> bool + Sync), usize),
}

impl Only<'_> {
    #[inline(always)]
    fn passes(self, id: u32) -> bool {
        match self {
            Self::All => true,
            Self::Passing(test) => test(id),
            Self::PassingFor(test, question) => test(question, id),
        }
    }

    /// Leaves the bits of the bodies that pass.
    #[inline(always)]
    fn passing(self, ids: &[u32; LANES], mask: u16) -> u16 {
        if matches!(self, Self::All) {
            return mask;
        }
        (0..LANES)
            .filter(|&lane| mask & 1 << lane != 0 && self.passes(ids[lane]))
            .fold(0, |left, lane| left | 1 << lane)
    }

    /// The same test, for the question of this number.
    #[inline(always)]
    fn numbered(self, question: usize) -> Self {
        if let Self::PassingFor(test, _) = self { Self::PassingFor(test, question) } else { self }
    }
}

impl<const D: usize> fmt::Debug for Queries<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queries").field("tree", self.tree).field("isa", &self.isa).finish_non_exhaustive()
    }
}

impl<'t, const D: usize> Queries<'t, D> {
    /// Questions to this tree, by the instruction set that it uses.
    #[must_use]
    pub fn new(tree: &'t LinearTree<D>) -> Self {
        Self { tree, isa: tree.isa(), only: Only::All, takes_stand_ins: false }
    }

    /// Questions to a tree whose bodies may stand in for others, where the caller knows them.
    #[doc(hidden)]
    #[must_use]
    pub fn of_stand_ins(tree: &'t LinearTree<D>) -> Self {
        Self { takes_stand_ins: true, ..Self::new(tree) }
    }

    /// The same questions about the bodies that pass a test: `queries.only(&|id| id != shooter).first_hit(ray)`. The test
    /// must say the same whenever it is asked; a batch asks it on all threads.
    #[must_use]
    pub fn only(self, test: &'t (dyn Fn(u32) -> bool + Sync)) -> Self {
        Self { only: Only::Passing(test), ..self }
    }

    /// As [`Queries::only`], by a test that gets the number of the question in its batch (0 for a single one), then the
    /// id: `queries.only_for(&|agent, id| id != agents[agent])` for what is nearest to agents beside themselves.
    #[must_use]
    pub fn only_for(self, test: &'t (dyn Fn(usize, u32) -> bool + Sync)) -> Self {
        Self { only: Only::PassingFor(test, 0), ..self }
    }

    /// Refuses a question with a fault, and any question to a tree that the caller's bodies are not in.
    fn check(&self, asked: &impl Checked) -> Result<(), QueryError> {
        self.check_tree()?;
        asked.check()
    }

    fn check_tree(&self) -> Result<(), QueryError> {
        let refuses = self.tree.stands_in() && !self.takes_stand_ins;
        if refuses { Err(QueryError::Query(QueryReason::StandIns)) } else { Ok(()) }
    }

    /// The same questions by another instruction set. The answers do not depend on it.
    #[must_use]
    pub fn with_isa(self, isa: Isa) -> Self {
        Self { isa, ..self }
    }

    /// Lists the bodies that hold a point: as [`Queries::circle`] does with a radius of 0.
    ///
    /// # Errors
    /// [`QueryError::Query`] when the point is not finite or beyond 2^60.
    pub fn point(&self, point: [f32; D], ids: &mut Vec<u32>) -> Result<(), QueryError> {
        self.check(&point)?;
        list_ids(self.tree, ids, |push| visit_in_circle(*self, Circle::new(point, 0.0), push));
        Ok(())
    }

    /// As [`Queries::point`], calling `visit` for each body.
    ///
    /// # Errors
    /// [`QueryError::Query`] when the point is not finite or beyond 2^60.
    pub fn visit_point(&self, point: [f32; D], mut visit: impl FnMut(u32)) -> Result<(), QueryError> {
        self.check(&point)?;
        visit_in_circle(*self, Circle::new(point, 0.0), &mut |ids, count, _| {
            ids[..count].iter().for_each(|&id| visit(id))
        });
        Ok(())
    }

    /// Lists the bodies that touch a box, borders included, in ascending order. A body touches the box if their squared
    /// distance is at most r * r: the sum of d * d over the axes, with `d = max(lo - x, 0, x - hi)`.
    ///
    /// # Errors
    /// [`QueryError::Query`] when a border is not finite or beyond 2^60, or the lower one above the upper one.
    pub fn aabb(&self, aabb: Aabb<D>, ids: &mut Vec<u32>) -> Result<(), QueryError> {
        self.check(&aabb)?;
        list_ids(self.tree, ids, |push| visit_in_aabb(*self, aabb, push));
        Ok(())
    }

    /// As [`Queries::aabb`], calling `visit` for each body.
    ///
    /// # Errors
    /// [`QueryError::Query`] when a border is not finite or beyond 2^60, or the lower one above the upper one.
    pub fn visit_aabb(&self, aabb: Aabb<D>, mut visit: impl FnMut(u32)) -> Result<(), QueryError> {
        self.check(&aabb)?;
        visit_in_aabb(*self, aabb, &mut |ids, count, _| ids[..count].iter().for_each(|&id| visit(id)));
        Ok(())
    }

    /// Lists the bodies that overlap a circle, in ascending order, by the predicate of pairs:
    /// `dx*dx + dy*dy (+ dz*dz) <= s*s` with `dx = x - center` and `s = radius + r`. Touching counts.
    ///
    /// # Errors
    /// [`QueryError::Query`] when centre or radius are not finite, the radius negative, or both together beyond 2^60.
    pub fn circle(&self, circle: Circle<D>, ids: &mut Vec<u32>) -> Result<(), QueryError> {
        self.check(&circle)?;
        list_ids(self.tree, ids, |push| visit_in_circle(*self, circle, push));
        Ok(())
    }

    /// As [`Queries::circle`], calling `visit` for each body.
    ///
    /// # Errors
    /// [`QueryError::Query`] when centre or radius are not finite, the radius negative, or both together beyond 2^60.
    pub fn visit_circle(&self, circle: Circle<D>, mut visit: impl FnMut(u32)) -> Result<(), QueryError> {
        self.check(&circle)?;
        visit_in_circle(*self, circle, &mut |ids, count, _| ids[..count].iter().for_each(|&id| visit(id)));
        Ok(())
    }

    /// As [`Queries::visit_circle`], calling `visit` with each leaf that has such bodies, ascending, and their ids.
    ///
    /// # Errors
    /// As [`Queries::visit_circle`].
    #[doc(hidden)]
    pub fn visit_leaves_at_circle(
        &self,
        circle: Circle<D>,
        mut visit: impl FnMut(usize, &[u32]),
    ) -> Result<(), QueryError> {
        self.check(&circle)?;
        visit_in_circle(*self, circle, &mut |ids, count, leaf| visit(leaf, &ids[..count]));
        Ok(())
    }

    /// Lists the bodies that a ray hits, by distance, then id.
    ///
    /// The distance is that from the origin to where the ray enters the body, in units of the world whatever the length
    /// of the direction. It is 0 when the origin lies in the body. All is computed in `f64`, which holds all inputs
    /// exactly. With m = centre - origin, and every product of vectors summed from left to right:
    /// 1. the origin lies in the body when `m.m <= r*r`;
    /// 2. else `along = m.direction / direction.direction`, and `w = m - along * direction` is how the centre lies off
    ///    the line; the ray hits when `along >= 0` and `w.w <= r*r`, so touching counts;
    /// 3. the distance is `max(along * |direction| - sqrt(r*r - w.w), 0)`, rounded to `f32`. It is a hit when the
    ///    distance is at most `ray.reach`.
    ///
    /// # Errors
    /// [`QueryError::Query`] when origin or direction are not finite, the origin beyond 2^60, the direction zero, or the
    /// reach negative or NaN.
    pub fn ray(&self, ray: Ray<D>, hits: &mut Vec<Reached>) -> Result<(), QueryError> {
        self.check(&ray)?;
        list(hits, |push| visit_hits(*self, ray, push));
        Ok(())
    }

    /// As [`Queries::ray`], calling `visit` for each hit, in the order of the tree, not of distance.
    ///
    /// # Errors
    /// As [`Queries::ray`].
    pub fn visit_ray(&self, ray: Ray<D>, mut visit: impl FnMut(Reached)) -> Result<(), QueryError> {
        self.check(&ray)?;
        visit_hits(*self, ray, &mut visit);
        Ok(())
    }

    /// The first hit of [`Queries::ray`], found without the others. Nothing is allocated.
    ///
    /// # Errors
    /// As [`Queries::ray`].
    pub fn first_hit(&self, ray: Ray<D>) -> Result<Option<Reached>, QueryError> {
        self.check(&ray)?;
        Ok(find_first_hit(*self, ray))
    }

    /// Lists the `count` bodies whose centres are nearest to a point (all, when there are fewer), by squared distance,
    /// then id; radii do not count. The squared distance is `dx*dx + dy*dy (+ dz*dz)` with `dx = x - point`, in `f32`,
    /// and must be at most `within * within`, which may be infinite. [`Reached::distance`] is its square root.
    ///
    /// The list is also the memory of the search.
    ///
    /// # Errors
    /// [`QueryError::Query`] when the point is not finite or beyond 2^60, or `within` negative or NaN.
    pub fn nearest(
        &self,
        point: [f32; D],
        count: usize,
        within: f32,
        nearest: &mut Vec<Reached>,
    ) -> Result<(), QueryError> {
        check_distance(within)?;
        self.check(&point)?;
        list_nearest(*self, NearestTo { point, count, within }, nearest);
        Ok(())
    }

    /// The first of [`Queries::nearest`]. Nothing is allocated.
    ///
    /// # Errors
    /// As [`Queries::nearest`].
    pub fn nearest_one(&self, point: [f32; D], within: f32) -> Result<Option<Reached>, QueryError> {
        check_distance(within)?;
        self.check(&point)?;
        let found = find_nearest(*self, point, within);
        Ok(found.map(|body| Reached { distance: body.distance.sqrt(), ..body }))
    }
}

/// Lists what is visited, in order.
fn list(found: &mut Vec<Reached>, visit: impl FnOnce(&mut dyn FnMut(Reached))) {
    found.clear();
    visit(&mut |one| found.push(one));
    found.sort_unstable();
}

/// As [`list`], of ids of a tree that are visited some at a time.
fn list_ids<const D: usize>(tree: &LinearTree<D>, found: &mut Vec<u32>, visit: impl FnOnce(&mut Take<'_>)) {
    found.clear();
    visit(&mut |ids, count, _| append(found, ids, count));
    sort_ids(found, 0, tree.len());
}

compiled_here! {
    fn visit_in_circle<const D: usize>(queries: Queries<'_, D>, circle: Circle<D>, visit: &mut Take<'_>) {
        simd::run(queries.isa, VisitRegion { tree: queries.tree, region: circle, only: queries.only, visit });
    }

    fn visit_in_aabb<const D: usize>(queries: Queries<'_, D>, aabb: Aabb<D>, visit: &mut Take<'_>) {
        simd::run(queries.isa, VisitRegion { tree: queries.tree, region: aabb, only: queries.only, visit });
    }

    fn visit_hits<const D: usize>(queries: Queries<'_, D>, ray: Ray<D>, visit: &mut dyn FnMut(Reached)) {
        simd::run(queries.isa, VisitHits { tree: queries.tree, ray, only: queries.only, visit });
    }

    fn find_first_hit<const D: usize>(queries: Queries<'_, D>, ray: Ray<D>) -> Option<Reached> {
        simd::run(queries.isa, FindFirst { tree: queries.tree, ray, only: queries.only })
    }

    fn list_nearest<const D: usize>(queries: Queries<'_, D>, asked: NearestTo<D>, nearest: &mut Vec<Reached>) {
        simd::run(queries.isa, NearestInto { queries, asked, nearest });
    }

    fn find_nearest<const D: usize>(queries: Queries<'_, D>, point: [f32; D], within: f32) -> Option<Reached> {
        simd::run(queries.isa, FindNearest { tree: queries.tree, point, within, only: queries.only, nearest: None })
    }
}

//! From an input to trees: proxies, trees, images, and which trees meet at which image.

use jostle_core::axes::{Both, from_axes};
use jostle_core::{Aabb, BuildTimes, Checked, Isa, LinearTree, Workers};

use crate::InputError;
use crate::compiled::compiled_here;
use crate::input::{Input, Relation, Set, Source, UnitCell, check_sets};
use crate::proxy::prepared::PreparedSet;
use crate::proxy::sorted::{SortedSet, sum};
use crate::proxy::{
    AllBodies, BoxFrame, Exact, Extent, Finite, Frame, Framed, Gaps, ImageRange, Images, Lengths, Ordinals, Reach,
};
use crate::traverse::OFFSET_MARGIN;
use crate::traverse::descent::root;

pub mod job;
mod kept;

use job::Job;
use kept::KeptSets;

/// How much nearer two direct bodies may seem, 2^-22, relative to the width of their box and to coordinates that were
/// rounded in the cell. Their difference and an offset are parts of that width. Each is rounded by 2^-24, twice.
const DIRECT_BLUR: f64 = 1.0 / 4_194_304.0;

/// The same in `f64`, of decided bodies, relative to all coordinates, and to what was taken off on the way into the
/// cell: 2^-45. Each is rounded by 2^-53, some times.
const FAR_BLUR: f64 = f64::from_bits((1023 - 45) << 52);

/// Bodies in `f32` that are nearer than this touch, since the squares of their distances vanish: 2^-73.
const VANISHING: f64 = f64::from_bits((1023 - 73) << 52);

/// The same of decided bodies: 2^-500.
const VANISHING_64: f64 = f64::from_bits((1023 - 500) << 52);

/// What a finder keeps to prepare searches.
#[derive(Debug)]
pub struct Preparation<const D: usize> {
    sorted: KeptSets<D>,
    pub images: Images<D>,
    pub jobs: Vec<Job>,
    frame: Frame<D>,
    gaps: Gaps<D>,
    ordinals: Ordinals<D>,
    extents: Vec<Extent<D>>,
    /// For each set that has an extent, the checks that a build need not repeat.
    checked: Vec<Option<Checked<D>>>,
    /// Of boxes and capsules, the greatest reach of a body of each set on each axis.
    reaches: Vec<[f64; D]>,
    /// The box of the tree of each set, where space repeats.
    roots: Vec<Aabb<D>>,
}

impl<const D: usize> Preparation<D> {
    pub fn with_capacity(bodies: usize) -> Self {
        Self {
            sorted: KeptSets::with_capacity(bodies),
            images: Images::default(),
            jobs: Vec::new(),
            frame: Frame::default(),
            gaps: Gaps::default(),
            ordinals: Ordinals::default(),
            extents: Vec::new(),
            checked: Vec::new(),
            reaches: Vec::new(),
            roots: Vec::new(),
        }
    }

    /// The tree of the last search within a set.
    pub fn own_tree(&self) -> &LinearTree<D> {
        &self.sorted.own.tree
    }

    /// What is kept for each set of searches like this one: the trees of the last such search.
    pub fn sorted_for(&self, input: &Input<'_, D>) -> &[SortedSet<D>] {
        self.sorted.of(input)
    }

    /// The tree of boxes of the last search within one set: of boxes in `f32` in open space, or of the boxes that stood
    /// in for other bodies, unless their corners are ordinals. None if that search was one of circles or spheres, or used a
    /// prepared tree.
    pub fn own_boxes(&self) -> Option<&LinearTree<D>> {
        let shown = |own: &&SortedSet<D>| own.boxed && !own.adopted && !self.ordinals.are_used();
        Some(&self.sorted.own).filter(shown).map(|own| &own.boxes)
    }

    /// Notes that the bodies of [`Preparation::own_tree`] stand in for so many others, and then for images of these.
    pub fn note_stand_ins(&mut self, bodies: usize) {
        self.sorted.own.tree.set_stands_in(u32::try_from(bodies).unwrap_or(u32::MAX));
    }

    /// Puts another tree in the place of [`Preparation::own_tree`].
    pub fn set_own_tree(&mut self, tree: LinearTree<D>) {
        self.sorted.own.tree = tree;
    }

    /// Prefetches the memory that says where the tree of searches within one set lies.
    pub fn prefetch(&self) {
        self.own_tree().prefetch_places();
    }

    /// Prefetches a step further: the memory that says where the tree's levels lie.
    pub fn prefetch_levels(&self) {
        self.own_tree().prefetch_levels();
    }

    /// Takes over what a plain search that `other` has prepared leaves behind.
    pub fn take_over(&mut self, other: &Self) {
        // The search was in open space: images of an earlier one are not those of its bodies.
        self.images.clear();
        self.sorted.own.tree.copy_from(other.own_tree());
        self.sorted.own.is_as_built();
    }

    /// Measures no build times of the tree of searches within one set from now on.
    pub fn set_untimed(&mut self) {
        self.sorted.own.tree.set_untimed();
    }

    pub fn set_isa(&mut self, isa: Isa) {
        self.sorted.set_isa(isa);
    }

    pub fn bytes(&self) -> usize {
        self.sorted.bytes()
            + self.images.bytes()
            + self.gaps.bytes()
            + self.ordinals.bytes()
            + self.jobs.capacity() * size_of::<Job>()
            + self.extents.capacity() * size_of::<Extent<D>>()
            + self.checked.capacity() * size_of::<Option<Checked<D>>>()
            + self.reaches.capacity() * size_of::<[f64; D]>()
            + self.roots.capacity() * size_of::<Aabb<D>>()
    }

    /// Checks an input, and makes ready all that a search of it needs.
    fn prepare(&mut self, input: &Input<'_, D>, isa: Isa, workers: Workers<'_>) -> Result<BuildTimes, InputError> {
        if let (Relation::Within(set), true) = (&input.relation, input.is_plain()) {
            return self.prepare_plain(set, workers);
        }
        input.check_shape()?;
        let sets = input.sets();
        check_sets(sets, Set::check_layers)?;
        self.sorted.make_room(input, isa);
        if input.is_shaped() {
            return self.prepare_boxes(input, workers);
        }
        let cell = (!input.space.is_open()).then(|| UnitCell::of(&input.space));
        let decided = input.is_decided();
        self.survey(input, cell.as_ref(), workers)?;
        self.adopt(input, cell.as_ref(), workers);
        let cell = cell.as_ref();
        let range = cell.map(|cell| self.image_range(input, cell)).transpose()?;
        let mut times = BuildTimes::default();
        for (at, (kept, set)) in self.sorted.of_mut(input).iter_mut().zip(sets).enumerate() {
            kept.boxed = false;
            let in_cell = || !kept.proxies.are_outside() && matches!(set.source, Source::View(_));
            let built = if kept.adopted || !decided && (cell.is_none() || in_cell()) {
                kept.proxies.leave_as_given();
                kept.build(set, self.checked.get(at).copied().flatten(), workers)
            } else {
                let frame = decided.then_some((&self.frame, self.gaps.in_use()));
                kept.proxies.fill(set, cell, frame, (isa, workers));
                kept.build_proxies(set, decided, workers)
            };
            times = sum(times, built.map_err(|error| error.in_set(at, sets.len()))?);
        }
        let repeats = cell.zip(range);
        let by_ordinals = if decided && !self.frame.is_adopted() {
            let all = self.extents.iter().copied().fold(Extent::EMPTY, Extent::merge);
            let frame = Framed { growth: self.frame.growth(), least: all.least };
            self.build_by_ordinals(input, repeats, (frame, all.largest()), workers)?
        } else {
            None
        };
        let scale = if decided { self.frame.scale } else { 1.0 };
        let dropped = self.gaps.in_use().map_or([0.0; D], Gaps::dropped);
        let lengths =
            by_ordinals.map_or(Lengths::Scaled(scale, dropped), |_| Lengths::Ordinals(self.ordinals.in_period()));
        self.lay_out(input, repeats, lengths);
        self.list_jobs(input);
        Ok(by_ordinals.map_or(times, |more| sum(times, more)))
    }

    /// Builds trees of boxes whose corners are ordinals, if a frame does not tell the bodies apart: see [`Ordinals::count`].
    fn build_by_ordinals(
        &mut self,
        input: &Input<'_, D>,
        repeats: Option<(&UnitCell<D>, ImageRange<D>)>,
        (frame, largest): (Framed, [f64; D]),
        workers: Workers<'_>,
    ) -> Result<Option<BuildTimes>, InputError> {
        let (sorted, sets) = (self.sorted.of_mut(input), input.sets());
        let cell = repeats.map(|(cell, _)| cell);
        let farthest = repeats.map_or(0, |(_, range)| range.farthest());
        if !self.ordinals.count(AllBodies::new((input, sorted), cell, largest), frame, farthest, workers) {
            return Ok(None);
        }
        let mut times = BuildTimes::default();
        for (at, set) in sets.iter().enumerate() {
            let mut boxes = core::mem::take(&mut sorted[at].columns);
            self.ordinals.fill(AllBodies::new((input, sorted), cell, largest), at, &mut boxes, workers);
            (sorted[at].columns, sorted[at].boxed) = (boxes, true);
            let built = sorted[at].build_boxed(set, workers).map_err(|error| error.in_set(at, sets.len()))?;
            times = sum(times, built);
        }
        Ok(Some(times))
    }

    /// As [`Preparation::prepare`], for a search in open space within one set of bodies with nothing but a place and a
    /// radius. For a few bodies, the questions that all other searches ask take a tenth of the time.
    fn prepare_plain(&mut self, set: &Set<'_, D>, workers: Workers<'_>) -> Result<BuildTimes, InputError> {
        set.check_shape()?;
        let own = &mut self.sorted.own;
        (own.boxed, own.adopted) = (false, false);
        own.proxies.clear();
        let times = own.build(set, None, workers)?;
        self.extents.clear();
        self.gaps.clear();
        self.ordinals.clear();
        self.images.clear();
        self.jobs.clear();
        self.jobs.push(Job::default());
        Ok(times)
    }

    /// Prepares a search of boxes, which are the bodies themselves or stand in for other bodies.
    fn prepare_boxes(&mut self, input: &Input<'_, D>, workers: Workers<'_>) -> Result<BuildTimes, InputError> {
        let cell = (!input.space.is_open()).then(|| UnitCell::of(&input.space));
        let all = self.survey_boxes(input, cell.as_ref(), workers)?;
        let (sorted, sets, decided) = (self.sorted.of_mut(input), input.sets(), input.is_decided());
        let adopted = if decided {
            adopt_boxes((sorted, &mut self.ordinals), input, (all, cell.as_ref()), workers)
        } else {
            None
        };
        for (kept, set) in sorted.iter_mut().zip(sets).filter(|(kept, _)| decided && !kept.adopted) {
            kept.count_wraps(set, cell.as_ref(), workers);
        }
        let frame = adopted.unwrap_or_else(|| BoxFrame::of(all, cell.as_ref()));
        let mut blur = from_axes(|axis| decided_blur([all.lo[axis], all.hi[axis]], all.far));
        for (axis, blur) in blur.iter_mut().enumerate().filter(|_| cell.is_some()) {
            let sums = input.meetings().map(|(i, j)| self.reaches[i][axis] + self.reaches[j][axis]);
            *blur += sums.fold(0.0, f64::max) * (1.0 + DIRECT_BLUR);
        }
        let range = cell.as_ref().map(|cell| ImageRange::of(cell, Reach { sum: 0.0, blur })).transpose()?;
        let repeats = cell.as_ref().zip(range);
        if decided && adopted.is_none() {
            let framed = Framed { growth: frame.growth_of_all(), least: all.least };
            if let Some(times) = self.build_by_ordinals(input, repeats, (framed, all.largest()), workers)? {
                self.lay_out(input, repeats, Lengths::Ordinals(self.ordinals.in_period()));
                self.list_jobs(input);
                return Ok(times);
            }
        }
        let mut times = BuildTimes::default();
        for (at, (kept, set)) in self.sorted.of_mut(input).iter_mut().zip(sets).enumerate() {
            kept.boxed = true;
            let built = if decided {
                if !kept.adopted {
                    kept.fill_boxes(set, cell.as_ref(), &frame, workers);
                }
                kept.build_boxed(set, workers)
            } else {
                kept.build(set, None, workers)
            };
            times = sum(times, built.map_err(|error| error.in_set(at, sets.len()))?);
        }
        self.lay_out(input, repeats, Lengths::Scaled(frame.scale, [0.0; D]));
        self.list_jobs(input);
        Ok(times)
    }

    /// Finds how far the bodies of each set of a search of boxes extend, if the search is decided.
    fn survey_boxes(
        &mut self,
        input: &Input<'_, D>,
        cell: Option<&UnitCell<D>>,
        workers: Workers<'_>,
    ) -> Result<Finite<D>, InputError> {
        let (sorted, sets) = (self.sorted.of_mut(input), input.sets());
        let mut all = Finite::NONE;
        self.reaches.clear();
        self.ordinals.clear();
        for (at, (kept, set)) in sorted.iter_mut().zip(sets).enumerate() {
            let prepared = PreparedSet::boxed_serving(set, &input.space);
            kept.adopted = !input.is_decided() && prepared.is_some();
            kept.proxies.clear();
            if input.is_decided() {
                let extent = match prepared {
                    Some(prepared) => prepared.extent,
                    None => kept.survey_solids(set, cell, workers).map_err(|error| error.in_set(at, sets.len()))?,
                };
                kept.proxies.take_over(extent.outside);
                self.reaches.push(extent.reach);
                all = all.merge(extent);
            }
        }
        Ok(all)
    }

    /// Finds how far the bodies of each set extend, where the search needs it.
    fn survey(
        &mut self,
        input: &Input<'_, D>,
        cell: Option<&UnitCell<D>>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        self.extents.clear();
        self.checked.clear();
        let decided = input.is_decided();
        if !decided && cell.is_none() {
            self.sorted.of_mut(input).iter_mut().for_each(|kept| kept.proxies.clear());
            return Ok(());
        }
        let sets = input.sets();
        for (at, (kept, set)) in self.sorted.of_mut(input).iter_mut().zip(sets).enumerate() {
            if let Some(prepared) = PreparedSet::serving(set, &input.space) {
                kept.proxies.take_over(prepared.extent.outside);
                self.extents.push(prepared.extent);
                self.checked.push(None);
                continue;
            }
            let surveyed = kept.survey(set, cell, decided, workers);
            let (extent, checked) = surveyed.map_err(|error| error.in_set(at, sets.len()))?;
            self.extents.push(extent);
            self.checked.push(checked);
        }
        Ok(())
    }

    /// Chooses the frame of a decided search, and finds out which prepared sets serve as they are.
    fn adopt(&mut self, input: &Input<'_, D>, cell: Option<&UnitCell<D>>, workers: Workers<'_>) {
        self.gaps.clear();
        self.ordinals.clear();
        let (sets, sorted) = (input.sets(), self.sorted.of_mut(input));
        if !input.is_decided() {
            let fits = |set: &Set<'_, D>| PreparedSet::serving(set, &input.space).is_some_and(|it| it.frame.is_none());
            sorted.iter_mut().zip(sets).for_each(|(kept, set)| kept.adopted = fits(set));
            return;
        }
        sorted.iter_mut().for_each(|kept| kept.adopted = false);
        let all = self.extents.iter().copied().fold(Extent::EMPTY, Extent::merge);
        let alone = |at: usize| !input.meetings().any(|meeting| meeting == (at, at));
        let prepared = |at: usize| PreparedSet::serving(&sets[at], &input.space);
        let leader = (0..sets.len())
            .filter(|&at| prepared(at).is_some_and(|set| set.frame.is_some() || alone(at)))
            .min_by_key(|&at| core::cmp::Reverse(sets[at].len()));
        let lead = leader.and_then(|at| prepared(at).map(|set| (at, set)));
        let adopted = lead.and_then(|(at, set)| {
            let frame = Frame::adopted(set.frame.as_ref(), set.extent, all, cell)?;
            let framed = Framed { growth: frame.growth(), least: all.least };
            let is_due = self.ordinals.are_due(AllBodies::new((input, sorted), cell, all.largest()), framed);
            (!is_due).then_some((at, set.frame.is_some(), frame))
        });
        let Some((leader, shared, frame)) = adopted else {
            let frame = Frame::new(all, cell);
            self.frame = self.gaps.close((sets, sorted), cell, &frame, all, workers).unwrap_or(frame);
            return;
        };
        self.frame = frame;
        for (at, kept) in sorted.iter_mut().enumerate().take(sets.len()) {
            let own = prepared(at).and_then(|set| set.frame);
            kept.adopted = at == leader || (shared && own.is_some_and(|own| own.is_same(&frame)));
        }
    }

    /// Whether each set of a prepared input was taken as it had been sorted before, not sorted for this search.
    pub fn adopted(&self, input: &Input<'_, D>) -> Vec<bool> {
        self.sorted.of(input).iter().take(input.sets().len()).map(|kept| kept.adopted).collect()
    }

    /// The images that bodies which were surveyed may meet.
    fn image_range(&self, input: &Input<'_, D>, cell: &UnitCell<D>) -> Result<ImageRange<D>, InputError> {
        let decided = input.is_decided();
        let all = self.extents.iter().copied().fold(Extent::EMPTY, Extent::merge);
        let blur = from_axes(|axis| {
            let ends = [all.lo[axis], all.hi[axis]];
            let rounded = if all.outside { ends[0].abs().max(ends[1].abs()) } else { 0.0 };
            let direct = (ends[1] - ends[0] + rounded) * DIRECT_BLUR + VANISHING + all.far[axis] * FAR_BLUR;
            let blur = if decided { decided_blur(ends, all.far[axis]) } else { direct };
            if blur.is_finite() { blur } else { 0.0 }
        });
        let sums = input.meetings().map(|(i, j)| self.extents[i].reach + self.extents[j].reach);
        ImageRange::of(cell, Reach { sum: sums.fold(0.0, f64::max), blur })
    }

    /// Lays out the images of trees of these lengths within a range: see [`Images::lay_out`]. Open space has none.
    fn lay_out(&mut self, input: &Input<'_, D>, repeats: Option<(&UnitCell<D>, ImageRange<D>)>, lengths: Lengths<D>) {
        let Some((cell, range)) = repeats else { return self.images.clear() };
        self.note_roots(input);
        let roots = &self.roots;
        let wanted = |offset| input.meetings().any(|(i, j)| may_touch([roots[i], roots[j]], offset));
        self.images.lay_out(cell, range, lengths, wanted);
    }

    /// Notes the box of each tree.
    fn note_roots(&mut self, input: &Input<'_, D>) {
        self.roots.clear();
        self.roots.extend(self.sorted.of(input).iter().zip(input.sets()).map(|(kept, set)| root(kept.ready(set).tree)));
    }

    /// Lists each two sets that meet, at each image at which they may touch. Within a set, one of two opposite images
    /// is listed.
    fn list_jobs(&mut self, input: &Input<'_, D>) {
        self.jobs.clear();
        for (i, j) in input.meetings() {
            let images = if i == j { self.images.half() } else { self.images.steps.len() };
            let meets = |&image: &usize| {
                image == 0 || may_touch([i, j].both(|set| self.roots[set]), self.images.offsets[image])
            };
            let met = (0..images).filter(meets);
            self.jobs.extend(met.map(|image| Job { sets: [i as u32, j as u32], image: image as u32 }));
        }
    }

    /// The bodies of a prepared input, for exact decisions.
    pub fn exact<'a>(&'a self, input: &'a Input<'a, D>) -> Exact<'a, D> {
        Exact {
            sets: input.sets(),
            sorted: self.sorted.of(input),
            cell: (!input.space.is_open()).then(|| UnitCell::of(&input.space)),
            images: &self.images,
            decided: input.is_decided(),
            shaped: input.is_shaped(),
            boxed: input.is_shaped() || self.ordinals.are_used(),
            in_cell: &[],
        }
    }

    /// Returns the slack of two sets: hits of decided circles or spheres that survive subtracting it from the sum of
    /// radii are certain.
    pub fn slack(&self, sets: [u32; 2]) -> f32 {
        let path = |set: u32| self.extents.get(set as usize).map_or(0.0, |extent| extent.path);
        self.frame.slack(path(sets[0]) + path(sets[1]))
    }
}

compiled_here! {
    /// Checks an input, and makes ready all that a search of it needs.
    pub fn prepare<const D: usize>(
        preparation: &mut Preparation<D>,
        input: &Input<'_, D>,
        isa: Isa,
        workers: Workers<'_>,
    ) -> Result<BuildTimes, InputError> {
        preparation.prepare(input, isa, workers)
    }
}

/// How much nearer two decided bodies may seem on an axis on which all lie between these ends, and from which so much
/// was taken off.
fn decided_blur([lo, hi]: [f64; 2], far: f64) -> f64 {
    // A half of either: boxes may reach as far as there are numbers.
    let width = if lo <= hi { (hi / 2.0 - lo / 2.0) + lo.abs().max(hi.abs()) / 2.0 } else { 0.0 };
    width * (2.0 * FAR_BLUR) + far * FAR_BLUR + VANISHING_64
}

/// Returns the frame of the largest prepared set of boxes or capsules, if all bodies fit in and it tells them apart, and
/// marks the sets that serve as they are.
fn adopt_boxes<const D: usize>(
    (sorted, ordinals): (&mut [SortedSet<D>], &mut Ordinals<D>),
    input: &Input<'_, D>,
    (all, cell): (Finite<D>, Option<&UnitCell<D>>),
    workers: Workers<'_>,
) -> Option<BoxFrame<D>> {
    let prepared = |set: &Set<'_, D>| PreparedSet::boxed_serving(set, &input.space);
    let leader = input.sets().iter().filter(|set| prepared(set).is_some()).max_by_key(|set| set.len())?;
    let lead = prepared(leader)?.frame;
    let frame = BoxFrame::adopted(lead.as_ref(), all, cell)?;
    let framed = Framed { growth: frame.growth_of_all(), least: all.least };
    if !framed.is_fine() {
        sorted.iter_mut().zip(input.sets()).for_each(|(kept, set)| kept.count_wraps(set, cell, workers));
        if ordinals.are_due(AllBodies::new((input, sorted), cell, all.largest()), framed) {
            return None;
        }
    }
    for (kept, set) in sorted.iter_mut().zip(input.sets()) {
        kept.adopted = prepared(set).is_some_and(|own| match (own.frame, lead) {
            (Some(own), Some(lead)) => own.is_same(&lead),
            (own, lead) => own.is_none() && lead.is_none(),
        });
    }
    Some(frame)
}

/// Whether bodies of two trees with these boxes may touch, the second tree seen at an offset. The boxes are tested as a
/// join tests the boxes of groups.
fn may_touch<const D: usize>([one, other]: [Aabb<D>; 2], offset: [f32; D]) -> bool {
    !(0..D).any(|axis| {
        let margin = offset[axis].abs() * OFFSET_MARGIN;
        one.lo[axis] - offset[axis] - margin > other.hi[axis] || one.hi[axis] - offset[axis] + margin < other.lo[axis]
    })
}

//! The bodies that a rank holds: the part of a set that its host keeps there.

use jostle::{Bodies, Layers, RangeFault, Reason, Space};

use crate::error::Fault;
use crate::number::Number;
use crate::transport::Transport;

/// How bodies are numbered over all ranks.
#[derive(Debug, Clone, Copy, Default)]
pub enum Ids<'a> {
    /// Numbers run on from rank to rank: the bodies of rank 0 are 0, 1 ..
    #[default]
    Contiguous,
    /// An id for each body; no two bodies of a set may have the same id, on any rank.
    Each(&'a [u64]),
}

impl<'a> From<&'a [u64]> for Ids<'a> {
    fn from(ids: &'a [u64]) -> Self {
        Self::Each(ids)
    }
}

impl<'a> From<&'a Vec<u64>> for Ids<'a> {
    fn from(ids: &'a Vec<u64>) -> Self {
        Self::Each(ids)
    }
}

/// The bodies of a set that this rank holds, in any distribution over ranks: all on one rank, none on some ranks, or
/// mixed up.
///
/// ```
/// use jostle::Circles;
/// use jostle_mpi::Share;
///
/// let share = Share::from(Circles::new(&[0.0, 1.0], &[0.0, 0.0], 0.5)).ids(&[17, 3][..]);
/// # let _: Share<'_, 2> = share;
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Share<'a, const D: usize, T: Number = f32> {
    pub(crate) bodies: Bodies<'a, D, T>,
    pub(crate) ids: Ids<'a>,
    pub(crate) layers: Option<LayerColumns<'a>>,
    pub(crate) moving: Option<[&'a [T]; D]>,
}

/// The engine's limit on |coordinate| + |displacement| + radius of moving bodies: 2^250.
const FARTHEST_MOVING: f64 = f64::from_bits((1023 + 250) << 52);

/// The engine's limit on the cells between a body and the origin: 2^29.
const FARTHEST_CELL: u32 = 1 << 29;

/// The optional columns of a set, in the order of [`Share::carried`].
pub(crate) const COLUMNS: [&str; 3] = ["layers", "groups", "displacements"];

/// Categories, masks and groups, one value for each body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayerColumns<'a> {
    pub(crate) category: &'a [u32],
    pub(crate) mask: &'a [u32],
    pub(crate) group: Option<&'a [i32]>,
}

impl<'a> LayerColumns<'a> {
    pub(crate) fn layers(&self) -> Layers<'a> {
        let layers = Layers::new(self.category, self.mask);
        self.group.map_or(layers, |group| layers.with_groups(group))
    }
}

impl<'a, const D: usize, T: Number> From<Bodies<'a, D, T>> for Share<'a, D, T> {
    fn from(bodies: Bodies<'a, D, T>) -> Self {
        Self { bodies, ids: Ids::Contiguous, layers: None, moving: None }
    }
}

impl<'a, const D: usize, T: Number> Share<'a, D, T> {
    /// Sets the global ids.
    #[must_use]
    pub fn ids(self, ids: impl Into<Ids<'a>>) -> Self {
        Self { ids: ids.into(), ..self }
    }

    /// Sets what each body is and what it meets, as [`Layers`] does: on all ranks or on none.
    #[must_use]
    pub fn layers(self, category: &'a [u32], mask: &'a [u32]) -> Self {
        Self { layers: Some(LayerColumns { category, mask, group: None }), ..self }
    }

    /// Adds groups to the layers, which must be given first.
    #[must_use]
    pub fn groups(self, group: &'a [i32]) -> Self {
        Self { layers: self.layers.map(|layers| LayerColumns { group: Some(group), ..layers }), ..self }
    }

    /// Moves each body along a straight line during the step, by its displacement, as
    /// [`Set::moving`](jostle::Set::moving) does: the bodies of a set on all ranks or on none.
    #[must_use]
    pub fn moving(self, displacements: [&'a [T]; D]) -> Self {
        Self { moving: Some(displacements), ..self }
    }

    /// Number of bodies on this rank.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// True when this rank holds no body.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns which of the [`COLUMNS`] bodies have.
    pub(crate) fn carried(&self) -> [bool; COLUMNS.len()] {
        [self.layers.is_some(), self.layers.is_some_and(|layers| layers.group.is_some()), self.moving.is_some()]
    }

    /// Checks the shape of the columns, without a look at each body.
    pub(crate) fn check_shape(&self) -> Result<(), Fault> {
        self.bodies.check_shape().map_err(|error| Fault::of(&error))?;
        let bodies = self.len();
        if let Ids::Each(ids) = self.ids
            && ids.len() != bodies
        {
            return Err(Fault::Whole(format!("{bodies} bodies, but {} ids; each needs one", ids.len())));
        }
        if let Some(lengths) = self.moving.map(|moving| moving.map(<[T]>::len))
            && lengths != [bodies; D]
        {
            return Err(Fault::Whole(format!(
                "{bodies} bodies, but displacements of lengths {lengths:?}; each axis needs one for every body"
            )));
        }
        if let Some(LayerColumns { category, mask, group }) = self.layers {
            let groups = group.map_or(bodies, <[i32]>::len);
            if [category.len(), mask.len(), groups] != [bodies; 3] {
                let [categories, masks] = [category.len(), mask.len()];
                return Err(Fault::Whole(format!(
                    "{bodies} bodies, but {categories} categories, {masks} masks and {groups} groups; each needs one"
                )));
            }
        }
        Ok(())
    }

    /// Returns what is wrong with the displacement of a body that is sound itself, if anything is.
    pub(crate) fn displacement_fault(&self, at: usize, ids: IdsOf<'_>) -> Option<Fault> {
        let (moving, center) = (self.moving?, self.bodies.center(at).map(T::to_f64));
        let radius = self.bodies.radius(at).to_f64();
        let within = |axis: usize| center[axis].abs() + moving[axis][at].to_f64().abs() + radius <= FARTHEST_MOVING;
        let axis = (0..D).find(|&axis| !within(axis))?;
        let (id, by) = (ids.get(at), moving[axis][at].to_f64());
        Some(Fault::Whole(format!(
            "body {id}: displacement {by} on axis {axis} is not finite, or leads beyond 2^250 from the origin"
        )))
    }

    /// Returns the first body, of bodies that are sound themselves, that is too many cells away, if there is one.
    pub(crate) fn place_fault(&self, space: &Space<D>, ids: IdsOf<'_>) -> Option<Fault> {
        (0..self.len()).find_map(|at| {
            let cells = space.wraps(self.bodies.center(at).map(T::to_f64));
            let axis = cells.iter().position(|cells| cells.unsigned_abs() > FARTHEST_CELL)?;
            let fault = RangeFault::TooManyPeriods { axis: axis as u8 };
            Some(Fault::Whole(format!("body {}: {fault}", ids.get(at))))
        })
    }

    /// Returns what is wrong with a body, if anything is.
    pub(crate) fn fault(&self, at: usize) -> Option<Reason> {
        let center = self.bodies.center(at).map(T::to_f64);
        let radius = self.bodies.radii().get(at).to_f64();
        if let Some(axis) = center.iter().position(|x| !x.is_finite()) {
            return Some(Reason::CenterNotFinite { axis: axis as u8 });
        }
        if !radius.is_finite() {
            return Some(Reason::RadiusNotFinite);
        }
        if radius < 0.0 {
            return Some(Reason::RadiusNegative);
        }
        let radius = self.bodies.radius(at).to_f64();
        center.iter().position(|x| x.abs() + radius > T::REACH).map(|axis| T::too_far(axis as u8))
    }
}

/// Ids that can be looked up.
#[derive(Debug, Clone, Copy)]
pub(crate) enum IdsOf<'a> {
    From(u64),
    Each(&'a [u64]),
}

impl<'a> IdsOf<'a> {
    /// Collective: all ranks number their bodies, or none does.
    pub(crate) fn resolve(ranks: &impl Transport, ids: Ids<'a>, bodies: usize) -> Self {
        let first = ranks.scan(bodies as u64);
        match ids {
            Ids::Contiguous => Self::From(first),
            Ids::Each(ids) => Self::Each(ids),
        }
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> u64 {
        match self {
            Self::From(first) => first + at as u64,
            Self::Each(ids) => ids[at],
        }
    }
}

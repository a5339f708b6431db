//! Gives a plain search to the engine, and puts the engine's answer into the plain form.

use std::sync::{Arc, Mutex, PoisonError};

use jostle_core::{Bodies, LinearTree, Radii, Scalar, Threads};
use jostle_pairs::{ActivationTable, Input, InputError, Layers, PreparedSet, Search, Set, Space, Values};

use super::{Case, Columns, Hit, PlainLayers, PlainMoves, PlainRadii, PlainSet, PlainSpace, Relation};
use crate::axes::compiled_here;

impl PlainLayers {
    /// Returns the layers as the engine takes them. A value that all bodies have is given as one for all.
    #[must_use]
    pub fn layers(&self) -> Layers<'_> {
        Layers::new(values(&self.category), values(&self.mask)).with_groups(values(&self.group))
    }
}

fn values<T: Copy + PartialEq>(list: &[T]) -> Values<'_, T> {
    match list {
        [first, rest @ ..] if rest.iter().all(|value| value == first) => Values::All(*first),
        _ => list.into(),
    }
}

fn bodies<'a, const D: usize, T: Scalar>(
    centers: &'a [Vec<T>; D],
    radii: &'a PlainRadii<T>,
    margin: T,
) -> Bodies<'a, D, T> {
    let of = |radii: Radii<'a, T>| Bodies::from_slices(centers.each_ref().map(Vec::as_slice), radii);
    match radii {
        PlainRadii::All(radius) => of(Radii::All(*radius)).with_margin(margin),
        PlainRadii::Each(radii) => of(radii.into()).with_margin(margin),
        PlainRadii::Cutoff(distance) => of(Radii::All(T::default())).within(*distance),
    }
}

impl<const D: usize> PlainSet<D> {
    /// Returns the same set, given to the engine as a tree that is built beforehand.
    ///
    /// # Errors
    /// The errors of the tree.
    pub fn built(self) -> Result<Self, InputError> {
        let mut tree = LinearTree::new();
        if let Columns::Single { centers, radii, margin } = &self.bodies {
            tree.build(bodies(centers, radii, *margin), Threads::Serial)?;
        }
        Ok(Self { tree: Some(tree), ..self })
    }

    /// Returns the same set, given to the engine prepared for a space.
    ///
    /// # Errors
    /// The errors of the preparation.
    pub fn prepared(self, space: Space<D>) -> Result<Self, InputError> {
        let mut prepared = PreparedSet::new();
        prepared.build(self.view(), space, Threads::Serial)?;
        Ok(Self { prepared: Some(Arc::new(prepared)), ..self })
    }

    /// Returns the bodies of the set alone.
    fn view(&self) -> Set<'_, D> {
        match &self.bodies {
            Columns::Single { centers, radii, margin } => bodies(centers, radii, *margin).into(),
            Columns::Double { centers, radii, margin } => bodies(centers, radii, *margin).into(),
        }
    }

    /// Returns the set as the engine takes it.
    #[must_use]
    pub fn set(&self) -> Set<'_, D> {
        let set = match (&self.tree, &self.prepared) {
            (Some(tree), _) => Set::from(tree),
            (None, Some(prepared)) => Set::from(&**prepared),
            (None, None) => self.view(),
        };
        let set = self.layers.as_ref().map_or(set, |layers| set.layers(layers.layers()));
        match &self.moves {
            None => set,
            Some(PlainMoves::Single(columns)) => set.moving(columns.each_ref()),
            Some(PlainMoves::Double(columns)) => set.moving(columns.each_ref()),
        }
    }
}

impl<const D: usize> PlainSpace<D> {
    /// Returns the space as the engine takes it.
    #[must_use]
    pub fn space(&self) -> Space<D> {
        match *self {
            Self::Open => Space::open(),
            Self::Periodic(axes) => Space::periodic(axes),
            Self::Lattice { origin, vectors, periodic } => Space::lattice(vectors, periodic).at(origin),
        }
    }
}

/// What an [`Input`] borrows.
#[derive(Debug)]
pub struct Ready<'a, const D: usize> {
    case: &'a Case<D>,
    sets: Vec<Set<'a, D>>,
    table: ActivationTable,
}

impl<const D: usize> Case<D> {
    /// Makes ready what an [`Input`] borrows.
    #[must_use]
    pub fn ready(&self) -> Ready<'_, D> {
        let table =
            self.meetings().iter().fold(ActivationTable::none(self.sets.len()), |table, &[i, j]| table.with(i, j));
        Ready { case: self, sets: self.sets.iter().map(PlainSet::set).collect(), table }
    }
}

impl<const D: usize> Ready<'_, D> {
    /// Returns the input as the engine takes it.
    #[must_use]
    pub fn input(&self) -> Input<'_, D> {
        let input = match self.case.relation {
            Relation::Within => Input::within(self.sets[0]),
            Relation::Between => Input::between(self.sets[0], self.sets[1]),
            Relation::Among(_) => Input::among(&self.sets, &self.table),
        };
        input.space(self.case.space.space())
    }

    /// Returns the hits that [`Search::find`] lists, in its order.
    ///
    /// # Errors
    /// The errors of the search.
    ///
    /// # Panics
    /// When shifts or times are not there for each pair that has them, or pairs of two sets are not where they belong.
    pub fn find(&self, search: Search<'_, '_, D>) -> Result<Vec<Hit<D>>, InputError> {
        let found = search.find(self.input())?;
        let (pairs, times) = (found.pairs(), found.times_of_impact());
        let shifts: Vec<[i32; D]> = found.image_shifts().collect();
        let one_by_one = (0..=shifts.len()).map(|at| found.image_shift(at));
        assert!(one_by_one.eq(shifts.iter().copied().map(Some).chain([None])), "shifts one by one");
        let has_images = !self.case.space.is_open();
        assert_eq!(shifts.len(), if has_images { pairs.len() } else { 0 }, "shifts");
        assert_eq!(times.len(), if self.case.moves() { pairs.len() } else { 0 }, "times");
        let mut hits = Vec::with_capacity(pairs.len());
        for sets in self.case.meetings() {
            let first = hits.len();
            let of_both = match self.case.relation {
                Relation::Among(_) => found.pairs_between(sets[0], sets[1]),
                _ => pairs,
            };
            assert_eq!(pairs.get(first..first + of_both.len()), Some(of_both), "pairs of sets {sets:?}");
            let of = |len: usize| first.min(len)..(first + of_both.len()).min(len);
            let (shifts, times) = (&shifts[of(shifts.len())], &times[of(times.len())]);
            hits.append(&mut gathered(&sets, &of_both.to_vec(), &shifts.to_vec(), &times.to_vec()));
        }
        assert_eq!(hits.len(), pairs.len(), "pairs of sets that do not meet");
        let all: Vec<_> = found.hits().map(|hit| hit_of(hit, self.case.moves())).collect();
        assert_eq!(all, hits, "hits one by one");
        Ok(hits)
    }

    /// Returns what a visitor is called with, in the order of its calls: use one thread.
    ///
    /// # Errors
    /// The refusal of the search.
    ///
    /// # Panics
    /// When some hits have times of impact and others do not.
    pub fn visit(&self, search: Search<'_, '_, D>) -> Result<Vec<Hit<D>>, InputError> {
        let hits = Mutex::new(Vec::new());
        search.for_each_hit(self.input(), |hit| {
            hits.lock().unwrap_or_else(PoisonError::into_inner).push(hit_of(hit, self.case.moves()));
        })?;
        Ok(hits.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

fn hit_of<const D: usize>(hit: jostle_pairs::Hit<D>, moves: bool) -> Hit<D> {
    assert_eq!(hit.time_of_impact.is_some(), moves, "times");
    let (sets, time) = (hit.sets.map(|set| set as usize), hit.time_of_impact.unwrap_or_default());
    Hit { sets, pair: hit.pair, shift: hit.image_shift, time }
}

compiled_here! {
    /// Returns the hits of the columns that a search gives. Columns of shifts and times may be empty.
    fn gathered<const D: usize>(
        sets: &[usize; 2],
        pairs: &Vec<[u32; 2]>,
        shifts: &Vec<[i32; D]>,
        times: &Vec<f64>,
    ) -> Vec<Hit<D>> {
        let hit = |(at, &pair): (usize, &[u32; 2])| Hit {
            sets: *sets,
            pair,
            shift: shifts.get(at).copied().unwrap_or([0; D]),
            time: times.get(at).copied().unwrap_or(0.0),
        };
        pairs.iter().enumerate().map(hit).collect()
    }
}

//! The input of a search: sets, which of them meet, and their space.

use engine::{ActivationTable, Input, Set};
use pyo3::prelude::*;

use crate::arrays::Cutoff;
use crate::bodies::{AskedSet, Bodies, ReadSet};
use crate::errors::{type_error, value_error};
use crate::prepared::{Of, PreparedSet};
use crate::shapes::{Boxes, Capsules};
use crate::space::{AskedSpace, Cell};

/// Which sets meet.
enum Relation {
    Between,
    /// The numbers of each two sets that meet.
    Among(Vec<[usize; 2]>),
}

/// How many sets the pairs of a search belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetsOfPairs {
    One,
    Two,
    Many,
}

/// Several sets, and which of them meet: made by `between` and `among`. Searches take them in place of positions.
#[pyclass(frozen, module = "jostle")]
pub(crate) struct Sets {
    sets: Vec<Py<PyAny>>,
    relation: Relation,
}

#[pymethods]
impl Sets {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let sets = self.sets.iter().map(|set| Ok(set.bind(py).repr()?.to_string())).collect::<PyResult<Vec<_>>>()?;
        Ok(match &self.relation {
            Relation::Between => format!("jostle.between({})", sets.join(", ")),
            Relation::Among(meetings) => format!("jostle.among([{}], {meetings:?})", sets.join(", ")),
        })
    }
}

/// Combines two sets for a search: pairs are of one body of ``a`` and one of ``b``, each by its row in its own set.
///
/// Parameters
/// ----------
/// a, b : Bodies, Boxes, Capsules or PreparedSet
///     Two sets, each in either precision.
///
/// Returns
/// -------
/// Sets
///     Every search takes it in place of positions.
///
/// Examples
/// --------
/// >>> jostle.pairs(jostle.between(jostle.Bodies(shots, 0.1), jostle.Bodies(ships, 1.0)))
#[pyfunction]
pub(crate) fn between(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<Sets> {
    let sets = vec![checked(a)?, checked(b)?];
    Ok(Sets { sets, relation: Relation::Between })
}

/// Combines many sets for a search: a list of numbers of sets says which meet, each within itself or with others.
///
/// Parameters
/// ----------
/// sets : sequence of Bodies, Boxes, Capsules and PreparedSet
/// meetings : sequence of (int, int)
///     Which sets meet: ``(i, j)`` if the bodies of set i meet those of set j, ``(i, i)`` if the bodies of set i meet
///     each other.
///
/// Returns
/// -------
/// Sets
///     Every search takes it in place of positions.
#[pyfunction]
pub(crate) fn among(sets: Vec<Bound<'_, PyAny>>, meetings: Vec<[usize; 2]>) -> PyResult<Sets> {
    let count = sets.len();
    if let Some([i, j]) = meetings.iter().find(|meeting| meeting.iter().any(|&set| set >= count)) {
        return Err(value_error(format_args!("sets {i} and {j} are to meet, but there are {count} sets, from 0 on")));
    }
    let sets = sets.iter().map(checked).collect::<PyResult<_>>()?;
    Ok(Sets { sets, relation: Relation::Among(meetings) })
}

fn checked(set: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    if asked(set).is_some() || set.is_instance_of::<PreparedSet>() {
        return Ok(set.clone().unbind());
    }
    let kind = set.get_type().name()?;
    Err(type_error(format_args!(
        "a set must be jostle.Bodies(positions, radii), jostle.Boxes, jostle.Capsules or a jostle.PreparedSet, not {kind}"
    )))
}

/// Returns what an object asks for that is a set of bodies of some shape.
fn asked<'a>(set: &'a Bound<'_, PyAny>) -> Option<&'a AskedSet> {
    let bodies = set.cast::<Bodies>().map(|set| &set.get().asked);
    let boxes = || set.cast::<Boxes>().map(|set| &set.get().asked);
    bodies.or_else(|_| boxes()).or_else(|_| set.cast::<Capsules>().map(|set| &set.get().asked)).ok()
}

/// The arguments of a search: positions, `Bodies` or `Sets`, and the space.
pub(crate) struct Asked<'py> {
    pub(crate) of: Bound<'py, PyAny>,
    pub(crate) radii: Option<Bound<'py, PyAny>>,
    pub(crate) cutoff: Option<Cutoff>,
    pub(crate) space: AskedSpace<'py>,
}

/// The input of a search, read from its arguments.
pub(crate) struct Read<'py> {
    sets: Vec<ReadSet>,
    relation: Option<Relation>,
    space: AskedSpace<'py>,
}

impl<'py> Asked<'py> {
    pub(crate) fn read(self) -> PyResult<Read<'py>> {
        let py = self.of.py();
        let read = |set: &Bound<'py, PyAny>| match asked(set) {
            Some(asked) => asked.read(py),
            None => AskedSet::new(set, None, None)?.read(py),
        };
        let (sets, relation) = if asked(&self.of).is_some() || self.of.is_instance_of::<Sets>() {
            if self.radii.is_some() || self.cutoff.is_some() {
                return Err(type_error("radii or a cutoff beside sets: they belong into jostle.Bodies(...)"));
            }
            match self.of.cast::<Sets>() {
                Err(_) => (vec![read(&self.of)?], None),
                Ok(sets) => {
                    let Sets { sets, relation } = sets.get();
                    let relation = match relation {
                        Relation::Between => Relation::Between,
                        Relation::Among(meetings) => Relation::Among(meetings.clone()),
                    };
                    (sets.iter().map(|set| read(set.bind(py))).collect::<PyResult<_>>()?, Some(relation))
                }
            }
        } else {
            (vec![AskedSet::new(&self.of, self.radii.as_ref(), self.cutoff.map(|cutoff| cutoff.0))?.read(py)?], None)
        };
        if let [first, others @ ..] = &sets[..]
            && others.iter().any(|other| other.dimensions() != first.dimensions())
        {
            return Err(type_error("sets in two and in three dimensions do not meet"));
        }
        Ok(Read { sets, relation, space: self.space })
    }
}

impl<'py> Read<'py> {
    /// Makes the input of a search within one set.
    pub(crate) fn within(set: ReadSet, space: AskedSpace<'py>) -> Self {
        Self { sets: vec![set], relation: None, space }
    }

    /// Returns the space that was asked for. Where none was, prepared sets give theirs, if it is the same.
    fn cell<const D: usize>(&self) -> PyResult<Cell<D>>
    where
        (): Of<D>,
    {
        let asked = self.space.space::<D>()?;
        if self.space.is_asked() {
            return Ok(asked);
        }
        let mut known = None;
        for set in &self.sets {
            let Some(cell) = set.cell::<D>()? else { continue };
            if known.replace(cell).is_some_and(|other| other != cell) {
                return Err(value_error(
                    "the sets were prepared for different cells: give cell= (pbc=False for open space)",
                ));
            }
        }
        Ok(known.unwrap_or(asked))
    }

    /// What the bodies of the first set are called.
    pub(crate) fn kind(&self) -> &'static str {
        self.sets.first().map_or("bodies", |set| set.source.kind())
    }

    pub(crate) fn count_of_sets(&self) -> usize {
        self.sets.len()
    }

    /// Whether any body moves.
    pub(crate) fn moves(&self) -> bool {
        self.sets.iter().any(ReadSet::moves)
    }

    /// The bytes of a pair with all that is known of it.
    pub(crate) fn bytes_found<const D: usize>(&self, cell: &Cell<D>) -> usize {
        let shift = if cell.space.is_open() { 0 } else { size_of::<[i32; D]>() };
        let time = if self.moves() { size_of::<f64>() } else { 0 };
        size_of::<[u32; 2]>() + shift + time
    }

    /// Returns which sets meet: each two once, the lesser first.
    pub(crate) fn meetings(&self) -> Vec<[usize; 2]> {
        match &self.relation {
            None => vec![[0, 0]],
            Some(Relation::Between) => vec![[0, 1]],
            Some(Relation::Among(meetings)) => {
                let mut ordered: Vec<_> = meetings.iter().map(|&[i, j]| [i.min(j), i.max(j)]).collect();
                ordered.sort_unstable();
                ordered.dedup();
                ordered
            }
        }
    }

    /// Whether pairs belong to one set, to two, or to many.
    pub(crate) fn sets_of_pairs(&self) -> SetsOfPairs {
        match self.relation {
            None => SetsOfPairs::One,
            Some(Relation::Between) => SetsOfPairs::Two,
            Some(Relation::Among(_)) => SetsOfPairs::Many,
        }
    }

    /// Returns the only set and its space, or refuses several sets.
    pub(crate) fn one<const D: usize>(&self) -> PyResult<(Set<'_, D>, Cell<D>)>
    where
        (): Of<D>,
    {
        match (&self.relation, &self.sets[..]) {
            (None, [set]) => Ok((set.set()?, self.cell()?)),
            _ => Err(type_error("one set alone can be prepared, not several")),
        }
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.sets.first().map_or(2, ReadSet::dimensions)
    }

    /// Whether pairs are decided in f64.
    pub(crate) fn is_decided(&self) -> bool {
        self.sets.iter().any(ReadSet::is_decided)
    }

    /// Calls `search` with the input as the engine takes it, and with the cell.
    pub(crate) fn with<const D: usize, R>(
        &self,
        search: impl FnOnce(Input<'_, D>, Cell<D>) -> PyResult<R>,
    ) -> PyResult<R>
    where
        (): Of<D>,
    {
        let cell = self.cell::<D>()?;
        let sets = self.sets.iter().map(ReadSet::set).collect::<PyResult<Vec<Set<'_, D>>>>()?;
        let input = match (&self.relation, &sets[..]) {
            (None, [set]) => Input::within(*set),
            (Some(Relation::Between), [a, b]) => Input::between(*a, *b),
            (Some(Relation::Among(meetings)), sets) => {
                let table = meetings.iter().fold(ActivationTable::none(sets.len()), |table, [i, j]| table.with(*i, *j));
                return search(Input::among(sets, &table).space(cell.space), cell);
            }
            _ => return Err(type_error("so many sets are not those of one relation")),
        };
        search(input.space(cell.space), cell)
    }
}

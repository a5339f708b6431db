//! The finder, which a host keeps for its searches.

use std::sync::Arc;

use engine::{CoherentFinder, CoherentSearch, Found, PairFinder, Search};

use crate::dimensions::{Either, in_either};
use crate::handle::{Opaque, call, free, kind, make};
use crate::input::Asks;
use crate::memory::{Grows, answer, place};
use crate::status::{Failure, Status};
use crate::threads::{OwnThreads, Threads, keep};

/// Searches for pairs. A finder owns all memory of its searches, so make it once and keep it. From the second search of
/// a size on, nothing is allocated but a few hundred bytes for the sets. One call at a time may use it.
#[derive(Debug)]
pub struct Finder {
    _opaque: [u8; 0],
}

#[derive(Debug)]
pub(crate) struct FinderState {
    pub(crate) finder: Either<AnyFinder<2>, AnyFinder<3>>,
    pub(crate) threads: Option<Arc<OwnThreads>>,
    /// How many bodies each set of the last list has; none before the first list.
    pub(crate) bodies: Vec<usize>,
    /// The image shifts that the host asked for last.
    pub(crate) image_shifts: Vec<i32>,
    pub(crate) geometry: Geometry,
}

/// The contacts that the host asked for last, by dimensions and precision.
#[derive(Debug, Default)]
pub(crate) struct Geometry {
    pub(crate) two: Vec<engine::Contact<2>>,
    pub(crate) two_double: Vec<engine::Contact<2, f64>>,
    pub(crate) three: Vec<engine::Contact<3>>,
    pub(crate) three_double: Vec<engine::Contact<3, f64>>,
}

/// A finder that searches each frame from scratch, or one that keeps candidates from frame to frame.
#[derive(Debug)]
pub(crate) enum AnyFinder<const D: usize> {
    Each(Box<PairFinder<D>>),
    Coherent(Box<CoherentFinder<D>>),
}

/// A search by a finder of either kind.
pub(crate) enum AnySearch<'f, 't, const D: usize> {
    Each(Search<'f, 't, D>),
    Coherent(CoherentSearch<'f, 't, D>),
}

impl<const D: usize> AnyFinder<D> {
    /// The last list.
    pub(crate) fn last(&self) -> Found<'_, D> {
        match self {
            Self::Each(finder) => finder.last(),
            Self::Coherent(finder) => finder.last(),
        }
    }

    fn set_max_pairs(&mut self, pairs: usize) {
        match self {
            Self::Each(finder) => finder.set_max_pairs(pairs),
            Self::Coherent(finder) => finder.set_max_pairs(pairs),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Each(finder) => finder.bytes(),
            Self::Coherent(finder) => finder.bytes(),
        }
    }

    pub(crate) fn search<'f, 't>(
        &'f mut self,
        threads: engine::Threads<'t>,
        only: Option<Asks<'t>>,
    ) -> AnySearch<'f, 't, D> {
        match self {
            Self::Each(finder) => AnySearch::Each(finder_search(finder, threads, only)),
            Self::Coherent(finder) => {
                let search = finder.on(threads);
                AnySearch::Coherent(if let Some(test) = only { search.only_of_sets(test) } else { search })
            }
        }
    }

    /// Begins a search from scratch, or refuses: a finder of coherent frames has none to offer.
    pub(crate) fn search_each<'f, 't>(
        &'f mut self,
        threads: engine::Threads<'t>,
        only: Option<Asks<'t>>,
    ) -> Result<Search<'f, 't, D>, Failure> {
        match self {
            Self::Each(finder) => Ok(finder_search(finder, threads, only)),
            Self::Coherent(_) => Err(Failure::new(
                Status::Combination,
                "a finder of coherent frames lists pairs and rows: for the rest, make another by jostle_finder_new",
            )),
        }
    }

    fn coherent(&mut self) -> Result<&mut CoherentFinder<D>, Failure> {
        match self {
            Self::Coherent(finder) => Ok(finder),
            Self::Each(_) => Err(Failure::new(
                Status::Combination,
                "the finder searches each frame from scratch: jostle_finder_new_coherent makes one of coherent frames",
            )),
        }
    }
}

fn finder_search<'f, 't, const D: usize>(
    finder: &'f mut PairFinder<D>,
    threads: engine::Threads<'t>,
    only: Option<Asks<'t>>,
) -> Search<'f, 't, D> {
    let search = finder.on(threads);
    if let Some(test) = only { search.only_of_sets(test) } else { search }
}

impl Opaque for Finder {
    type State = FinderState;
    const KIND: u64 = kind(3);
    const NAME: &'static str = "jostle_finder";
}

fn state(dimensions: u32, coherent: bool) -> Result<FinderState, Failure> {
    fn one<const D: usize>(coherent: bool) -> AnyFinder<D> {
        if coherent { AnyFinder::Coherent(Box::default()) } else { AnyFinder::Each(Box::default()) }
    }
    let finder = Either::make(dimensions, || one(coherent), || one(coherent))?;
    let (bodies, image_shifts) = (Vec::new(), Vec::new());
    Ok(FinderState { finder, threads: None, bodies, image_shifts, geometry: Geometry::default() })
}

/// Makes a finder in 2 dimensions, of circles, boxes and capsules, or in 3, of spheres, boxes and capsules.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_finder_new(dimensions: u32, out: *mut *mut Finder) -> Status {
    // SAFETY: the pointer is what the header asks for.
    unsafe { make(out, || state(dimensions, false)) }
}

/// Makes a finder of bodies that move little from frame to frame. It takes less time than a search from scratch in each
/// frame. jostle_find and jostle_neighbors_find give the answers of any finder, but for the order of pairs, which
/// depends on the frames given. Counts, visitors and jostle_still_valid get JOSTLE_STATUS_COMBINATION. Bodies with a
/// margin get it too, since the finder chooses a margin of its own. Boxes, capsules, and sets with displacements are
/// searched from scratch in each frame, with all that meet them. Make one finder for each input that is searched frame
/// by frame, and, where both pairs and rows are asked for, one for each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_finder_new_coherent(dimensions: u32, out: *mut *mut Finder) -> Status {
    // SAFETY: the pointer is what the header asks for.
    unsafe { make(out, || state(dimensions, true)) }
}

/// Frees the finder, and all that it has lent. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_finder_free(finder: *mut Finder) {
    // SAFETY: the pointer is what the header asks for.
    unsafe { free(finder) }
}

/// Sets the threads of later searches; null for the global pool. The handle of the threads may be freed afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_finder_set_threads(finder: *mut Finder, threads: *const Threads) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(finder, |state| {
            state.threads = keep(threads)?;
            Ok(())
        })
    }
}

/// Sets how many pairs a search may list, or neighbours in all rows together: SIZE_MAX at first. A search that finds
/// more counts them, takes no memory for them (at most twice as much as so many pairs take), and gets
/// JOSTLE_STATUS_TOO_MANY_PAIRS. So no scene, all bodies at one point, say, takes memory that the host has not foreseen.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_finder_set_max_pairs(finder: *mut Finder, pairs: usize) -> Status {
    // SAFETY: the pointer is what the header asks for.
    unsafe {
        call(finder, |state| {
            in_either!(&mut state.finder, finder => finder.set_max_pairs(pairs));
            Ok(())
        })
    }
}

/// Writes how many bytes the finder holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_finder_bytes(finder: *mut Finder, out: *mut usize) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(finder, |state| {
            let searching = in_either!(&state.finder, finder => finder.bytes());
            let shifts = state.image_shifts.capacity() * size_of::<i32>();
            *place(out, "out")? = searching + shifts + state.geometry.bytes();
            Ok(())
        })
    }
}

/// How often a finder of coherent frames has searched from scratch, and its margin.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Frames {
    /// sizeof(jostle_frames).
    pub size: usize,
    /// How many of the frames given so far were searched from scratch.
    pub rebuilds: u64,
    /// How far the fastest bodies may be from where they were searched before the next search from scratch, in the
    /// host's unit of length; 0 while each frame is searched from scratch.
    pub margin: f64,
}

// SAFETY: the struct is repr(C), begins with its size, and holds only numbers.
unsafe impl Grows for Frames {
    const NAME: &'static str = "jostle_frames";
}

/// Tells how often a finder of coherent frames has searched from scratch, and its margin. Other finders get
/// JOSTLE_STATUS_COMBINATION.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_finder_frames(finder: *mut Finder, out: *mut Frames) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(finder, |state| {
            let out = answer(out)?;
            let (rebuilds, margin) = in_either!(&mut state.finder, finder => {
                let finder = finder.coherent()?;
                (finder.rebuilds(), finder.margin())
            });
            *out = Frames { size: out.size, rebuilds, margin };
            Ok(())
        })
    }
}

/// Makes a finder of coherent frames search the next frame from scratch, whatever it has kept. Other finders get
/// JOSTLE_STATUS_COMBINATION.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_finder_forget(finder: *mut Finder) -> Status {
    // SAFETY: the pointer is what the header asks for.
    unsafe {
        call(finder, |state| {
            in_either!(&mut state.finder, finder => finder.coherent()?.forget());
            Ok(())
        })
    }
}

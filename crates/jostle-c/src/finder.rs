//! The finder: what a host keeps for its searches.

use std::sync::Arc;

use engine::PairFinder;

use crate::dimensions::{Either, in_either};
use crate::handle::{Opaque, call, free, kind, make};
use crate::memory::place;
use crate::status::Status;
use crate::threads::{OwnThreads, Threads, keep};

/// What searches: it owns all memory, so make it once and keep it. From the second search of a size on nothing is allocated but a
/// few hundred bytes for the sets. One call at a time may use it.
#[derive(Debug)]
pub struct Finder {
    _opaque: [u8; 0],
}

#[derive(Debug)]
pub(crate) struct FinderState {
    pub(crate) finder: Either<PairFinder<2>, PairFinder<3>>,
    pub(crate) threads: Option<Arc<OwnThreads>>,
    /// The image shifts of the last list, as the host asked for them.
    pub(crate) image_shifts: Vec<i32>,
}

impl Opaque for Finder {
    type State = FinderState;
    const KIND: u64 = kind(3);
}

/// Makes a finder of circles (2 dimensions) or spheres (3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_finder_new(dimensions: u32, out: *mut *mut Finder) -> Status {
    let state = || {
        let finder = Either::make(dimensions, PairFinder::new, PairFinder::new)?;
        Ok(FinderState { finder, threads: None, image_shifts: Vec::new() })
    };
    // SAFETY: the pointer is what the header asks for.
    unsafe { make(out, state) }
}

/// Frees it, and all that it has lent. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_finder_free(finder: *mut Finder) {
    // SAFETY: the pointer is what the header asks for.
    unsafe { free(finder) }
}

/// The threads of its searches from now on; null for the global pool. The handle of the threads may be freed afterwards.
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

/// How many bytes it holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_finder_bytes(finder: *mut Finder, out: *mut usize) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(finder, |state| {
            let searching = in_either!(&state.finder, finder => finder.bytes());
            *place(out, "the place of the number")? = searching + state.image_shifts.capacity() * size_of::<i32>();
            Ok(())
        })
    }
}

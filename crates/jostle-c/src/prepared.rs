//! Sets that are sorted once for many searches and queries.

use std::sync::Arc;

use engine::PreparedSet;

use crate::dimensions::{Either, in_either};
use crate::handle::{Opaque, call, free, kind, make};
use crate::sets::{RawSet, with_set};
use crate::space::RawSpace;
use crate::status::Status;
use crate::threads::{self, OwnThreads, Threads, keep};

/// Bodies at rest, copied and sorted once for many searches and for queries: walls, terrain, a crystal. A search takes
/// them as jostle_set.prepared. Several threads may search and ask a prepared set at once, while no call builds it
/// anew.
#[derive(Debug)]
pub struct Prepared {
    _opaque: [u8; 0],
}

pub(crate) type PreparedOf = Either<PreparedSet<2>, PreparedSet<3>>;

#[derive(Debug)]
pub(crate) struct PreparedState {
    pub(crate) set: PreparedOf,
    threads: Option<Arc<OwnThreads>>,
}

impl Opaque for Prepared {
    type State = PreparedState;
    const KIND: u64 = kind(2);
    const NAME: &'static str = "jostle_prepared";
}

/// Makes an empty set in 2 or 3 dimensions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_prepared_new(dimensions: u32, out: *mut *mut Prepared) -> Status {
    let state = || {
        let set = Either::make(dimensions, PreparedSet::new, PreparedSet::new)?;
        Ok(PreparedState { set, threads: None })
    };
    // SAFETY: the pointer is what the header asks for.
    unsafe { make(out, state) }
}

/// Frees the set. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_prepared_free(prepared: *mut Prepared) {
    // SAFETY: the pointer is what the header asks for.
    unsafe { free(prepared) }
}

/// Sets the threads that build the set; null for the global pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_prepared_set_threads(prepared: *mut Prepared, threads: *const Threads) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(prepared, |state| {
            state.threads = keep(threads)?;
            Ok(())
        })
    }
}

/// Copies bodies of any shape and sorts them for searches in a space (null for open space). Searches in another space
/// take the set too, and sort it anew. Bodies with layers or displacements are refused: give these to the set of each
/// search. If the bodies or the space are refused, the set is empty afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_prepared_build(
    prepared: *mut Prepared,
    set: *const RawSet,
    space: *const RawSpace,
) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(prepared, |state| {
            let threads = threads::threads(state.threads.as_ref());
            in_either!(&mut state.set, own => with_set(set, space, |set, space| Ok(own.build(set, space, threads)?)))
        })
    }
}

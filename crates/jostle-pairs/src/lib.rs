//! Every overlapping pair of circles or spheres, by a parallel SIMD self-join of a sorted linear tree.
//!
//! The files are the second half of the pipeline that `jostle-core` begins: `lanes` (sixteen floats at a time), `hits`
//! (what is found, and who takes it), `ordered` (the pairs of blocks in one list), `join` (the self-join), `kernel` (its bodies for each
//! instruction set), `finder` (the stages driven from end to end). Beside them, `contacts` (which pairs begin, persist and
//! end from frame to frame, and their geometry) knows nothing of the search.

mod contacts;
mod finder;
mod hits;
mod join;
mod kernel;
mod lanes;
mod ordered;
mod stats;
mod threads;

pub use contacts::{
    BadPair, Changes, Contact, ContactError, ContactTracker, Contacts, Keys, PairFault, RepeatedKey, Update, contact,
    contacts, contacts_between,
};
pub use finder::{Found, PairFinder, SERIAL_BELOW, SERIAL_BELOW_FROM_OUTSIDE, Search, Threads};
pub use stats::{StageTimes, Stats};

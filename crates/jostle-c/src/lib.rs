//! The C interface of [`engine`]: the functions and types that `include/jostle.h` declares. A test makes that header
//! from this source.
//!
//! Files: `version`, `status` (codes, offenders), `memory` and `columns` (the host's pointers, checked), `handle` (what
//! the host holds, errors, panics), `dimensions`, `threads`, `space`, `sets` and `input` (the input of a search),
//! `finder` and `search`, `lists`, `contacts`, `geometry`, `prepared`, `queries` and `asked`.
//!
//! Every function is `unsafe` in one way: each pointer that it takes is null, or leads to what the header says, for as
//! long as the call lasts. The header says so once for all functions.
#![allow(unsafe_code, reason = "all that crosses is pointers")]
#![allow(clippy::missing_safety_doc, reason = "said once for all, here and in the header")]
#![allow(unreachable_pub, reason = "the functions are public to the linker")]

mod asked;
mod columns;
mod contacts;
mod dimensions;
mod finder;
mod geometry;
mod handle;
mod input;
mod lists;
mod memory;
mod prepared;
mod queries;
mod search;
mod sets;
mod space;
mod status;
mod threads;
mod version;

#[cfg(test)]
mod tests;

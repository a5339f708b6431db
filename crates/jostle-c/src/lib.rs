//! The C interface of [`engine`]: what `include/jostle.h` declares, which is made of this source by a test.
//!
//! Files: `status` (codes, offenders), `memory` and `columns` (pointers of the host's, checked), `handle` (what the host holds,
//! errors, panics), `threads`, `space`, `sets` and `input` (what a search is of), `finder` and `search`, `lists`, `contacts`,
//! `geometry`, `prepared`, `queries` and `asked`.
//!
//! Every function is `unsafe` in one way: its pointers are null, or lead to what the header says, for as long as the call lasts.
//! The header says so once for all.
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

#[cfg(test)]
mod tests;

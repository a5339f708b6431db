//! Contacts of circles, spheres, boxes or capsules: which contacts begin, persist and end, and how deep bodies overlap.
//!
//! The files:
//! - `pairs` and `keys`: the pairs that the caller gives, and the keys by which bodies are known from frame to frame;
//! - `table`: the ids of changed keys;
//! - `frame` and `rows`: the pairs of a frame with their keys, and a table to search them;
//! - `list`: the contacts of a result;
//! - `slots`: a number for each contact;
//! - `tracker` and `update`: what is kept between frames, and one call;
//! - `memory`: lists that keep their memory;
//! - `error` and `offenders`: what is wrong, and with which pairs or keys;
//! - `contact`, `solids`, `asked` and `geometry`: depth, normal and point, of two circles, of other shapes, of one pair
//!   of a search, and of all pairs.

mod asked;
mod contact;
mod error;
mod frame;
mod geometry;
mod keys;
mod list;
mod memory;
mod offenders;
mod pairs;
mod rows;
mod slots;
mod solids;
mod table;
mod tracker;
mod update;

pub use contact::{Contact, contact, contact_f64};
pub use error::{BadPair, ContactError, PairFault, RepeatedKey};
pub use geometry::{contacts, contacts_between, contacts_f64};
pub use keys::Keys;
pub use list::Contacts;
pub use pairs::ContactPairs;
pub use tracker::{Changes, ContactTracker};
pub use update::Update;

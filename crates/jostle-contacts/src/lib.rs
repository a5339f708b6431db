//! Contacts of circles, spheres, boxes or capsules: which of one frame were there in the last, and how deep bodies overlap.
//!
//! The files: `pairs` and `keys` (what goes in; whose id is whose, from frame to frame), `table` (where ids of changed keys
//! were), `frame` and `rows` (the pairs of a frame, to be searched), `list` (what comes out), `slots` (a number for each
//! contact), `tracker` and `update` (what is kept, and one call), `memory`, `error` and `offenders` (what is wrong, and with
//! what), `contact`, `solids`, `asked` and `geometry` (depth, normal and point: of two circles, of other shapes, of one pair of a
//! search, and of all).

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

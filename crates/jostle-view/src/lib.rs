//! Circles or boxes, the tree over them and their pairs, live in a browser.
//!
//! A [`Viewer`] serves one page and sends it what your own loop finds. It costs next to nothing while nobody looks, and
//! the loop never waits for viewers: a slow viewer gets fewer frames, ten viewers cost one encoding.
//!
//! ```no_run
//! use jostle::{Circles, PairFinder};
//! use jostle_view::Viewer;
//!
//! let mut viewer = Viewer::start(([127, 0, 0, 1], 7878).into())?;
//! println!("{}", viewer.url());
//! let (x, y, mut finder) = (vec![0.0, 1.5, 9.0], vec![0.0; 3], PairFinder::new());
//! loop {
//!     // ... move them ...
//!     let view = Circles::new(&x, &y, 1.0);
//!     let found = finder.find(view)?;
//!     viewer.frame(view, &found);
//! }
//! # #[allow(unreachable_code)]
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Without its features this crate reads and answers messages, and serves nothing.
//!
//! The files: `frame` (what is sent), `message` (what a page says), `view` (which bodies, and what is drawn of them),
//! `shown` (what a search has found), `finders` (which thread has found a pair), `ask` (questions to the tree),
//! `record` (one search, task by task), `clusters` (bodies that touch, directly or through others), `session` (one
//! viewer), `door` (who may be connected), `server` (access, and the page), `viewer` (what the loop calls).

mod ask;
#[cfg(feature = "server")]
mod clusters;
#[cfg(feature = "server")]
mod door;
#[cfg(feature = "server")]
mod finders;
#[cfg(feature = "server")]
mod frame;
mod heard;
#[cfg_attr(not(feature = "server"), allow(dead_code, reason = "what is wanted is wanted of the server"))]
mod message;
mod record;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "server")]
mod session;
#[cfg(feature = "server")]
mod shared;
#[cfg_attr(not(feature = "server"), allow(dead_code, reason = "frames are made by the server"))]
mod shown;
#[cfg_attr(not(feature = "server"), allow(dead_code, reason = "frames are made by the server"))]
mod view;
#[cfg(feature = "server")]
mod viewer;

#[cfg(feature = "server")]
pub use frame::{HEADER, Section, Sections};
#[doc(hidden)]
pub use heard::{Heard, hear};
pub use message::{Command, Controls};
pub use shown::{OlderSystem, Shown};
pub use view::View;
#[cfg(feature = "server")]
pub use viewer::Viewer;

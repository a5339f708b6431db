//! Every overlapping pair of N moving circles or spheres, boxes or capsules: found in parallel, exactly, and in a fixed order.
//!
//! ```
//! use jostle::{Circles, PairFinder};
//!
//! let (x, y) = ([0.0, 1.5, 9.0], [0.0, 0.0, 0.0]);
//! let radius = [1.0, 0.5, 1.0];
//!
//! // Make the finder once and keep it: it owns all memory, and warm frames allocate nothing.
//! let mut finder = PairFinder::new();
//! let found = finder.find(Circles::new(&x, &y, &radius))?;
//! assert_eq!(found.pairs(), [[0, 1]]); // they touch, and touching counts
//! # Ok::<(), jostle::InputError>(())
//! ```
//!
//! # What is promised
//! - **A pair** is `[a, b]`, `a < b`, positions in your arrays, such that `dx*dx + dy*dy (+ dz*dz) <= s*s` with
//!   `dx = xb - xa`, `s = ra + rb`, evaluated in `f32` from left to right. Every pair comes once; none is lost to the
//!   rounding of a box, and none is added. If any set of a search is in `f64` or moves, all its pairs are decided in
//!   `f64`. Choose a unit in which reaches are well above 1e-19 (1e-154 in `f64`, 1e-77 of bodies that move), since their
//!   squares, or fourth powers, vanish below.
//! - **The order** of the pairs depends on the input alone: not on the number of threads, the instruction set, the
//!   platform, or the build.
//! - **Bad input** (NaN, infinities, negative radii, sums beyond 2^60, in `f64` 2^500, slices of unequal length) is
//!   refused before any work is done, by an [`InputError`] that counts the offenders and names the first of them.
//! - **Cost** is O(n + pairs) for spread-out bodies and O(n log n + pairs) at worst, whether they lie in clusters, on a
//!   line, on top of each other, or next to a giant. Of capsules, and of bodies that move, pairs whose bounds overlap
//!   count as well.
//! - **Memory** held between frames, for pairs within one view in `f32`, is some 50 bytes a body in 2D and 60 in 3D,
//!   and half a megabyte for each thread, beside the list of pairs. A finder of 200 bodies holds 9 KB, since all small
//!   searches of a thread share that thread's scratch memory. Neighbour lists take their own size again while they are
//!   made, and at least 8 bytes a body. Several views, periodic boxes, `f64` and paths keep a tree or a copy of their
//!   own.
//! - **Threads** are yours: the current rayon pool, one that you pass, your program's own ([`Spawner`]), or none ([`Threads`]).
//!
//! # Where to look
//! - [`PairFinder`]: [`find`](PairFinder::find) makes a list; [`count`](PairFinder::count),
//!   [`for_each_pair`](PairFinder::for_each_pair) and [`fold`](PairFinder::fold) make none.
//! - [`Input`]: what a search looks at. Its sets ([`Set`]) are views in `f32` or `f64`, or a tree that stays, with
//!   [`Layers`], at rest or [moving](Set::moving). Its relation is [within](Input::within) one set,
//!   [between](Input::between) two, or [among](Input::among) many by an [`ActivationTable`]. Its [`Space`] is open,
//!   periodic, or a lattice. Each is chosen by itself.
//! - [`NeighborLists`]: for each body the bodies that it overlaps, or that lie [`within`](Bodies::within) a distance. A
//!   [`margin`](Bodies::with_margin) and [`still_valid`](PairFinder::still_valid) keep the lists for several steps.
//! - [`Boxes`] and [`Capsules`]: other shapes, which meet each other and circles; [`Input`] has a table of the
//!   combinations.
//! - [`PreparedSet`]: a set sorted once for many searches and [questions](PreparedSet::queries), in any space and precision.
//! - [`Circles`] and [`Spheres`]: views of separate slices, of fields of your own structs, which may hold other fields
//!   too ([`field!`], [`from_columns`](Bodies::from_columns)), or of memory with a stride
//!   ([`from_strided`](Bodies::from_strided)); [`Circles64`] and [`Spheres64`] in `f64`.
//! - [`Queries`]: which bodies of a tree ([`Found::tree`], say) hold a point, touch a box or circle, are hit by a ray
//!   or are nearest; [`QueryBatch`]: many queries at once.
//! - [`ContactTracker`]: which contacts begin, persist and end from frame to frame, by keys of your own; [`contacts`]:
//!   how deep two bodies overlap, along which normal, and at which point.
//! - [`CoherentFinder`]: pairs or rows of bodies that move little from frame to frame. A frame of bodies that move straight
//!   on costs an eighth to a half of a search. It is behind the feature `coherent`: without it, a program builds in three
//!   quarters of the time.
//! - [`Permutation`]: your own arrays sorted along the curve now and then.
//! - [`embedding`]: a recipe for each kind of host, from separate slices to an engine with a task pool of its own.
//! - [`which_structure_when`]: the older systems beside this one, and where they are still right.
//! - [`LinearTree`]: the tree on its own; [`morton`]: codes and cells; [`radix`]: the sort on its own.

#![cfg_attr(not(feature = "coherent"), allow(rustdoc::broken_intra_doc_links))]
// So that docs.rs says which feature an item is behind.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub use jostle_contacts::{
    BadPair, Changes, Contact, ContactError, ContactPairs, ContactTracker, Contacts, Keys, PairFault, RepeatedKey,
    Update, contact, contact_f64, contacts, contacts_between, contacts_f64,
};
pub use jostle_core::bounds::bounds;
pub use jostle_core::isa::{IsaName, UnavailableIsa};
pub use jostle_core::tree::Broken;
pub use jostle_core::{
    Aabb, Bodies, BoxView, Boxes, Boxes64, BuildTimes, CapsuleView, Capsules, Capsules64, Circles, Circles64, Column,
    Field, Isa, LinearTree, Permutation, PermutationError, Radii, RadiusField, Reason, Recording, Region, Scalar,
    Spawner, Spheres, Spheres64, Threads, ViewError, field, morton, radix,
};
pub use jostle_pairs::{
    ActivationTable, Displacements, Found, Hit, Input, InputError, LatticeFault, Layers, NeighborColumns,
    NeighborLists, PairFinder, PreparedSet, RangeFault, Rows, Search, Set, Skin, Space, StageTimes, Stats, Values,
    between,
};
pub use jostle_pairs::{
    Answers, Circle, PreparedAnswers, PreparedBatch, PreparedQueries, Queries, QueryBatch, QueryError, QueryReason,
    Ray, Reached, Seen, SeenAt,
};

#[cfg(feature = "coherent")]
pub use jostle_pairs::{CoherentFinder, CoherentSearch};

#[doc = include_str!("../docs/embedding.md")]
pub mod embedding {}

#[doc = include_str!("../docs/which_structure_when.md")]
pub mod which_structure_when {}

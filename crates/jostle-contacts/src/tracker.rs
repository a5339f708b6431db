//! The tracker, and what it keeps of contacts from frame to frame.

use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};

use jostle_core::Workers;
use jostle_core::axes::Both;
use jostle_core::input::MAX_BODIES;

use crate::error::ContactError;
use crate::frame::{Image, KeyedPairs, KeysOf, PAIRS_A_BLOCK, Part};
use crate::keys::{GroupKeys, Keys};
use crate::list::{ContactList, Contacts};
use crate::memory::{grow, keep};
use crate::offenders;
use crate::pairs::{Images, Meetings};
use crate::rows::PairTable;
use crate::slots::Slots;
use crate::table::{MAX_PAIRS, NONE};

/// Tells from the pairs of successive frames which contacts begin, persist and end.
///
/// A contact is known by the keys of its two bodies. A key is a number that the caller gives: an entity's, a handle
/// with its generation, whatever stays with a body while it lives and is never another body's. Between frames, bodies
/// may be added, removed and put in another order, and their ids may go to others: only keys are compared.
///
/// Pairs may come from one group (a < b, as [`Found::pairs`](jostle_pairs::Found::pairs) gives them): a contact is then
/// the lesser key and the greater key. They may go between two groups (a in the first group, b in the second): a
/// contact is then the key of a and the key of b. Or they are of many sets: see [`Keys`].
///
/// # Images
/// In a [`Space`](jostle_sets::Space) so small that two bodies may touch at several images, each image is a contact of
/// its own. It is known by the keys and by the image shift from the body with the lesser key to the other. Give what
/// the search returned, which has the shifts ([`ContactPairs`](crate::ContactPairs)). A contact is then followed as
/// long as coordinates go on evenly. If a body is moved back into the cell between frames, its contacts change their
/// shifts ([`ContactPairs::with_image_shifts`](crate::ContactPairs::with_image_shifts) says what to do). Where no two
/// images can touch, as in most spaces that repeat, keys alone are compared, wherever bodies are moved to.
///
/// # Cost
/// Make one tracker and keep it: from the third frame of a size on, it allocates nothing. A frame costs O(bodies +
/// pairs). Where most keys have the same id as in the last frame, bodies cost no more than a comparison of keys. The
/// tracker is exact whatever numbers the keys are, and fast unless they have been chosen to collide.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_contacts::*; pub use jostle_pairs::*; }
/// use jostle::ContactTracker;
///
/// let mut tracker = ContactTracker::new();
/// // Three bodies with keys 70, 50 and 60, that is ids 0, 1 and 2.
/// tracker.update(&[[0, 1], [1, 2]], &[70, 50, 60])?;
/// // Key 60 has left, and 80 has its id.
/// let changes = tracker.update(&[[0, 1], [0, 2]], &[70, 50, 80])?;
/// assert_eq!(changes.persist().keys(), [[50, 70]]);
/// assert_eq!(changes.begin().keys(), [[70, 80]]);
/// assert_eq!(changes.begin().pairs(), [[0, 2]]);
/// assert_eq!(changes.end().keys(), [[50, 60]]);
/// # Ok::<(), jostle::ContactError>(())
/// ```
///
/// # What belongs to a contact
/// Each contact has a *slot* while it lasts, a small number of its own. Whatever a simulation keeps for the contact,
/// such as the tangential spring of a grain or the impulses of the last step, stands in an array at that place; no
/// table of pairs is needed. When the contact ends, its slot is given to another contact, but not before the next
/// update.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_contacts::*; pub use jostle_pairs::*; }
/// use jostle::ContactTracker;
///
/// let (mut tracker, mut springs) = (ContactTracker::new(), Vec::<[f32; 2]>::new());
/// let keys = [70, 50, 60];
/// for pairs in [&[[0, 1], [1, 2]][..], &[[1, 2]], &[[0, 2], [1, 2]]] {
///     let changes = tracker.update(pairs, &keys)?;
///     for &slot in changes.end().slots() {
///         println!("a contact is lost, and with it {:?}", springs[slot as usize]);
///     }
///     springs.resize(changes.slots(), [0.0; 2]);
///     changes.begin().slots().iter().for_each(|&slot| springs[slot as usize] = [0.0; 2]);
///     for (pair, &slot) in pairs.iter().zip(changes.pair_slots()) {
///         springs[slot as usize][0] += pair[1] as f32; // what the two bodies move
///     }
/// }
/// // The contact of 50 and 60 has lasted for three frames.
/// let slot = tracker.last().persist().slots()[0];
/// assert_eq!(springs[slot as usize], [6.0, 0.0]);
/// assert_eq!(tracker.slots(), 2);
/// # Ok::<(), jostle::ContactError>(())
/// ```
///
/// # Panics within an update
/// A host may panic within an update. The tracker is then as new: it knows no contact and has no slot. No contact is told
/// to end, and all contacts of the next update begin.
///
/// # To go back
/// A clone is a snapshot: given the frames that followed, it tells what the tracker told, slots included.
#[derive(Default)]
pub struct ContactTracker {
    sides: Vec<GroupKeys>,
    /// Number of groups of keys in the last frame.
    groups: usize,
    /// Table of the pairs of this frame; between updates, of no meaning.
    rows: PairTable,
    last_rows: PairTable,
    last: LastPairs,
    slots: Slots,
    /// For each pair of the last frame, whether this frame has its contact.
    is_there: Vec<AtomicBool>,
    begin: ContactList,
    persist: ContactList,
    end: ContactList,
}

impl Clone for ContactTracker {
    fn clone(&self) -> Self {
        Self {
            sides: self.sides.clone(),
            groups: self.groups,
            last_rows: self.last_rows.clone(),
            last: self.last.clone(),
            slots: self.slots.clone(),
            begin: self.begin.clone(),
            persist: self.persist.clone(),
            end: self.end.clone(),
            // Scratch.
            rows: PairTable::default(),
            is_there: Vec::new(),
        }
    }
}

/// The pairs of the last frame.
#[derive(Debug, Default, Clone)]
struct LastPairs {
    pairs: Vec<[u32; 2]>,
    image_shifts: Vec<i32>,
    axes: usize,
    by_image: bool,
    sets: Vec<[u32; 2]>,
    ends: Vec<usize>,
    among: bool,
}

impl LastPairs {
    fn images(&self) -> Images<'_> {
        Images { shifts: &self.image_shifts, axes: self.axes }
    }

    fn frame<'f>(&'f self, sides: &'f [GroupKeys]) -> KeyedPairs<'f> {
        KeyedPairs {
            pairs: &self.pairs,
            images: self.images(),
            by_image: self.by_image,
            meetings: Meetings { sets: &self.sets, ends: &self.ends },
            among: self.among,
            keys: KeysOf::Last(sides),
        }
    }

    fn keep(&mut self, now: KeyedPairs<'_>, workers: Workers<'_>) {
        keep(&mut self.pairs, now.pairs, workers);
        keep(&mut self.image_shifts, now.images.shifts, workers);
        (self.axes, self.by_image, self.among) = (now.images.axes, now.by_image, now.among);
        keep(&mut self.sets, now.meetings.sets, workers);
        keep(&mut self.ends, now.meetings.ends, workers);
    }

    fn bytes(&self) -> usize {
        (self.pairs.capacity() + self.sets.capacity()) * size_of::<[u32; 2]>()
            + self.image_shifts.capacity() * size_of::<i32>()
            + self.ends.capacity() * size_of::<usize>()
    }
}

/// What an update found, borrowed from its tracker.
#[derive(Clone, Copy)]
pub struct Changes<'t> {
    pub(crate) tracker: &'t ContactTracker,
}

impl fmt::Debug for Changes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes")
            .field("begin", &self.begin().len())
            .field("persist", &self.persist().len())
            .field("end", &self.end().len())
            .finish_non_exhaustive()
    }
}

impl<'t> Changes<'t> {
    /// Contacts of this frame that the last did not have, in the order of this frame's pairs.
    #[must_use]
    pub fn begin(&self) -> Contacts<'t> {
        self.tracker.begin.view()
    }

    /// Contacts of both frames, in the order of this frame's pairs, with this frame's ids.
    #[must_use]
    pub fn persist(&self) -> Contacts<'t> {
        self.tracker.persist.view()
    }

    /// Contacts of the last frame that this one does not have, in the order of the last frame's pairs. Their ids are
    /// those of the last frame: other bodies may have them now, or none.
    #[must_use]
    pub fn end(&self) -> Contacts<'t> {
        self.tracker.end.view()
    }

    /// The slot of each pair of this frame, in the order in which they were given.
    #[must_use]
    pub fn pair_slots(&self) -> &'t [u32] {
        &self.tracker.slots.last
    }

    /// As [`ContactTracker::slots`].
    #[must_use]
    pub fn slots(&self) -> usize {
        self.tracker.slots()
    }
}

impl fmt::Debug for ContactTracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContactTracker")
            .field("contacts", &self.last.pairs.len())
            .field("last", &self.last())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

impl ContactTracker {
    /// A tracker that has seen no frame and holds no memory: all contacts of the first frame begin.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What the last successful update found; nothing before the first, or after a panic within an update.
    #[must_use]
    pub fn last(&self) -> Changes<'_> {
        Changes { tracker: self }
    }

    /// Returns the length of an array that has a place for each slot. It is at most the greatest number of contacts
    /// that a frame had, counting those that had just ended. It never shrinks, but is 0 after a panic
    /// within an update.
    ///
    /// Which contact has which slot depends on the pairs of all frames and their order alone, not on threads.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots.count()
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.sides.iter().map(GroupKeys::bytes).sum::<usize>()
            + self.rows.bytes()
            + self.last_rows.bytes()
            + self.last.bytes()
            + self.slots.bytes()
            + self.is_there.capacity() * size_of::<AtomicBool>()
            + [&self.begin, &self.persist, &self.end].map(ContactList::bytes).iter().sum::<usize>()
    }

    pub(crate) fn update_with(
        &mut self,
        now: KeyedPairs<'_>,
        keys: Keys<'_>,
        workers: Workers<'_>,
    ) -> Result<(), ContactError> {
        self.check(now, keys, workers)?;
        self.compare(now, workers);
        self.list(now, workers);
        self.remember(now, workers);
        Ok(())
    }

    /// Finds the last id of each body, and builds the table of this frame's pairs. Refuses keys and pairs at fault.
    fn check(&mut self, now: KeyedPairs<'_>, keys: Keys<'_>, workers: Workers<'_>) -> Result<(), ContactError> {
        if now.pairs.len() > MAX_PAIRS {
            return Err(ContactError::TooManyPairs { pairs: now.pairs.len() });
        }
        if now.among && keys.len() > MAX_BODIES {
            return Err(ContactError::TooManyKeys { keys: keys.len() });
        }
        if self.sides.len() < keys.groups() {
            self.sides.resize_with(keys.groups(), GroupKeys::default);
        }
        for (group, side) in self.sides.iter_mut().enumerate().take(keys.groups()) {
            let keys = keys.group(group);
            side.compare(keys, workers).map_err(|fault| fault.name(group as u32, keys))?;
        }
        if self.rows.build(now, workers) { Ok(()) } else { Err(offenders::name_pairs(now)) }
    }

    /// Returns whether contacts of the last frame may be contacts of this frame.
    fn is_comparable(&self, now: KeyedPairs<'_>) -> bool {
        let by_image = now.by_image || self.last.by_image;
        self.groups == now.keys.sets() && (!by_image || self.last.axes == now.images.axes)
    }

    /// Looks up each pair among the pairs of the last frame. A pair that is found keeps its slot.
    fn compare(&mut self, now: KeyedPairs<'_>, workers: Workers<'_>) {
        self.slots.clear(now.pairs.len());
        grow(&mut self.is_there, self.last.pairs.len());
        self.is_there[..self.last.pairs.len()].fill_with(AtomicBool::default);
        if !self.is_comparable(now) {
            self.slots.now.fill(NONE);
            return;
        }
        let mut slots = core::mem::take(&mut self.slots.now);
        let (this, by_image) = (&*self, now.by_image || self.last.by_image);
        workers.fill_blocks("compare", &mut slots, PAIRS_A_BLOCK, |first, block| {
            for part in now.parts(first..first + block.len()) {
                let slots = &mut block[part.range.start - first..part.range.end - first];
                if by_image {
                    this.compare_part::<true>(now, &part, slots)
                } else {
                    this.compare_part::<false>(now, &part, slots)
                }
            }
        });
        self.slots.now = slots;
    }

    /// Looks up pairs of two sets, and fills `slots` for them.
    #[inline(always)]
    fn compare_part<const BY_IMAGE: bool>(&self, now: KeyedPairs<'_>, part: &Part<'_>, slots: &mut [u32]) {
        let ([side_a, side_b], rows) = (part.sets.both(|set| &self.sides[set as usize]), &self.last_rows);
        if !rows.may_hold(part.sets) {
            return slots.fill(NONE);
        }
        let ([of_a, of_b], within, images) = (rows.bases_of(part.sets), part.is_within(), self.last.images());
        let place = |at: usize, [a, b]: [u32; 2]| {
            let (a, b) = (side_a.last_id(a)?, side_b.last_id(b)?);
            let swapped = within && a > b;
            let pair = if swapped { [of_a + b, of_a + a] } else { [of_a + a, of_b + b] };
            if !BY_IMAGE {
                return rows.find(pair);
            }
            let itself = within && a == b;
            let image = Image::of_pair(now.images.get(at), itself, swapped);
            rows.find_image(pair, image, |last| image.is(Image::of_pair(images.get(last), itself, false)))
        };
        for (slot, (at, pair)) in slots.iter_mut().zip(part.range.clone().zip(&now.pairs[part.range.clone()])) {
            *slot = NONE;
            if let Some(last) = place(at, *pair) {
                *slot = self.slots.last[last];
                self.is_there[last].store(true, Ordering::Relaxed);
            }
        }
    }

    fn list(&mut self, now: KeyedPairs<'_>, workers: Workers<'_>) {
        let Self { sides, slots, is_there, begin, persist, end, last, .. } = self;
        persist.select_with_slots(now, |at| slots.now[at] != NONE, &slots.now, workers);
        begin.select(now, |at| slots.now[at] == NONE, workers);
        let last = last.frame(&sides[..self.groups]);
        end.select_with_slots(last, |at| !is_there[at].load(Ordering::Relaxed), &slots.last, workers);
        slots.give(begin, workers);
    }

    /// Makes this frame the last frame.
    fn remember(&mut self, now: KeyedPairs<'_>, workers: Workers<'_>) {
        self.groups = now.keys.sets();
        for (group, side) in self.sides.iter_mut().enumerate().take(self.groups) {
            side.remember(now.keys.of(group), workers);
        }
        self.last.keep(now, workers);
        core::mem::swap(&mut self.rows, &mut self.last_rows);
        self.slots.remember(self.end.view().slots());
    }
}

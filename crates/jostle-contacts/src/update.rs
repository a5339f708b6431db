//! One call of a tracker.

use core::mem;

use jostle_core::{Recording, Threads, Workers, record};

use crate::frame::{KeyedPairs, KeysOf};
use crate::{Changes, ContactError, ContactPairs, ContactTracker, Keys};

/// Below this number of pairs and bodies one thread does all.
const SERIAL_BELOW: usize = 20_000;

/// A tracker with the threads to use for one call.
#[derive(Debug)]
pub struct Update<'t> {
    tracker: &'t mut ContactTracker,
    threads: Threads<'t>,
}

impl ContactTracker {
    /// Chooses the threads for one call: `tracker.on(Threads::Serial).update(pairs, keys)`.
    #[must_use]
    pub fn on<'t>(&'t mut self, threads: Threads<'t>) -> Update<'t> {
        Update { tracker: self, threads }
    }

    /// [`Update::update`] on the current rayon pool.
    ///
    /// # Errors
    /// [`ContactError`]; the tracker stays as it was.
    pub fn update<'k>(
        &mut self,
        pairs: impl Into<ContactPairs<'k>>,
        keys: impl Into<Keys<'k>>,
    ) -> Result<Changes<'_>, ContactError> {
        self.on(Threads::Current).update(pairs, keys)
    }

    fn guarded<R>(&mut self, update: impl FnOnce(&mut Self) -> R) -> R {
        let unfinished = Unfinished(self);
        let updated = update(unfinished.0);
        mem::forget(unfinished);
        updated
    }
}

/// A tracker in an update. An update that does not come to its end, since a host panics, say, leaves a new tracker: parts
/// of two frames may be mixed in it.
struct Unfinished<'a>(&'a mut ContactTracker);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        *self.0 = ContactTracker::new();
    }
}

impl<'t> Update<'t> {
    /// Compares the pairs of this frame with the pairs of the last. `keys` holds the key of each id, for at least all
    /// ids that the pairs name, each key once.
    ///
    /// All contacts of the last frame end and all of this frame begin if the number of groups of keys has changed, or
    /// if one of the two frames tells contacts apart by image shifts and the other has none. The result, its order
    /// included, does not depend on the threads.
    ///
    /// # Errors
    /// The tracker stays as it was, and the error is
    /// - [`ContactError::Keys`] if a key comes twice in a group,
    /// - [`ContactError::Pairs`] if a pair names an id without a key, has a >= b within a group, or comes twice,
    /// - [`ContactError::Sets`] if pairs are of sets without keys, or do not say of which of many sets they are,
    /// - [`ContactError::ImageShifts`], [`ContactError::TooManyKeys`] or [`ContactError::TooManyPairs`].
    pub fn update<'k>(
        self,
        pairs: impl Into<ContactPairs<'k>>,
        keys: impl Into<Keys<'k>>,
    ) -> Result<Changes<'t>, ContactError> {
        let (tracker, keys) = (self.tracker, keys.into());
        let now = keyed(pairs.into(), keys)?;
        let items = now.pairs.len().max(keys.len());
        tracker.guarded(|tracker| {
            let update = |workers: Workers<'_>| workers.together(|| tracker.update_with(now, keys, workers));
            self.threads.run([SERIAL_BELOW; 2], items, update)
        })?;
        Ok(Changes { tracker })
    }

    /// As [`Update::update`] with several threads, whatever was chosen, but runs task after task on the calling thread.
    /// Also returns how long each task took.
    ///
    /// # Errors
    /// As [`Update::update`].
    pub fn update_recorded<'k>(
        self,
        pairs: impl Into<ContactPairs<'k>>,
        keys: impl Into<Keys<'k>>,
    ) -> Result<(Changes<'t>, Recording), ContactError> {
        let (tracker, keys) = (self.tracker, keys.into());
        let now = keyed(pairs.into(), keys)?;
        let (updated, recording) = tracker.guarded(|tracker| record(|workers| tracker.update_with(now, keys, workers)));
        updated?;
        Ok((Changes { tracker }, recording))
    }
}

/// Joins pairs with the keys of their bodies.
fn keyed<'k>(given: ContactPairs<'k>, keys: Keys<'k>) -> Result<KeyedPairs<'k>, ContactError> {
    given.check_shifts()?;
    Ok(KeyedPairs {
        pairs: given.pairs,
        images: given.images,
        by_image: given.by_image(),
        meetings: given.meetings(keys.alone(), keys.groups())?,
        among: matches!(keys, Keys::Among(_)),
        keys: KeysOf::Now(keys),
    })
}

//! Scratch that the small searches of one thread share: trees, lists of tests, rows that are being found.
//!
//! A thousand small worlds, each with its own finder, go through the memory of a thousand finders in every frame; no
//! cache near a core holds that much. So a small search runs in memory of its thread, which the last search has left in
//! cache. The finder gets what it keeps: the pairs, and a copy of the tree (see docs/measurements/search.md).

use core::any::Any;
use core::cell::RefCell;

use jostle_core::{Isa, Workers};
use jostle_sets::input::Input;
use jostle_sets::prepare::Preparation;

use crate::neighbors::RowEngine;
use crate::pairs::engine::Engine;

/// A search of more bodies uses its finder's memory: the copy of the tree would cost more than the lines of memory that
/// scratch saves.
const SMALL: usize = 512;

/// Scratch of a thread that no search is using, in the plane and in space. Searches within searches leave more than one
/// of a kind.
type Spare = [RefCell<Vec<Box<dyn Any>>>; 2];

thread_local! {
    static SPARE: Spare = const { [const { RefCell::new(Vec::new()) }; 2] };
}

/// The memory that a search works with, except the list of its pairs.
pub(super) struct ThreadScratch<const D: usize> {
    pub(super) preparation: Preparation<D>,
    pub(super) engine: Engine<D>,
    pub(super) rows: RowEngine<D>,
}

impl<const D: usize> ThreadScratch<D> {
    /// Whether a search runs in thread scratch: a plain search of few bodies, on one thread.
    pub(super) fn serves(input: &Input<'_, D>, workers: Workers<'_>) -> bool {
        matches!(workers, Workers::Serial) && input.is_plain() && input.weight() <= SMALL
    }

    /// Takes scratch of this thread, for a search that [`ThreadScratch::serves`].
    pub(super) fn take((isa, max_pairs): (Isa, usize)) -> Option<Box<Self>> {
        // A thread that is ending has none.
        let spare = SPARE.try_with(|spare| spare[D - 2].try_borrow_mut().ok()?.pop()).ok()?;
        let mut taken = match spare.map(<Box<dyn Any>>::downcast) {
            Some(Ok(taken)) => taken,
            _ => {
                let mut preparation = Preparation::with_capacity(0);
                preparation.set_untimed();
                Box::new(Self { preparation, engine: Engine::with_capacity(0), rows: RowEngine::default() })
            }
        };
        (taken.engine.isa, taken.engine.max_pairs) = (isa, max_pairs);
        taken.preparation.set_isa(isa);
        Some(taken)
    }

    /// Leaves the scratch for the next search.
    pub(super) fn give_back(self: Box<Self>) {
        let keep = |spare: &Spare| spare[D - 2].try_borrow_mut().map(|mut spare| spare.push(self));
        // If the thread is ending, the scratch is dropped.
        let _ = SPARE.try_with(keep);
    }
}

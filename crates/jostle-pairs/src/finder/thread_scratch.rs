//! What small searches of one thread share: trees, lists of tests, rows on their way.
//!
//! A thousand small worlds with a finder each go through the memory of a thousand finders in every frame, which no cache near a
//! core holds. So a small search is made in memory of the thread, which the last one has left in cache, and its finder gets
//! what it is to keep: the pairs, and a copy of the tree (see docs/measurements/search.md).

use core::any::Any;
use core::cell::RefCell;

use jostle_core::{Isa, Workers};
use jostle_sets::input::Input;
use jostle_sets::prepare::Preparation;

use crate::neighbors::RowEngine;
use crate::pairs::engine::Engine;

/// A search of more bodies uses its finder's memory: the copy would cost more than the lines of memory that it saves.
const SMALL: usize = 512;

/// Scratch that no search of a thread is using, in the plane and in space. More than one of a kind after searches within
/// searches.
type Spare = [RefCell<Vec<Box<dyn Any>>>; 2];

thread_local! {
    static SPARE: Spare = const { [const { RefCell::new(Vec::new()) }; 2] };
}

/// All that a search works with, but the list of its pairs.
pub(super) struct ThreadScratch<const D: usize> {
    pub(super) preparation: Preparation<D>,
    pub(super) engine: Engine<D>,
    pub(super) rows: RowEngine<D>,
}

impl<const D: usize> ThreadScratch<D> {
    /// Whether a search is a plain one of a few bodies, which is made in such scratch.
    pub(super) fn serves(input: &Input<'_, D>, workers: Workers<'_>) -> bool {
        matches!(workers, Workers::Serial) && input.is_plain() && input.weight() <= SMALL
    }

    /// That of this thread, for a search that it serves.
    pub(super) fn take(isa: Isa) -> Option<Box<Self>> {
        // None of a thread that comes to its end.
        let spare = SPARE.try_with(|spare| spare[D - 2].try_borrow_mut().ok()?.pop()).ok()?;
        let mut taken = match spare.map(<Box<dyn Any>>::downcast) {
            Some(Ok(taken)) => taken,
            _ => {
                let mut preparation = Preparation::with_capacity(0);
                preparation.set_untimed();
                Box::new(Self { preparation, engine: Engine::with_capacity(0), rows: RowEngine::default() })
            }
        };
        taken.engine.isa = isa;
        taken.preparation.set_isa(isa);
        Some(taken)
    }

    /// Leaves it for the next search.
    pub(super) fn give_back(self: Box<Self>) {
        let keep = |spare: &Spare| spare[D - 2].try_borrow_mut().map(|mut spare| spare.push(self));
        // Where the thread comes to its end it is dropped.
        let _ = SPARE.try_with(keep);
    }
}

//! Which thread finds the pairs of a body. The pairs are found again, if a viewer wants to see that.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use jostle::{PairFinder, Threads};
use rayon::ThreadPool;

use crate::shown::Tree;
use crate::view::View;

/// The threads that find pairs.
#[derive(Debug, Default)]
pub(crate) struct Finders {
    /// Finds pairs again, in the tree that the search has left.
    plane: PairFinder<2>,
    space: PairFinder<3>,
    pub(crate) pool: Option<Arc<ThreadPool>>,
    of_body: Vec<AtomicU8>,
}

impl Finders {
    /// Returns for each body the thread that has found one of its pairs, as frames tell it.
    pub(crate) fn of(&mut self, view: View<'_>, tree: Tree<'_>) -> impl Iterator<Item = u8> {
        self.of_body.clear();
        self.of_body.resize_with(view.len(), AtomicU8::default);
        let of_body = &self.of_body;
        let note = |a: u32, b: u32| {
            let thread = 1 + rayon::current_thread_index().map_or(0, |index| (index + 1).min(254)) as u8;
            [a, b].into_iter().for_each(|id| of_body[id as usize].store(thread, Relaxed));
        };
        let threads = self.pool.as_deref().map_or(Threads::Current, Threads::Pool);
        // The search has accepted these bodies. If they are refused here, nothing is told.
        _ = match (view, tree) {
            // A tree of boxes is no set of a search.
            (View::Boxes(boxes), _) => self.plane.on(threads).for_each_pair(boxes, note),
            (_, Tree::Plane(tree)) => self.plane.on(threads).for_each_pair(tree, note),
            (_, Tree::Space(tree)) => self.space.on(threads).for_each_pair(tree, note),
        };
        self.of_body.iter_mut().map(|thread| *thread.get_mut())
    }
}

//! Closures handed on, as trait objects of a single method: the table of a `dyn Fn` also holds one that takes the closure by
//! value, and the compiler makes its body once more for that, wherever one is handed on.

/// A closure that many threads may call.
pub trait Task<A>: Sync {
    /// Calls it.
    fn run(&self, with: A);
}

impl<A, F: Fn(A) + Sync> Task<A> for F {
    #[inline(always)]
    fn run(&self, with: A) {
        self(with);
    }
}

/// A closure that one thread calls.
pub trait TaskMut<A> {
    /// Calls it.
    fn run(&mut self, with: A);
}

impl<A, F: FnMut(A)> TaskMut<A> for F {
    #[inline(always)]
    fn run(&mut self, with: A) {
        self(with);
    }
}

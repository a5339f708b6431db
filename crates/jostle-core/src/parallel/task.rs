//! Closures as trait objects of a single method. The table of a `dyn Fn` also holds a method that takes the closure by
//! value, and the compiler makes the closure's body once more for it, wherever a closure is handed on.

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

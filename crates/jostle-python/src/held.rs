//! A lock for which the thread that holds it does not wait.
//!
//! Whenever an object of Python's is made, the garbage collector may run, and with it any finalizer. That may call the
//! very finder which is at work, on the same thread.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

/// A value of which one thread at a time makes use.
#[derive(Default)]
pub(crate) struct Held<T> {
    value: Mutex<T>,
    /// The thread that holds it; 0 for none.
    holder: AtomicUsize,
}

impl<T> Held<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Mutex::new(value), holder: AtomicUsize::new(0) }
    }

    /// Waits for other threads, which may need the interpreter meanwhile. `None` where this thread holds the value.
    pub(crate) fn lock(&self, py: Python<'_>) -> Option<Holding<'_, T>> {
        if self.holder.load(Ordering::Relaxed) == this_thread() {
            return None;
        }
        let value = self.value.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        self.holder.store(this_thread(), Ordering::Relaxed);
        Some(Holding { value, holder: &self.holder })
    }

    /// Works on the value, or refuses a call in the middle of another.
    pub(crate) fn with<R>(&self, py: Python<'_>, work: impl FnOnce(&mut T) -> R) -> PyResult<R> {
        let in_the_middle = "it is at work: a finalizer (__del__) that ran meanwhile has called it";
        let mut held = self.lock(py).ok_or_else(|| PyRuntimeError::new_err(in_the_middle))?;
        Ok(work(&mut held))
    }
}

/// A number that no other thread has, and that is not 0: where a variable of this thread lies.
fn this_thread() -> usize {
    thread_local!(static OWN: u8 = const { 0 });
    OWN.with(|own| std::ptr::from_ref(own).addr())
}

/// A value that this thread holds.
pub(crate) struct Holding<'a, T> {
    value: MutexGuard<'a, T>,
    holder: &'a AtomicUsize,
}

impl<T> Deref for Holding<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Holding<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> Drop for Holding<'_, T> {
    fn drop(&mut self) {
        // Nobody else holds the value before the guard is dropped.
        self.holder.store(0, Ordering::Relaxed);
    }
}

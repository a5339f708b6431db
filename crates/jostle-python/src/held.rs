//! A lock for which the thread that holds it does not wait.
//!
//! Whenever an object of Python's is made, the garbage collector may run, and with it any finalizer. That may call the
//! very finder which is at work, on the same thread.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

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

    /// Works on the value, or on `None` where this thread is at work on it already. Waits for other threads, which may
    /// need the interpreter meanwhile.
    pub(crate) fn lend<R>(&self, py: Python<'_>, work: impl FnOnce(Option<&mut T>) -> R) -> R {
        if self.holder.load(Ordering::Relaxed) == this_thread() {
            return work(None);
        }
        let mut value = self.value.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        self.holder.store(this_thread(), Ordering::Relaxed);
        // Dropped before the lock is, so that nobody else holds the value then.
        let _nobody = Nobody(&self.holder);
        work(Some(&mut value))
    }

    /// Works on the value, or refuses a call in the middle of another.
    pub(crate) fn with<R>(&self, py: Python<'_>, work: impl FnOnce(&mut T) -> R) -> PyResult<R> {
        let in_the_middle = "it is at work: a finalizer (__del__) that ran meanwhile has called it";
        self.lend(py, |value| value.map(work)).ok_or_else(|| PyRuntimeError::new_err(in_the_middle))
    }
}

/// A number that no other thread has, and that is not 0: where a variable of this thread lies.
fn this_thread() -> usize {
    thread_local!(static OWN: u8 = const { 0 });
    OWN.with(|own| std::ptr::from_ref(own).addr())
}

/// Notes, when it is dropped, that no thread holds a value.
struct Nobody<'a>(&'a AtomicUsize);

impl Drop for Nobody<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

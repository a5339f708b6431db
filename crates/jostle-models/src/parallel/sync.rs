//! The counterpart of `sync.rs` of `jostle-core`, made of what loom watches.
#![allow(unsafe_code, reason = "a cell whose users vouch that no two meet in it; loom holds them to that")]

use core::ops::Deref;
use std::sync::PoisonError;

use loom::cell::UnsafeCell;
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
pub(crate) use loom::thread::yield_now;

/// Patience ends after one look. Whatever a longer look would find is found in another order of events, and a waiting
/// thread that does not sleep would have no end.
pub(crate) fn look_out(mut ready: impl FnMut() -> bool) -> bool {
    ready() || {
        yield_now();
        ready()
    }
}

/// Returns `None`, as where the system does not tell.
pub(crate) fn processor() -> Option<usize> {
    None
}

pub(crate) fn leave_processor(_from: usize) -> bool {
    false
}

pub(crate) fn give_way() -> bool {
    false
}

/// Sleeps without an alarm: a missed notification is a deadlock that loom reports.
pub(crate) fn sleep<'a>(rung: &Condvar, guard: MutexGuard<'a, ()>, _nap: bool) -> MutexGuard<'a, ()> {
    rung.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug, Default)]
pub(crate) struct CachePadded<T>(T);

impl<T> CachePadded<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for CachePadded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

#[derive(Debug)]
pub(crate) struct Guarded<T>(UnsafeCell<T>);

// SAFETY: the methods are unsafe and demand that accesses do not meet.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// # Safety
    /// Nobody writes it meanwhile.
    pub(crate) unsafe fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        // SAFETY: as promised.
        self.0.with(|value| read(unsafe { &*value }))
    }

    /// # Safety
    /// Nobody else touches it meanwhile.
    pub(crate) unsafe fn write(&self, value: T) {
        // SAFETY: as promised.
        self.0.with_mut(|place| unsafe { *place = value });
    }
}

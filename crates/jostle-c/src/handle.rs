//! Handles: memory of the library that C holds by a pointer. A handle is of a known kind, and in use by one call at a
//! time, or by several calls that change nothing.

use core::any::Any;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::memory::{Grows, answer, place};
use crate::status::{Failure, Offender, Status};
use crate::threads::Threads;

/// The type that C holds a pointer to: an opaque name for a handle.
pub(crate) trait Opaque {
    /// What the handle keeps.
    type State;
    /// A number that no other kind has, and that memory seldom holds by chance.
    const KIND: u64;
    /// The name of the type in C.
    const NAME: &'static str;
}

/// The value of [`Head::users`] while one call has the handle for itself.
const EXCLUSIVE: usize = usize::MAX;

/// The bits that all kinds have in common: all but the last 16.
const FAMILY: u64 = 0x6a6f_7374_6c65_0000;

/// Returns the kind of this number, which counts from 1.
pub(crate) const fn kind(number: u16) -> u64 {
    FAMILY | number as u64
}

/// The beginning of every handle. Other threads may look at all but the error at any time.
#[repr(C)]
struct Head {
    kind: u64,
    /// How many calls share the handle at this moment, or [`EXCLUSIVE`].
    users: AtomicUsize,
    /// The error of the last call that failed.
    error: LastError,
}

#[derive(Default)]
struct LastError {
    status: i32,
    message: CString,
    count: usize,
    first: Vec<Offender>,
    set: Option<usize>,
}

#[repr(C)]
struct Handle<S> {
    head: Head,
    state: S,
}

/// Why the last failed call on a handle failed. All that it leads to lives until the next call on that handle fails.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Error {
    /// sizeof(jostle_error).
    pub size: usize,
    /// What the call returned, a jostle_status; JOSTLE_STATUS_OK when no call has failed.
    pub status: i32,
    /// The number of the set of the input that is at fault; -1 where none in particular is.
    pub set: i32,
    /// What is wrong, and what to do about it, for a person. The text ends with a zero byte.
    pub message: *const c_char,
    /// How many bodies, queries, keys or pairs are at fault; 0 where none in particular is.
    pub offenders: usize,
    /// The first offenders, 16 at most, in ascending order.
    pub first: *const Offender,
    /// How many offenders first leads to.
    pub first_count: usize,
}

// SAFETY: the struct is repr(C), begins with its size, and holds only integers and pointers.
unsafe impl Grows for Error {
    const NAME: &'static str = "jostle_error";
}

/// A handle that this call has for itself.
struct Exclusive<S>(*mut Handle<S>);

/// A handle that this call shares with other calls that change nothing.
pub(crate) struct Shared<O: Opaque>(*const Handle<O::State>);

impl<S> Drop for Exclusive<S> {
    fn drop(&mut self) {
        // SAFETY: the handle was taken, and is not freed before it is given back.
        unsafe { &(*self.0).head.users }.store(0, Ordering::Release);
    }
}

impl<O: Opaque> Drop for Shared<O> {
    fn drop(&mut self) {
        // SAFETY: the handle was taken, and is not freed before it is given back.
        unsafe { &(*self.0).head.users }.fetch_sub(1, Ordering::Release);
    }
}

impl<O: Opaque> Shared<O> {
    pub(crate) fn state(&self) -> &O::State {
        // SAFETY: no call has the handle for itself as long as this one uses it.
        unsafe { &(*self.0).state }
    }

    /// # Safety
    /// The pointer is null, or leads to a handle.
    pub(crate) unsafe fn take(handle: *const O) -> Result<Self, Failure> {
        // SAFETY: as the caller says.
        let head = unsafe { head_of(handle.cast(), O::NAME, |kind| kind == O::KIND) }?;
        share(head, O::NAME).map(|()| Self(handle.cast()))
    }
}

/// Notes one more call that shares a handle. Calls that want the handle for themselves are kept away from it.
fn share(head: &Head, name: &str) -> Result<(), Failure> {
    let one_more = |users| if users == EXCLUSIVE { None } else { Some(users + 1) };
    head.users.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more).map(drop).map_err(|_| busy(name))
}

fn busy(name: &str) -> Failure {
    let message =
        format_args!("the {name} is in use by another call: give each thread, and each search within one, its own");
    Failure::new(Status::Busy, message)
}

/// # Safety
/// The pointer is null, or leads to a handle.
unsafe fn head_of<'a>(
    handle: *const c_void,
    name: &str,
    is_kind: impl FnOnce(u64) -> bool,
) -> Result<&'a Head, Failure> {
    if handle.is_null() {
        return Err(Failure::new(Status::NullPointer, format_args!("the {name} is null")));
    }
    let head = handle.cast::<Head>();
    // SAFETY: a handle begins with a `Head`, and is aligned for it. The alignment is checked first.
    let found = if head.is_aligned() { unsafe { (*head).kind } } else { 0 };
    if !is_kind(found) {
        let message = format_args!("the {name} is a handle of another kind, or none");
        return Err(Failure::new(Status::WrongHandle, message));
    }
    // SAFETY: as above.
    Ok(unsafe { &*head })
}

/// # Safety
/// The pointer is null, or leads to a handle.
unsafe fn take<O: Opaque>(handle: *mut O) -> Result<Exclusive<O::State>, Failure> {
    // SAFETY: as the caller says.
    let head = unsafe { head_of(handle.cast(), O::NAME, |kind| kind == O::KIND) }?;
    match head.users.compare_exchange(0, EXCLUSIVE, Ordering::Acquire, Ordering::Relaxed) {
        Ok(_) => Ok(Exclusive(handle.cast())),
        Err(_) => Err(busy(O::NAME)),
    }
}

/// Runs the body of a function with its handle. If the body fails, the handle keeps the error. Nothing unwinds out of
/// it.
///
/// # Safety
/// The pointer is null, or leads to a handle.
pub(crate) unsafe fn call<O: Opaque>(
    handle: *mut O,
    body: impl FnOnce(&mut O::State) -> Result<(), Failure>,
) -> Status {
    // SAFETY: as the caller says.
    let taken = match unsafe { take(handle) } {
        Ok(taken) => taken,
        Err(failure) => return failure.status,
    };
    // SAFETY: this call has error and state for itself.
    let (error, state) = unsafe { (&mut (*taken.0).head.error, &mut (*taken.0).state) };
    match caught(|| body(state)) {
        Ok(()) => Status::Ok,
        Err(failure) => {
            let message = CString::new(failure.message).unwrap_or_default();
            let Failure { status, count, first, set, .. } = failure;
            *error = LastError { status: status as i32, message, count, first, set };
            status
        }
    }
}

/// As [`call`], for a second handle beside the function's own. The second handle keeps no error.
///
/// # Safety
/// The pointer is null, or leads to a handle other than the function's own.
pub(crate) unsafe fn with<O: Opaque, R>(
    handle: *mut O,
    body: impl FnOnce(&mut O::State) -> Result<R, Failure>,
) -> Result<R, Failure> {
    // SAFETY: as the caller says.
    let taken = unsafe { take(handle) }?;
    // SAFETY: this call has the handle for itself.
    body(unsafe { &mut (*taken.0).state })
}

fn caught<R>(body: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| Err(Failure::new(Status::Panic, said(&*panic))))
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| String::from("no message"))
}

/// Makes a handle, and writes where it is to `out`.
///
/// # Safety
/// The pointer is null, misaligned, or leads to a place for a pointer to a handle.
pub(crate) unsafe fn make<O: Opaque>(out: *mut *mut O, state: impl FnOnce() -> Result<O::State, Failure>) -> Status {
    let made = caught(|| {
        // SAFETY: as the caller says.
        let place = unsafe { place(out, "out") }?;
        let head = Head { kind: O::KIND, users: AtomicUsize::new(0), error: LastError::default() };
        *place = Box::into_raw(Box::new(Handle { head, state: state()? })).cast();
        Ok(())
    });
    made.map_or_else(|failure| failure.status, |()| Status::Ok)
}

/// Frees a handle. Leaves alone a null pointer, a handle that is in use, and one of another kind.
///
/// # Safety
/// The pointer is null, or leads to a handle that nothing uses any more.
pub(crate) unsafe fn free<O: Opaque>(handle: *mut O) {
    // SAFETY: as the caller says.
    let Ok(taken) = (unsafe { take(handle) }) else { return };
    let owned = taken.0;
    core::mem::forget(taken);
    // SAFETY: `make` made the handle, of this kind, and no call uses it.
    let owned = unsafe { Box::from_raw(owned) };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(owned)));
}

/// Whether handles of this kind keep errors. Threads are shared by many calls, and keep none.
fn keeps_errors(kind: u64) -> bool {
    (kind ^ FAMILY) >> 16 == 0 && kind != Threads::KIND
}

/// Tells why the last failed call on a handle failed. The handle may be of any kind but jostle_threads. A call whose
/// handle was null, in use or of another kind has kept no error; jostle_status_text tells what is known of its status.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_last_error(handle: *const c_void, error: *mut Error) -> Status {
    let told = caught(|| {
        // SAFETY: both pointers are what the header asks for.
        let (head, out) = unsafe { (head_of(handle, "handle", keeps_errors)?, answer(error)?) };
        share(head, "handle")?;
        let LastError { status, message, count, first, set } = &head.error;
        *out = Error {
            size: out.size,
            status: *status,
            set: set.and_then(|set| set.try_into().ok()).unwrap_or(-1),
            message: message.as_ptr(),
            offenders: *count,
            first: first.as_ptr(),
            first_count: first.len(),
        };
        head.users.fetch_sub(1, Ordering::Release);
        Ok(())
    });
    told.map_or_else(|failure| failure.status, |()| Status::Ok)
}

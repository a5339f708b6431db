//! The host's memory: structs that begin with their size, numbers, arrays. Every pointer is checked before it is
//! followed.

use core::fmt::Display;
use core::slice;

use crate::status::{Failure, Status};

/// A struct of the header that begins with its size, so that later versions can add fields at its end. A program that
/// was compiled with the shorter struct then gets [`Status::StructSize`], before the fields that it lacks are read.
///
/// # Safety
/// The type is `repr(C)`, its first field is a `usize`, and any bytes are a valid value of it.
pub(crate) unsafe trait Grows: Copy {
    /// The name of the struct in C.
    const NAME: &'static str;
}

fn check<T>(pointer: *const T, name: impl Display) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(Failure::new(Status::NullPointer, format_args!("{name} is null")));
    }
    if !pointer.is_aligned() {
        let align = align_of::<T>();
        return Err(Failure::new(Status::Misaligned, format_args!("{name} is not a multiple of {align} bytes")));
    }
    Ok(())
}

/// # Safety
/// The pointer is null, misaligned, or leads to a struct whose size field is readable.
unsafe fn check_size<T: Grows>(pointer: *const T) -> Result<(), Failure> {
    check(pointer, format_args!("the pointer to {}", T::NAME))?;
    // SAFETY: the size is readable, as the caller says, and aligned.
    let size = unsafe { *pointer.cast::<usize>() };
    if size == size_of::<T>() {
        return Ok(());
    }
    let (name, wanted) = (T::NAME, size_of::<T>());
    let message = format_args!("{name} begins with the size {size}, not {wanted}: write sizeof({name}) there");
    Err(Failure::new(Status::StructSize, message))
}

/// Returns a copy of a struct.
///
/// # Safety
/// The pointer is null, misaligned, or leads to a struct as long as its size says.
pub(crate) unsafe fn read<T: Grows>(pointer: *const T) -> Result<T, Failure> {
    // SAFETY: as the caller says.
    unsafe { check_size(pointer) }?;
    // SAFETY: the struct is aligned and as long as it has to be.
    Ok(unsafe { *pointer })
}

/// Returns a struct for an answer. The caller writes to it only if all goes well.
///
/// # Safety
/// As for [`read`]; nothing else looks at the struct meanwhile.
pub(crate) unsafe fn answer<'a, T: Grows>(pointer: *mut T) -> Result<&'a mut T, Failure> {
    // SAFETY: as the caller says.
    unsafe { check_size(pointer) }?;
    // SAFETY: the struct is aligned, as long as it has to be, and nobody else looks at it.
    Ok(unsafe { &mut *pointer })
}

/// Returns a place for an answer that is a number or a handle.
///
/// # Safety
/// The pointer is null, misaligned, or leads to a `T` that nothing else looks at meanwhile.
pub(crate) unsafe fn place<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T, Failure> {
    check(pointer, name)?;
    // SAFETY: the place is aligned, and nobody else looks at it.
    Ok(unsafe { &mut *pointer })
}

/// Returns an array of structs. The size of the first is checked before the others are read: if the structs were of
/// another size, the second would not stand where it is looked for.
///
/// # Safety
/// As for [`array`]; the first struct is as long as its size says.
pub(crate) unsafe fn structs<'a, T: Grows>(pointer: *const T, len: usize, name: &str) -> Result<&'a [T], Failure> {
    // SAFETY: as the caller says.
    unsafe {
        if len > 0 && !pointer.is_null() {
            check_size(pointer)?;
        }
        array(pointer, len, name)
    }
}

/// Returns an array, whose pointer may be null if it is empty.
///
/// # Safety
/// The pointer is null, misaligned, or leads to `len` values that stay for as long as `'a`. Any bytes are a valid `T`.
pub(crate) unsafe fn array<'a, T: Copy>(pointer: *const T, len: usize, name: &str) -> Result<&'a [T], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    check(pointer, name)?;
    let end = len.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize);
    if end.is_none_or(|bytes| pointer.addr().checked_add(bytes).is_none()) {
        return Err(Failure::new(Status::Overflow, format_args!("{name}: {len} values do not fit into memory")));
    }
    // SAFETY: the array is aligned, ends within memory, and is readable, as the caller says.
    Ok(unsafe { slice::from_raw_parts(pointer, len) })
}

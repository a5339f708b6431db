//! Functions that are compiled with this crate, in the plane and in space: a release build would compile them anew with each
//! crate that calls them. A room of `unsafe`: casts of types that are the same.
#![allow(unsafe_code, reason = "casts of types that are the same")]

use core::mem::ManuallyDrop;
use core::ptr;

/// Defines functions of `D` that are compiled with this crate for a `D` of 2 and of 3; there are no others.
///
/// Arguments may be generic over `D` and lifetimes alone, and what is returned over neither.
#[doc(hidden)]
#[macro_export]
macro_rules! compiled_here {
    ($(
        $(#[$doc:meta])*
        $vis:vis fn $name:ident<const D: usize>($($arg:ident: $type:ty),* $(,)?) $(-> $output:ty)? $body:block
    )*) => {
        $(
            $(#[$doc])*
            #[inline(always)]
            #[allow(unsafe_code, reason = "casts of types that are the same")]
            $vis fn $name<const D: usize>($($arg: $type),*) $(-> $output)? {
                mod in_the_plane {
                    use super::*;
                    const D: usize = 2;
                    pub(super) fn run($($arg: $type),*) $(-> $output)? $body
                }
                mod in_space {
                    use super::*;
                    const D: usize = 3;
                    pub(super) fn run($($arg: $type),*) $(-> $output)? $body
                }
                const { assert!(D == 2 || D == 3, "bodies have two axes or three") };
                if D == 2 {
                    // SAFETY: D is 2, so each is of the same type.
                    unsafe { in_the_plane::run($($crate::compiled::same($arg)),*) }
                } else {
                    // SAFETY: D is 3, so each is of the same type.
                    unsafe { in_space::run($($crate::compiled::same($arg)),*) }
                }
            }
        )*
    };
}

pub use compiled_here;

/// A value as one of the same type.
///
/// # Safety
/// The types are the same but for their lifetimes, and those of what comes out end with the call that takes it.
#[inline(always)]
pub unsafe fn same<A, B>(value: A) -> B {
    assert_eq!((size_of::<A>(), align_of::<A>()), (size_of::<B>(), align_of::<B>()), "the types are the same");
    let value = ManuallyDrop::new(value);
    // SAFETY: as promised; the value is not used again.
    unsafe { ptr::from_ref(&value).cast::<B>().read() }
}

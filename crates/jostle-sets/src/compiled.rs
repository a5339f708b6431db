//! Functions that are compiled with the crate that defines them, for the plane and for space. Otherwise a release build
//! would compile them again with each crate that calls them. A room of `unsafe`: casts of types that are the same.
#![allow(unsafe_code, reason = "casts of types that are the same")]

use core::mem::ManuallyDrop;
use core::ptr;

/// Defines functions of `D` that are compiled with the defining crate, for a `D` of 2 and of 3. No other `D` compiles.
///
/// Arguments may be generic over `D` and lifetimes alone. The return type is generic over neither.
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
                    // SAFETY: D is 2, so each argument keeps its type.
                    unsafe { in_the_plane::run($($crate::compiled::same($arg)),*) }
                } else {
                    // SAFETY: D is 3, so each argument keeps its type.
                    unsafe { in_space::run($($crate::compiled::same($arg)),*) }
                }
            }
        )*
    };
}

pub use compiled_here;

/// Returns a value as type `B`, which is the type `A` but for lifetimes.
///
/// # Safety
/// `A` and `B` are the same but for their lifetimes, and lifetimes of `B` end with the call that takes the result.
#[inline(always)]
pub unsafe fn same<A, B>(value: A) -> B {
    assert_eq!((size_of::<A>(), align_of::<A>()), (size_of::<B>(), align_of::<B>()), "the types are the same");
    let value = ManuallyDrop::new(value);
    // SAFETY: as promised; the original value is not used again.
    unsafe { ptr::from_ref(&value).cast::<B>().read() }
}

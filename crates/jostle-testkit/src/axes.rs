//! Functions that are generic over the number of axes, compiled with this crate for two and for three axes: there are
//! many binaries of tests, and each would compile the functions anew.

use core::any::Any;

use jostle_core::Bodies;

use crate::real::Real;

/// Defines functions of `D` that are compiled with this crate for a `D` of 2 and of 3; with another `D` they panic.
///
/// Arguments are references, and nothing else is borrowed. The body may call functions that are generic over `D`.
macro_rules! compiled_here {
    ($(
        $(#[$meta:meta])*
        $vis:vis fn $name:ident<const D: usize>($($arg:ident: &$type:ty),* $(,)?) $(-> $output:ty)? $body:block
    )*) => {
        $(
            $(#[$meta])*
            #[allow(clippy::ptr_arg, reason = "a slice has no type that a value could be asked for")]
            $vis fn $name<const D: usize>($($arg: &$type),*) $(-> $output)? {
                mod in_the_plane {
                    use super::*;
                    const D: usize = 2;
                    #[allow(clippy::ptr_arg, reason = "as above")]
                    pub(super) fn run($($arg: &$type),*) $(-> $output)? $body
                }
                mod in_space {
                    use super::*;
                    const D: usize = 3;
                    #[allow(clippy::ptr_arg, reason = "as above")]
                    pub(super) fn run($($arg: &$type),*) $(-> $output)? $body
                }
                match D {
                    2 => $crate::axes::same(in_the_plane::run($($crate::axes::cast($arg)),*)),
                    3 => $crate::axes::same(in_space::run($($crate::axes::cast($arg)),*)),
                    _ => panic!("2 or 3 axes, not {D}"),
                }
            }
        )*
    };
}

pub(crate) use compiled_here;

/// Returns a value as the type wanted, which must be the type that it has.
///
/// # Panics
/// When the types differ.
pub(crate) fn same<A: Any, B: Any>(value: A) -> B {
    let mut value = Some(value);
    let wanted = (&mut value as &mut dyn Any).downcast_mut::<Option<B>>();
    wanted.and_then(Option::take).expect("the type for so many axes")
}

/// Returns a reference to a value as the type wanted, which must be the type that the value has.
///
/// # Panics
/// When the types differ.
pub(crate) fn cast<T: Any>(value: &dyn Any) -> &T {
    value.downcast_ref().expect("the type for so many axes")
}

/// Centres and radii.
pub(crate) type Gathered<const D: usize, T> = Vec<([T; D], T)>;

pub(crate) fn gathered<const D: usize, T: Real>(view: Bodies<'_, D, T>) -> Gathered<D, T> {
    (0..view.len()).map(|id| (view.center(id), view.radius(id))).collect()
}

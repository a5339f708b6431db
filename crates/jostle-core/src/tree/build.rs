//! Builds trees in the plane and in space by code that is compiled with this crate, and not again with each crate that
//! uses it. A room of `unsafe`: casts between types that are the same.
#![allow(unsafe_code, reason = "casts between types that are the same")]

use core::ptr;

use super::boxes::Boxed;
use super::circles::Round;
use super::{BuildTimes, Checked, LinearTree};
use crate::error::ViewError;
use crate::input::{Bodies, Boxes};
use crate::parallel::workers::Workers;

/// Defines a function that builds a tree of a shape, compiled for a `D` of 2 and of 3.
macro_rules! built_here {
    ($name:ident, $view:ident, $shape:ty) => {
        #[inline(always)]
        pub(super) fn $name<const D: usize>(
            tree: &mut LinearTree<D>,
            bodies: $view<'_, D>,
            checked: Option<Checked<D>>,
            workers: Workers<'_>,
        ) -> Result<BuildTimes, ViewError> {
            fn in_the_plane(
                tree: &mut LinearTree<2>,
                bodies: $view<'_, 2>,
                checked: Option<Checked<2>>,
                workers: Workers<'_>,
            ) -> Result<BuildTimes, ViewError> {
                workers.together(|| tree.build_with::<$shape>(bodies, checked, workers))
            }
            fn in_space(
                tree: &mut LinearTree<3>,
                bodies: $view<'_, 3>,
                checked: Option<Checked<3>>,
                workers: Workers<'_>,
            ) -> Result<BuildTimes, ViewError> {
                workers.together(|| tree.build_with::<$shape>(bodies, checked, workers))
            }
            const { assert!(D == 2 || D == 3, "bodies have two axes or three") };
            let (tree, bodies, checked) = (ptr::from_mut(tree), ptr::from_ref(&bodies), ptr::from_ref(&checked));
            match D {
                // SAFETY: D is 2, so these are the same types.
                2 => unsafe { in_the_plane(&mut *tree.cast(), *bodies.cast(), *checked.cast(), workers) },
                // SAFETY: D is 3, so these are the same types.
                _ => unsafe { in_space(&mut *tree.cast(), *bodies.cast(), *checked.cast(), workers) },
            }
        }
    };
}

built_here!(build, Bodies, Round);
built_here!(build_boxes, Boxes, Boxed);

//! Trees in the plane and in space are built by code that is compiled with this crate, and not again with each crate that
//! uses it. A room of `unsafe`: the two casts that say so.
#![allow(unsafe_code, reason = "casts between types that are the same")]

use core::ptr;

use super::{BuildTimes, LinearTree};
use crate::error::ViewError;
use crate::input::Bodies;
use crate::parallel::workers::Workers;

#[inline(always)]
pub(super) fn build<const D: usize>(
    tree: &mut LinearTree<D>,
    bodies: Bodies<'_, D>,
    workers: Workers<'_>,
) -> Result<BuildTimes, ViewError> {
    const { assert!(D == 2 || D == 3, "bodies have two axes or three") };
    let (tree, bodies) = (ptr::from_mut(tree), ptr::from_ref(&bodies));
    match D {
        // SAFETY: D is 2, so these are the same types.
        2 => unsafe { in_the_plane(&mut *tree.cast(), *bodies.cast(), workers) },
        // SAFETY: D is 3, so these are the same types.
        _ => unsafe { in_space(&mut *tree.cast(), *bodies.cast(), workers) },
    }
}

fn in_the_plane(
    tree: &mut LinearTree<2>,
    bodies: Bodies<'_, 2>,
    workers: Workers<'_>,
) -> Result<BuildTimes, ViewError> {
    workers.together(|| tree.build_with(bodies, workers))
}

fn in_space(tree: &mut LinearTree<3>, bodies: Bodies<'_, 3>, workers: Workers<'_>) -> Result<BuildTimes, ViewError> {
    workers.together(|| tree.build_with(bodies, workers))
}

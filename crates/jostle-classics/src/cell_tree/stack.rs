//! The bodies of the cells above the cell that a walk is at.

use core::ops::Range;

use super::group::{Carried, Group};
use super::unit_cells::Span;
use crate::body::Body;
use crate::link::Link;

/// Which bodies of the cells above are tested against the bodies of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ancestors {
    /// All bodies, as in the linear quadtree: a body that straddles a high border meets everything below it.
    #[default]
    All,
    /// Bodies that touch the cell, by the unit cells that they reach: each is looked at again at every child.
    Touching,
}

/// The bodies of the cells from the root to the current one. The bodies that count for a cell are a range at the end.
#[derive(Debug, Clone)]
pub(super) struct Stack<const D: usize> {
    bodies: Vec<Carried<D>>,
}

impl<const D: usize> Stack<D> {
    pub(super) const EMPTY: Self = Self { bodies: Vec::new() };

    #[inline]
    pub(super) fn get(&self, at: usize) -> Carried<D> {
        self.bodies[at]
    }

    /// Pushes a cell's list, and returns its range.
    #[inline]
    pub(super) fn push_list(&mut self, group: &Group<D>, first: Link) -> Range<usize> {
        let start = self.bodies.len();
        self.bodies.extend(group.list(first));
        start..self.bodies.len()
    }

    /// Returns what counts for a child: the range itself, or a copy of the bodies in it that touch the child's region.
    #[inline]
    pub(super) fn carry(&mut self, from: Range<usize>, region: &Span<D>, ancestors: Ancestors) -> Range<usize> {
        if ancestors == Ancestors::All {
            return from;
        }
        let start = self.bodies.len();
        for at in from {
            let carried = self.bodies[at];
            if carried.span.meets(region) {
                self.bodies.push(carried);
            }
        }
        start..self.bodies.len()
    }

    #[inline]
    pub(super) fn truncate(&mut self, len: usize) {
        self.bodies.truncate(len);
    }

    /// Returns the ids of the bodies in a range that overlap a body.
    #[inline]
    pub(super) fn hits_of(&self, body: Body<D>, among: Range<usize>) -> impl Iterator<Item = u32> {
        self.bodies[among].iter().filter(move |other| body.overlaps(&other.body)).map(|other| other.id)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bodies.capacity() * size_of::<Carried<D>>()
    }
}

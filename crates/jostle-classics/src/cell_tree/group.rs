//! The bodies of a group, and the lists that thread through them.

use super::unit_cells::{Span, UnitCells};
use crate::body::Body;
use crate::link::Link;

/// Bodies by id, with the unit cells that each reaches and the next body of its cell's list.
#[derive(Debug, Clone)]
pub(super) struct Group<const D: usize> {
    pub(super) bodies: Vec<Body<D>>,
    spans: Vec<Span<D>>,
    pub(super) next: Vec<Link>,
}

impl<const D: usize> Group<D> {
    pub(super) const EMPTY: Self = Self { bodies: Vec::new(), spans: Vec::new(), next: Vec::new() };

    /// Finds the unit cells of new bodies, which are in no list yet.
    pub(super) fn measure(&mut self, unit_cells: &UnitCells<D>) {
        self.spans.clear();
        self.spans.extend(self.bodies.iter().map(|body| unit_cells.span(&body.aabb())));
        self.next.clear();
        self.next.resize(self.bodies.len(), Link::NONE);
    }

    pub(super) fn spans(&self) -> &[Span<D>] {
        &self.spans
    }

    /// The bodies of a list.
    #[inline]
    pub(super) fn list(&self, first: Link) -> impl Iterator<Item = Carried<D>> {
        let ids = core::iter::successors(first.index(), |&id| self.next[id].index());
        ids.map(|id| Carried { body: self.bodies[id], span: self.spans[id], id: id as u32 })
    }

    pub(super) fn bytes(&self) -> usize {
        let body = size_of::<Body<D>>() * self.bodies.capacity();
        body + size_of::<Span<D>>() * self.spans.capacity() + size_of::<Link>() * self.next.capacity()
    }
}

/// A body as a walk carries it down.
#[derive(Debug, Clone, Copy)]
pub(super) struct Carried<const D: usize> {
    pub(super) body: Body<D>,
    pub(super) span: Span<D>,
    pub(super) id: u32,
}

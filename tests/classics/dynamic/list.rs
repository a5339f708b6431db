//! The plain list that the trees are compared with.

use jostle_classics::{Body, ElementIndex};
use jostle_core::Aabb;

#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) elements: Vec<(ElementIndex, Body<2>)>,
    /// Indices of removed elements.
    pub(crate) gone: Vec<ElementIndex>,
}

impl List {
    pub(crate) fn query(&self, rect: &Aabb<2>, omit: Option<ElementIndex>) -> Vec<u32> {
        if (0..2).any(|axis| rect.lo[axis] > rect.hi[axis]) {
            return Vec::new();
        }
        let inside = self.elements.iter().filter(|(index, body)| Some(*index) != omit && body.aabb().overlaps(rect));
        sorted(inside.map(|(index, _)| index.id()).collect())
    }

    pub(crate) fn nearest(&self, point: [f32; 2], k: usize) -> Vec<(f32, u32)> {
        let distance2 = |body: &Body<2>| {
            let [dx, dy] = [0, 1].map(|axis| body.center[axis] - point[axis]);
            dx * dx + dy * dy
        };
        let mut all: Vec<_> = self.elements.iter().map(|(index, body)| (distance2(body), index.id())).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        all.truncate(k);
        all
    }

    pub(crate) fn pairs(&self) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        for (i, (a, body)) in self.elements.iter().enumerate() {
            let others = self.elements[i + 1..].iter().filter(|(_, other)| body.overlaps(other));
            pairs.extend(others.map(|(b, _)| [a.id().min(b.id()), a.id().max(b.id())]));
        }
        sorted(pairs)
    }

    pub(crate) fn ids(&self) -> Vec<u32> {
        sorted(self.elements.iter().map(|(index, _)| index.id()).collect())
    }
}

pub(crate) fn sorted<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort_unstable();
    values
}

//! All pairs: loose cell with loose cell, not element by element.

use jostle_core::Aabb;

use super::LooseTightGrid;
use super::elements::{Element, LooseCell, list};

impl LooseTightGrid {
    /// Finds every pair once: within each loose cell, and between any two loose cells whose boxes overlap.
    pub(super) fn find_pairs(&mut self, hit: &mut dyn FnMut([u32; 2])) -> u64 {
        let Self { loose, tight, elements, .. } = self;
        let mut found = Found { hit, tests: 0 };
        for cell in loose.iter() {
            found.within(elements, cell);
        }
        let map = *tight.map();
        let range_of = |cell: u32| map.range(&loose[cell as usize].aabb);
        tight.for_each_pair(range_of, |a, b| found.between(elements, &loose[a as usize], &loose[b as usize]));
        found.tests
    }
}

/// Where hits go, and how many tests they took.
struct Found<'a> {
    hit: &'a mut dyn FnMut([u32; 2]),
    tests: u64,
}

impl Found<'_> {
    #[inline]
    fn test(&mut self, a: &Element, b: &Element) {
        self.tests += 1;
        if a.body.overlaps(&b.body) {
            (self.hit)([a.id.min(b.id), a.id.max(b.id)]);
        }
    }

    fn within(&mut self, elements: &[Element], cell: &LooseCell) {
        for a in list(elements, cell.head) {
            list(elements, a.next).for_each(|b| self.test(a, b));
        }
    }

    /// Tests the elements of one cell that reach the box of the other cell against all elements of the other.
    fn between(&mut self, elements: &[Element], a: &LooseCell, b: &LooseCell) {
        if !a.aabb.overlaps(&b.aabb) {
            return;
        }
        let reaching = list(elements, a.head).filter(|element| reaches(element, &b.aabb));
        reaching.for_each(|a| list(elements, b.head).for_each(|b| self.test(a, b)));
    }
}

#[inline]
fn reaches(element: &Element, aabb: &Aabb<2>) -> bool {
    element.body.aabb().overlaps(aabb)
}

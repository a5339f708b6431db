//! Lists of the items that touch each cell.

use jostle_core::Aabb;

use super::cells::{CellMap, CellRange};
use crate::link::Link;

/// The most cells that list an item: 8 KiB an item. An item that touches more cells is a giant. It is not listed at
/// all, but itself looks through the cells that it touches.
const MAX_LISTINGS: u64 = 1024;

/// An item in the list of one cell.
#[derive(Debug, Clone, Copy)]
struct Listing {
    next: Link,
    item: u32,
}

/// An item with the cells that it touches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resident {
    pub(crate) item: u32,
    pub(crate) range: CellRange,
}

/// A grid in which a cell is one 32-bit head of a list of the items that touch it.
#[derive(Debug, Clone)]
pub(crate) struct CellLists {
    map: CellMap,
    heads: Vec<Link>,
    listings: Vec<Listing>,
    /// The items that touch more than [`MAX_LISTINGS`] cells.
    giants: Vec<Resident>,
    /// Scratch: the items of one cell.
    residents: Vec<Resident>,
}

impl CellLists {
    pub(crate) fn new(map: CellMap) -> Self {
        let heads = vec![Link::NONE; map.count()];
        Self { map, heads, listings: Vec::new(), giants: Vec::new(), residents: Vec::new() }
    }

    pub(crate) fn map(&self) -> &CellMap {
        &self.map
    }

    pub(crate) fn bytes(&self) -> usize {
        self.heads.capacity() * size_of::<Link>()
            + self.listings.capacity() * size_of::<Listing>()
            + (self.giants.capacity() + self.residents.capacity()) * size_of::<Resident>()
    }

    /// Empties all lists. O(cells).
    pub(crate) fn clear(&mut self) {
        self.heads.fill(Link::NONE);
        self.listings.clear();
        self.giants.clear();
    }

    /// Lists an item in the cells it touches.
    #[inline]
    pub(crate) fn list(&mut self, item: u32, range: CellRange) {
        if range.count() > MAX_LISTINGS {
            self.giants.push(Resident { item, range });
            return;
        }
        for cell in range.cells() {
            self.list_in(item, cell);
        }
    }

    #[inline]
    fn list_in(&mut self, item: u32, cell: [u16; 2]) {
        let head = &mut self.heads[self.map.index(cell)];
        let next = core::mem::replace(head, Link::to(self.listings.len()));
        self.listings.push(Listing { next, item });
    }

    /// Lists an item in the cells that it touches now and did not touch before.
    pub(crate) fn extend(&mut self, item: u32, before: CellRange, now: CellRange) {
        if before.count() > MAX_LISTINGS {
            let giant = self.giants.iter_mut().find(|giant| giant.item == item);
            giant.expect("an item that touches so many cells is a giant").range = now;
        } else if now.count() > MAX_LISTINGS {
            before.cells().for_each(|cell| self.unlist(item, cell));
            self.giants.push(Resident { item, range: now });
        } else {
            now.cells().filter(|&cell| !before.holds(cell)).for_each(|cell| self.list_in(item, cell));
        }
    }

    /// Takes an item out of the list of a cell. Its listing lies idle until the lists are emptied.
    fn unlist(&mut self, item: u32, cell: [u16; 2]) {
        let (head, mut before) = (self.map.index(cell), None);
        while let Some(at) = before.map_or(self.heads[head], |b: usize| self.listings[b].next).index() {
            if self.listings[at].item != item {
                before = Some(at);
                continue;
            }
            let next = self.listings[at].next;
            match before {
                None => self.heads[head] = next,
                Some(before) => self.listings[before].next = next,
            }
        }
    }

    /// Returns the items listed in a cell, the last listed first.
    #[inline]
    pub(crate) fn items(&self, cell: [u16; 2]) -> impl Iterator<Item = u32> {
        let listing = |link: Link| link.index().map(|at| self.listings[at]);
        let first = listing(self.heads[self.map.index(cell)]);
        core::iter::successors(first, move |at| listing(at.next)).map(|listing| listing.item)
    }

    /// Returns an item, if any, that is not listed exactly in the cells of its range, once each (or among the giants
    /// when its cells are many). Items without a range must not be listed at all.
    pub(crate) fn misplaced(&self, ranges: &[Option<CellRange>]) -> Option<u32> {
        let mut listings = vec![0; ranges.len()];
        for cell in self.map.all().cells() {
            let mut items: Vec<_> = self.items(cell).collect();
            items.sort_unstable();
            let twice = items.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
            let astray = items.iter().copied().find(|&item| !ranges[item as usize].is_some_and(|r| r.holds(cell)));
            if let Some(item) = twice.or(astray) {
                return Some(item);
            }
            items.into_iter().for_each(|item| listings[item as usize] += 1);
        }
        (0..).zip(ranges).zip(listings).find_map(|((item, &range), listings)| {
            let giants = self.giants.iter().filter(|giant| giant.item == item && Some(giant.range) == range).count();
            let cells = range.map_or(0, CellRange::count);
            let wanted = if cells > MAX_LISTINGS { (0, 1) } else { (cells, 0) };
            ((listings, giants) != wanted).then_some(item)
        })
    }

    /// Calls `meet` once with each item whose cells meet the cells of a box; with none when the box is empty.
    pub(crate) fn for_each_near(&self, aabb: &Aabb<2>, range_of: impl Fn(u32) -> CellRange, mut meet: impl FnMut(u32)) {
        if !aabb.overlaps(aabb) {
            return;
        }
        let range = self.map.range(aabb);
        self.giants.iter().filter(|giant| giant.range.first_shared(range).is_some()).for_each(|giant| meet(giant.item));
        self.for_each_listed(range, range_of, meet);
    }

    /// Calls `meet` once with each item listed in these cells, in the first of them. Returns how many listings it saw.
    fn for_each_listed(&self, range: CellRange, range_of: impl Fn(u32) -> CellRange, mut meet: impl FnMut(u32)) -> u64 {
        let mut looks = 0;
        for cell in range.cells() {
            for item in self.items(cell) {
                looks += 1;
                if range_of(item).first_shared(range) == Some(cell) {
                    meet(item);
                }
            }
        }
        looks
    }

    /// Calls `meet` once with each pair of items that share a cell, in the first of the cells they share. Returns the
    /// number of pairs that were looked at, pairs in other shared cells included.
    pub(crate) fn for_each_pair(
        &mut self,
        range_of: impl Fn(u32) -> CellRange + Copy,
        mut meet: impl FnMut(u32, u32),
    ) -> u64 {
        let (mut residents, mut looks) = (core::mem::take(&mut self.residents), 0);
        for cell in self.map.all().cells() {
            residents.clear();
            residents.extend(self.items(cell).map(|item| Resident { item, range: range_of(item) }));
            let n = residents.len() as u64;
            looks += n * n.saturating_sub(1) / 2;
            for (i, a) in residents.iter().enumerate() {
                let here = residents[i + 1..].iter().filter(|b| a.range.first_shared(b.range) == Some(cell));
                here.for_each(|b| meet(a.item, b.item));
            }
        }
        self.residents = residents;
        looks + self.for_each_pair_of_giants(range_of, meet)
    }

    /// Finds pairs with a giant: a giant looks through the lists of its cells, and giants are swept by column against
    /// each other.
    fn for_each_pair_of_giants(
        &mut self,
        range_of: impl Fn(u32) -> CellRange + Copy,
        mut meet: impl FnMut(u32, u32),
    ) -> u64 {
        let mut looks = 0;
        self.giants.sort_unstable_by_key(|giant| (giant.range.lo[0], giant.item));
        for (i, giant) in self.giants.iter().enumerate() {
            let others = self.giants[i + 1..].iter().take_while(|other| other.range.lo[0] <= giant.range.hi[0]);
            for other in others {
                looks += 1;
                if other.range.first_shared(giant.range).is_some() {
                    meet(giant.item, other.item);
                }
            }
            looks += self.for_each_listed(giant.range, range_of, |item| meet(giant.item, item));
        }
        looks
    }
}

#[cfg(test)]
mod tests {
    use super::{CellLists, MAX_LISTINGS};
    use crate::grid::{CellMap, CellRange};
    use jostle_core::Aabb;

    /// 64 x 64 cells, two items that are listed, and one that is, or becomes, a giant.
    fn lists(grown: bool) -> (CellLists, [CellRange; 3]) {
        let world = Aabb { lo: [0.0; 2], hi: [64.0; 2] };
        let mut lists = CellLists::new(CellMap::new(world, "cell", 1.0, 4096).expect("a sound world"));
        let ranges = [([3, 3], [5, 5]), ([5, 4], [9, 4]), ([0, 0], [63, 40])].map(|(lo, hi)| CellRange { lo, hi });
        for (item, range) in (0..).zip(ranges) {
            let before = CellRange { hi: range.lo, ..range };
            lists.list(item, if grown { before } else { range });
            if grown {
                lists.extend(item, before, range);
            }
        }
        (lists, ranges)
    }

    #[test]
    fn pairs_come_once_however_the_items_came_to_be_listed() {
        for grown in [false, true] {
            let (mut lists, ranges) = lists(grown);
            assert!(ranges[2].count() > MAX_LISTINGS);
            assert_eq!(lists.misplaced(&ranges.map(Some)), None);
            assert_eq!(lists.misplaced(&[Some(ranges[0]), None, Some(ranges[2])]), Some(1));
            let mut pairs = Vec::new();
            lists.for_each_pair(|item| ranges[item as usize], |a, b| pairs.push([a.min(b), a.max(b)]));
            pairs.sort_unstable();
            assert_eq!(pairs, [[0, 1], [0, 2], [1, 2]]);
        }
    }

    #[test]
    fn items_near_a_box_come_once() {
        let (lists, ranges) = lists(true);
        let mut near = Vec::new();
        lists.for_each_near(&Aabb { lo: [4.5; 2], hi: [8.0; 2] }, |item| ranges[item as usize], |item| near.push(item));
        near.sort_unstable();
        assert_eq!(near, [0, 1, 2]);
    }
}

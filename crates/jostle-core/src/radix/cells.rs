//! One counting pass over a cache-resident piece, for items that lie spread over many cells.

/// Orders the items of a piece by small keys. Keeps its scratch.
#[derive(Debug, Default)]
pub(crate) struct CellPass {
    keys: Vec<u16>,
    /// Items with each key, four 16-bit counters a word; then, after a scan, where the next of them goes.
    next: Vec<u64>,
}

impl CellPass {
    /// Makes room for pieces of `items` items and keys of `bits` bits.
    pub(crate) fn reserve(&mut self, items: usize, bits: u32) {
        self.keys.reserve(items.saturating_sub(self.keys.len()));
        self.next.reserve((1_usize << bits).div_ceil(4).saturating_sub(self.next.len()));
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<u16>() + self.next.capacity() * size_of::<u64>()
    }

    /// Lists the places of items in order of their keys, which are below 2^bits, and by place where keys are equal. The
    /// greatest number of items that share a key. `fill` sets the keys.
    ///
    /// # Panics
    /// When there are 2^16 items or more, or `bits` exceeds 16.
    #[inline(always)]
    pub(crate) fn order(&mut self, places: &mut [u16], bits: u32, fill: impl FnOnce(&mut [u16])) -> u16 {
        assert!(places.len() < 1 << 16 && bits <= 16);
        let cells = 1_usize << bits;
        self.keys.resize(places.len(), 0);
        fill(&mut self.keys);
        self.next.clear();
        self.next.resize(cells.div_ceil(4), 0);
        let (keys, next) = (&self.keys[..], &mut bytemuck::cast_slice_mut::<_, u16>(&mut self.next)[..cells]);
        for &key in keys {
            next[key as usize & (cells - 1)] += 1;
        }
        let most = next.iter().fold(0, |most, &count| if count > most { count } else { most });
        scan(&mut self.next);
        let next = &mut bytemuck::cast_slice_mut::<_, u16>(&mut self.next)[..cells];
        for (place, &key) in (0..).zip(keys) {
            let next = &mut next[key as usize & (cells - 1)];
            places[*next as usize] = place;
            *next += 1;
        }
        most
    }

    /// Where those cells of the last order begin and end that hold more than `most` items, moved by `by`.
    pub(crate) fn crowded(&self, most: u16, by: u16) -> impl Iterator<Item = (u16, u16)> {
        let ends = bytemuck::cast_slice::<_, u16>(&self.next);
        let mut start = 0;
        let cells = ends.iter().map(move |&end| (core::mem::replace(&mut start, end), end));
        cells
            .filter(move |(start, end)| end.saturating_sub(*start) > most)
            .map(move |(start, end)| (start + by, end + by))
    }
}

/// Exclusive scan, the four counters of a word at a time: multiplied by ones, each adds to all above it.
#[inline(always)]
fn scan(counts: &mut [u64]) {
    const ONES: u64 = 0x0001_0001_0001_0001;
    let mut before = 0_u64;
    for word in counts {
        let counts = lowest_first(*word);
        let sums = counts.wrapping_mul(ONES);
        *word = lowest_first((sums - counts).wrapping_add(before.wrapping_mul(ONES)));
        before += sums >> 48;
    }
}

/// A word whose first counter in memory is in the lowest bits, and back.
#[inline(always)]
fn lowest_first(word: u64) -> u64 {
    if cfg!(target_endian = "little") {
        return word;
    }
    let halves = word.rotate_left(32);
    (halves & 0x0000_ffff_0000_ffff) << 16 | halves >> 16 & 0x0000_ffff_0000_ffff
}

#[cfg(test)]
mod tests {
    use super::CellPass;

    #[test]
    fn places_stand_in_order_unless_a_cell_is_crowded() {
        let mut pass = CellPass::default();
        for bits in [0, 1, 3, 10, 13] {
            let mask = (1_u16 << bits) - 1;
            let key = |i: u16| (u32::from(i).wrapping_mul(2_654_435_761) >> 7) as u16 & mask;
            let fill = |keys: &mut [u16]| (0..).zip(keys).for_each(|(i, k)| *k = key(i));
            let mut sorted: Vec<u16> = (0..3_000).collect();
            sorted.sort_by_key(|&i| key(i));
            let crowd = sorted.chunk_by(|&a, &b| key(a) == key(b)).map(<[u16]>::len).max().unwrap_or(0) as u16;
            let mut places = vec![0; sorted.len()];
            assert_eq!(pass.order(&mut places, bits, fill), crowd);
            assert_eq!(places, sorted, "{bits} bits");
        }
        assert_eq!(pass.order(&mut [], 4, |_| ()), 0);
    }
}

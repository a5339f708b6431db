//! One counting pass over a cache-resident piece, for items that lie spread over many cells.

/// Deals the items of a piece out by small keys. Keeps its scratch.
#[derive(Debug, Default)]
pub(crate) struct CellPass {
    keys: Vec<u16>,
    /// Items with each key; then, after a scan, where the next of them goes.
    next: Vec<u16>,
}

impl CellPass {
    /// Makes room for pieces of `items` items and keys of `bits` bits.
    pub(crate) fn reserve(&mut self, items: usize, bits: u32) {
        self.keys.reserve(items.saturating_sub(self.keys.len()));
        self.next.reserve((1_usize << bits).saturating_sub(self.next.len()));
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        (self.keys.capacity() + self.next.capacity()) * size_of::<u16>()
    }

    /// Deals items out to `to` by keys below 2^bits, keeping the order of those with equal keys; or leaves `to` as it
    /// is and returns false, when more than `most` items share a key. `fill` sets the keys.
    ///
    /// # Panics
    /// When there are 2^16 items or more, `to` has another length, or `bits` exceeds 16.
    #[inline(always)]
    pub(crate) fn deal<T: Copy>(
        &mut self,
        from: &[T],
        to: &mut [T],
        bits: u32,
        most: u16,
        fill: impl FnOnce(&mut [u16]),
    ) -> bool {
        assert!(from.len() < 1 << 16 && from.len() == to.len() && bits <= 16);
        let cells = 1_usize << bits;
        self.keys.resize(from.len(), 0);
        fill(&mut self.keys);
        self.next.clear();
        self.next.resize(cells, 0);
        let (keys, next) = (&self.keys[..], &mut self.next[..cells]);
        for &key in keys {
            next[key as usize & (cells - 1)] += 1;
        }
        if next.iter().fold(0, |most, &count| if count > most { count } else { most }) > most {
            return false;
        }
        scan(next);
        for (item, &key) in from.iter().zip(keys) {
            let next = &mut next[key as usize & (cells - 1)];
            to[*next as usize] = *item;
            *next += 1;
        }
        true
    }
}

/// Exclusive scan, four counters at a time in one word: multiplied by ones, each adds to all above it.
#[inline(always)]
fn scan(counts: &mut [u16]) {
    const ONES: u64 = 0x0001_0001_0001_0001;
    let mut before = 0_u64;
    let (fours, rest) = counts.as_chunks_mut::<4>();
    for four in fours {
        let word = four.iter().rev().fold(0, |word, &count| word << 16 | u64::from(count));
        let sums = word.wrapping_mul(ONES);
        let places = sums.wrapping_sub(word).wrapping_add(before.wrapping_mul(ONES));
        for (i, place) in four.iter_mut().enumerate() {
            *place = (places >> (16 * i)) as u16;
        }
        before += sums >> 48;
    }
    let mut before = before as u16;
    for count in rest {
        (*count, before) = (before, before + *count);
    }
}

#[cfg(test)]
mod tests {
    use super::CellPass;

    #[test]
    fn items_are_dealt_out_in_order_unless_a_cell_is_crowded() {
        let mut pass = CellPass::default();
        for bits in [0, 1, 3, 10, 13] {
            let mask = (1_u16 << bits) - 1;
            let key = |i: u32| (i.wrapping_mul(2_654_435_761) >> 7) as u16 & mask;
            let items: Vec<u32> = (0..3_000).collect();
            let fill = |keys: &mut [u16]| keys.iter_mut().zip(&items).for_each(|(k, &i)| *k = key(i));
            let mut sorted = items.clone();
            sorted.sort_by_key(|&i| key(i));
            let crowd = sorted.chunk_by(|&a, &b| key(a) == key(b)).map(<[u32]>::len).max().unwrap_or(0) as u16;
            let mut to = vec![0; items.len()];
            assert!(!pass.deal(&items, &mut to, bits, crowd - 1, fill));
            assert!(to.iter().all(|&i| i == 0));
            assert!(pass.deal(&items, &mut to, bits, crowd, fill));
            assert_eq!(to, sorted, "{bits} bits");
        }
        assert!(pass.deal::<u8>(&[], &mut [], 4, 0, |_| ()));
    }
}

//! One counting pass over a cache-resident piece, for items that lie spread over many cells.

/// Orders the items of a piece by small keys. Keeps its scratch.
#[derive(Debug, Default)]
pub(crate) struct CellPass {
    keys: Vec<u16>,
    /// The number of items with each key, four 16-bit counters to a word; after a scan, where the next item with the
    /// key goes.
    next: Vec<u64>,
    /// Keys that many items share.
    crowded: Vec<u16>,
}

/// A key that more items than this share is crowded.
const CROWD: u16 = 16;

impl CellPass {
    /// Makes room for pieces of `items` items and keys of `bits` bits.
    pub(crate) fn reserve(&mut self, items: usize, bits: u32) {
        self.keys.reserve(items.saturating_sub(self.keys.len()));
        self.next.reserve((1_usize << bits).div_ceil(4).saturating_sub(self.next.len()));
        self.crowded.clear();
        self.crowded.reserve(items / usize::from(CROWD));
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        (self.keys.capacity() + self.crowded.capacity()) * size_of::<u16>() + self.next.capacity() * size_of::<u64>()
    }

    /// Returns the keys of `items` items, which the caller sets before it calls [`CellPass::order`]. It takes no
    /// closure that computes them: a closure would be compiled without the instructions of its caller.
    #[inline(always)]
    pub(crate) fn keys(&mut self, items: usize) -> &mut [u16] {
        self.keys.resize(items, 0);
        &mut self.keys
    }

    /// Lists the places of items in order of their keys, which are below 2^bits; places of equal keys ascend.
    ///
    /// # Panics
    /// When there are more than [`MOST`] items, not as many places as keys, or `bits` exceeds 16.
    #[inline(always)]
    pub(crate) fn order(&mut self, places: &mut [u16], bits: u32) {
        assert!(places.len() <= MOST && places.len() == self.keys.len() && bits <= 16);
        let cells = 1_usize << bits;
        self.next.clear();
        self.next.resize(cells.div_ceil(4), 0);
        self.crowded.clear();
        let (keys, last) = (&self.keys[..], cells - 1);
        // Counts four at a time: loops of fewer instructions than the processor takes in a cycle are bound by their
        // jumps.
        let (fours, rest) = keys.as_chunks::<4>();
        let next = &mut bytemuck::cast_slice_mut::<_, u16>(&mut self.next)[..=last];
        let mut count = |key: u16| next[usize::from(key) & last] += 1;
        for four in fours {
            for at in 0..4 {
                count(four[at]);
            }
        }
        for &key in rest {
            count(key);
        }
        scan(&mut self.next, &mut self.crowded);
        let next = &mut bytemuck::cast_slice_mut::<_, u16>(&mut self.next)[..=last];
        let mut put = |place: u16, key: u16| {
            let next = &mut next[usize::from(key) & last];
            places[*next as usize] = place;
            *next += 1;
        };
        for (first, four) in (0..).step_by(4).zip(fours) {
            for at in 0..4 {
                put(first + at, four[at as usize]);
            }
        }
        for (place, &key) in (4 * fours.len() as u16..).zip(rest) {
            put(place, key);
        }
    }

    /// Returns where each crowd begins and ends in the last order: a run of items that share a key with more than 15
    /// others.
    pub(crate) fn crowds(&self) -> impl Iterator<Item = (u16, u16)> {
        let ends = bytemuck::cast_slice::<_, u16>(&self.next);
        let end = |key: usize| ends[key];
        self.crowded.iter().map(move |&key| (usize::from(key).checked_sub(1).map_or(0, end), end(key.into())))
    }
}

/// The most items that a pass can order: a counter of so many, plus the number that shows whether it exceeds [`CROWD`],
/// is less than 2^16.
const MOST: usize = 1 << 15;

/// Scans exclusively, four counters of a word at a time: multiplied by ones, each counter is added to all above it.
/// Notes the keys of counters above [`CROWD`]. They are rare, so the scan looks for them, where one comparison covers
/// four, and not the loop that counts items.
#[inline(always)]
fn scan(counts: &mut [u64], crowded: &mut Vec<u16>) {
    const ONES: u64 = 0x0001_0001_0001_0001;
    const HIGHEST: u64 = ONES << 15;
    let above_crowd = |counts: u64| (counts + (HIGHEST - (u64::from(CROWD) + 1) * ONES)) & HIGHEST;
    if counts.iter().fold(0, |any, &word| any | above_crowd(word)) != 0 {
        let all = (0..).zip(bytemuck::cast_slice::<_, u16>(counts));
        crowded.extend(all.filter(|&(_, &count)| count > CROWD).map(|(key, _)| key));
    }
    let mut before = 0_u64;
    for word in counts {
        let counts = lowest_first(*word);
        let sums = counts.wrapping_mul(ONES);
        *word = lowest_first((sums - counts).wrapping_add(before.wrapping_mul(ONES)));
        before += sums >> 48;
    }
}

/// Moves the first counter in memory to the lowest bits of the word, and back.
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
    fn places_stand_in_order_and_crowds_are_known() {
        let mut pass = CellPass::default();
        for bits in [0, 1, 3, 10, 13] {
            let mask = (1_u16 << bits) - 1;
            let key = |i: u16| (u32::from(i).wrapping_mul(2_654_435_761) >> 7) as u16 & mask;
            let mut sorted: Vec<u16> = (0..3_000).collect();
            sorted.sort_by_key(|&i| key(i));
            let runs = sorted.chunk_by(|&a, &b| key(a) == key(b)).map(<[u16]>::len);
            let crowds = runs.scan(0, |start, len| Some((core::mem::replace(start, *start + len), len)));
            let mut crowds: Vec<_> = crowds.filter(|&(_, len)| len > 16).collect();
            let mut places = vec![0; sorted.len()];
            (0..).zip(pass.keys(places.len())).for_each(|(i, k)| *k = key(i));
            pass.order(&mut places, bits);
            let mut found: Vec<_> =
                pass.crowds().map(|(start, end)| (usize::from(start), usize::from(end - start))).collect();
            found.sort_unstable();
            crowds.sort_unstable();
            assert_eq!(found, crowds, "{bits} bits");
            assert_eq!(places, sorted, "{bits} bits");
        }
        pass.keys(0);
        pass.order(&mut [], 4);
        assert_eq!(pass.crowds().count(), 0);
    }
}

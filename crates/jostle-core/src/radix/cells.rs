//! One counting pass over a cache-resident piece, for items that lie spread over many cells.

/// Orders the items of a piece by small keys. Keeps its scratch.
#[derive(Debug, Default)]
pub(crate) struct CellPass {
    slots: Vec<u16>,
    /// The number of items with each key, by slots; after a scan, where the next item with the key goes.
    next: Vec<[u16; COLUMNS]>,
    /// Keys that many items share.
    crowded: Vec<u16>,
    /// Bits of the keys of the last order.
    bits: u32,
}

/// A key that more items than this share is crowded.
const CROWD: u16 = 16;

/// The counters of so many keys stand side by side: a scan adds up a whole row at once. Each column is a range of keys.
const COLUMNS: usize = 1 << COLUMN_BITS;
const COLUMN_BITS: u32 = 5;

impl CellPass {
    /// The fewest bits of a key.
    pub(crate) const MIN_BITS: u32 = COLUMN_BITS;

    /// Returns the slot of a key of `bits` bits: where among all counters its own stands.
    #[inline(always)]
    pub(crate) fn slot(key: u32, bits: u32) -> u16 {
        let row_bits = bits - COLUMN_BITS;
        let (column, row) = (key >> row_bits, key & ((1 << row_bits) - 1));
        (row << COLUMN_BITS | column) as u16
    }

    /// Makes room for pieces of `items` items and keys of `bits` bits.
    pub(crate) fn reserve(&mut self, items: usize, bits: u32) {
        self.slots.reserve(items.saturating_sub(self.slots.len()));
        self.next.reserve(((1 << bits) / COLUMNS).saturating_sub(self.next.len()));
        self.crowded.clear();
        self.crowded.reserve(items / usize::from(CROWD));
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        (self.slots.capacity() + self.crowded.capacity()) * size_of::<u16>()
            + self.next.capacity() * size_of::<[u16; COLUMNS]>()
    }

    /// Returns the slots of the keys of `items` items, which the caller sets before it calls [`CellPass::order`]. It
    /// takes no closure that computes them: a closure would be compiled without the instructions of its caller.
    #[inline(always)]
    pub(crate) fn slots(&mut self, items: usize) -> &mut [u16] {
        self.slots.resize(items, 0);
        &mut self.slots
    }

    /// Lists the places of items in order of their keys, which have `bits` bits; places of equal keys ascend.
    ///
    /// # Panics
    /// When there are more than [`MOST`] items, not as many places as slots, or `bits` is below [`CellPass::MIN_BITS`]
    /// or above 15.
    #[inline(always)]
    pub(crate) fn order(&mut self, places: &mut [u16], bits: u32) {
        assert!(places.len() <= MOST && places.len() == self.slots.len() && (Self::MIN_BITS..16).contains(&bits));
        let cells = 1_usize << bits;
        self.next.clear();
        self.next.resize(cells / COLUMNS, [0; COLUMNS]);
        self.crowded.clear();
        self.bits = bits;
        let (slots, last) = (&self.slots[..], cells - 1);
        // Counts four at a time: loops of fewer instructions than the processor takes in a cycle are bound by their
        // jumps.
        let (fours, rest) = slots.as_chunks::<4>();
        let next = &mut self.next.as_flattened_mut()[..=last];
        let mut count = |slot: u16| next[usize::from(slot) & last] += 1;
        for four in fours {
            for at in 0..4 {
                count(four[at]);
            }
        }
        for &slot in rest {
            count(slot);
        }
        scan(&mut self.next, &mut self.crowded);
        let next = &mut self.next.as_flattened_mut()[..=last];
        let mut put = |place: u16, slot: u16| {
            let next = &mut next[usize::from(slot) & last];
            places[*next as usize] = place;
            *next += 1;
        };
        for (first, four) in (0..).step_by(4).zip(fours) {
            for at in 0..4 {
                put(first + at, four[at as usize]);
            }
        }
        for (place, &slot) in (4 * fours.len() as u16..).zip(rest) {
            put(place, slot);
        }
    }

    /// Returns where each crowd begins and ends in the last order: a run of items that share a key with more than 15
    /// others.
    pub(crate) fn crowds(&self) -> impl Iterator<Item = (u16, u16)> {
        let end = |key: u16| self.next.as_flattened()[usize::from(Self::slot(key.into(), self.bits))];
        self.crowded.iter().map(move |&key| (key.checked_sub(1).map_or(0, end), end(key)))
    }
}

/// The most items that a pass can order: so many and one are fewer than a counter can hold.
const MOST: usize = 1 << 15;

/// Scans exclusively, down one column after the other, all columns side by side. Notes the keys of counters above
/// [`CROWD`]. They are rare, so they are looked for only if there are any.
#[inline(always)]
fn scan(counts: &mut [[u16; COLUMNS]], crowded: &mut Vec<u16>) {
    let (mut sums, mut most) = ([0; COLUMNS], [0; COLUMNS]);
    for row in &*counts {
        for column in 0..COLUMNS {
            sums[column] += row[column];
            most[column] = most[column].max(row[column]);
        }
    }
    let above_crowd = |row: &[u16; COLUMNS]| row.iter().fold(0, |most, &count| count.max(most)) > CROWD;
    if above_crowd(&most) {
        let rows = counts.len() as u16;
        for (number, row) in (0..).zip(&*counts).filter(|(_, row)| above_crowd(row)) {
            let keys = (number..).step_by(rows.into()).zip(row);
            crowded.extend(keys.filter(|&(_, &count)| count > CROWD).map(|(key, _)| key));
        }
    }
    let mut before = 0;
    for sum in &mut sums {
        (*sum, before) = (before, before + *sum);
    }
    for row in counts {
        for column in 0..COLUMNS {
            (row[column], sums[column]) = (sums[column], sums[column] + row[column]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CellPass;

    #[test]
    fn places_stand_in_order_and_crowds_are_known() {
        let mut pass = CellPass::default();
        for bits in [5, 6, 10, 13] {
            let mask = (1_u16 << bits) - 1;
            let key = |i: u16| (u32::from(i).wrapping_mul(2_654_435_761) >> 7) as u16 & mask;
            let mut sorted: Vec<u16> = (0..3_000).collect();
            sorted.sort_by_key(|&i| key(i));
            let runs = sorted.chunk_by(|&a, &b| key(a) == key(b)).map(<[u16]>::len);
            let crowds = runs.scan(0, |start, len| Some((core::mem::replace(start, *start + len), len)));
            let mut crowds: Vec<_> = crowds.filter(|&(_, len)| len > 16).collect();
            let mut places = vec![0; sorted.len()];
            (0..).zip(pass.slots(places.len())).for_each(|(i, slot)| *slot = CellPass::slot(key(i).into(), bits));
            pass.order(&mut places, bits);
            let mut found: Vec<_> =
                pass.crowds().map(|(start, end)| (usize::from(start), usize::from(end - start))).collect();
            found.sort_unstable();
            crowds.sort_unstable();
            assert_eq!(found, crowds, "{bits} bits");
            assert_eq!(places, sorted, "{bits} bits");
        }
        pass.slots(0);
        pass.order(&mut [], 6);
        assert_eq!(pass.crowds().count(), 0);
    }
}

//! Contacts over time, at every image and of any sets, against sets of keys.

use jostle::{
    ContactPairs, ContactTracker, Contacts, Found, Keys, PairFinder, Search, Threads, contacts, contacts_f64,
};
use jostle_testkit::algebra::engine::Ready;
use jostle_testkit::algebra::{Case, Hit, PlainContact, PlainContacts, Relation};

/// What a tracker tells of its contacts: keys, ids, sets and shifts.
type Told<const D: usize> = Vec<([u64; 2], [u32; 2], [usize; 2], [i32; D])>;

fn told<const D: usize>(contacts: Contacts<'_>, sets: [usize; 2]) -> Told<D> {
    let of_sets = |at: usize| contacts.sets().get(at).map_or(sets, |sets| sets.map(|set| set as usize));
    let shift = |at: usize| contacts.image_shifts::<D>().get(at).copied().unwrap_or([0; D]);
    contacts.iter().enumerate().map(|(at, (keys, pair))| (keys, pair, of_sets(at), shift(at))).collect()
}

fn plain<const D: usize>(contacts: &[PlainContact<D>]) -> Told<D> {
    contacts.iter().map(|&((_, keys, _), hit)| (keys, hit.pair, hit.sets, hit.shift)).collect()
}

/// Returns whether a pair is left in the frame of some pairs.
fn is_left(a: u32, b: u32) -> bool {
    !(5 * a + 3 * b).is_multiple_of(4)
}

/// Frames of one search: some pairs; all pairs; pairs with ids reversed, every fourth left out; all pairs again.
pub(crate) struct Frames<'a, const D: usize> {
    name: &'a str,
    case: &'a Case<D>,
    keys: Vec<Vec<u64>>,
    tracker: ContactTracker,
    oracle: PlainContacts<D>,
    /// Geometry is checked in frames with more hits than this.
    touched: usize,
}

impl<'a, const D: usize> Frames<'a, D> {
    pub(crate) fn new(name: &'a str, case: &'a Case<D>) -> Self {
        let key = |id: usize| (id as u64 ^ 0x2A).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let keys = case.searched().map(|set| (0..set.len()).map(key).collect()).collect();
        Self { name, case, keys, tracker: ContactTracker::new(), oracle: PlainContacts::default(), touched: 0 }
    }

    /// Checks all frames of a search whose hits are known.
    pub(crate) fn check(mut self, finder: &mut PairFinder<D>, ready: &Ready<'_, D>, hits: &[Hit<D>]) {
        let some: Vec<_> = hits.iter().copied().filter(|hit| is_left(hit.pair[0], hit.pair[1])).collect();
        self.touched = some.len();
        self.frame(finder.on(Threads::Serial).only(&is_left), ready, &some);
        self.frame(finder.on(Threads::Serial), ready, hits);
        if !matches!(self.case.relation, Relation::Among(_)) {
            self.reversed_frame(hits);
            self.frame(finder.on(Threads::Serial), ready, hits);
        }
    }

    fn frame(&mut self, search: Search<'_, '_, D>, ready: &Ready<'_, D>, hits: &[Hit<D>]) {
        let found = search.find(ready.input()).expect(self.name);
        let sets: Vec<_> = self.keys.iter().map(Vec::as_slice).collect();
        let changes = match self.case.relation {
            Relation::Within => self.tracker.on(Threads::Serial).update(found, sets[0]),
            Relation::Between => self.tracker.on(Threads::Serial).update(found, [sets[0], sets[1]]),
            Relation::Among(_) => self.tracker.on(Threads::Serial).update(found, &sets[..]),
        };
        changes.expect(self.name);
        if hits.len() > self.touched {
            self.touched = hits.len();
            self.check_geometry(found, ready, hits);
        }
        self.compare(hits);
    }

    /// Checks depth, normal and point, in `f64` and rounded to `f32`.
    fn check_geometry(&self, found: Found<'_, D>, ready: &Ready<'_, D>, hits: &[Hit<D>]) {
        let (name, mut double, mut single) = (self.name, Vec::new(), Vec::new());
        contacts_f64(found, ready.input(), Threads::Serial, &mut double).expect(name);
        contacts(found, ready.input(), Threads::Serial, &mut single).expect(name);
        let touches = self.case.touches(hits);
        assert_eq!((double.len(), single.len()), (touches.len(), touches.len()), "{name}");
        for ((told, rounded), touch) in double.iter().zip(&single).zip(&touches) {
            let near = |told: f64, expected: f64, scale: f64| (told - expected).abs() <= scale * 2.0_f64.powi(-44);
            // How far off a difference of positions may be, as a part of its length.
            let turned = 2.0 + touch.scale / (touch.distance.max(f64::MIN_POSITIVE));
            let right = near(told.depth, touch.depth, touch.scale)
                && told.normal.iter().zip(&touch.normal).all(|(n, e)| near(*n, *e, turned))
                && told.point.iter().zip(&touch.point).all(|(x, e)| near(*x, *e, touch.scale * turned.min(4.0)));
            assert!(right, "{name}: {told:?}, expected {touch:?}");
            assert!(rounded.depth == told.depth as f32 && rounded.normal == told.normal.map(|x| x as f32), "{name}");
            assert!(rounded.point == told.point.map(|x| x as f32), "{name}: {rounded:?}, {told:?}");
        }
    }

    /// Runs a frame with the bodies of each set in the opposite order.
    fn reversed_frame(&mut self, hits: &[Hit<D>]) {
        let within = self.case.relation == Relation::Within;
        let mut keys = self.keys.clone();
        keys.iter_mut().for_each(|keys| keys.reverse());
        let turned = hits.iter().enumerate().filter(|(at, _)| at % 4 != 3).map(|(_, &hit)| {
            let ids: [u32; 2] = core::array::from_fn(|side| keys[hit.sets[side]].len() as u32 - 1 - hit.pair[side]);
            let swaps = within && ids[0] > ids[1];
            let pair = if swaps { [ids[1], ids[0]] } else { ids };
            // A body and itself are one contact at a shift and at the opposite shift.
            let negated = swaps || (within && ids[0] == ids[1]);
            Hit { pair, shift: if negated { hit.shift.map(|step| -step) } else { hit.shift }, ..hit }
        });
        let turned: Vec<_> = turned.collect();
        let pairs: Vec<_> = turned.iter().map(|hit| hit.pair).collect();
        let shifts: Vec<_> = turned.iter().map(|hit| hit.shift).collect();
        core::mem::swap(&mut self.keys, &mut keys);
        let given = ContactPairs::from(&pairs);
        let given = if self.case.space.is_open() { given } else { given.with_image_shifts(&shifts) };
        let of = if within { Keys::Within(&self.keys[0]) } else { Keys::Between(&self.keys[0], &self.keys[1]) };
        self.tracker.on(Threads::Serial).update(given, of).expect(self.name);
        self.compare(&turned);
        self.keys = keys;
    }

    fn compare(&mut self, hits: &[Hit<D>]) {
        let changes = self.tracker.last();
        let sets = if self.case.relation == Relation::Between { [0, 1] } else { [0, 0] };
        let found = [changes.begin(), changes.persist(), changes.end()].map(|list| told::<D>(list, sets));
        let expected = self.oracle.update(hits, &self.keys).map(|list| plain(&list));
        assert!(found == expected, "{}: other contacts:\n{found:?}\n{expected:?}", self.name);
    }
}

//! Compares the radix sort with the stable sort of the standard library.

use jostle_core::Workers;
use jostle_core::radix::RadixSort;
use rayon::ThreadPool;

use crate::pool;

/// Returns a number that looks random: the finaliser of SplitMix64.
#[must_use]
pub fn mix(i: usize) -> u64 {
    let mut z = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns items of 4 N bytes that know where they stood.
#[must_use]
pub fn items<const N: usize>(n: usize) -> Vec<[u32; N]> {
    (0..n)
        .map(|place| core::array::from_fn(|word| if word == 0 { place as u32 } else { mix(place + word) as u32 }))
        .collect()
}

/// Sorts items by the codes of the places where they stood: for each size of items, a sort is compiled once.
pub fn sort_items<const N: usize>(sort: &mut RadixSort<[u32; N]>, items: &mut [[u32; N]], on: Workers, codes: &[u64]) {
    sort.sort_by_code_on(items, on, |item| codes[item[0] as usize]);
}

/// A sort for the calling thread and one for each pool, used for one input after the other.
#[derive(Debug)]
pub struct Sorts<const N: usize> {
    serial: RadixSort<[u32; N]>,
    pools: Vec<(ThreadPool, RadixSort<[u32; N]>)>,
}

impl<const N: usize> Sorts<N> {
    /// Makes sorts on the calling thread and on pools of 1, 2, 3 and 8 threads.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "it starts threads")]
    pub fn new() -> Self {
        Self { serial: RadixSort::new(), pools: [1, 2, 3, 8].map(|threads| (pool(threads), RadixSort::new())).into() }
    }
}

/// Sorts that are compared with the stable sort of the standard library.
pub trait CheckSorts {
    /// Sorts items with these codes in every way.
    ///
    /// # Panics
    /// When the standard library sorts them in another order.
    fn check(&mut self, name: &str, codes: &[u64]);
}

impl CheckSorts for Box<dyn CheckSorts> {
    fn check(&mut self, name: &str, codes: &[u64]) {
        (**self).check(name, codes);
    }
}

impl<const N: usize> CheckSorts for Sorts<N> {
    fn check(&mut self, name: &str, codes: &[u64]) {
        let items = items::<N>(codes.len());
        let expected: Vec<_> = in_order(codes).into_iter().map(|place| items[place as usize]).collect();
        let mut sorted = items.clone();
        sort_items(&mut self.serial, &mut sorted, Workers::Serial, codes);
        assert!(sorted == expected, "{name}, n = {}, {} bytes, serial", codes.len(), 4 * N);
        for (pool, sort) in &mut self.pools {
            sorted.copy_from_slice(&items);
            pool.install(|| sort_items(sort, &mut sorted, Workers::Rayon, codes));
            let threads = pool.current_num_threads();
            assert!(sorted == expected, "{name}, n = {}, {} bytes, {threads} threads", codes.len(), 4 * N);
        }
    }
}

/// Returns the places in the order of their codes, by the standard library.
fn in_order(codes: &[u64]) -> Vec<u32> {
    let mut places: Vec<_> = (0..codes.len() as u32).collect();
    places.sort_by_key(|&place| codes[place as usize]);
    places
}

/// Returns the sorts of items of 8 bytes, compiled with this crate.
#[must_use]
pub fn of_8_bytes() -> Box<dyn CheckSorts> {
    Box::new(Sorts::<2>::new())
}

/// Returns the sorts of items of 12 bytes, compiled with this crate.
#[must_use]
pub fn of_12_bytes() -> Box<dyn CheckSorts> {
    Box::new(Sorts::<3>::new())
}

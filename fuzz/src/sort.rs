//! Any codes, up to more than are sorted in one piece: the sort equals the stable sort of the standard library, on one
//! thread and on three.

use arbitrary::{Arbitrary, Result, Unstructured};
use jostle::Threads;
use jostle::radix::RadixSort;

use crate::ways::POOL;

/// The most items sorted: enough for many blocks, dealt to many buckets.
const MOST: usize = 150_000;

/// Some codes in sequence.
#[derive(Debug)]
enum Part {
    Codes(Vec<u64>),
    Equal {
        code: u64,
        times: u16,
    },
    Ladder {
        start: u64,
        step: u64,
        rungs: u16,
    },
    /// Random in the bits of `mask`, among those of `start`.
    Noise {
        start: u64,
        mask: u64,
        count: u16,
    },
}

impl<'a> Arbitrary<'a> for Part {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match bytes.arbitrary::<u8>()? % 4 {
            0 => Self::Codes(bytes.arbitrary()?),
            1 => Self::Equal { code: bytes.arbitrary()?, times: bytes.arbitrary()? },
            2 => Self::Ladder { start: bytes.arbitrary()?, step: bytes.arbitrary()?, rungs: bytes.arbitrary()? },
            _ => Self::Noise { start: bytes.arbitrary()?, mask: bytes.arbitrary()?, count: bytes.arbitrary()? },
        })
    }
}

impl Part {
    fn codes(&self) -> Vec<u64> {
        match *self {
            Self::Codes(ref codes) => codes.clone(),
            Self::Equal { code, times } => vec![code; times.into()],
            Self::Ladder { start, step, rungs } => {
                (0..rungs.into()).map(|i: u64| start.wrapping_add(step.wrapping_mul(i))).collect()
            }
            Self::Noise { start, mask, count } => (0..count.into()).map(|i| start ^ mix(i) & mask).collect(),
        }
    }
}

/// A number that looks random: the finaliser of SplitMix64.
fn mix(i: u64) -> u64 {
    let mut z = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

arbitrary! {
    #[derive(Debug)]
    struct Input {
        parts: Vec<Part>,
        /// How often the parts are repeated; with `drift`, each time with other low bits.
        repeats: u8,
        drift: bool,
    }
}

impl Input {
    fn codes(&self) -> Vec<u64> {
        let once: Vec<u64> = self.parts.iter().flat_map(Part::codes).take(MOST).collect();
        let repeat = |turn: u64| once.iter().map(move |code| code ^ if self.drift { turn } else { 0 });
        (0..=self.repeats.into()).flat_map(repeat).take(MOST).collect()
    }
}

pub(crate) fn run(bytes: &[u8]) {
    crate::with(bytes, |input: &Input| {
        let items: Vec<(u64, u32)> = input.codes().into_iter().zip(0..).collect();
        let mut expected = items.clone();
        expected.sort_by_key(|item| item.0);
        let mut sort = RadixSort::new();
        let mut serial = items.clone();
        sort.sort_by_code(&mut serial, Threads::Serial, |item| item.0);
        assert!(serial == expected, "on one thread");
        let mut parallel = items;
        POOL.install(|| sort.sort_by_code(&mut parallel, Threads::Current, |item| item.0));
        assert!(parallel == expected, "on three threads");
    });
}

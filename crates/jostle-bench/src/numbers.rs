//! Lists of sizes and of threads on the command line.

use std::num::ParseIntError;
use std::str::FromStr;
use std::thread::available_parallelism;

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// A list of sizes such as `1k,10k,1m`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sizes(pub(crate) Vec<usize>);

impl FromStr for Sizes {
    type Err = ParseIntError;

    fn from_str(list: &str) -> Result<Self, ParseIntError> {
        list.split(',').map(size).collect::<Result<_, _>>().map(Self)
    }
}

fn size(word: &str) -> Result<usize, ParseIntError> {
    let word = word.trim().to_ascii_lowercase();
    let (digits, factor) = match word.strip_suffix(['k', 'm']) {
        Some(digits) if word.ends_with('k') => (digits, 1_000),
        Some(digits) => (digits, 1_000_000),
        None => (word.as_str(), 1),
    };
    Ok(digits.parse::<usize>()? * factor)
}

/// A list of numbers of threads such as `1,2` or `1,all`, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Threads(pub(crate) Vec<usize>);

impl FromStr for Threads {
    type Err = ParseIntError;

    fn from_str(list: &str) -> Result<Self, ParseIntError> {
        let count = |word: &str| if word.trim() == "all" { Ok(all()) } else { word.trim().parse() };
        list.split(',').map(count).collect::<Result<_, _>>().map(Self::new)
    }
}

impl Threads {
    /// These numbers, ascending, once each.
    pub(crate) fn new(mut counts: Vec<usize>) -> Self {
        counts.retain(|&threads| threads > 0);
        counts.sort_unstable();
        counts.dedup();
        Self(counts)
    }

    /// From one to all of so many cores, by powers of two if there are more than 8.
    pub(crate) fn up_to(cores: usize) -> Self {
        if cores <= 8 {
            return Self::new((1..=cores).collect());
        }
        let doubled =
            std::iter::successors(Some(1), |threads| Some(threads * 2)).take_while(|&threads| threads < cores);
        Self::new(doubled.chain([cores]).collect())
    }
}

/// A pool of each number of threads.
pub(crate) fn pools(threads: &[usize]) -> Result<Vec<ThreadPool>, ThreadPoolBuildError> {
    threads.iter().map(|&threads| ThreadPoolBuilder::new().num_threads(threads).build()).collect()
}

/// The threads that this machine runs at once.
pub(crate) fn all() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// A size as it is written on the command line.
pub(crate) fn name(n: usize) -> String {
    match n {
        n if n >= 1_000_000 && n.is_multiple_of(1_000_000) => format!("{}M", n / 1_000_000),
        n if n >= 1_000 && n.is_multiple_of(1_000) => format!("{}k", n / 1_000),
        n => n.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Sizes, Threads, name};

    #[test]
    fn sizes_have_suffixes() {
        assert_eq!("1k, 250,2M".parse(), Ok(Sizes(vec![1_000, 250, 2_000_000])));
        assert!("1x".parse::<Sizes>().is_err());
        assert_eq!([999, 1_000, 20_000, 3_000_000].map(name), ["999", "1k", "20k", "3M"]);
    }

    #[test]
    fn threads_ascend_once_each() {
        assert_eq!("4,1,4,0".parse(), Ok(Threads(vec![1, 4])));
        assert!("all".parse::<Threads>().unwrap().0[0] > 0);
        assert_eq!([3, 8, 12].map(|cores| Threads::up_to(cores).0.len()), [3, 8, 5]);
        assert_eq!(Threads::up_to(16).0, [1, 2, 4, 8, 16]);
    }
}

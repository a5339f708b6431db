//! What is wrong with a list of pairs.

use anyhow::Result;
use indicatif::HumanCount;

use crate::report::Report;

/// Most pairs of each kind that are shown.
const SHOWN: usize = 10;

/// The faults of a list, as pairs.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Difference {
    /// Not a < b.
    unordered: Vec<[u32; 2]>,
    /// Listed more than once.
    repeated: Vec<[u32; 2]>,
    /// Of the truth, but not listed.
    missing: Vec<[u32; 2]>,
    /// Listed, but not of the truth.
    extra: Vec<[u32; 2]>,
}

impl Difference {
    /// Compares `pairs`, in any order, with `truth`, in ascending order.
    pub(super) fn new(mut pairs: Vec<[u32; 2]>, truth: &[[u32; 2]]) -> Self {
        let mut difference = Self::default();
        pairs.sort_unstable();
        difference.unordered.extend(pairs.iter().filter(|[a, b]| a >= b));
        difference.repeated.extend(pairs.windows(2).filter(|two| two[0] == two[1]).map(|two| two[0]));
        pairs.dedup();
        difference.missing = without(truth, &pairs);
        difference.extra = without(&pairs, truth);
        difference
    }

    pub(super) fn is_none(&self) -> bool {
        self.kinds().iter().all(|(_, pairs)| pairs.is_empty())
    }

    pub(super) fn print(&self, report: &mut Report) -> Result<()> {
        for (name, pairs) in self.kinds().into_iter().filter(|(_, pairs)| !pairs.is_empty()) {
            let shown: Vec<_> = pairs.iter().take(SHOWN).map(|[a, b]| format!("{a},{b}")).collect();
            let rest = if pairs.len() > SHOWN { " ..." } else { "" };
            report.row(name, format_args!("{}: {}{rest}", HumanCount(pairs.len() as u64), shown.join(" ")))?;
        }
        Ok(())
    }

    fn kinds(&self) -> [(&'static str, &Vec<[u32; 2]>); 4] {
        [
            ("not a < b", &self.unordered),
            ("repeated", &self.repeated),
            ("missing", &self.missing),
            ("extra", &self.extra),
        ]
    }
}

/// Returns the pairs of `list` that the ascending list `other` does not hold.
fn without(list: &[[u32; 2]], other: &[[u32; 2]]) -> Vec<[u32; 2]> {
    list.iter().filter(|pair| other.binary_search(pair).is_err()).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::Difference;

    #[test]
    fn each_fault_is_told() {
        let truth = [[0, 1], [0, 2], [3, 4]];
        assert!(Difference::new(vec![[3, 4], [0, 1], [0, 2]], &truth).is_none());
        let difference = Difference::new(vec![[4, 3], [0, 1], [0, 1], [1, 2]], &truth);
        assert_eq!(difference.unordered, [[4, 3]]);
        assert_eq!(difference.repeated, [[0, 1]]);
        assert_eq!(difference.missing, [[0, 2], [3, 4]]);
        assert_eq!(difference.extra, [[1, 2], [4, 3]]);
    }
}

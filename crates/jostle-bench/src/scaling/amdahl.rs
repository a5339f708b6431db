//! The share of a computation that does not get faster with more threads.

/// Returns the serial share s of times t(p) on p threads. Fits t1 and s of Amdahl's law, t(p) = t1 (s + (1 - s) / p),
/// by least squares. Returns `None` if all times are of one number of threads.
///
/// G. M. Amdahl, "Validity of the single processor approach to achieving large scale computing capabilities" (1967).
pub(crate) fn serial_share(times: &[(usize, f64)]) -> Option<f64> {
    // A straight line over x = 1/p: t = serial + parallel x.
    let count = times.len() as f64;
    let x = |threads: usize| 1.0 / threads as f64;
    let mean_x = times.iter().map(|&(threads, _)| x(threads)).sum::<f64>() / count;
    let mean_t = times.iter().map(|&(_, time)| time).sum::<f64>() / count;
    let spread: f64 = times.iter().map(|&(threads, _)| (x(threads) - mean_x).powi(2)).sum();
    let common: f64 = times.iter().map(|&(threads, time)| (x(threads) - mean_x) * (time - mean_t)).sum();
    if times.is_empty() || spread < 1e-12 {
        return None;
    }
    let parallel = common / spread;
    let serial = mean_t - parallel * mean_x;
    Some(serial / (serial + parallel))
}

#[cfg(test)]
mod tests {
    use super::serial_share;

    #[test]
    fn the_law_is_found_in_its_own_times() {
        for share in [0.0, 0.05, 0.7, 1.0] {
            let time = |threads: usize| (threads, 40.0 * (share + (1.0 - share) / threads as f64));
            for counts in [&[1, 2][..], &[1, 2, 3, 4, 8, 64], &[2, 4]] {
                let found = serial_share(&counts.iter().map(|&threads| time(threads)).collect::<Vec<_>>());
                assert!(found.is_some_and(|found| (found - share).abs() < 1e-9), "{share}, {counts:?}: {found:?}");
            }
        }
    }

    #[test]
    fn noise_is_averaged() {
        // Serial 10 and parallel 90, with errors that sum to zero, also when weighted by 1/p.
        let found = serial_share(&[(1, 101.0), (1, 99.0), (2, 54.0), (2, 56.0), (4, 32.5)]);
        assert!(found.is_some_and(|found| (found - 0.1).abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn one_number_of_threads_says_nothing() {
        assert_eq!(serial_share(&[]), None);
        assert_eq!(serial_share(&[(1, 3.0)]), None);
        assert_eq!(serial_share(&[(2, 3.0), (2, 4.0)]), None);
    }
}

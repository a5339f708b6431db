//! What a call from C costs beside a call from Rust, by turns in one process.
//!
//! `cargo test --release -p jostle-c price -- --ignored --nocapture`, on a quiet machine.

use core::hint::black_box;
use std::time::{Duration, Instant};

use engine::{Circles, PairFinder};

use super::searches::numbers;
use super::*;
use crate::finder::jostle_finder_set_threads;
use crate::threads::{jostle_threads_free, jostle_threads_serial};

/// How many nanoseconds more a call from C may take with ten bodies.
const CALL: i64 = 20_000;

/// How many times as long a search of 100,000 bodies from C may take.
const RATIO: f64 = 1.02;

/// How often finders are made anew: where their memory happens to lie is worth 4 % either way.
const ROUNDS: usize = 41;

#[test]
#[ignore = "a measurement"]
fn price_of_c_over_rust() {
    for (bodies, turns) in [(10, 3000), (1000, 300), (100_000, 15)] {
        for serial in [true, false] {
            let (itself, c) = (price(bodies, turns, serial, false), price(bodies, turns, serial, true));
            let threads = if serial { "one thread" } else { "the global pool" };
            println!(
                "{bodies} bodies, {threads}: C takes {} ns more than Rust, {:.4} times as long; Rust {} ns and {:.4} times \
                      as long as itself",
                c.0, c.1, itself.0, itself.1
            );
            assert!(bodies > 10 || c.0 < CALL, "a call from C costs {} ns more", c.0);
            assert!(bodies < 100_000 || c.1 < RATIO, "a search from C takes {} times as long", c.1);
        }
    }
}

/// Returns how many nanoseconds longer, and how many times as long, a search takes by another finder than by a finder
/// called from Rust: the median of all rounds. The other finder is called from C or, for comparison, from Rust too.
fn price(bodies: usize, turns: usize, serial: bool, c: bool) -> (i64, f64) {
    let rounds = (0..ROUNDS).map(|round| medians(bodies, turns, serial, c, round));
    let (mut more, mut ratios) = (Vec::new(), Vec::new());
    for [one, other] in rounds.map(|medians| medians.map(|time| time.as_nanos() as i64)) {
        more.push(other - one);
        ratios.push(other as f64 / one as f64);
    }
    more.sort_unstable();
    ratios.sort_unstable_by(f64::total_cmp);
    (more[ROUNDS / 2], ratios[ROUNDS / 2])
}

/// Searches by one finder and the other, by turns, so that both see the same machine. Returns the median time of each.
fn medians(bodies: usize, turns: usize, serial: bool, c: bool, round: usize) -> [Duration; 2] {
    let [x, y] = [1, 2].map(|seed| numbers(bodies, seed));
    let radius = vec![20.0 / (bodies as f32).sqrt(); bodies];
    let (sets, mut finders, own) = ([circles(&x, &y, &radius)], [PairFinder::new(), PairFinder::new()], Own::new(2));
    let (input, mut pairs, mut times) = (input(&sets), no_pairs(), [const { Vec::new() }; 2]);
    if serial {
        let mut threads = null_mut();
        // SAFETY: the handles are valid.
        unsafe {
            assert_eq!(jostle_threads_serial(&raw mut threads), Status::Ok);
            assert_eq!(jostle_finder_set_threads(own.0, threads), Status::Ok);
            jostle_threads_free(threads);
        }
    }
    let find: unsafe extern "C" fn(_, _, _) -> _ = black_box(jostle_find);
    for turn in 0..2 * turns {
        let (other, start) = ((turn + round) % 2, Instant::now());
        if c && other == 1 {
            // SAFETY: all that the input leads to outlives the call.
            assert_eq!(unsafe { find(own.0, black_box(&raw const input), &raw mut pairs) }, Status::Ok);
        } else {
            let threads = if serial { engine::Threads::Serial } else { engine::Threads::Current };
            let found = finders[other].on(threads).find(black_box(Circles::new(&x, &y, &radius))).unwrap();
            black_box(found.pairs());
        }
        times[other].push(start.elapsed());
    }
    assert!(!c || pairs.count == finders[0].last().pairs().len());
    times.map(|mut times| {
        times.sort_unstable();
        times[turns / 2]
    })
}

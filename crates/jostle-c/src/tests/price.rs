//! What a call from C costs beside one from Rust, by turns in one process.
//!
//! `cargo test --release -p jostle-c price -- --ignored --nocapture`, on a quiet machine.

use core::hint::black_box;
use std::time::{Duration, Instant};

use engine::{Circles, PairFinder};

use super::searches::numbers;
use super::*;
use crate::finder::jostle_finder_set_threads;
use crate::threads::{jostle_threads_free, jostle_threads_serial};

/// What a call may cost more with ten bodies.
const CALL: Duration = Duration::from_micros(20);

/// How many times as long a search of 100,000 may take.
const RATIO: f64 = 1.02;

/// By turns, so that both see the same machine; the median of each.
fn medians(turns: usize, mut one: impl FnMut(), mut other: impl FnMut()) -> [Duration; 2] {
    let timed = |call: &mut dyn FnMut()| {
        let start = Instant::now();
        call();
        start.elapsed()
    };
    let [mut ones, mut others] = [const { Vec::new() }; 2];
    for _ in 0..turns {
        ones.push(timed(&mut one));
        others.push(timed(&mut other));
    }
    [ones, others].map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    })
}

#[test]
#[ignore = "a measurement"]
fn price_of_c_over_rust() {
    for (bodies, turns) in [(10, 100_001), (1000, 10_001), (100_000, 601)] {
        for serial in [true, false] {
            let [x, y] = [1, 2].map(|seed| numbers(bodies, seed));
            let radius = vec![20.0 / (bodies as f32).sqrt(); bodies];
            let (sets, mut finder, own) = ([circles(&x, &y, &radius)], PairFinder::new(), Own::new(2));
            let (input, mut pairs, mut threads) = (input(&sets), no_pairs(), null_mut());
            if serial {
                // SAFETY: the handles are some.
                unsafe {
                    assert_eq!(jostle_threads_serial(&raw mut threads), Status::Ok);
                    assert_eq!(jostle_finder_set_threads(own.0, threads), Status::Ok);
                    jostle_threads_free(threads);
                }
            }
            let find: unsafe extern "C" fn(_, _, _) -> _ = black_box(jostle_find);
            let on = || if serial { engine::Threads::Serial } else { engine::Threads::Current };
            let mut found = 0;
            let [rust, c] = medians(
                turns,
                || found = finder.on(on()).find(black_box(Circles::new(&x, &y, &radius))).unwrap().pairs().len(),
                // SAFETY: all that the input leads to outlives the call.
                || assert_eq!(unsafe { find(own.0, black_box(&raw const input), &raw mut pairs) }, Status::Ok),
            );
            assert_eq!(pairs.count, found);
            let (more, ratio) = (c.saturating_sub(rust), c.as_secs_f64() / rust.as_secs_f64());
            let threads = if serial { "one thread" } else { "the global pool" };
            println!(
                "{bodies} bodies, {found} pairs, {threads}: Rust {rust:?}, C {c:?}, {more:?} more, {ratio:.4} times"
            );
            assert!(bodies > 10 || more < CALL, "a call from C costs {more:?} more");
            assert!(bodies < 100_000 || ratio < RATIO, "a search from C takes {ratio} times as long");
        }
    }
}

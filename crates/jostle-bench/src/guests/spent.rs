//! What searches cost the machine: processor time, even while there is nothing to do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use jostle::{PairFinder, Threads};
use rayon::ThreadPool;

use super::ground::{Crowd, Ground, SOUND, median, name};
use super::line::Line;
use crate::clock::{Clock, of_process};
use crate::numbers;
use crate::race::{Timing, milliseconds};

/// Bodies that one thread searches alone, whatever the pool.
const ALONE: usize = 5_000;

/// Measures searches back to back, and searches with a visitor that sleeps.
pub(super) fn lines(ground: &Ground) -> Vec<Line> {
    let small = ground.crowd(ALONE, 0);
    let pools = &ground.pools[..3];
    let busy = pools.iter().flat_map(|pool| {
        let all = ground.cores.min(pool.current_num_threads());
        [(&ground.crowd, all), (&small, 1)].map(|(crowd, working)| back_to_back(ground, crowd, pool, working))
    });
    let asleep = pools.iter().flat_map(|pool| [true, false].map(|caller| asleep(ground, pool, caller)));
    busy.flatten().chain(asleep).collect()
}

/// Measures processor time over time on the wall, with work for so many threads, and over the processor time of one
/// thread.
fn back_to_back(ground: &Ground, crowd: &Crowd, pool: &ThreadPool, working: usize) -> [Line; 2] {
    let mut finder = PairFinder::new();
    let one: Vec<_> = (0..6).map(|_| on_one_thread(crowd, &mut finder)).collect();
    let searches = (ground.of(8_000_000, 200_000) / crowd.scene.len()) as u32;
    let mut round = || {
        crowd.search(&mut finder, Threads::Current);
        let (start, before) = (Instant::now(), of_process());
        (0..searches).for_each(|_| crowd.search(&mut finder, Threads::Current));
        let (wall, spent) = (start.elapsed(), of_process() - before);
        (spent.as_secs_f64() / wall.as_secs_f64(), milliseconds(spent / searches))
    };
    let (shares, spent): (Vec<_>, Vec<_>) = pool.install(|| (0..ground.rounds).map(|_| round()).unzip());
    let [share, spent] = [shares, spent].map(|samples| Timing::of(samples, 1).median);
    let one = median(&one[1..]);
    let case = |what: &str| format!("{}, {} back to back, {what}", name(pool), numbers::name(crowd.scene.len()));
    [
        Line::new(case("over wall"), share / working as f64, "times").at_most(1.15),
        Line::new(case("over one thread"), spent / one, "times").besides(format!("{spent:.4} ms, one thread {one:.4}")),
    ]
}

fn on_one_thread(crowd: &Crowd, finder: &mut PairFinder<2>) -> Duration {
    let start = Clock::Cpu.start();
    crowd.search(finder, Threads::Serial);
    start.elapsed()
}

/// The most searches that are tried until a visitor has slept.
const TRIES: usize = 5;

/// Measures how many more processor seconds a search takes while one of its visitors sleeps: a visitor on the thread
/// that called it, or on another thread.
fn asleep(ground: &Ground, pool: &ThreadPool, caller: bool) -> Line {
    let (long, finder) = (ground.of(Duration::from_secs(2), Duration::from_millis(100)), &mut PairFinder::new());
    let mut spent = |nap| visit(ground, pool, finder, nap, caller).0;
    let usual = Timing::of((0..5).map(|_| spent(Duration::ZERO)).collect(), 1).median;
    let slept = (0..TRIES).map(|_| visit(ground, pool, finder, long, caller)).find(|(_, slept)| *slept);
    let case = format!("{}, {} asleep", name(pool), if caller { "the caller" } else { "a helper" });
    let Some((spent, _)) = slept else {
        return Line::new(case, f64::NAN, "s").besides("no helper had a pair to visit");
    };
    Line::new(case, (spent - usual).max(0.0), "s")
        .at_most(long.as_secs_f64() / 20.0)
        .besides(format!("of {} s; without sleep {usual:.3} s", long.as_secs_f64()))
}

/// Returns the processor seconds of a search whose first visitor on the calling thread, or on another, sleeps; and
/// whether one did.
fn visit(ground: &Ground, pool: &ThreadPool, finder: &mut PairFinder<2>, nap: Duration, caller: bool) -> (f64, bool) {
    let slept = AtomicBool::new(false);
    let spent = pool.install(|| {
        let own = rayon::current_thread_index();
        let visit = |_, _| {
            let here = (rayon::current_thread_index() == own) == caller;
            if here && !slept.load(Ordering::Relaxed) && !slept.swap(true, Ordering::Relaxed) {
                sleep(nap);
            }
        };
        let before = of_process();
        finder.for_each_pair(ground.crowd.scene.view(), visit).expect(SOUND);
        of_process() - before
    });
    (spent.as_secs_f64(), slept.into_inner())
}

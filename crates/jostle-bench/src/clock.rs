//! The clock that rows are timed by.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Clock {
    /// Time on the wall.
    #[default]
    Wall,
    /// Time that the calling thread was on a processor: for one thread on a machine that others use as well. What they
    /// do to caches and memory still shows.
    Cpu,
}

impl Clock {
    /// Returns this clock for one thread, and the clock on the wall for more.
    pub(crate) fn of_threads(self, threads: usize) -> Self {
        if threads == 1 { self } else { Self::Wall }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::Cpu => "cpu",
        }
    }

    /// Starts to measure.
    #[inline]
    pub(crate) fn start(self) -> Stopwatch {
        match self {
            Self::Wall => Stopwatch::Wall(Instant::now()),
            Self::Cpu => Stopwatch::Cpu(on_processor()),
        }
    }
}

/// A measurement in progress.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stopwatch {
    Wall(Instant),
    Cpu(Duration),
}

impl Stopwatch {
    /// The time since it was started, on the same thread.
    #[inline]
    pub(crate) fn elapsed(self) -> Duration {
        match self {
            Self::Wall(start) => start.elapsed(),
            Self::Cpu(start) => on_processor().saturating_sub(start),
        }
    }
}

/// How long the calling thread has been on a processor.
fn on_processor() -> Duration {
    read(ClockId::ThreadCPUTime)
}

/// Returns how long all threads of this process, ended ones included, have been on processors in total.
pub(crate) fn of_process() -> Duration {
    read(ClockId::ProcessCPUTime)
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::{Clock, of_process};
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn sleep_takes_no_time_on_the_processor() {
        let [wall, cpu] = [Clock::Wall, Clock::Cpu].map(|clock| {
            let watch = clock.start();
            sleep(Duration::from_millis(20));
            watch.elapsed()
        });
        assert!(wall >= Duration::from_millis(20));
        assert!(cpu < Duration::from_millis(10), "{cpu:?}");
        assert_eq!(Clock::Cpu.of_threads(2), Clock::Wall);
    }
    #[test]
    fn the_time_of_a_thread_is_in_that_of_its_process() {
        let (before, watch) = (of_process(), Clock::Cpu.start());
        while watch.elapsed() < Duration::from_millis(20) {}
        assert!(of_process() - before >= Duration::from_millis(19));
    }
}

//! Work that keeps a processor busy, and what the system tells of who uses the processors.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, hint};

use crate::clock::{Clock, of_process};

/// Keeps the calling thread busy until it has been on a processor for so long.
pub(super) fn spin(work: Duration) {
    let start = Clock::Cpu.start();
    while start.elapsed() < work {
        hint::spin_loop();
    }
}

/// Returns how often the living threads of this process have left a processor, of their own accord or not; `None` where
/// the system does not tell.
pub(super) fn switches() -> Option<u64> {
    let threads = fs::read_dir("/proc/self/task").ok()?;
    // A thread may end while threads are listed.
    Some(threads.flatten().filter_map(|thread| switches_of(&thread.path())).sum())
}

/// Returns the same of one thread, by its folder.
fn switches_of(thread: &Path) -> Option<u64> {
    let status = fs::read_to_string(thread.join("status")).ok()?;
    let counts = status.lines().filter(|line| line.contains("ctxt_switches"));
    Some(counts.filter_map(|line| line.rsplit(char::is_whitespace).next()?.parse::<u64>().ok()).sum())
}

/// Tells which part of the processors' time went to other processes.
pub(super) struct Others {
    start: Instant,
    own: Duration,
    stat: Option<Stat>,
}

impl Others {
    /// Starts to watch.
    pub(super) fn watch() -> Self {
        Self { start: Instant::now(), own: of_process(), stat: Stat::now() }
    }

    /// Returns the part until now, from 0 to 1; `None` where the system does not tell, or has not counted yet.
    pub(super) fn share(&self) -> Option<f64> {
        let (before, now) = (self.stat.as_ref()?, Stat::now()?);
        let counted = (now.all - before.all) as f64;
        let own = (of_process() - self.own).as_secs_f64() / self.start.elapsed().as_secs_f64() / now.cores as f64;
        let busy = (now.busy.checked_sub(before.busy)?) as f64 / counted;
        (counted > 0.0).then(|| (busy - own).clamp(0.0, 1.0))
    }
}

/// Ticks of all processors since the start of the system.
struct Stat {
    busy: u64,
    all: u64,
    cores: usize,
}

impl Stat {
    fn now() -> Option<Self> {
        Self::of(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// Reads the text of `/proc/stat`. The line of all processors has user, nice, system, idle, waiting, interrupts
    /// (2), and what other guests of the host have taken. The numbers after these are counted in them.
    fn of(text: &str) -> Option<Self> {
        let mut lines = text.lines().take_while(|line| line.starts_with("cpu"));
        let ticks = lines.next()?.split_ascii_whitespace().skip(1).take(8);
        let ticks: Vec<u64> = ticks.map(str::parse).collect::<Result<_, _>>().ok()?;
        let (all, idle) = (ticks.iter().sum::<u64>(), ticks.get(3..5)?.iter().sum::<u64>());
        Some(Self { busy: all - idle, all, cores: lines.count().max(1) })
    }
}

#[cfg(test)]
mod tests {
    use super::{Others, Stat, spin, switches, switches_of};
    use crate::clock::of_process;
    use std::path::Path;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn spinning_takes_time_and_sleeping_switches() {
        let before = of_process();
        spin(Duration::from_millis(5));
        assert!(of_process() - before >= Duration::from_millis(5));
        // Of this thread alone, since threads of other tests end meanwhile.
        let own = || switches_of(Path::new("/proc/thread-self"));
        let before = own();
        (0..5).for_each(|_| thread::sleep(Duration::from_micros(10)));
        let after = own();
        assert!(before.is_none() || after >= before.map(|before| before + 5), "{before:?}, {after:?}");
        assert!(switches() >= after, "all threads, this one among them");
    }

    #[test]
    fn idle_processors_are_not_busy() {
        let stat = Stat::of("cpu  10 20 30 400 5 1 2 3 9 9\ncpu0 1 2\ncpu1 1 2\nintr 1\n").unwrap();
        assert_eq!((stat.busy, stat.all, stat.cores), (66, 471, 2));
        assert!(Stat::of("").is_none() && Stat::of("cpu  1 2 x").is_none());
        let others = Others::watch();
        spin(Duration::from_millis(30));
        assert!(others.share().is_none_or(|share| (0.0..=1.0).contains(&share)));
    }
}

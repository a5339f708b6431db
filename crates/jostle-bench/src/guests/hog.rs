//! Another process at work: this program once more, which spins.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::{env, hint, process, thread};

/// Options of the sub-command that spins.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// On this core alone.
    #[arg(long)]
    core: Option<usize>,
}

/// What the process prints once it spins.
const SPINNING: &str = "spinning";

/// Spins until killed, or until the process that started it is gone.
///
/// # Errors
/// When the process cannot be kept on that core.
pub(crate) fn run(args: &Args) -> io::Result<()> {
    if let Some(core) = args.core {
        keep_on(core)?;
    }
    thread::spawn(|| {
        // Reading ends when the pipe is closed, which happens when the process at its other end is gone.
        drop(io::stdin().read_to_end(&mut Vec::new()));
        process::exit(0)
    });
    writeln!(io::stdout(), "{SPINNING}")?;
    loop {
        hint::spin_loop();
    }
}

/// Another process, which spins as long as this value lives.
pub(super) struct Hog(Child);

impl Hog {
    /// Starts a process, on the given core or wherever the system puts it, and waits until it spins.
    ///
    /// # Errors
    /// When no process can be started, or it ends at once.
    pub(super) fn start(core: Option<usize>) -> io::Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        ask(&mut command, core);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut hog = Self(child);
        let lines = hog.0.stdout.take().map(BufReader::new).map(BufRead::lines);
        let spins = lines.into_iter().flatten().map_while(Result::ok).any(|line| line.contains(SPINNING));
        if spins { Ok(hog) } else { Err(io::Error::other("the process that is to spin has ended")) }
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        // The process may have ended by itself.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Asks this program to spin.
#[cfg(not(test))]
fn ask(command: &mut Command, core: Option<usize>) {
    command.arg("hog").args(core.map(|core| format!("--core={core}")));
}

/// Asks the program of the tests, which has no sub-commands, to spin: one of its tests does so.
#[cfg(test)]
fn ask(command: &mut Command, core: Option<usize>) {
    command.args(["--exact", "guests::hog::tests::spins_when_asked_to", "--nocapture"]);
    command.env(tests::ASKED, core.map(|core| core.to_string()).unwrap_or_default());
}

/// A core that a process can be kept on, where the system allows that.
#[cfg(target_os = "linux")]
pub(super) fn core() -> Option<usize> {
    let allowed = rustix::thread::sched_getaffinity(None).ok()?;
    (0..rustix::thread::CpuSet::MAX_CPU).find(|&core| allowed.is_set(core))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn core() -> Option<usize> {
    None
}

#[cfg(target_os = "linux")]
fn keep_on(core: usize) -> io::Result<()> {
    let mut set = rustix::thread::CpuSet::new();
    set.set(core);
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

#[cfg(not(target_os = "linux"))]
fn keep_on(_core: usize) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::{Args, Hog, core, run};
    use std::env;

    /// Set when this program is started to spin: to the core, or to nothing.
    pub(super) const ASKED: &str = "JOSTLE_BENCH_TEST_HOG";

    #[test]
    fn spins_when_asked_to() {
        if let Ok(core) = env::var(ASKED) {
            run(&Args { core: core.parse().ok() }).unwrap();
        }
    }

    #[test]
    fn hogs_start_and_end() {
        for core in [core(), None] {
            drop(Hog::start(core).unwrap());
        }
        assert!(cfg!(not(target_os = "linux")) || Hog::start(Some(1023)).is_err());
    }
}

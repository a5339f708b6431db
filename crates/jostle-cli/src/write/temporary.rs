//! Temporary files, which neither an error nor a signal leaves behind.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

/// The temporary files that exist. They are made, renamed and removed under this lock, so that the holder of the lock
/// knows all of them.
static PRESENT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file without its final name.
pub(super) struct Temporary(Option<NamedTempFile>);

impl Temporary {
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        signals::watch()?;
        let mut present = present();
        let file = builder().tempfile_in(folder)?;
        present.push(file.path().to_owned());
        Ok(Self(Some(file)))
    }

    /// The file, until it has its final name.
    pub(super) fn file(&self) -> io::Result<&File> {
        self.0.as_ref().map(NamedTempFile::as_file).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Gives the file its final name, in place of any file that had that name.
    pub(super) fn persist(mut self, target: &Path) -> io::Result<()> {
        self.end(|file| Ok(file.persist(target).map(drop)?))
    }

    fn end(&mut self, end: impl FnOnce(NamedTempFile) -> io::Result<()>) -> io::Result<()> {
        let Some(file) = self.0.take() else { return Ok(()) };
        let mut present = present();
        let path = file.path().to_owned();
        let outcome = end(file);
        present.retain(|other| *other != path);
        outcome
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // A file that cannot be removed has been removed by somebody else.
        let _ = self.end(NamedTempFile::close);
    }
}

fn present() -> MutexGuard<'static, Vec<PathBuf>> {
    PRESENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Temporary files are private to their owner by default. A file that stays shall be as open as the user's other files.
fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".jostle");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

#[cfg(unix)]
mod signals {
    use std::sync::OnceLock;
    use std::{io, process, thread};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use super::{fs, present};

    /// Signals that end a program by default, and whose sender lets it end in order.
    const ENDING: [i32; 6] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGXFSZ];

    /// Makes a signal that ends the program remove its temporary files first, from now on.
    pub(super) fn watch() -> io::Result<()> {
        static WATCHED: OnceLock<Option<io::ErrorKind>> = OnceLock::new();
        WATCHED.get_or_init(|| start().err().map(|error| error.kind())).map_or(Ok(()), |kind| Err(kind.into()))
    }

    fn start() -> io::Result<()> {
        let ignored = ignored();
        // Signals that the caller has set to be ignored, as `nohup` does, stay ignored.
        let heeded = ENDING.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
        let mut signals = Signals::new(heeded)?;
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            if let Some(signal) = signals.forever().next() {
                // The lock is held to the end: no file is made or renamed any more.
                let present = present();
                present.iter().for_each(|path| drop(fs::remove_file(path)));
                // The caller is to see that a signal ended the program.
                let _ = emulate_default_handler(signal);
                process::exit(128 + signal);
            }
        })?;
        Ok(())
    }

    /// Signals that are ignored, bit 0 for signal 1; none where the system does not tell.
    fn ignored() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
    }
}

#[cfg(not(unix))]
mod signals {
    /// Nothing is watched for.
    pub(super) fn watch() -> std::io::Result<()> {
        Ok(())
    }
}

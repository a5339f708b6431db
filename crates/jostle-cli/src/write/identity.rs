//! Finds which file a path names: links lead to the same file.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use crate::names::STDIO;

/// Most symbolic links that are followed one after the other, as many as Linux follows.
const LINKS: usize = 40;

/// The identity of a file, which tells it from all others.
#[derive(Debug, PartialEq)]
pub(super) enum Identity {
    /// Device and inode.
    #[cfg(unix)]
    Inode(u64, u64),
    /// Where a file lies, or would lie.
    Path(PathBuf),
}

impl Identity {
    /// Identifies a file to be read; `None` if nothing is there, or no regular file.
    pub(super) fn of_input(path: &Path) -> Option<Self> {
        if path == Path::new(STDIO) { Self::of_stream("/dev/stdin") } else { Self::of_file(path) }
    }

    /// Identifies a file to be written, which need not be there yet.
    pub(super) fn of_output(path: &Path) -> Option<Self> {
        match fs::metadata(path) {
            Ok(_) => Self::of_file(path),
            Err(_) => Some(Self::Path(destination(path))),
        }
    }

    /// Identifies the file that a standard stream is redirected to, if it is.
    pub(super) fn of_stream(device: &str) -> Option<Self> {
        Self::of_file(Path::new(device))
    }

    fn of_file(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().filter(Metadata::is_file).and_then(|there| Self::of_metadata(path, &there))
    }

    #[cfg(unix)]
    fn of_metadata(_: &Path, there: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(Self::Inode(there.dev(), there.ino()))
    }

    #[cfg(not(unix))]
    fn of_metadata(path: &Path, _: &Metadata) -> Option<Self> {
        fs::canonicalize(path).ok().map(Self::Path)
    }
}

/// The folder that a file lies in.
pub(super) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns where writing to `path` leads: through links, also to a file that is not there yet.
pub(super) fn destination(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Ok(next) = fs::read_link(&path) else { break };
        path = folder(&path).join(next);
    }
    match (fs::canonicalize(folder(&path)), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

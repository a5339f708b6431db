//! Names of files.

use std::path::Path;

/// The name that stands for a standard stream.
pub(crate) const STDIO: &str = "-";

/// Returns the name of a file, as messages tell it.
pub(crate) fn name(path: &Path) -> String {
    if path == Path::new(STDIO) { "standard input".to_owned() } else { path.display().to_string() }
}

/// The ending of a file's name, in lower case.
pub(crate) fn ending(path: &Path) -> Option<String> {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase())
}

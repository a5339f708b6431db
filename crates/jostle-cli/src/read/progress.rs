//! A progress bar on standard error, for files that take a while.

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

/// Files below this size are read before anyone could look at a bar: 16 MiB of CSV take some 0.1 s.
const WORTH_A_BAR: u64 = 16 << 20;

/// A bar of `length` bytes. It shows nothing where standard error is not a terminal, and leaves nothing behind.
pub(crate) fn bar(length: u64) -> ProgressBar {
    if length < WORTH_A_BAR {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("reading {bar:40} {bytes} of {total_bytes}, {eta}");
    let bar = ProgressBar::new(length).with_finish(ProgressFinish::AndClear);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

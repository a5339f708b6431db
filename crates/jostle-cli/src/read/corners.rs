//! Names of the columns that hold the corners of boxes.

use anyhow::{Result, ensure};

/// The lower corners, and the upper ones.
const CORNERS: [[&str; 3]; 2] = [["xmin", "ymin", "zmin"], ["xmax", "ymax", "zmax"]];

/// The names of corners with `dim` axes, the lower corner first.
pub(super) fn names(dim: usize) -> impl Iterator<Item = &'static str> + Clone {
    CORNERS.iter().flat_map(move |corner| corner[..dim].iter().copied())
}

/// Returns the first of the names that is one of a corner, in any case.
pub(super) fn first(present: &[String]) -> Option<&str> {
    present.iter().map(String::as_str).find(|have| names(3).any(|name| have.eq_ignore_ascii_case(name)))
}

/// Number of axes of boxes with these columns, unless told otherwise: three if a column has a name of the third axis.
pub(super) fn axes(present: &[String]) -> usize {
    let third = [CORNERS[0][2], CORNERS[1][2]];
    if present.iter().any(|have| third.iter().any(|name| have.eq_ignore_ascii_case(name))) { 3 } else { 2 }
}

/// Returns whether the chosen columns are corners: at least two names begin or end with `min` or `max`.
pub(super) fn are_chosen<'a>(chosen: impl IntoIterator<Item = &'a str>) -> bool {
    chosen.into_iter().filter(|name| is_called(name, "min") || is_called(name, "max")).nth(1).is_some()
}

/// Refuses columns in another order than that in which they are read.
pub(super) fn check_order<'a>(chosen: impl ExactSizeIterator<Item = &'a str> + Clone) -> Result<()> {
    let half = chosen.len() / 2;
    let wrong = chosen.clone().take(half).any(|name| is_called(name, "max"))
        || chosen.clone().skip(half).any(|name| is_called(name, "min"));
    let given = chosen.collect::<Vec<_>>().join(",");
    ensure!(!wrong, "--columns {given}: lower corners are read first, then upper ones, as in {}", joined(half));
    Ok(())
}

/// The names of corners with `dim` axes, as the command line takes them.
pub(super) fn joined(dim: usize) -> String {
    names(dim).collect::<Vec<_>>().join(",")
}

/// Whether a name begins or ends with a word.
fn is_called(name: &str, word: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with(word) || name.ends_with(word)
}

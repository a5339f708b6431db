//! Which files are shown, and in which order.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// Endings of names of files of bodies; .gz follows where files are packed.
const ENDINGS: [&str; 5] = ["csv", "tsv", "txt", "npy", "parquet"];

/// Lists the files that are named, the files in directories, and the files that a pattern fits (`*`: anything, `?`: one
/// character, within the name). They stand in natural order: numbers within names count as numbers.
///
/// # Errors
/// When a directory cannot be read, or a directory or a pattern stands for no file.
pub(crate) fn list(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in named {
        let pattern = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            let within = files_in(path, &is_of_bodies)?;
            ensure!(!within.is_empty(), "{}: no file there ends in .{}", path.display(), ENDINGS.join(", ."));
            files.extend(within);
        } else if pattern.contains(['*', '?']) && !path.exists() {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let fits = |name: &str| fits(pattern.as_bytes(), name.as_bytes());
            let fitting = files_in(folder, &fits)?;
            ensure!(!fitting.is_empty(), "{}: no file has such a name", path.display());
            files.extend(fitting);
        } else {
            files.push(path.clone());
        }
    }
    files.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
    Ok(files)
}

fn files_in(folder: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in folder.read_dir().with_context(|| folder.display().to_string())? {
        let path = entry.with_context(|| folder.display().to_string())?.path();
        if path.is_file() && path.file_name().is_some_and(|name| wanted(&name.to_string_lossy())) {
            files.push(path);
        }
    }
    Ok(files)
}

fn is_of_bodies(name: &str) -> bool {
    let name = name.to_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

fn fits(pattern: &[u8], name: &[u8]) -> bool {
    // The last star, and how much of the name it stands for so far.
    let (mut at, mut read, mut star) = (0, 0, None);
    while read < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(&c) if c == b'?' || c == name[read] => (at, read) = (at + 1, read + 1),
            _ => match star {
                Some((star_at, taken)) => {
                    star = Some((star_at, taken + 1));
                    (at, read) = (star_at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|&c| c == b'*')
}

/// Compares names in natural order: frame2 before frame10.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let ((text_a, number_a, rest_a), (text_b, number_b, rest_b)) = (split(a), split(b));
        let (bare_a, bare_b) = (number_a.trim_start_matches('0'), number_b.trim_start_matches('0'));
        let order = text_a.cmp(text_b).then(bare_a.len().cmp(&bare_b.len())).then(bare_a.cmp(bare_b));
        let order = order.then(number_a.len().cmp(&number_b.len()));
        if order.is_ne() || (rest_a.is_empty() && rest_b.is_empty()) {
            return order;
        }
        (a, b) = (rest_a, rest_b);
    }
}

/// Splits a name: the part before the first digit, the digits, and the rest.
fn split(name: &str) -> (&str, &str, &str) {
    let (text, rest) = name.split_at(name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len()));
    let (number, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
    (text, number, rest)
}

#[cfg(test)]
mod tests {
    use super::{fits, is_of_bodies, natural};

    #[test]
    fn numbers_within_names_count_as_numbers() {
        let mut names =
            ["f10.csv", "f9.csv", "f1.csv", "f010.csv", "a/b2", "a/b10", "f", "f9", "123456789012345678901234567890"];
        names.sort_by(|a, b| natural(a, b));
        let truth =
            ["123456789012345678901234567890", "a/b2", "a/b10", "f", "f1.csv", "f9", "f9.csv", "f10.csv", "f010.csv"];
        assert_eq!(names, truth);
    }

    #[test]
    fn patterns_fit_names() {
        for (pattern, name) in [("*.csv", "a.csv"), ("f?.npy", "f1.npy"), ("*", ""), ("a*b*c", "axbxbc"), ("*a", "aa")]
        {
            assert!(fits(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
        for (pattern, name) in [("*.csv", "a.csv.gz"), ("f?.npy", "f10.npy"), ("?", ""), ("a*b", "ac"), ("", "a")] {
            assert!(!fits(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
        assert!(is_of_bodies("a.CSV.gz") && is_of_bodies("b.npy") && !is_of_bodies("csv") && !is_of_bodies("c.png"));
    }
}

//! Modules of a crate do not import each other in circles: each folder, and each file of a folder, stands above what it
//! uses. And examples import only names that users have.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Collects the source of each module by its path, without comments and unit tests. `main` is left out.
fn modules(folder: &Path, above: &[String], into: &mut BTreeMap<Vec<String>, String>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let module: Vec<_> = above.iter().cloned().chain([name.clone()]).collect();
        if path.is_dir() {
            modules(&path, &module, into);
        } else if path.extension().is_some_and(|ending| ending == "rs") && name != "main" {
            let text = fs::read_to_string(&path).expect("a source");
            let text = text.split("#[cfg(test)]\nmod tests").next().expect("a part");
            let code: Vec<_> = text.lines().map(|line| line.split("//").next().unwrap_or(line)).collect();
            into.insert(module, code.join("\n"));
        }
    }
}

/// Collects all paths of a tree of names, `a::{b, c::d}`.
fn paths(tree: &str, before: &[String], into: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    let Some((head, rest)) = tree.split_once('{') else {
        let names = tree.split("::").map(|name| name.split_whitespace().next().unwrap_or("").to_owned());
        into.push(before.iter().cloned().chain(names.filter(|name| !name.is_empty())).collect());
        return;
    };
    let head =
        head.trim_end_matches("::").split("::").filter(|name| !name.is_empty()).map(|name| name.trim().to_owned());
    let before: Vec<_> = before.iter().cloned().chain(head).collect();
    let (mut depth, mut start) = (0, 0);
    let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
    for (at, letter) in inner.char_indices().chain([(inner.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !inner[start..at].trim().is_empty() {
                    paths(&inner[start..at], &before, into);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// Returns what a source names of its crate: by `use`, or by a path that begins with `crate` or `super`.
fn named(code: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for (at, _) in code.match_indices("use ") {
        paths(code[at + 4..].split(';').next().unwrap_or(""), &[], &mut all);
    }
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let path: String = code[at..].chars().take_while(|c| c.is_alphanumeric() || "_:".contains(*c)).collect();
            paths(path.trim_end_matches(':'), &[], &mut all);
        }
    }
    all
}

/// Returns which child of which folder uses which other child of the folder.
fn uses(source: &Path) -> BTreeSet<(Vec<String>, String, String)> {
    let mut sources = BTreeMap::new();
    modules(source, &[], &mut sources);
    let root = sources.remove(&vec!["lib".to_owned()]).unwrap_or_default();
    // A name that the root passes on stands for the place where it comes from.
    let passed_on: BTreeMap<_, _> = named(&root)
        .into_iter()
        .filter(|path| path.len() > 1)
        .map(|path| (path[path.len() - 1].clone(), path))
        .collect();
    let mut uses = BTreeSet::new();
    for (module, code) in &sources {
        for path in named(code) {
            let supers = path.iter().take_while(|name| *name == "super").count();
            let target: Vec<_> = match path[0].as_str() {
                "crate" if path.len() > 1 => passed_on.get(&path[1]).cloned().unwrap_or_else(|| path[1..].to_vec()),
                "super" if supers <= module.len() => [&module[..module.len() - supers], &path[supers..]].concat(),
                _ => continue,
            };
            let known = (1..=target.len()).rev().find(|&n| sources.contains_key(&target[..n]));
            let target = &target[..known.unwrap_or(0)];
            let common = module.iter().zip(target).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (module.get(common), target.get(common)) {
                uses.insert((module[..common].to_vec(), from.clone(), to.clone()));
            }
        }
    }
    uses
}

/// Returns the uses that remain after repeatedly removing modules that use no remaining module or that no remaining
/// module uses.
fn circles(mut uses: BTreeSet<(Vec<String>, String, String)>) -> BTreeSet<(Vec<String>, String, String)> {
    loop {
        let all = uses.clone();
        uses.retain(|(folder, from, to)| {
            all.iter().any(|other| other.0 == *folder && other.1 == *to)
                && all.iter().any(|other| other.0 == *folder && other.2 == *from)
        });
        if uses == all {
            return uses;
        }
    }
}

#[test]
fn no_modules_import_each_other() {
    let crates = &Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    for name in ["core", "sets", "pairs", "contacts", "classics", "cli", "bench", "testkit"] {
        let uses = uses(&crates.join(format!("jostle-{name}/src")));
        assert!(uses.len() > 5, "jostle-{name}: its sources are not read");
        let circles = circles(uses);
        assert!(circles.is_empty(), "jostle-{name}, folder, module, what it uses: {circles:#?}");
    }
}

#[test]
fn circles_are_found() {
    let uses = |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| (vec![], a.to_string(), b.to_string())).collect();
    assert!(circles(uses(&[("a", "b"), ("b", "c"), ("a", "c")])).is_empty());
    assert_eq!(circles(uses(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")])).len(), 2);
    let mut all = Vec::new();
    paths("crate::{a::{B, c::D}, e}", &[], &mut all);
    let all: Vec<_> = all.iter().map(|path| path.join("::")).collect();
    assert_eq!(all, ["crate::a::B", "crate::a::c::D", "crate::e"]);
}

/// WebAssembly without a system has no clock: `Instant::now` of the standard library panics there, in every search.
#[test]
fn the_clock_of_the_standard_library_is_looked_at_in_one_place() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    for name in ["core", "sets", "pairs", "contacts"] {
        let mut sources = BTreeMap::new();
        modules(&crates.join(format!("jostle-{name}/src")), &[], &mut sources);
        let is_clock = |path: &[String]| path.last().is_some_and(|last| last == "Instant" || last == "SystemTime");
        sources.retain(|module, code| {
            let mut all = Vec::new();
            code.match_indices("use ")
                .for_each(|(at, _)| paths(code[at + 4..].split(';').next().unwrap_or(""), &[], &mut all));
            let is_imported = all.iter().any(|path| path.starts_with(&["std".into(), "time".into()]) && is_clock(path));
            *module != ["clock"] && (is_imported || code.contains("time::Instant") || code.contains("time::SystemTime"))
        });
        assert!(sources.is_empty(), "jostle-{name}: not by `jostle_core::clock`: {:?}", sources.keys());
    }
}

/// Names outside the documentation, and so not of `jostle` either.
const HIDDEN: [&str; 2] = ["Workers", "record"];

/// Collects the lines of examples in a folder of sources, as they are shown.
fn shown(folder: &Path, into: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            shown(&path, into);
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source");
        let comments = text.lines().map(str::trim).filter_map(|line| line.strip_prefix("//"));
        let mut within = false;
        for line in comments.filter_map(|line| line.strip_prefix(['/', '!'])).map(str::trim) {
            within ^= line.starts_with("```");
            if within && !line.starts_with("# ") {
                into.push(format!("{}: {line}", path.display()));
            }
        }
    }
}

#[test]
fn examples_import_from_jostle() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let mut lines = Vec::new();
    ["core", "sets", "pairs", "contacts", "classics"]
        .iter()
        .for_each(|name| shown(&crates.join(format!("jostle-{name}/src")), &mut lines));
    let from = |name: &str| lines.iter().filter(|line| line.contains(&format!("use {name}::"))).collect::<Vec<_>>();
    assert!(from("jostle").len() > 40, "{} examples", from("jostle").len());
    for part in ["jostle_core", "jostle_sets", "jostle_pairs", "jostle_contacts"] {
        let mut wrong = from(part);
        wrong.retain(|line| HIDDEN.iter().all(|name| !line.contains(name)));
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

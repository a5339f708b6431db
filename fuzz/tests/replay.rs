//! Runs the committed cases again, on any compiler: those that once failed (`cases`), and those that the fuzzer has
//! kept (`corpus`).
#![cfg(feature = "readers")]

use std::fs;
use std::path::{Path, PathBuf};

use jostle_fuzz::TARGETS;

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    files.sort();
    files
}

/// Runs a target on all cases that are kept of it, and names the file that fails.
fn replay(name: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kept = ["cases", "corpus"].map(|kind| files(&root.join(kind).join(name)));
    jostle_fuzz::run(name, &[]);
    for file in kept.iter().flatten() {
        let bytes = fs::read(file).expect("a readable file");
        if let Err(panic) = std::panic::catch_unwind(|| jostle_fuzz::run(name, &bytes)) {
            eprintln!("target {name}, file {}", file.display());
            std::panic::resume_unwind(panic);
        }
    }
}

macro_rules! replays {
    ($($test:ident $name:literal),* $(,)?) => {
        $(#[test] fn $test() { replay($name); })*

        #[test]
        fn every_target_is_replayed() {
            assert!(TARGETS.iter().map(|(name, _)| *name).eq([$($name),*]));
        }
    };
}

replays! {
    algebra "algebra", codes "codes", coherent "coherent", contacts "contacts", csv "csv", double "f64", find "find", messages "messages",
    neighbors "neighbors", npy "npy", parquet "parquet", periodic "periodic", queries "queries", sets "sets", shapes "shapes",
    sort "sort", swept "swept",
}

//! Notes for the records: the compiler, its flags, and the versions of the rivals as locked.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

const LOCK: &str = "../../Cargo.lock";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={LOCK}");
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version =
        Command::new(rustc).arg("--version").output().map(|out| String::from_utf8_lossy(&out.stdout).into_owned());
    println!("cargo:rustc-env=BENCH_COMPILER={}", version.unwrap_or_default().trim());
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().replace('\u{1f}', " ");
    let level = env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo:rustc-env=BENCH_FLAGS={}", format!("-C opt-level={level} {flags}").trim());
    let out = env::var("OUT_DIR").expect("cargo names a folder for what is generated");
    fs::write(Path::new(&out).join("locked.rs"), locked()).expect("the folder is writable");
}

/// The packages of the lock file as a Rust slice of (name, version).
fn locked() -> String {
    let lock = fs::read_to_string(LOCK).unwrap_or_default();
    let value = |line: &str| line.split('"').nth(1).unwrap_or_default().to_owned();
    let lines: Vec<&str> = lock.lines().collect();
    let packages = lines.windows(2).filter(|pair| pair[0].starts_with("name = ") && pair[1].starts_with("version = "));
    let entries: Vec<String> = packages.map(|pair| format!("({:?}, {:?})", value(pair[0]), value(pair[1]))).collect();
    format!("&[{}]", entries.join(", "))
}

//! The name that a shared library has to those that are linked with it: that of its compatible versions, as cargo-c has it.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of = |name: &str| env::var(name).unwrap_or_default();
    let [major, minor] = ["CARGO_PKG_VERSION_MAJOR", "CARGO_PKG_VERSION_MINOR"].map(of);
    // Before 1.0 a new minor version may break what is linked with the last.
    let compatible = if major == "0" { format!("0.{minor}") } else { major };
    let name = match of("CARGO_CFG_TARGET_OS").as_str() {
        "macos" | "ios" => format!("-install_name,@rpath/libjostle.{compatible}.dylib"),
        _ if of("CARGO_CFG_TARGET_FAMILY") == "unix" => format!("-soname,libjostle.so.{compatible}"),
        _ => return,
    };
    println!("cargo::rustc-cdylib-link-arg=-Wl,{name}");
}

//! Tells whether crates that depend on this one share its instances of generic functions: they do in builds without
//! optimization, or with little. See `src/instances.rs`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(shared_instances)");
    if std::env::var("OPT_LEVEL").is_ok_and(|level| ["0", "1", "s", "z"].contains(&level.as_str())) {
        println!("cargo::rustc-cfg=shared_instances");
    }
}

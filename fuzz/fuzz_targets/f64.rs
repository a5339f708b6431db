//! The target `f64`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| jostle_fuzz::run("f64", bytes));

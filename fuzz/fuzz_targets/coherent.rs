//! The target `coherent`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| jostle_fuzz::run("coherent", bytes));

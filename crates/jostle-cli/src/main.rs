//! The jostle program.
fn main() {}

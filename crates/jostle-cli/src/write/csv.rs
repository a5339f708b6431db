//! Pairs as text: a header `a,b`, then a line a pair.

use std::io::{Result, Write};

/// The first line.
pub(super) const HEADER: &str = "a,b\n";

pub(super) fn write(out: &mut impl Write, pairs: &[[u32; 2]]) -> Result<()> {
    out.write_all(HEADER.as_bytes())?;
    pairs.iter().try_for_each(|[a, b]| writeln!(out, "{a},{b}"))
}

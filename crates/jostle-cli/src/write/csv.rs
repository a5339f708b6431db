//! Pairs as text: a header `a,b`, then a line a pair.

use std::io::{Result, Write};

pub(crate) fn write(out: &mut impl Write, pairs: &[[u32; 2]]) -> Result<()> {
    writeln!(out, "a,b")?;
    pairs.iter().try_for_each(|[a, b]| writeln!(out, "{a},{b}"))
}

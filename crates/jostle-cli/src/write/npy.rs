//! Pairs as a NumPy array of n rows and 2 columns.

use std::io::{Result, Write};

use crate::npy::Header;

/// The type of ids.
const DESCR: &str = "'<u4'";

pub(super) fn write(out: &mut impl Write, pairs: &[[u32; 2]]) -> Result<()> {
    let shape = vec![pairs.len() as u64, 2];
    Header { descr: DESCR.to_owned(), columns_first: false, shape }.write(out)?;
    pairs.as_flattened().iter().try_for_each(|id| out.write_all(&id.to_le_bytes()))
}

/// Returns whether this is the header of an array of pairs.
pub(super) fn holds_pairs(header: &Header) -> bool {
    matches!(header.shape[..], [_, 2]) && header.descr == DESCR
}

//! Pairs as a NumPy array of n rows and 2 columns.

use std::io::{Result, Write};

use npyz::WriterBuilder;

pub(super) fn write(out: &mut impl Write, pairs: &[[u32; 2]]) -> Result<()> {
    let options = npyz::WriteOptions::new().default_dtype().shape(&[pairs.len() as u64, 2]).writer(out);
    let mut writer = options.begin_nd()?;
    writer.extend(pairs.iter().flatten())?;
    writer.finish()
}

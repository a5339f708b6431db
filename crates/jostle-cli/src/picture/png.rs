//! Still pictures.

use anyhow::Result;
use png::{BitDepth, ColorType, Encoder};

use super::{Image, palette};
use crate::write::Output;

pub(crate) fn write_png(output: &Output, image: &Image) -> Result<()> {
    output.write(|out| {
        let mut encoder = Encoder::new(out, image.width as u32, image.height as u32);
        encoder.set_color(ColorType::Indexed);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_palette(palette::colors());
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&image.pixels)?;
        Ok(writer.finish()?)
    })
}

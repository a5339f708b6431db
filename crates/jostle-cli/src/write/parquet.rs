//! Pairs as two unsigned columns of a Parquet file.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use ::parquet::basic::{Compression, Type};
use ::parquet::data_type::Int32Type;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use anyhow::{Context, Result};

const SCHEMA: &str = "message pairs {
    required int32 a (INTEGER(32,false));
    required int32 b (INTEGER(32,false));
}";

/// Pairs in a row group, the unit that readers load at once.
const ROW_GROUP: usize = 1 << 20;

pub(super) fn write(out: &mut (impl Write + Send), pairs: &[[u32; 2]]) -> Result<()> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    // Ids hardly repeat within a page: a dictionary of them would be built and thrown away.
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).set_dictionary_enabled(false);
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties.build()))?;
    for group in pairs.chunks(ROW_GROUP) {
        let mut columns = file.next_row_group()?;
        for end in 0..2 {
            // Parquet keeps unsigned numbers in the bits of signed ones.
            let ids: Vec<i32> = group.iter().map(|pair| pair[end].cast_signed()).collect();
            let mut column = columns.next_column()?.context("the schema has two columns")?;
            column.typed::<Int32Type>().write_batch(&ids, None, None)?;
            column.close()?;
        }
        columns.close()?;
    }
    file.close()?;
    Ok(())
}

/// Returns whether a file has the columns of a list of pairs, and no others.
pub(super) fn holds_pairs(file: File) -> bool {
    SerializedFileReader::new(file).is_ok_and(|reader| {
        let schema = reader.metadata().file_metadata().schema_descr();
        let columns: Vec<_> =
            schema.columns().iter().map(|column| (column.path().string(), column.physical_type())).collect();
        columns == ["a", "b"].map(|name| (name.to_owned(), Type::INT32))
    })
}

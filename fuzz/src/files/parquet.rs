//! Parquet files: any bytes, files that were written well, and those with some bytes changed.

use std::sync::Arc;

use arbitrary::{Arbitrary, Result, Unstructured};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::{Asked, bodies, look, read_bytes, rest};
use crate::number::Number;

const NAMES: [&str; 5] = ["x", "y", "z", "r", "name"];

#[derive(Debug)]
enum Input {
    Any { asked: Asked, bytes: Vec<u8> },
    Changed { asked: Asked, written: Written, changes: Vec<(u16, u8)>, cut: Option<u8> },
    Table(Written),
}

arbitrary! {
    /// How a table is written.
    #[derive(Debug)]
    struct Written {
        rows: Vec<[Number; 4]>,
        /// The type of each column.
        kinds: [u8; 4],
        in_space: bool,
        radius: Option<Number>,
        compression: u8,
        dictionary: bool,
        group: u8,
    }
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match bytes.arbitrary::<u8>()? % 3 {
            0 => Self::Any { asked: bytes.arbitrary()?, bytes: rest(bytes) },
            1 => {
                let (asked, written) = (bytes.arbitrary()?, bytes.arbitrary()?);
                Self::Changed { asked, written, changes: bytes.arbitrary()?, cut: bytes.arbitrary()? }
            }
            _ => Self::Table(bytes.arbitrary()?),
        })
    }
}

pub(crate) fn run(bytes: &[u8]) {
    crate::with(bytes, |input: &Input| match input {
        Input::Any { asked, bytes } => look(read_bytes(bytes, ".parquet", asked.args(&NAMES))),
        Input::Changed { asked, written, changes, cut } => {
            let mut bytes = written.file();
            for &(at, byte) in changes {
                let at = bytes.len() - 1 - usize::from(at) % bytes.len();
                bytes[at] = byte;
            }
            bytes.truncate(bytes.len() - usize::from(cut.unwrap_or(0)).min(bytes.len()));
            look(read_bytes(&bytes, ".parquet", asked.args(&NAMES)));
        }
        Input::Table(written) => {
            let asked = Asked::of(written.radius, written.in_space);
            let table = read_bytes(&written.file(), ".parquet", asked.args(&NAMES)).unwrap_or_else(|error| {
                panic!("{error:#} of {written:?}");
            });
            assert_eq!(bodies(&table), super::written(&written.rows(), written.radius));
        }
    });
}

impl Written {
    fn width(&self) -> usize {
        2 + usize::from(self.in_space) + usize::from(self.radius.is_none())
    }

    fn rows(&self) -> Vec<Vec<f32>> {
        let value =
            |number: &Number, kind: u8| if kind % 4 < 2 { number.value() } else { number.value() as i16 as f32 };
        let row =
            |row: &[Number; 4]| row[..self.width()].iter().zip(self.kinds).map(|(n, kind)| value(n, kind)).collect();
        self.rows.iter().take(60).map(row).collect()
    }

    fn file(&self) -> Vec<u8> {
        self.try_file().expect("written to memory")
    }

    fn try_file(&self) -> parquet::errors::Result<Vec<u8>> {
        let names = if self.in_space { ["x", "y", "z", "r"] } else { ["x", "y", "r", ""] };
        let kind = |at: usize| ["float", "double", "int32", "int64"][usize::from(self.kinds[at] % 4)];
        // Settings that found the committed cases stay as they were.
        let (version, encoding, optional) = match self.group / 32 {
            2 => (WriterVersion::PARQUET_2_0, Some(Encoding::BYTE_STREAM_SPLIT), false),
            4 => (WriterVersion::PARQUET_1_0, Some(Encoding::BYTE_STREAM_SPLIT), true),
            // Integers are encoded by their differences.
            5 => (WriterVersion::PARQUET_2_0, None, true),
            _ => (WriterVersion::PARQUET_1_0, None, false),
        };
        let occurs = if optional { "optional" } else { "required" };
        let fields: String = (0..self.width()).map(|at| format!("{occurs} {} {};", kind(at), names[at])).collect();
        let schema = Arc::new(parse_message_type(&format!("message bodies {{ {fields} }}"))?);
        let compression = match self.compression % 5 {
            0 => Compression::UNCOMPRESSED,
            1 => Compression::SNAPPY,
            2 => Compression::ZSTD(ZstdLevel::try_new(1)?),
            3 => Compression::LZ4_RAW,
            _ => Compression::GZIP(parquet::basic::GzipLevel::default()),
        };
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_dictionary_enabled(self.dictionary)
            .set_writer_version(version);
        let properties = encoding.into_iter().fold(properties, |properties, it| properties.set_encoding(it));
        let mut bytes = Vec::new();
        let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build()))?;
        let rows = self.rows();
        for group in rows.chunks(usize::from(self.group % 32) + 1) {
            let mut columns = file.next_row_group()?;
            for at in 0..self.width() {
                let values = || group.iter().map(|row| row[at]);
                let mut column = columns.next_column()?.expect("a column for each name");
                let levels = vec![1; group.len()];
                let levels = optional.then_some(&levels[..]);
                match self.kinds[at] % 4 {
                    0 => column.typed::<FloatType>().write_batch(&values().collect::<Vec<_>>(), levels, None)?,
                    1 => column.typed::<DoubleType>().write_batch(
                        &values().map(f64::from).collect::<Vec<_>>(),
                        levels,
                        None,
                    )?,
                    2 => column.typed::<Int32Type>().write_batch(
                        &values().map(|x| x as i32).collect::<Vec<_>>(),
                        levels,
                        None,
                    )?,
                    _ => column.typed::<Int64Type>().write_batch(
                        &values().map(|x| x as i64).collect::<Vec<_>>(),
                        levels,
                        None,
                    )?,
                };
                column.close()?;
            }
            columns.close()?;
        }
        file.close()?;
        Ok(bytes)
    }
}

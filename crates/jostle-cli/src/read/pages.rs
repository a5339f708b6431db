//! Checks the pages of a column of a Parquet file before they are decoded. At some damages the crate `parquet` panics,
//! or asks for more memory than the file can fill.

use ::parquet::basic::{Encoding, Type};
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::schema::types::ColumnDescriptor;

/// What is wrong with a page.
type Damage = &'static str;

const EARLY_END: Damage = "a page ends before its last value";

/// The pages of one chunk of a column. A page so damaged that its decoder would panic is refused.
///
/// The column holds numbers of 32 or 64 bits, and no lists.
pub(super) struct SoundPages {
    pages: Box<dyn PageReader>,
    /// Bytes of a value.
    width: usize,
    /// The definition level of a value that is there.
    full: i16,
    /// Values that may still come: the group has a row for each.
    left: usize,
    has_dictionary: bool,
}

impl SoundPages {
    pub(super) fn new(pages: Box<dyn PageReader>, column: &ColumnDescriptor, rows: usize) -> Self {
        let width = if matches!(column.physical_type(), Type::INT32 | Type::FLOAT) { 4 } else { 8 };
        Self { pages, width, full: column.max_def_level(), left: rows, has_dictionary: false }
    }

    fn check(&mut self, page: &Page) -> Result<(), Damage> {
        let count = page.num_values() as usize;
        let (levels, values) = match page {
            Page::DictionaryPage { buf, .. } => {
                self.has_dictionary = true;
                return self.check_plain(buf, count);
            }
            Page::DataPage { buf, def_level_encoding, .. } => self.parts(buf, *def_level_encoding, count)?,
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let mut rest = &buf[..];
                take(&mut rest, *rep_levels_byte_len as usize)?;
                (Levels::Runs(take(&mut rest, *def_levels_byte_len as usize)?), rest)
            }
        };
        self.left = self.left.checked_sub(count).ok_or("a page has more values than rows are left in its group")?;
        let count = if self.full > 0 { self.present(&levels, count)? } else { count };
        match page.encoding() {
            Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY if !self.has_dictionary => {
                Err("a page is one of values by a dictionary, which the column does not have")
            }
            Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY => {
                let (&bits, mut indices) = values.split_first().ok_or(EARLY_END)?;
                runs(&mut indices, bits.into(), count, |_, _| ())
            }
            Encoding::PLAIN | Encoding::BYTE_STREAM_SPLIT => self.check_plain(values, count),
            Encoding::DELTA_BINARY_PACKED => check_deltas(values, count),
            // Encodings at which the crate does not panic, or which it does not read.
            _ => Ok(()),
        }
    }

    /// Splits a page of the first version into definition levels and values.
    fn parts<'a>(
        &self,
        mut page: &'a [u8],
        encoding: Encoding,
        count: usize,
    ) -> Result<(Levels<'a>, &'a [u8]), Damage> {
        #[expect(deprecated, reason = "old files have it")]
        let packed = encoding == Encoding::BIT_PACKED;
        let levels = if self.full == 0 {
            Levels::Runs(&[])
        } else if packed {
            Levels::Packed(take(&mut page, (count * self.bits()).div_ceil(8))?)
        } else {
            let length = take(&mut page, 4)?.try_into().map(u32::from_le_bytes).unwrap_or_default();
            Levels::Runs(take(&mut page, length as usize)?)
        };
        Ok((levels, page))
    }

    /// Bits of a definition level.
    fn bits(&self) -> usize {
        (i16::BITS - self.full.leading_zeros()) as usize
    }

    /// Number of values that are there, by the levels of all.
    fn present(&self, levels: &Levels<'_>, count: usize) -> Result<usize, Damage> {
        let (bits, full, mut present) = (self.bits(), self.full as usize, 0);
        let packed = |levels: &[u8], count| (0..count).filter(|at| number(levels, at * bits, bits) == full).count();
        match levels {
            Levels::Packed(levels) => present = packed(levels, count),
            Levels::Runs(levels) => runs(&mut &levels[..], bits, count, |run, count| match run {
                Run::Repeated(level) => present += if number(level, 0, bits) == full { count } else { 0 },
                Run::Packed(levels) => present += packed(levels, count),
            })?,
        }
        Ok(present)
    }

    fn check_plain(&self, values: &[u8], count: usize) -> Result<(), Damage> {
        if values.len() / self.width < count { Err(EARLY_END) } else { Ok(()) }
    }
}

impl PageReader for SoundPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            self.check(page).map_err(|damage| ParquetError::General(format!("damaged: {damage}")))?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}

impl Iterator for SoundPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// Definition levels, by their encoding.
enum Levels<'a> {
    Runs(&'a [u8]),
    Packed(&'a [u8]),
}

/// A run of numbers of few bits each.
enum Run<'a> {
    /// One number, repeated.
    Repeated(&'a [u8]),
    /// Numbers one after the other.
    Packed(&'a [u8]),
}

/// Visits the runs of `count` numbers of `bits` bits, each with how many numbers it holds.
fn runs<'a>(
    bytes: &mut &'a [u8],
    bits: usize,
    count: usize,
    mut visit: impl FnMut(Run<'a>, usize),
) -> Result<(), Damage> {
    let mut left = count;
    while left > 0 {
        let header = varint(bytes)?;
        let length = usize::try_from(header >> 1).unwrap_or(usize::MAX);
        let (run, held) = match header {
            // Some writers fill pages with zeros.
            0 => continue,
            _ if header & 1 == 0 => (Run::Repeated(take(bytes, bits.div_ceil(8))?), length),
            _ => {
                // Some writers cut the last run short.
                let packed = take(bytes, length.saturating_mul(bits).min(bytes.len()))?;
                let whole = (packed.len() * 8).checked_div(bits).unwrap_or(usize::MAX);
                (Run::Packed(packed), length.saturating_mul(8).min(whole))
            }
        };
        visit(run, held.min(left));
        left -= held.min(left);
    }
    Ok(())
}

/// Checks numbers that are kept as differences, in blocks of blocks.
fn check_deltas(mut bytes: &[u8], count: usize) -> Result<(), Damage> {
    let mut header = [0; 4];
    for number in &mut header {
        *number = varint(&mut bytes)?;
    }
    let [block, parts, all, _first] = header.map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    if block > u32::MAX as usize || parts == 0 {
        return Err("the blocks of a page have no such length");
    }
    if all < count {
        return Err(EARLY_END);
    }
    // The first number stands in the header.
    let mut left = count.saturating_sub(1);
    while left > 0 {
        let _least = varint(&mut bytes)?;
        for &bits in take(&mut bytes, parts)? {
            let held = left.min(block / parts);
            take(&mut bytes, (held * usize::from(bits)).div_ceil(8))?;
            left -= held;
        }
    }
    Ok(())
}

/// Takes bytes off the beginning.
pub(super) fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8], Damage> {
    bytes.split_off(..count).ok_or(EARLY_END)
}

/// Takes a number with seven bits in each byte off the beginning.
pub(super) fn varint(bytes: &mut &[u8]) -> Result<u64, Damage> {
    let mut number = 0;
    for at in 0..10 {
        let &byte = bytes.split_off_first().ok_or(EARLY_END)?;
        number |= u64::from(byte & 0x7F) << (7 * at);
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err("a page has a number of more than ten bytes")
}

/// Returns up to 16 bits from bit `at` on; bits beyond the last byte are zero.
fn number(bytes: &[u8], at: usize, bits: usize) -> usize {
    let byte = |k: usize| usize::from(bytes.get(at / 8 + k).copied().unwrap_or(0)) << (8 * k);
    (byte(0) | byte(1) | byte(2)) >> (at % 8) & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;
    use std::sync::Arc;

    use ::parquet::basic::{Encoding, Type};
    use ::parquet::column::page::{Page, PageMetadata, PageReader};
    use ::parquet::column::reader::ColumnReaderImpl;
    use ::parquet::data_type::{DataType, DoubleType, FloatType, Int32Type, Int64Type};
    use ::parquet::errors::Result;
    use ::parquet::file::properties::{WriterProperties, WriterVersion};
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::parser::parse_message_type;
    use ::parquet::schema::types::ColumnDescPtr;
    use bytes::Bytes;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::SoundPages;

    const ROWS: usize = 300;

    struct Given(std::vec::IntoIter<Page>);

    impl Iterator for Given {
        type Item = Result<Page>;

        fn next(&mut self) -> Option<Self::Item> {
            self.0.next().map(Ok)
        }
    }

    impl PageReader for Given {
        fn get_next_page(&mut self) -> Result<Option<Page>> {
            Ok(self.0.next())
        }

        fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
            Ok(None)
        }

        fn skip_next_page(&mut self) -> Result<()> {
            Ok(())
        }
    }

    /// A column as it is written, in three pages at least.
    #[derive(Debug, Clone, Copy)]
    struct Kind {
        stored: Type,
        /// One row in so many has no value; `None` if the column requires values.
        empty: Option<usize>,
        version: WriterVersion,
        /// `None` is a dictionary.
        encoding: Option<Encoding>,
    }

    impl Kind {
        /// Every kind that the crate writes for a type.
        fn all(stored: Type) -> impl Iterator<Item = Self> {
            let own = match stored {
                Type::INT32 | Type::INT64 => Encoding::DELTA_BINARY_PACKED,
                _ => Encoding::ALP,
            };
            let encodings = [None, Some(Encoding::PLAIN), Some(Encoding::BYTE_STREAM_SPLIT), Some(own)];
            let empty = [None, Some(usize::MAX), Some(7)];
            let versions = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
            encodings.into_iter().flat_map(move |encoding| {
                empty.into_iter().flat_map(move |empty| {
                    versions.into_iter().map(move |version| Self { stored, empty, version, encoding })
                })
            })
        }

        fn pages<T: DataType>(self, values: &[T::T]) -> (ColumnDescPtr, Vec<Page>) {
            let occurs = if self.empty.is_some() { "optional" } else { "required" };
            let schema = format!("message m {{ {occurs} {} x; }}", self.stored).to_lowercase();
            let properties = WriterProperties::builder()
                .set_writer_version(self.version)
                .set_dictionary_enabled(self.encoding.is_none())
                .set_encoding(self.encoding.unwrap_or(Encoding::PLAIN))
                .set_data_page_row_count_limit(100)
                .set_write_batch_size(50);
            let mut bytes = Vec::new();
            let schema = Arc::new(parse_message_type(&schema).unwrap());
            let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build())).unwrap();
            let mut group = file.next_row_group().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            let levels: Vec<_> = (1..=ROWS).map(|row| i16::from(row % self.empty.unwrap_or(row + 1) != 0)).collect();
            let there = &values[..levels.iter().filter(|&&level| level == 1).count()];
            column.typed::<T>().write_batch(there, self.empty.and(Some(&levels)), None).unwrap();
            column.close().unwrap();
            group.close().unwrap();
            file.close().unwrap();
            let file = SerializedFileReader::new(Bytes::from(bytes)).unwrap();
            let pages = file.get_row_group(0).unwrap().get_column_page_reader(0).unwrap();
            (file.metadata().file_metadata().schema_descr().column(0), pages.map(Result::unwrap).collect())
        }
    }

    /// Reads all the values that are there.
    fn read<T: DataType>(column: &ColumnDescPtr, pages: Vec<Page>) -> Result<Vec<T::T>> {
        let pages = SoundPages::new(Box::new(Given(pages.into_iter())), column, ROWS);
        let mut reader = ColumnReaderImpl::<T>::new(Arc::clone(column), Box::new(pages));
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        while reader.read_records(64, Some(&mut levels), None, &mut values)?.0 > 0 {}
        Ok(values)
    }

    /// Damages a page in a random way.
    fn damage(pages: &mut Vec<Page>, rng: &mut Pcg64Mcg) {
        let (at, what, any) = (rng.random_range(0..pages.len()), rng.random_range(0..9), rng.random::<u32>());
        let few = any % 200;
        let odd =
            [Encoding::PLAIN, Encoding::RLE_DICTIONARY, Encoding::BYTE_STREAM_SPLIT, Encoding::DELTA_BINARY_PACKED];
        let (Page::DataPage { buf, num_values, encoding, .. }
        | Page::DataPageV2 { buf, num_values, encoding, .. }
        | Page::DictionaryPage { buf, num_values, encoding, .. }) = &mut pages[at];
        match what {
            0 => *buf = buf.slice(..any as usize % (buf.len() + 1)),
            1 => *num_values = few,
            2 => *num_values = any,
            3 => *encoding = odd[any as usize % odd.len()],
            4 => drop(pages.remove(at)),
            5 => match &mut pages[at] {
                #[expect(deprecated, reason = "old files have it")]
                Page::DataPage { def_level_encoding, .. } => *def_level_encoding = Encoding::BIT_PACKED,
                Page::DataPageV2 { def_levels_byte_len, .. } => *def_levels_byte_len = few,
                Page::DictionaryPage { .. } => (),
            },
            6 => match &mut pages[at] {
                Page::DataPageV2 { num_nulls, rep_levels_byte_len, .. } => {
                    (*num_nulls, *rep_levels_byte_len) = (any % 8, any / 8 % 8);
                }
                _ => drop(pages.drain(..at)),
            },
            _ => {
                let mut bytes = buf.to_vec();
                // Mostly at the beginning, which holds the most information.
                let from = rng.random_range(0..=bytes.len() / if any.is_multiple_of(4) { 1 } else { 16 });
                let byte = if any.is_multiple_of(3) { 0xFF } else { (any >> 8) as u8 };
                bytes.iter_mut().skip(from).take(1 + any as usize / 16 % 16).for_each(|at| *at = byte);
                *buf = bytes.into();
            }
        }
    }

    fn whole_and_damaged<T: DataType<T: From<i16> + PartialEq + Debug>>() {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        // Equal, rising and mixed values.
        let value = |row: usize| [9, row as i16, (row * row % 251) as i16 - 100][row / 40 % 3];
        let values: Vec<_> = (0..ROWS).map(|row| T::T::from(value(row))).collect();
        for kind in Kind::all(T::get_physical_type()) {
            let (column, pages) = kind.pages::<T>(&values);
            assert!(pages.len() >= 3, "{kind:?}: {} pages", pages.len());
            let there = read::<T>(&column, pages.clone()).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
            assert_eq!(there, values[..ROWS - ROWS / kind.empty.unwrap_or(ROWS + 1)], "{kind:?}");
            for _ in 0..500 {
                let mut pages = pages.clone();
                for _ in 0..rng.random_range(1..3) {
                    if !pages.is_empty() {
                        damage(&mut pages, &mut rng);
                    }
                }
                // Some damages cannot be detected.
                let _ = read::<T>(&column, pages);
            }
        }
    }

    #[test]
    fn pages_of_every_kind_are_read_and_damaged_ones_refused() {
        whole_and_damaged::<FloatType>();
        whole_and_damaged::<DoubleType>();
        whole_and_damaged::<Int32Type>();
        whole_and_damaged::<Int64Type>();
    }
}

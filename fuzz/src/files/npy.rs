//! NumPy arrays: any bytes, any header, and arrays as NumPy writes them, whole or cut.

use arbitrary::{Arbitrary, Result, Unstructured};

use super::{Asked, bodies, look, read_bytes, rest, written};
use crate::number::Number;

#[derive(Debug)]
enum Input {
    Any {
        asked: Asked,
        bytes: Vec<u8>,
    },
    /// A header of any bytes, and any bytes after it.
    Header {
        asked: Asked,
        text: Vec<u8>,
        rest: Vec<u8>,
        version: u8,
    },
    Fields {
        asked: Asked,
        kind: u8,
        shape: Vec<u64>,
        columns_first: bool,
        rest: Vec<u8>,
    },
    Array(Written),
}

arbitrary! {
    /// How an array is written.
    #[derive(Debug)]
    struct Written {
        rows: Vec<[Number; 4]>,
        in_space: bool,
        radius: Option<Number>,
        wide: bool,
        big_endian: bool,
        columns_first: bool,
        /// Bytes missing at the end.
        cut: Option<u8>,
    }
}

/// The caller asks for columns of an array by position.
const NAMES: [&str; 6] = ["1", "2", "3", "4", "0", "x"];

const KINDS: [&str; 12] =
    ["<f4", ">f4", "<f8", ">f8", "<i4", "<u8", "|b1", "<c8", "<f2", "|O", "<U3", "[('x', '<f4'), ('y', '<f4')]"];

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match bytes.arbitrary::<u8>()? % 4 {
            0 => Self::Any { asked: bytes.arbitrary()?, bytes: rest(bytes) },
            1 => {
                let (asked, version, length) = (bytes.arbitrary()?, bytes.arbitrary()?, bytes.arbitrary::<u8>()?);
                let text = bytes.bytes(bytes.len().min(length.into()))?.to_vec();
                Self::Header { asked, text, version, rest: rest(bytes) }
            }
            2 => {
                let (asked, kind, shape) = (bytes.arbitrary()?, bytes.arbitrary()?, bytes.arbitrary()?);
                Self::Fields { asked, kind, shape, columns_first: bytes.arbitrary()?, rest: rest(bytes) }
            }
            _ => Self::Array(bytes.arbitrary()?),
        })
    }
}

pub(crate) fn run(bytes: &[u8]) {
    crate::with(bytes, |input: &Input| match input {
        Input::Any { asked, bytes } => look(read_bytes(bytes, ".npy", asked.args(&NAMES))),
        Input::Header { asked, text, rest, version } => {
            look(read_bytes(&file(text, rest, 1 + version % 4), ".npy", asked.args(&NAMES)));
        }
        Input::Fields { asked, kind, shape, columns_first, rest } => {
            let text = header(KINDS[usize::from(*kind) % KINDS.len()], *columns_first, shape);
            look(read_bytes(&file(text.as_bytes(), rest, 1), ".npy", asked.args(&NAMES)));
        }
        Input::Array(written) => written.check(),
    });
}

fn header(kind: &str, columns_first: bool, shape: &[u64]) -> String {
    let kind = if kind.starts_with('[') { kind.to_owned() } else { format!("'{kind}'") };
    let shape: String = shape.iter().map(|length| format!("{length},")).collect();
    let order = if columns_first { "True" } else { "False" };
    format!("{{'descr': {kind}, 'fortran_order': {order}, 'shape': ({shape}), }}\n")
}

/// Returns a file of this version of the format.
fn file(header: &[u8], rest: &[u8], version: u8) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    let length = (header.len() as u32).to_le_bytes();
    bytes.extend(&length[..if version == 1 { 2 } else { 4 }]);
    bytes.extend(header);
    bytes.extend(rest);
    bytes
}

impl Written {
    fn check(&self) {
        let width = 2 + usize::from(self.in_space) + usize::from(self.radius.is_none());
        let rows: Vec<Vec<f32>> =
            self.rows.iter().take(60).map(|row| row[..width].iter().map(|number| number.value()).collect()).collect();
        let by_rows = rows.iter().flatten().copied();
        let by_columns = (0..width).flat_map(|at| rows.iter().map(move |row| row[at]));
        let values: Vec<f32> = if self.columns_first { by_columns.collect() } else { by_rows.collect() };
        let mut data: Vec<u8> = values.into_iter().flat_map(|value| self.bytes(value)).collect();
        let missing = usize::from(self.cut.unwrap_or(0)).min(data.len());
        data.truncate(data.len() - missing);
        let (order, size) = (if self.big_endian { '>' } else { '<' }, if self.wide { 8 } else { 4 });
        let header = header(&format!("{order}f{size}"), self.columns_first, &[rows.len() as u64, width as u64]);
        let asked = Asked::of(self.radius, self.in_space);
        let table = read_bytes(&file(header.as_bytes(), &data, 1), ".npy", asked.args(&NAMES));
        match table {
            Ok(table) => {
                assert_eq!(missing, 0, "values that the file has not");
                assert_eq!(bodies(&table), written(&rows, self.radius));
            }
            Err(error) => assert!(missing > 0, "{error:#} of {rows:?}"),
        }
    }

    fn bytes(&self, value: f32) -> Vec<u8> {
        match (self.wide, self.big_endian) {
            (true, true) => f64::from(value).to_be_bytes().to_vec(),
            (true, false) => f64::from(value).to_le_bytes().to_vec(),
            (false, true) => value.to_be_bytes().to_vec(),
            (false, false) => value.to_le_bytes().to_vec(),
        }
    }
}

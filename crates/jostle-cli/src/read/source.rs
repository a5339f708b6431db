//! Where bytes come from: a file or standard input, packed or not, and which format they have.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read, Seek};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use flate2::bufread::GzDecoder;

use super::progress;
use crate::names::{STDIO, ending};

/// Bytes read at once.
const BUFFER: usize = 1 << 18;

/// The first bytes of what gzip has packed.
const GZIP: &[u8] = b"\x1f\x8b";

/// Most bytes of a beginning by which a file is known.
const MAGIC: usize = 6;

/// Bytes whose beginning has been read.
pub(super) type Peeked = Chain<Cursor<Vec<u8>>, Box<dyn Read>>;

/// What the bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Npy,
    Parquet,
}

/// Bytes, and what they are.
pub(super) struct Source {
    pub(super) format: Format,
    pub(super) bytes: Bytes,
}

/// The bytes of a source.
pub(super) enum Bytes {
    /// A file, which can be read from any place, and its length.
    File(File, u64),
    /// Bytes that can only be read from beginning to end.
    Stream(Box<dyn Read>),
}

impl Source {
    /// Opens a file, or standard input. The ending of its name tells the format; without a name, the first bytes tell
    /// it.
    pub(super) fn open(path: &Path) -> Result<Self> {
        if path == Path::new(STDIO) {
            return Self::by_beginning(Box::new(io::stdin()));
        }
        let mut file = File::open(path).context("cannot open")?;
        let about = file.metadata().context("cannot open")?;
        ensure!(!about.is_dir(), "this is a folder");
        let packed = ending(path).as_deref() == Some("gz");
        let name = if packed { path.with_extension("") } else { path.to_owned() };
        let format = match ending(&name).as_deref() {
            Some("csv" | "tsv" | "txt") => Some(Format::Text),
            Some("npy") => Some(Format::Npy),
            Some("parquet") => Some(Format::Parquet),
            // A pipe has no name of its own, nor has a file by the name /dev/stdin.
            None if packed || !about.is_file() || path.starts_with("/dev") => None,
            _ => bail!("the name of the file must end in .csv, .tsv, .txt, .npy or .parquet, and .gz if it is packed"),
        };
        if about.is_file() {
            ensure!(about.len() > 0, "the file is empty");
            if let (Some(format), false) = (format, packed) {
                let mut magic = Vec::new();
                file.by_ref().take(GZIP.len() as u64).read_to_end(&mut magic).context("cannot read")?;
                ensure!(magic != GZIP, "this is packed by gzip: its name must end in .gz");
                file.rewind().context("cannot read")?;
                return Ok(Self { format, bytes: Bytes::File(file, about.len()) });
            }
        }
        let bytes = progress::bar(about.len()).wrap_read(file);
        match format {
            Some(format) => {
                Ok(Self { format, bytes: Bytes::Stream(if packed { unpack(bytes) } else { Box::new(bytes) }) })
            }
            None => Self::by_beginning(Box::new(bytes)),
        }
    }

    /// Tells the format by the first bytes; of packed bytes, by the first unpacked ones.
    fn by_beginning(bytes: Box<dyn Read>) -> Result<Self> {
        let (magic, bytes) = peek(bytes)?;
        if magic.starts_with(GZIP) {
            let (magic, bytes) = peek(unpack(bytes))?;
            return Ok(Self { format: Format::of(&magic), bytes: Bytes::Stream(Box::new(bytes)) });
        }
        Ok(Self { format: Format::of(&magic), bytes: Bytes::Stream(Box::new(bytes)) })
    }
}

impl Bytes {
    /// Returns the bytes one after the other. A bar shows how many of a file have been read.
    pub(super) fn stream(self) -> Box<dyn Read> {
        match self {
            Self::File(file, length) => Box::new(progress::bar(length).wrap_read(file)),
            Self::Stream(bytes) => bytes,
        }
    }

    /// Number of bytes, if it is known.
    pub(super) fn length(&self) -> Option<u64> {
        match self {
            Self::File(_, length) => Some(*length),
            Self::Stream(_) => None,
        }
    }
}

impl Format {
    fn of(magic: &[u8]) -> Self {
        if magic.starts_with(b"PAR1") {
            Self::Parquet
        } else if magic.starts_with(b"\x93NUMPY") {
            Self::Npy
        } else {
            Self::Text
        }
    }
}

fn unpack(bytes: impl Read + 'static) -> Box<dyn Read> {
    Box::new(Unpacked(Some(GzDecoder::new(BufReader::with_capacity(BUFFER, bytes)))))
}

/// What gzip has packed, in one part or in several.
struct Unpacked<R>(Option<GzDecoder<BufReader<R>>>);

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(part) = &mut self.0 {
            let read = part.read(into)?;
            if read > 0 || into.is_empty() {
                return Ok(read);
            }
            let next = part.get_mut().fill_buf()?;
            if next.is_empty() {
                break;
            }
            if next[0] == 0 {
                skip_padding(part.get_mut())?;
                break;
            }
            if !GZIP.starts_with(&next[..next.len().min(GZIP.len())]) {
                return Err(trailing());
            }
            self.0 = self.0.take().map(|part| GzDecoder::new(part.into_inner()));
        }
        Ok(0)
    }
}

/// Reads to the end, where only zeros may stand: tapes and disks fill their last block with them.
fn skip_padding(bytes: &mut impl BufRead) -> io::Result<()> {
    loop {
        let next = bytes.fill_buf()?;
        if next.is_empty() {
            return Ok(());
        }
        if next.iter().any(|&byte| byte != 0) {
            return Err(trailing());
        }
        let length = next.len();
        bytes.consume(length);
    }
}

fn trailing() -> io::Error {
    io::Error::other("there are bytes after the end of the packed data")
}

/// Returns the first bytes, and a reader of all bytes.
fn peek(mut bytes: Box<dyn Read>) -> Result<(Vec<u8>, Peeked)> {
    let mut magic = Vec::new();
    bytes.by_ref().take(MAGIC as u64).read_to_end(&mut magic).context("cannot read")?;
    ensure!(!magic.is_empty(), "nothing to read: this is empty");
    Ok((magic.clone(), Cursor::new(magic).chain(bytes)))
}

//! Numbers as files hold them.

use std::fmt;

use anyhow::{Result, ensure};

use crate::shown::{self, Number};

/// Why a value of a file cannot be used.
#[derive(Debug, PartialEq)]
pub(crate) enum Fault {
    /// Nothing there.
    Missing,
    /// Text that is no number.
    Text(String),
    /// Finite, but beyond the largest `f64`.
    TooLarge(String),
    /// An integer that `f64` would round.
    Inexact(i128),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(f, "no value"),
            Self::Text(text) => write!(f, "{} is not a number", shown::quoted(text)),
            Self::TooLarge(number) => write!(f, "{} does not fit a 64-bit float", shown::text(number)),
            Self::Inexact(number) => write!(f, "{number} is an integer that a 64-bit float would round"),
        }
    }
}

/// Turns an integer into the same number.
pub(crate) fn from_integer(number: impl Into<i128>) -> std::result::Result<f64, Fault> {
    let number = number.into();
    if number as f64 as i128 == number { Ok(number as f64) } else { Err(Fault::Inexact(number)) }
}

/// Turns the number of a row into an id.
pub(crate) fn id(row: usize, number: f64) -> Result<u32> {
    let id = number as u32;
    ensure!(f64::from(id) == number, "row {row}: {} is no id", Number(number));
    Ok(id)
}

/// Reads the text of a field.
pub(crate) fn from_text(field: &[u8]) -> std::result::Result<f64, Fault> {
    let field = field.trim_ascii();
    if field.is_empty() {
        return Err(Fault::Missing);
    }
    let number = std::str::from_utf8(field).ok().and_then(|text| text.parse::<f64>().ok());
    let text = || String::from_utf8_lossy(field).into_owned();
    match number {
        // Only a number too large for f64 is written in digits and read as infinite.
        Some(number) if number.is_infinite() && field.iter().any(u8::is_ascii_digit) => Err(Fault::TooLarge(text())),
        Some(number) => Ok(number),
        None => Err(Fault::Text(text())),
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, from_integer, from_text};

    #[test]
    fn text() {
        assert_eq!(from_text(b" -1.5e3\t"), Ok(-1500.0));
        assert_eq!(from_text(b"4512345.1"), Ok(4_512_345.1));
        assert_eq!(from_text(b"inf"), Ok(f64::INFINITY));
        assert!(from_text(b"nan").unwrap().is_nan());
        assert_eq!(from_text(b"1e309"), Err(Fault::TooLarge("1e309".to_owned())));
        assert_eq!(from_text(b"  "), Err(Fault::Missing));
        assert_eq!(from_text(b"1,5"), Err(Fault::Text("1,5".to_owned())));
        assert_eq!(from_text(b"\xff"), Err(Fault::Text("\u{fffd}".to_owned())));
    }

    #[test]
    fn integers() {
        assert_eq!(from_integer(-(1_i64 << 53)), Ok(-9_007_199_254_740_992.0));
        assert_eq!(from_integer((1_i64 << 53) + 1), Err(Fault::Inexact(9_007_199_254_740_993)));
        assert_eq!(from_integer(1_u64 << 63), Ok(9_223_372_036_854_775_808.0));
        assert_eq!(from_integer(u64::MAX), Err(Fault::Inexact(u64::MAX.into())));
    }
}

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
    Inexact(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(f, "no value"),
            Self::Text(text) => write!(f, "{} is not a number", shown::quoted(text)),
            Self::TooLarge(number) => write!(f, "{} does not fit a 64-bit float", shown::text(number)),
            Self::Inexact(number) => {
                write!(f, "{} is an integer that a 64-bit float would round", shown::text(number))
            }
        }
    }
}

/// Integers of fewer digits are never rounded.
const EXACT_DIGITS: usize = 16;

/// Turns an integer into the same number.
pub(crate) fn from_integer(number: impl Into<i128>) -> std::result::Result<f64, Fault> {
    let number = number.into();
    if number as f64 as i128 == number { Ok(number as f64) } else { Err(Fault::Inexact(number.to_string())) }
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
        Some(number) if is_rounded(field, number) => Err(Fault::Inexact(text())),
        Some(number) => Ok(number),
        None => Err(Fault::Text(text())),
    }
}

/// Returns whether a field is meant as a number, even one that cannot be used.
pub(crate) fn is_number(field: &[u8]) -> bool {
    !matches!(from_text(field), Err(Fault::Missing | Fault::Text(_)))
}

/// Returns whether a field is an integer, written in digits alone, that differs from the number it was read as. The fewest
/// digits that tell a float from all others, and zeros, are no such integer: many programs write large floats so.
fn is_rounded(field: &[u8], number: f64) -> bool {
    if field.len() < EXACT_DIGITS {
        return false;
    }
    let digits = field.strip_prefix(b"-").or(field.strip_prefix(b"+")).unwrap_or(field);
    if !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let leading_zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    let digits = &digits[leading_zeros..];
    if digits.len() < EXACT_DIGITS {
        return false;
    }
    let (all_digits, fewest_digits) = (format!("{:.0}", number.abs()), number.abs().to_string());
    all_digits.as_bytes() != digits && fewest_digits.as_bytes() != digits
}

#[cfg(test)]
mod tests {
    use super::{Fault, from_integer, from_text, is_number};

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
    fn integers_of_text() {
        for exact in ["9007199254740992", "-9007199254740994", "+000000000000000000001", "0000000000000000"] {
            assert_eq!(from_text(exact.as_bytes()), Ok(exact.parse().unwrap()));
        }
        for float in [f64::from(f32::MIN), 2_f64.powi(60), f64::MAX] {
            assert_eq!(from_text(float.to_string().as_bytes()), Ok(float));
        }
        assert!(from_text(b"1152921504606847001").is_err());
        let power = format!("{:.0}", 2_f64.powi(200));
        assert_eq!(from_text(power.as_bytes()), Ok(2_f64.powi(200)));
        for rounded in ["9007199254740993", " -9007199254740993", "+009007199254740993", &format!("{power}1")] {
            let fault = Fault::Inexact(rounded.trim().to_owned());
            assert_eq!(from_text(rounded.as_bytes()), Err(fault));
            assert!(is_number(rounded.as_bytes()));
        }
        // A point or an exponent says that the number is a measure.
        assert_eq!(from_text(b"9007199254740993.0"), Ok(9_007_199_254_740_992.0));
        assert_eq!(from_text(b"9007199254740993e0"), Ok(9_007_199_254_740_992.0));
        assert!(is_number(b"1e999") && !is_number(b"") && !is_number(b"x"));
    }

    #[test]
    fn integers() {
        assert_eq!(from_integer(-(1_i64 << 53)), Ok(-9_007_199_254_740_992.0));
        assert_eq!(from_integer((1_i64 << 53) + 1), Err(Fault::Inexact("9007199254740993".to_owned())));
        assert_eq!(from_integer(1_u64 << 63), Ok(9_223_372_036_854_775_808.0));
        assert_eq!(from_integer(u64::MAX), Err(Fault::Inexact(u64::MAX.to_string())));
    }
}

//! Numbers as files hold them, turned into the 32-bit floats that the search works with.

use std::fmt;

/// Why a value of a file cannot be used.
#[derive(Debug, PartialEq)]
pub(crate) enum Fault {
    /// Nothing there.
    Missing,
    /// Text that is no number.
    Text(String),
    /// Finite, but beyond the largest `f32`.
    TooLarge(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(f, "no value"),
            Self::Text(text) => write!(f, "{text:?} is not a number"),
            Self::TooLarge(number) => write!(f, "{number} does not fit a 32-bit float"),
        }
    }
}

/// Rounds to the nearest `f32`. What is not finite stays so: the search refuses it, and says which body it is.
pub(crate) fn from_f64(number: f64) -> Result<f32, Fault> {
    let narrow = number as f32;
    if narrow.is_infinite() && number.is_finite() { Err(Fault::TooLarge(format!("{number:e}"))) } else { Ok(narrow) }
}

/// Reads the text of a field.
pub(crate) fn from_text(field: &[u8]) -> Result<f32, Fault> {
    let field = field.trim_ascii();
    if field.is_empty() {
        return Err(Fault::Missing);
    }
    let number = std::str::from_utf8(field).ok().and_then(|text| text.parse::<f32>().ok());
    let text = || String::from_utf8_lossy(field).into_owned();
    match number {
        // Only a number too large for f32 is written in digits and read as infinite.
        Some(number) if number.is_infinite() && field.iter().any(u8::is_ascii_digit) => Err(Fault::TooLarge(text())),
        Some(number) => Ok(number),
        None => Err(Fault::Text(text())),
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, from_f64, from_text};

    #[test]
    fn text() {
        assert_eq!(from_text(b" -1.5e3\t"), Ok(-1500.0));
        assert_eq!(from_text(b"inf"), Ok(f32::INFINITY));
        assert!(from_text(b"nan").unwrap().is_nan());
        assert_eq!(from_text(b"1e39"), Err(Fault::TooLarge("1e39".to_owned())));
        assert_eq!(from_text(b"  "), Err(Fault::Missing));
        assert_eq!(from_text(b"1,5"), Err(Fault::Text("1,5".to_owned())));
        assert_eq!(from_text(b"\xff"), Err(Fault::Text("\u{fffd}".to_owned())));
    }

    #[test]
    fn wide_numbers() {
        assert_eq!(from_f64(0.1), Ok(0.1));
        assert_eq!(from_f64(f64::NEG_INFINITY), Ok(f32::NEG_INFINITY));
        assert!(from_f64(f64::NAN).unwrap().is_nan());
        assert_eq!(from_f64(-4e38), Err(Fault::TooLarge("-4e38".to_owned())));
        assert_eq!(from_f64(1e-60), Ok(0.0));
    }
}

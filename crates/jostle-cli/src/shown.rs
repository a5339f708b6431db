//! Text and numbers of files, as messages show them: in bounded length, and without bytes that a terminal obeys.

use std::fmt;

/// About as many bytes of a name or a field are shown at most.
const LONGEST: usize = 100;

/// Most names that are shown.
const NAMES: usize = 10;

/// Most bytes of names that are shown.
const BYTES: usize = 200;

/// Returns the beginning of a text, with what is not printable escaped. Quotes stay as they are.
pub(crate) fn text(text: &str) -> String {
    let (shown, rest) = escaped(text, &['"', '\'']);
    shown + rest
}

/// Returns the beginning of a text in quotes, with what is not printable escaped.
pub(crate) fn quoted(text: &str) -> String {
    let (shown, rest) = escaped(text, &['\'']);
    format!("\"{shown}\"{rest}")
}

/// Escapes all that is not printable but `plain`, and returns dots if there is more.
fn escaped(text: &str, plain: &[char]) -> (String, &'static str) {
    let mut shown = String::new();
    for c in text.chars() {
        if shown.len() >= LONGEST {
            return (shown, "...");
        }
        if plain.contains(&c) {
            shown.push(c);
        } else {
            shown.extend(c.escape_debug());
        }
    }
    (shown, "")
}

/// Returns the first of several names, and how many more there are.
pub(crate) fn list(names: &[String]) -> String {
    let mut shown = String::new();
    for (at, name) in names.iter().enumerate() {
        let name = text(name);
        if at == NAMES || at > 0 && shown.len() + name.len() > BYTES {
            return format!("{shown} and {} more", names.len() - at);
        }
        if at > 0 {
            shown.push_str(", ");
        }
        shown.push_str(&name);
    }
    shown
}

/// A number, with an exponent where it would have many zeros without.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number(pub(crate) f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self.0 == 0.0 || !self.0.is_finite() || (1e-5..1e17).contains(&self.0.abs());
        if plain { fmt::Display::fmt(&self.0, f) } else { fmt::LowerExp::fmt(&self.0, f) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Number, list, quoted, text};

    #[test]
    fn texts_are_bounded_and_printable() {
        assert_eq!(text("its \"x\" in 'm'"), "its \"x\" in 'm'");
        assert_eq!(text("\u{1b}[31mé\t"), "\\u{1b}[31mé\\t");
        assert_eq!(text(&"é".repeat(50)), "é".repeat(50));
        assert_eq!(text(&"é".repeat(51)), format!("{}...", "é".repeat(50)));
        assert_eq!(quoted("a\n \"'"), format!("{:?}", "a\n \"'"));
        assert_eq!(quoted(&"é".repeat(51)), format!("\"{}\"...", "é".repeat(50)));
    }

    #[test]
    fn lists_of_names_are_bounded() {
        let names = |count: usize, name: &str| vec![name.to_owned(); count];
        assert_eq!(list(&[]), "");
        assert_eq!(list(&names(10, "x")), "x, x, x, x, x, x, x, x, x, x");
        assert_eq!(list(&names(12, "x")), "x, x, x, x, x, x, x, x, x, x and 2 more");
        let long = names(9, &"n".repeat(1000));
        assert!(list(&long).len() < 200 && list(&long).ends_with("... and 8 more"), "{}", list(&long));
    }

    #[test]
    fn numbers_have_few_digits() {
        let shown = [1e308, -1e17, 99_999_999_999_999_984.0, 0.1, 1e-5, 2.5e-6, 0.0, f64::NAN, f64::INFINITY];
        let shown = shown.map(|number| Number(number).to_string());
        assert_eq!(shown, ["1e308", "-1e17", "99999999999999980", "0.1", "0.00001", "2.5e-6", "0", "NaN", "inf"]);
        assert_eq!(
            format!("{:.6} {:.6} {:.6}", Number(0.5), Number(2e20), Number(0.0)),
            "0.500000 2.000000e20 0.000000"
        );
    }
}

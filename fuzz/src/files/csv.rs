//! Comma-separated text: any bytes, and tables written in the many ways that the reader takes.

use arbitrary::{Arbitrary, Result, Unstructured};

use super::{Asked, bodies, look, read_bytes, rest, written};
use crate::number::Number;

const NAMES: [&str; 6] = ["x", "y", "z", "r", "", "name"];

#[derive(Debug)]
enum Input {
    Any { asked: Asked, bytes: Vec<u8> },
    Table(Written),
}

arbitrary! {
    /// How a table is written.
    #[derive(Debug)]
    struct Written {
        rows: Vec<[Number; 4]>,
        in_space: bool,
        radius: Option<Number>,
        carriage_returns: bool,
        end: bool,
        /// Spaces around fields, quotes around them, and blank lines, one bit each.
        style: u8,
        extra: Option<Vec<u8>>,
    }
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match bytes.arbitrary::<u8>()? % 2 {
            0 => Self::Any { asked: bytes.arbitrary()?, bytes: rest(bytes) },
            _ => Self::Table(bytes.arbitrary()?),
        })
    }
}

pub(crate) fn run(bytes: &[u8]) {
    crate::with(bytes, |input: &Input| match input {
        Input::Any { asked, bytes } => look(read_bytes(bytes, ".csv", asked.args(&NAMES))),
        Input::Table(written) => written.check(),
    });
}

impl Written {
    fn check(&self) {
        let dim = if self.in_space { 3 } else { 2 };
        let width = dim + usize::from(self.radius.is_none());
        let names = if self.in_space { ["x", "y", "z", "r"] } else { ["x", "y", "r", ""] };
        let rows: Vec<Vec<f32>> =
            self.rows.iter().take(60).map(|row| row[..width].iter().map(|number| number.value()).collect()).collect();
        let mut lines = vec![self.line(names[..width].iter().map(|&name| name.to_owned()))];
        for row in &rows {
            if self.style & 4 != 0 {
                lines.push(" ".repeat(usize::from(self.style >> 4)));
            }
            // The shortest text that is read as the same number, so that nothing is rounded to f32.
            lines.push(self.line(row.iter().map(|x| format!("{:?}", f64::from(*x)))));
        }
        let end = if self.carriage_returns { "\r\n" } else { "\n" };
        let text = lines.join(end) + if self.end { end } else { "" };
        let asked = Asked::of(self.radius, self.in_space);
        let table = read_bytes(text.as_bytes(), ".csv", asked.args(&NAMES)).unwrap_or_else(|error| {
            panic!("{error:#} in {text:?}");
        });
        assert_eq!(bodies(&table), written(&rows, self.radius), "{text:?}");
    }

    fn line(&self, fields: impl Iterator<Item = String>) -> String {
        let field = |field: String| match self.style & 3 {
            0 => field,
            1 => format!(" {field}\t"),
            2 => format!("\"{field}\""),
            _ => format!("\" {field} \""),
        };
        let extra = self.extra.as_ref().map(|extra| {
            let text: String = extra.iter().map(|&byte| char::from(b'!' + byte % 90)).collect();
            // A name that the reader does not look for.
            format!("\"_{}\"", text.replace('"', "\"\""))
        });
        extra.into_iter().chain(fields.map(field)).collect::<Vec<_>>().join(",")
    }
}

//! Any text as a message to the live view. It is refused, or read as documented and answered in JSON.

use jostle::{Boxes, Circles, PairFinder, Spheres};
use jostle_view::{Heard, Shown, View, hear};

/// Bodies far apart, close together, in one place, and points.
const X: [f32; 9] = [0.0, 0.0, 1.5, 9.0, 9.5, 9.5, 1e18, -3.0, 1e-30];
const Y: [f32; 9] = [0.0, 0.0, 0.5, 9.0, 9.0, -4.0, -1e18, 2.0, 0.0];
const Z: [f32; 9] = [0.0, 0.0, 1.0, 5.0, -5.0, 0.0, 1e18, 2.0, 0.0];
const RADIUS: [f32; 9] = [1.0, 0.0, 1.0, 0.25, 0.5, 2.0, 1e17, 0.0, 1e-30];
/// Upper corners of boxes whose lower corners are these points: flat boxes, large boxes, and endless boxes.
const UPPER: [[f32; 9]; 2] = [
    [0.0, 1.0, 9.0, f32::INFINITY, 9.5, 10.0, f32::MAX, -3.0, 1.0],
    [0.0, 2.0, 0.5, 9.0, 1e30, -3.0, f32::MAX, 2.5, f32::INFINITY],
];

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let view = Circles::new(&X, &Y, &RADIUS);
    let boxes = Boxes::new([&X, &Y], UPPER.each_ref());
    let (mut plane, mut space, mut cornered) = (PairFinder::new(), PairFinder::new(), PairFinder::new());
    let flat = plane.find(view).expect("sound circles");
    let boxed = cornered.find(boxes).expect("sound boxes");
    let deep = space.find(Spheres::new(&X, &Y, &Z, &RADIUS)).expect("sound spheres");
    // Several messages at once, a line each.
    for text in text.lines().take(16) {
        let worlds: [(View<'_>, Shown<'_>); 3] = [
            (view.into(), Shown::from(&flat)),
            (view.into(), Shown::from(&deep).with_heights(&Z)),
            (boxes.into(), Shown::from(&boxed)),
        ];
        for (view, shown) in worlds {
            match hear(text, view, &shown) {
                None => {}
                Some(heard) => {
                    match heard {
                        Heard::Told(json) => check_json(&json),
                        Heard::Steer(command) => assert!(command.is_sound(), "{command:?}"),
                        Heard::Frames => {}
                    }
                    assert!(hear(&format!("{text} x"), view, &shown).is_none(), "{text:?} and more");
                }
            }
        }
    }
}

/// Checks that a text is one value of JSON, with nothing behind it.
fn check_json(json: &str) {
    let mut reader = Reader(json.as_bytes());
    assert!(reader.value().is_some() && reader.0.is_empty(), "no JSON from {:?} on: {json}", reader.0.len());
}

/// The bytes left to read. Here are no blanks between values, and no escapes but those of quotes and backslashes.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn eat(&mut self, byte: u8) -> Option<()> {
        let (&first, rest) = self.0.split_first()?;
        (first == byte).then(|| self.0 = rest)
    }

    fn value(&mut self) -> Option<()> {
        match self.0.first()? {
            b'{' => self.list(b'{', b'}', |reader| {
                reader.string()?;
                reader.eat(b':')?;
                reader.value()
            }),
            b'[' => self.list(b'[', b']', Self::value),
            b'"' => self.string(),
            _ => self.number(),
        }
    }

    fn list(&mut self, open: u8, close: u8, item: impl Fn(&mut Self) -> Option<()>) -> Option<()> {
        self.eat(open)?;
        if self.eat(close).is_some() {
            return Some(());
        }
        loop {
            item(self)?;
            if self.eat(b',').is_none() {
                return self.eat(close);
            }
        }
    }

    fn string(&mut self) -> Option<()> {
        self.eat(b'"')?;
        while self.eat(b'"').is_none() {
            let escaped = self.eat(b'\\').is_some();
            let (&byte, rest) = self.0.split_first()?;
            if byte < b' ' || (escaped && !b"\"\\u".contains(&byte)) {
                return None;
            }
            self.0 = rest;
        }
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        let end = self.0.iter().position(|byte| b",]}".contains(byte)).unwrap_or(self.0.len());
        let (number, rest) = self.0.split_at(end);
        let text = std::str::from_utf8(number).ok()?;
        let digits = text.bytes().all(|byte| byte.is_ascii_digit() || b"-+.eE".contains(&byte));
        self.0 = rest;
        (digits && text.parse::<f64>().is_ok_and(f64::is_finite)).then_some(())
    }
}

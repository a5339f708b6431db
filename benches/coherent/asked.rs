//! What the command line asks for.

use jostle_testkit::Kind;

use crate::MILLISECONDS;

/// What the command line asks for.
#[derive(Default)]
pub(crate) struct Asked {
    pub(crate) dims: Vec<usize>,
    pub(crate) rows: bool,
    pub(crate) gas: bool,
    pub(crate) flow: bool,
    /// Bodies turn back at the borders of the box that they stood in, so that they stay as dense as they were.
    pub(crate) walls: bool,
    /// One body in 4,096, but at least one, goes in each frame, and comes back elsewhere.
    pub(crate) turnover: bool,
    /// Bodies go round, in the plane of the first two axes.
    pub(crate) turning: bool,
    /// Bodies that overlap push each other away, between walls, and keep their speed on average.
    pub(crate) springs: bool,
    /// Space repeats with the box that bodies stood in. Bodies that leave it come in at the other side.
    pub(crate) periodic: bool,
    /// As `periodic`, but a body that leaves at one side along an axis comes in farther on along the axis before.
    pub(crate) oblique: bool,
    /// Bodies are in `f64`.
    pub(crate) double: bool,
    /// Bodies are of two kinds. Bodies of one kind do not meet.
    pub(crate) layers: bool,
    /// Half of the bodies meet the other half.
    pub(crate) parts: bool,
    /// The two halves of the bodies are given as many sets: each meets itself, and both meet each other.
    pub(crate) many: bool,
    /// Bodies are searched as they move to the next frame.
    pub(crate) moving: bool,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) sizes: Vec<usize>,
    /// Speeds, in hundredths of the mean radius a frame.
    pub(crate) speeds: Vec<f64>,
    pub(crate) threads: usize,
    pub(crate) milliseconds: f64,
}

impl Asked {
    pub(crate) fn new() -> Self {
        let mut asked = Self { threads: 1, ..Self::default() };
        for word in std::env::args().skip(1) {
            match word.as_str() {
                "--bench" => asked.milliseconds = MILLISECONDS,
                "rows" => asked.rows = true,
                "gas" => asked.gas = true,
                "flow" => asked.flow = true,
                "walls" => asked.walls = true,
                "turnover" => asked.turnover = true,
                "turning" => asked.turning = true,
                "springs" => asked.springs = true,
                "periodic" => asked.periodic = true,
                "oblique" => (asked.periodic, asked.oblique) = (true, true),
                "double" => asked.double = true,
                "layers" => asked.layers = true,
                "parts" => asked.parts = true,
                "many" => asked.many = true,
                "moving" => asked.moving = true,
                _ => asked.take(&word),
            }
        }
        let is_timed = asked.milliseconds > 0.0;
        or_else(&mut asked.dims, &[2, 3]);
        or_else(&mut asked.kinds, &Kind::ALL);
        or_else(&mut asked.sizes, if is_timed { &[10_000, 100_000] } else { &[500] });
        or_else(&mut asked.speeds, if is_timed { &[1.0, 3.0, 30.0] } else { &[3.0] });
        asked
    }

    /// Takes a scene or a number.
    fn take(&mut self, word: &str) {
        let number = |end: &str| word.strip_suffix(end).and_then(|digits| digits.parse::<f64>().ok());
        if let Some(threads) = number("t") {
            self.threads = threads as usize;
        } else if let Some(speed) = number("%") {
            self.speeds.push(speed);
        } else if let Some(dim) = number("d") {
            self.dims.push(dim as usize);
        } else if let Some(n) = number("k").map(|n| n * 1e3).or(number("m").map(|n| n * 1e6)).or(number("")) {
            self.sizes.push(n as usize);
        } else {
            self.kinds.push(word.parse().expect("a scene"));
        }
    }
}

fn or_else<T: Copy>(list: &mut Vec<T>, others: &[T]) {
    if list.is_empty() {
        list.extend(others);
    }
}

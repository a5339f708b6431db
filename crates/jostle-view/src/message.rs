//! What a page says: each message is one line of words.

use std::fmt::Write as _;
use std::str::SplitWhitespace;

use crate::ask::Question;

/// Most bodies of a simulation that a page may ask for.
const MOST_AGENTS: u32 = 4_000_000;

/// Most threads that a page may ask for.
const MOST_THREADS: u32 = 1024;

/// Most nearest bodies that a page may ask for.
const MOST_NEAREST: u32 = 64;

/// What the page's controls ask of the simulation. All numbers are finite.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Command {
    /// Stop moving.
    Pause,
    /// Move again.
    Run,
    /// Move for one frame, then pause.
    Step,
    /// Begin anew.
    Restart,
    /// Show so many frames a second; 0: as many as can be had.
    Rate(f32),
    /// How much faster a body falls after each frame, in lengths a frame.
    Gravity(f32),
    /// Begin anew with the scene of this name, which may be unknown.
    Scene(String),
    /// Search on so many threads, 1 to 1,024.
    Threads(u32),
    /// Search by the system of this name from now on; it may be unknown.
    Engine(String),
    /// Begin anew with so many bodies, 1 to 4 million.
    Agents(u32),
    /// Add a body.
    Giant {
        /// Its centre.
        center: [f32; 2],
        /// Its radius, above 0.
        radius: f32,
    },
    /// Show this frame of a film, which may be beyond its end.
    Seek(u32),
    /// Hold a body, which may not exist, with its centre here, until another body is held or this one is let go.
    Drag {
        /// Its id.
        id: u32,
        /// Its centre.
        to: [f32; 2],
    },
    /// Let go of the body that is held.
    Drop,
}

impl Command {
    /// True of all commands that are read: numbers are finite and within their bounds.
    #[doc(hidden)]
    #[must_use]
    pub fn is_sound(&self) -> bool {
        match *self {
            Self::Rate(rate) => rate.is_finite() && rate >= 0.0,
            Self::Gravity(gravity) => gravity.is_finite(),
            Self::Agents(agents) => (1..=MOST_AGENTS).contains(&agents),
            Self::Threads(threads) => (1..=MOST_THREADS).contains(&threads),
            Self::Giant { center, radius } => {
                center.iter().all(|x| x.is_finite()) && radius > 0.0 && radius.is_finite()
            }
            Self::Drag { to, .. } => to.iter().all(|x| x.is_finite()),
            Self::Scene(ref name) | Self::Engine(ref name) => !name.is_empty() && !name.contains(char::is_whitespace),
            Self::Pause | Self::Run | Self::Step | Self::Restart | Self::Drop | Self::Seek(_) => true,
        }
    }
}

/// What the controls of the page show. The page has no controls until it is told of some: see
/// [`Viewer::set_controls`](crate::Viewer::set_controls).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Controls {
    /// True while nothing moves.
    pub paused: bool,
    /// Frames a second that are aimed at; 0: as many as can be had.
    pub rate: f32,
    /// How much faster a body falls after each frame.
    pub gravity: f32,
    /// Which frame of a film is shown, from 0 on.
    pub frame: u32,
    /// How many frames the film has; if 0, there is no film, and the page offers no choice.
    pub frames: u32,
    /// The name of the scene.
    pub scene: String,
    /// The names of all scenes; if there are none, the page offers neither scene nor number of bodies.
    pub scenes: Vec<String>,
    /// Number of bodies asked for.
    pub agents: u32,
    /// The name of the system that searches.
    pub engine: String,
    /// The names of all systems; if there are none, the page offers no choice.
    pub engines: Vec<String>,
    /// Threads that search.
    pub threads: u32,
    /// Most threads that can be asked for; if 0 or 1, the page offers no choice.
    pub most_threads: u32,
    /// Why the last request was not done; empty if it was.
    pub notice: String,
}

impl Controls {
    /// Returns the controls as the page reads them.
    pub(crate) fn json(&self) -> String {
        let finite = |x: f32| if x.is_finite() { x } else { 0.0 };
        let list = |names: &[String]| names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",");
        format!(
            r#"{{"controls":{{"paused":{},"rate":{},"gravity":{},"frame":{},"frames":{},"scene":{},"scenes":[{}],"agents":{},"engine":{},"engines":[{}],"threads":{},"mostThreads":{},"notice":{}}}}}"#,
            self.paused,
            finite(self.rate),
            finite(self.gravity),
            self.frame,
            self.frames,
            quoted(&self.scene),
            list(&self.scenes),
            self.agents,
            quoted(&self.engine),
            list(&self.engines),
            self.threads,
            self.most_threads,
            quoted(&self.notice)
        )
    }
}

/// Returns a text as a string of JSON.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            // Writing to a String cannot fail.
            c if c < ' ' => _ = write!(quoted, "\\u{:04x}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// What a viewer wants beside places and which bodies touch: a bit for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Wants(u32);

impl Wants {
    const CONTACTS: u32 = 1;
    const PAIRS: u32 = 2;
    const ORDER: u32 = 4;
    const CELLS: u32 = 8;
    const THREADS: u32 = 16;
    const LEAVES: u32 = 32;
    const CLUSTERS: u32 = 64;
    /// The bit of the boxes of level 0.
    const BOXES: u32 = 1 << 8;
    /// Levels of a tree of any size: 16^8 bodies.
    const LEVELS: u32 = 8;

    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn contacts(self) -> bool {
        self.0 & Self::CONTACTS != 0
    }

    pub(crate) fn pairs(self) -> bool {
        self.0 & Self::PAIRS != 0
    }

    pub(crate) fn order(self) -> bool {
        self.0 & Self::ORDER != 0
    }

    pub(crate) fn cells(self) -> bool {
        self.0 & Self::CELLS != 0
    }

    pub(crate) fn threads(self) -> bool {
        self.0 & Self::THREADS != 0
    }

    pub(crate) fn leaves(self) -> bool {
        self.0 & Self::LEAVES != 0
    }

    pub(crate) fn clusters(self) -> bool {
        self.0 & Self::CLUSTERS != 0
    }

    pub(crate) fn levels(self) -> impl Iterator<Item = usize> {
        (0..Self::LEVELS).filter(move |level| self.0 & Self::BOXES << level != 0).map(|level| level as usize)
    }
}

/// One message of a page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    /// A frame has been drawn.
    Ready,
    Want(Wants),
    /// A question, and the number that its answer is to bear.
    Ask(u32, Question),
    Steer(Command),
}

/// The words of a message, read one by one.
struct Words<'a>(SplitWhitespace<'a>);

impl<'a> Words<'a> {
    fn word(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    fn whole(&mut self) -> Option<u32> {
        self.word()?.parse().ok()
    }

    fn real(&mut self) -> Option<f32> {
        self.word()?.parse().ok().filter(|x: &f32| x.is_finite())
    }

    fn point<const D: usize>(&mut self) -> Option<[f32; D]> {
        let mut point = [0.0; D];
        for x in &mut point {
            *x = self.real()?;
        }
        Some(point)
    }
}

impl Message {
    /// Reads a message; `None` if the text is no message.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut words = Words(text.split_whitespace());
        let message = match words.word()? {
            "ready" => Self::Ready,
            "want" => Self::Want(want(&mut words)?),
            "ask" => Self::Ask(words.whole()?, question(&mut words)?),
            word => Self::Steer(command(word, &mut words)?),
        };
        words.word().is_none().then_some(message)
    }
}

fn want(words: &mut Words<'_>) -> Option<Wants> {
    let mut wants = Wants::default();
    while let Some(word) = words.word() {
        wants.0 |= match word {
            "contacts" => Wants::CONTACTS,
            "pairs" => Wants::PAIRS,
            "order" => Wants::ORDER,
            "cells" => Wants::CELLS,
            "threads" => Wants::THREADS,
            "leaves" => Wants::LEAVES,
            "clusters" => Wants::CLUSTERS,
            "boxes" => Wants::BOXES << words.whole().filter(|&level| level < Wants::LEVELS)?,
            _ => return None,
        };
    }
    Some(wants)
}

fn question(words: &mut Words<'_>) -> Option<Question> {
    Some(match words.word()? {
        "point" => Question::Point(words.point()?),
        "nearest" => {
            let point = words.point()?;
            Question::Nearest { point, count: words.whole()?.min(MOST_NEAREST) }
        }
        "box" => Question::Aabb { lo: words.point()?, hi: words.point()? },
        "sight" => Question::Sight { origin: words.point()?, direction: words.point()? },
        "record" => Question::Record,
        "ray" => Question::Ray { origin: words.point()?, direction: words.point()? },
        _ => return None,
    })
}

fn command(word: &str, words: &mut Words<'_>) -> Option<Command> {
    Some(match word {
        "pause" => Command::Pause,
        "run" => Command::Run,
        "step" => Command::Step,
        "restart" => Command::Restart,
        "rate" => Command::Rate(words.real().filter(|&rate| rate >= 0.0)?),
        "gravity" => Command::Gravity(words.real()?),
        "scene" => Command::Scene(words.word()?.to_owned()),
        "threads" => Command::Threads(words.whole().filter(|n| (1..=MOST_THREADS).contains(n))?),
        "engine" => Command::Engine(words.word()?.to_owned()),
        "agents" => Command::Agents(words.whole().filter(|n| (1..=MOST_AGENTS).contains(n))?),
        "drag" => Command::Drag { id: words.whole()?, to: words.point()? },
        "seek" => Command::Seek(words.whole()?),
        "drop" => Command::Drop,
        "giant" => {
            let center = words.point()?;
            Command::Giant { center, radius: words.real().filter(|&radius| radius > 0.0)? }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Command, Controls, Message};
    use crate::ask::Question;

    #[test]
    fn messages_say_what_they_say_and_nothing_else() {
        assert_eq!(Message::read("ready"), Some(Message::Ready));
        assert_eq!(Message::read(" rate 30 "), Some(Message::Steer(Command::Rate(30.0))));
        let nearest = Question::Nearest { point: [1.0, -2.0], count: 64 };
        assert_eq!(Message::read("ask 7 nearest 1 -2 1000000"), Some(Message::Ask(7, nearest)));
        let Some(Message::Want(wants)) = Message::read("want pairs boxes 0 boxes 3") else { panic!() };
        assert!(wants.pairs() && !wants.order() && wants.levels().eq([0, 3]));
        for damaged in
            ["", "ready now", "rate", "rate NaN", "rate -1", "gravity inf", "giant 0 0 0", "agents 0", "want cake"]
        {
            assert_eq!(Message::read(damaged), None, "{damaged:?}");
        }
        for damaged in
            ["want boxes 8", "want boxes", "ask 1", "ask x point 0 0", "ask 1 ray 0 0 1", "agents 4000001", "drag 1 2"]
        {
            assert_eq!(Message::read(damaged), None, "{damaged:?}");
        }
    }

    #[test]
    fn names_of_scenes_are_quoted() {
        let controls = Controls { scene: "a\"b\\c\n".to_owned(), rate: f32::NAN, ..Controls::default() };
        let truth = r#"{"controls":{"paused":false,"rate":0,"gravity":0,"frame":0,"frames":0,"scene":"a\"b\\c\u000a","scenes":[],"agents":0,"engine":"","engines":[],"threads":0,"mostThreads":0,"notice":""}}"#;
        assert_eq!(controls.json(), truth);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "\\PC*") {
            _ = Message::read(&text);
        }

        #[test]
        fn damaged_messages_are_read_or_refused(
            words in prop::collection::vec("ready|want|boxes|pairs|ask|nearest|ray|box|point|giant|rate|agents|-?[0-9]{1,40}|1e99|NaN|inf", 0..8)
        ) {
            if let Some(Message::Steer(Command::Rate(rate))) = Message::read(&words.join(" ")) {
                prop_assert!(rate.is_finite() && rate >= 0.0);
            }
        }
    }
}

//! What a message of a page leads to, without a server: for fuzzing.

use crate::ask::Kept;
use crate::message::{Command, Message};
use crate::shown::Shown;
use crate::view::View;

/// What a message leads to.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// A message about frames, or what frames are to hold, which the server handles.
    Frames,
    /// The answer to the page, in JSON.
    Told(String),
    /// A command for the loop.
    Steer(Command),
}

/// Reads a message, and answers it if it is a question; `None` if the text is no message.
#[must_use]
pub fn hear<'a>(text: &str, view: impl Into<View<'a>>, shown: &Shown<'_>) -> Option<Heard> {
    Some(match Message::read(text)? {
        Message::Ready | Message::Want(_) => Heard::Frames,
        Message::Ask(number, question) => Heard::Told(question.json(number, view.into(), shown, &mut Kept::default())),
        Message::Steer(command) => Heard::Steer(command),
    })
}

#[cfg(test)]
mod tests {
    use jostle::{Boxes, Circles, PairFinder, Spheres};
    use proptest::prelude::*;

    use super::{Heard, hear};
    use crate::shown::Shown;
    use crate::view::View;

    proptest! {
        /// Any words of the language, and numbers of every size, in the plane and in space.
        #[test]
        fn what_is_told_is_json_and_what_is_steered_is_sound(
            word in "want|ask 1 (point|nearest|box|ray|sight|record)|giant|drag|drop|seek|rate|agents|threads|engine|scene|run|gravity",
            numbers in prop::collection::vec(prop_oneof![any::<f32>(), -9_f32..9.0, (0_u32..99).prop_map(|n| n as f32)], 0..7),
        ) {
            let text = numbers.iter().fold(word, |text, number| format!("{text} {number}"));
            let (x, y, z) = ([0.0, 1.5, 9.0, 1e18], [0.0, 1.0, 1.0, -1e18], [0.0; 4]);
            let view = Circles::new(&x, &y, 1.0);
            let boxes = Boxes::new([&x, &y], [&[1.0, f32::INFINITY, 9.0, 1e18], &[0.0, 2.0, 3.0, 1e18]]);
            let (mut plane, mut space, mut cornered) = (PairFinder::new(), PairFinder::new(), PairFinder::new());
            let (flat, deep) = (plane.find(view).unwrap(), space.find(Spheres::new(&x, &y, &z, 1.0)).unwrap());
            let boxed = cornered.find(boxes).unwrap();
            let worlds: [(View<'_>, Shown<'_>); 3] = [
                (view.into(), Shown::from(&flat)),
                (view.into(), Shown::from(&deep).with_heights(&z)),
                (boxes.into(), Shown::from(&boxed)),
            ];
            for (view, shown) in worlds {
                let Some(heard) = hear(&text, view, &shown) else { continue };
                match heard {
                    Heard::Told(json) => {
                        prop_assert!(json.starts_with(r#"{"ask":1,"kind":""#) && json.ends_with('}'), "{json}");
                        prop_assert!(!json.contains("inf") && !json.contains("NaN"), "{text}: {json}");
                    }
                    Heard::Steer(command) => prop_assert!(command.is_sound(), "{command:?}"),
                    Heard::Frames => {}
                }
                prop_assert!(hear(&format!("{text} x"), view, &shown).is_none(), "{text} x");
            }
        }
    }
}

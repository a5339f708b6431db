//! Questions of a page to the tree of a search, each with the time that it took.

use std::fmt::{Display, Write as _};
use std::time::{Duration, Instant};

use jostle::{Aabb, Circles, LinearTree, Queries, QueryError, Ray, Reached, Threads};

use crate::message::quoted;
use crate::record;
use crate::shown::Shown;

/// Bodies that an answer lists; it counts all.
const LISTED: usize = 64;

/// Bodies of which contacts are counted.
const COUNTED: usize = 8;

/// What is asked. Coordinates are finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Question {
    /// Which bodies hold a point.
    Point([f32; 2]),
    /// Which are nearest to it.
    Nearest { point: [f32; 2], count: u32 },
    /// How many touch a box.
    Aabb { lo: [f32; 2], hi: [f32; 2] },
    /// How long each task of a search takes.
    Record,
    /// Which a ray hits.
    Ray { origin: [f32; 2], direction: [f32; 2] },
}

/// What the tree said: bodies by distance, if that was asked for.
struct Answer {
    bodies: Vec<Reached>,
    took: Duration,
}

impl Question {
    fn name(self) -> &'static str {
        match self {
            Self::Point(_) => "point",
            Self::Nearest { .. } => "nearest",
            Self::Aabb { .. } => "box",
            Self::Ray { .. } => "ray",
            Self::Record => "record",
        }
    }

    /// Asks the tree of the bodies of this view, or one made for this where a search has left none, and says in JSON what it
    /// answers, or refuses.
    pub(crate) fn json(self, number: u32, view: Circles<'_>, shown: &Shown<'_>) -> String {
        if self == Self::Record {
            return record::json(view)
                .map_or_else(|refusal| self.refusal(number, &refusal), |told| self.begun(number) + &told + "}");
        }
        let mut own = LinearTree::new();
        let answer = match shown.tree_of(view) {
            Some(tree) => self.ask(Queries::new(tree)),
            None => match own.build(view, Threads::Current) {
                Ok(_) => self.ask(Queries::new(&own)),
                Err(refusal) => return self.refusal(number, &refusal),
            },
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(refusal) => return self.refusal(number, &refusal),
        };
        let mut json = self.begun(number);
        // Writing to a String cannot fail.
        _ = self.tell(&answer, view, shown.pairs, &mut json);
        json
    }

    fn begun(self, number: u32) -> String {
        format!(r#"{{"ask":{number},"kind":"{}","#, self.name())
    }

    fn refusal(self, number: u32, why: &dyn Display) -> String {
        format!(r#"{}"error":{}}}"#, self.begun(number), quoted(&why.to_string()))
    }

    fn ask(self, queries: Queries<'_, 2>) -> Result<Answer, QueryError> {
        let (mut ids, mut bodies) = (Vec::new(), Vec::new());
        let start = Instant::now();
        match self {
            Self::Point(point) => queries.point(point, &mut ids)?,
            Self::Nearest { point, count } => queries.nearest(point, count as usize, f32::INFINITY, &mut bodies)?,
            Self::Aabb { lo, hi } => queries.aabb(Aabb { lo, hi }, &mut ids)?,
            // Needs no tree.
            Self::Record => {}
            Self::Ray { origin, direction } => queries.ray(Ray::new(origin, direction), &mut bodies)?,
        }
        let took = start.elapsed();
        bodies.extend(ids.into_iter().map(|id| Reached { id, distance: 0.0 }));
        Ok(Answer { bodies, took })
    }

    fn tell(self, answer: &Answer, view: Circles<'_>, pairs: &[[u32; 2]], json: &mut String) -> std::fmt::Result {
        let micros = answer.took.as_secs_f64() * 1e6;
        write!(json, r#""micros":{micros:.2},"count":{},"bodies":["#, answer.bodies.len())?;
        let counts = matches!(self, Self::Point(_));
        for (at, body) in answer.bodies.iter().take(LISTED).enumerate() {
            let ([x, y], r) = (view.center(body.id as usize), view.radius(body.id as usize));
            let comma = if at > 0 { "," } else { "" };
            write!(json, r#"{comma}{{"id":{},"x":{x},"y":{y},"r":{r},"distance":{}"#, body.id, body.distance)?;
            if counts && at < COUNTED {
                let contacts = pairs.iter().filter(|pair| pair.contains(&body.id)).count();
                write!(json, r#","contacts":{contacts}"#)?;
            }
            json.push('}');
        }
        json.push_str("]}");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use jostle::{Circles, PairFinder};

    use super::Question;

    #[test]
    fn the_tree_answers_by_id() {
        let (x, y) = ([0.0, 1.5, 9.0], [0.0; 3]);
        let view = Circles::new(&x, &y, 1.0);
        let mut finder = PairFinder::new();
        let found = finder.find(view).unwrap();
        let ask = |question: Question| question.json(5, view, &(&found).into());
        let point = ask(Question::Point([0.75, 0.0]));
        assert!(point.starts_with(r#"{"ask":5,"kind":"point","micros":"#), "{point}");
        assert!(
            point.contains(r#""count":2,"bodies":[{"id":0,"x":0,"y":0,"r":1,"distance":0,"contacts":1},{"id":1,"#),
            "{point}"
        );
        let nearest = ask(Question::Nearest { point: [8.0, 0.0], count: 1 });
        assert!(nearest.contains(r#""count":1,"bodies":[{"id":2,"x":9,"y":0,"r":1,"distance":1}]"#), "{nearest}");
        assert!(ask(Question::Aabb { lo: [-1.0; 2], hi: [4.0; 2] }).contains(r#""count":2"#));
        assert!(ask(Question::Ray { origin: [20.0, 0.0], direction: [-1.0, 0.0] }).contains(r#"[{"id":2,"x":9,"#));
        assert!(ask(Question::Aabb { lo: [1.0; 2], hi: [0.0; 2] }).contains(r#""error":""#));
        let record = ask(Question::Record);
        assert!(record.starts_with(r#"{"ask":5,"kind":"record","regions":["#) && record.ends_with('}'), "{record}");
        // Of another view's bodies it makes a tree of its own.
        let other = Question::Point([1.5, 0.0]).json(1, Circles::new(&x[..2], &y[..2], 1.0), &(&found).into());
        assert!(other.contains(r#""count":1,"bodies":[{"id":1,"#), "{other}");
    }
}

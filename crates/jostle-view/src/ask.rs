//! Questions of a page to the tree of a search, each with the time that it took.

use std::fmt::Display;
use std::time::{Duration, Instant};

use jostle::{Aabb, Circles, LinearTree, Queries, QueryError, Ray, Reached, Threads};

use crate::message::quoted;
use crate::record;
use crate::shown::{Shown, Tree};

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
    /// Which sphere is first on a line of sight.
    Sight { origin: [f32; 3], direction: [f32; 3] },
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
            Self::Sight { .. } => "sight",
            Self::Record => "record",
        }
    }

    /// Asks the tree of the bodies of this view, or one made for this where a search has left none, and says in JSON what it
    /// answers, or refuses.
    pub(crate) fn json(self, number: u32, view: Circles<'_>, shown: &Shown<'_>) -> String {
        let told = match self {
            Self::Record => record::json(view, shown.heights_of(view)).map_err(|refusal| refusal.to_string()),
            _ => self.answer(view, shown).map(|answer| self.told(&answer, view, shown)),
        };
        let told = told.unwrap_or_else(|refusal| format!(r#""error":{}"#, quoted(&refusal)));
        format!(r#"{{"ask":{number},"kind":"{}",{told}}}"#, self.name())
    }

    fn answer(self, view: Circles<'_>, shown: &Shown<'_>) -> Result<Answer, String> {
        let refusal = |refusal: &dyn Display| refusal.to_string();
        match (shown.tree_of(view), self) {
            (Some(Tree::Space(tree)), Self::Sight { origin, direction }) => {
                let start = Instant::now();
                let hit = Queries::new(tree).first_hit(Ray::new(origin, direction));
                let took = start.elapsed();
                Ok(Answer { bodies: hit.map_err(|error| refusal(&error))?.into_iter().collect(), took })
            }
            (Some(Tree::Space(_)), _) => {
                Err("these are spheres: they are asked about along a line of sight".to_owned())
            }
            (_, Self::Sight { .. }) => Err("these are circles: there is no line of sight".to_owned()),
            (Some(Tree::Plane(tree)), _) => self.ask(Queries::new(tree)).map_err(|error| refusal(&error)),
            (None, _) => {
                let mut own = LinearTree::new();
                own.build(view, Threads::Current).map_err(|error| refusal(&error))?;
                self.ask(Queries::new(&own)).map_err(|error| refusal(&error))
            }
        }
    }

    fn ask(self, queries: Queries<'_, 2>) -> Result<Answer, QueryError> {
        let (mut ids, mut bodies) = (Vec::new(), Vec::new());
        let start = Instant::now();
        match self {
            Self::Point(point) => queries.point(point, &mut ids)?,
            Self::Nearest { point, count } => queries.nearest(point, count as usize, f32::INFINITY, &mut bodies)?,
            Self::Aabb { lo, hi } => queries.aabb(Aabb { lo, hi }, &mut ids)?,
            // Not of circles.
            Self::Record | Self::Sight { .. } => {}
            Self::Ray { origin, direction } => queries.ray(Ray::new(origin, direction), &mut bodies)?,
        }
        let took = start.elapsed();
        bodies.extend(ids.into_iter().map(|id| Reached { id, distance: 0.0 }));
        Ok(Answer { bodies, took })
    }

    fn told(self, answer: &Answer, view: Circles<'_>, shown: &Shown<'_>) -> String {
        let (micros, z) = (answer.took.as_secs_f64() * 1e6, shown.heights_of(view));
        let counts = matches!(self, Self::Point(_) | Self::Sight { .. });
        let bodies = answer.bodies.iter().take(LISTED).enumerate().map(|(at, body)| {
            let ([x, y], r) = (view.center(body.id as usize), view.radius(body.id as usize));
            let z = z.map_or_else(String::new, |z| format!(r#","z":{}"#, z[body.id as usize]));
            let contacts = if counts && at < COUNTED {
                let contacts = shown.pairs.iter().filter(|pair| pair.contains(&body.id)).count();
                format!(r#","contacts":{contacts}"#)
            } else {
                String::new()
            };
            format!(r#"{{"id":{},"x":{x},"y":{y}{z},"r":{r},"distance":{}{contacts}}}"#, body.id, body.distance)
        });
        let bodies: Vec<_> = bodies.collect();
        format!(r#""micros":{micros:.2},"count":{},"bodies":[{}]"#, answer.bodies.len(), bodies.join(","))
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

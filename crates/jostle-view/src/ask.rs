//! Questions of a page to the tree of a search, each with the time that it took.

use std::fmt::Display;
use std::time::{Duration, Instant};

use jostle::{Aabb, LinearTree, PreparedQueries, PreparedSet, Queries, QueryError, Ray, Reached, Space, Threads};

use crate::message::quoted;
use crate::record;
use crate::shown::{Shown, Tree};
use crate::view::{View, corners};

/// Most bodies that an answer lists; it counts all.
const LISTED: usize = 64;

/// Most bodies whose contacts are counted.
const COUNTED: usize = 8;

/// A question. Coordinates are finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Question {
    /// Which bodies hold a point.
    Point([f32; 2]),
    /// Which bodies are nearest to a point.
    Nearest { point: [f32; 2], count: u32 },
    /// How many bodies touch a box.
    Aabb { lo: [f32; 2], hi: [f32; 2] },
    /// Which sphere is first on a line of sight.
    Sight { origin: [f32; 3], direction: [f32; 3] },
    /// How long each task of a search takes.
    Record,
    /// Which bodies a ray hits.
    Ray { origin: [f32; 2], direction: [f32; 2] },
}

/// Trees that answer if a search has left none that does; kept until the next search.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The number of the search, and that of the bodies.
    of: Option<(u64, usize)>,
    tree: LinearTree<2>,
    boxes: PreparedSet<2>,
    /// The box of all finite corners of the boxes.
    reach: Aabb<2>,
}

impl Default for Kept {
    fn default() -> Self {
        Self { of: None, tree: LinearTree::new(), boxes: PreparedSet::new(), reach: Aabb::EMPTY }
    }
}

impl Kept {
    /// Sorts the bodies of a view, unless they are those of the search before.
    fn sort(&mut self, view: View<'_>, shown: &Shown<'_>) -> Result<(), String> {
        let of = Some((shown.number, view.len()));
        if self.of != of {
            self.of = None;
            match view {
                View::Circles(circles) => {
                    self.tree.build(circles, Threads::Current).map(drop).map_err(|error| error.to_string())
                }
                View::Boxes(boxes) => {
                    self.boxes.build(boxes, Space::open(), Threads::Current).map_err(|error| error.to_string())
                }
            }?;
            (self.of, self.reach) = (of, view.reach());
        }
        Ok(())
    }
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

    /// Asks the tree of the bodies of this view, or a tree made for the question if a search has left none. Returns the
    /// answer, or the refusal, in JSON.
    pub(crate) fn json(self, number: u32, view: View<'_>, shown: &Shown<'_>, kept: &mut Kept) -> String {
        let told = match self {
            Self::Record => record::json(view, shown.heights_of(view)).map_err(|refusal| refusal.to_string()),
            _ => self.answer(view, shown, kept).map(|answer| self.told(&answer, view, shown, &kept.reach)),
        };
        let told = told.unwrap_or_else(|refusal| format!(r#""error":{}"#, quoted(&refusal)));
        format!(r#"{{"ask":{number},"kind":"{}",{told}}}"#, self.name())
    }

    fn answer(self, view: View<'_>, shown: &Shown<'_>, kept: &mut Kept) -> Result<Answer, String> {
        let refusal = |refusal: &dyn Display| refusal.to_string();
        match (shown.tree_of(view), self, view) {
            (Some(Tree::Space(tree)), Self::Sight { origin, direction }, _) => {
                let start = Instant::now();
                let hit = Queries::new(tree).first_hit(Ray::new(origin, direction));
                let took = start.elapsed();
                Ok(Answer { bodies: hit.map_err(|error| refusal(&error))?.into_iter().collect(), took })
            }
            (Some(Tree::Space(_)), ..) => {
                Err("these are spheres: they are asked about along a line of sight".to_owned())
            }
            (_, Self::Sight { .. }, View::Circles(_)) => Err("these are circles: there is no line of sight".to_owned()),
            (_, Self::Sight { .. }, View::Boxes(_)) => Err("these are boxes: there is no line of sight".to_owned()),
            (_, _, View::Boxes(_)) => {
                kept.sort(view, shown)?;
                self.ask_boxes(kept.boxes.queries()).map_err(|error| refusal(&error))
            }
            (Some(Tree::Plane(tree)), ..) => self.ask(Queries::new(tree)).map_err(|error| refusal(&error)),
            (None, ..) => {
                kept.sort(view, shown)?;
                self.ask(Queries::new(&kept.tree)).map_err(|error| refusal(&error))
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
            // These questions are not about circles.
            Self::Record | Self::Sight { .. } => {}
            Self::Ray { origin, direction } => queries.ray(Ray::new(origin, direction), &mut bodies)?,
        }
        let took = start.elapsed();
        bodies.extend(ids.into_iter().map(|id| Reached { id, distance: 0.0 }));
        Ok(Answer { bodies, took })
    }

    fn ask_boxes(self, queries: PreparedQueries<'_, 2>) -> Result<Answer, QueryError> {
        let wide = |point: [f32; 2]| point.map(f64::from);
        let (mut seen, mut reached) = (Vec::new(), Vec::new());
        let start = Instant::now();
        match self {
            Self::Point(point) => queries.point(wide(point), &mut seen)?,
            Self::Nearest { point, count } => {
                queries.nearest(wide(point), count as usize, f64::INFINITY, &mut reached)?
            }
            Self::Aabb { lo, hi } => queries.aabb(wide(lo), wide(hi), &mut seen)?,
            Self::Ray { origin, direction } => {
                queries.ray(wide(origin), wide(direction), f64::INFINITY, &mut reached)?
            }
            // These questions are not about boxes.
            Self::Record | Self::Sight { .. } => {}
        }
        let took = start.elapsed();
        let seen = seen.into_iter().map(|body| Reached { id: body.id, distance: 0.0 });
        let reached =
            reached.into_iter().map(|at| Reached { id: at.body.id, distance: (at.distance as f32).min(f32::MAX) });
        Ok(Answer { bodies: seen.chain(reached).collect(), took })
    }

    fn told(self, answer: &Answer, view: View<'_>, shown: &Shown<'_>, reach: &Aabb<2>) -> String {
        let (micros, z) = (answer.took.as_secs_f64() * 1e6, shown.heights_of(view));
        let counts = matches!(self, Self::Point(_) | Self::Sight { .. });
        let bodies = answer.bodies.iter().take(LISTED).enumerate().map(|(at, body)| {
            let id = body.id as usize;
            let shape = match view {
                View::Circles(circles) => {
                    let ([x, y], r) = (circles.center(id), circles.radius(id));
                    let z = z.map_or_else(String::new, |z| format!(r#","z":{}"#, z[id]));
                    format!(r#""x":{x},"y":{y}{z},"r":{r}"#)
                }
                View::Boxes(boxes) => {
                    let Aabb { lo, hi } = corners(&boxes, id, reach);
                    format!(r#""lo":[{},{}],"hi":[{},{}]"#, lo[0], lo[1], hi[0], hi[1])
                }
            };
            let contacts = if counts && at < COUNTED {
                let contacts = shown.pairs.iter().filter(|pair| pair.contains(&body.id)).count();
                format!(r#","contacts":{contacts}"#)
            } else {
                String::new()
            };
            format!(r#"{{"id":{},{shape},"distance":{}{contacts}}}"#, body.id, body.distance)
        });
        let bodies: Vec<_> = bodies.collect();
        format!(r#""micros":{micros:.2},"count":{},"bodies":[{}]"#, answer.bodies.len(), bodies.join(","))
    }
}

#[cfg(test)]
mod tests {
    use jostle::{Boxes, Circles, PairFinder};

    use super::{Kept, Question};

    #[test]
    fn the_tree_answers_by_id() {
        let (x, y) = ([0.0, 1.5, 9.0], [0.0; 3]);
        let view = Circles::new(&x, &y, 1.0);
        let mut finder = PairFinder::new();
        let found = finder.find(view).unwrap();
        let ask = |question: Question| question.json(5, view.into(), &(&found).into(), &mut Kept::default());
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
        // For another view's bodies, the question makes a tree of its own.
        let two = Circles::new(&x[..2], &y[..2], 1.0).into();
        let other = Question::Point([1.5, 0.0]).json(1, two, &(&found).into(), &mut Kept::default());
        assert!(other.contains(r#""count":1,"bodies":[{"id":1,"#), "{other}");
    }

    #[test]
    fn boxes_answer_too() {
        let (lo, hi) = ([[0.0, 1.0, 8.0], [0.0, -1.0, 0.0]], [[2.0, 3.0, f32::INFINITY], [1.0, 0.5, 1.0]]);
        let boxes = Boxes::new(lo.each_ref(), hi.each_ref());
        let mut finder = PairFinder::new();
        let found = finder.find(boxes).unwrap();
        let mut kept = Kept::default();
        let mut ask = |question: Question| question.json(5, boxes.into(), &(&found).into(), &mut kept);
        let point = ask(Question::Point([1.5, 0.25]));
        let bodies = r#""count":2,"bodies":[{"id":0,"lo":[0,0],"hi":[2,1],"distance":0,"contacts":1},{"id":1,"#;
        assert!(point.contains(bodies), "{point}");
        // A box without end is told as far as another box's corner.
        let nearest = ask(Question::Nearest { point: [6.0, 0.5], count: 1 });
        assert!(nearest.contains(r#"[{"id":2,"lo":[8,0],"hi":[8,1],"distance":2}]"#), "{nearest}");
        assert!(ask(Question::Aabb { lo: [2.5; 2], hi: [9.0; 2] }).contains(r#""count":0"#));
        let ray = ask(Question::Ray { origin: [-1.0, 0.25], direction: [2.0, 0.0] });
        assert!(ray.contains(r#""count":3,"bodies":[{"id":0,"#) && ray.contains(r#""distance":9}]"#), "{ray}");
        let sight = Question::Sight { origin: [0.0; 3], direction: [0.0, 0.0, 1.0] };
        assert!(ask(sight).contains("these are boxes"));
        assert!(ask(Question::Record).contains(r#""regions":["#));
    }
}

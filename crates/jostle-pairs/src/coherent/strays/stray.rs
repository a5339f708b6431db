//! One stray body, and which of the other bodies it touches.

use jostle_core::axes::{Axes, from_axes};
use jostle_sets::proxy::sorted::SortedSet;
use jostle_sets::{Circle, Queries};

use crate::coherent::current::Current;
use crate::coherent::doubt::Decide;
use crate::coherent::numbers::{Member, Numbers};
use crate::coherent::packed::Packed;
use crate::coherent::slack::reaching;
use crate::coherent::strays::images::{Repeats, View, each_view};

/// A body whose near ones were listed with a margin may move for nearly that margin: rounding may lose 2^-10 of it.
const NEARLY: f32 = 1.0 - 1.0 / 1024.0;

/// The bodies that a stray body may touch, which the tree of each set has with margins; and the margin with which near
/// bodies are listed.
#[derive(Clone, Copy)]
pub(super) struct Among<'a, const D: usize> {
    pub(super) trees: &'a [SortedSet<D>],
    pub(super) now: &'a Current<D>,
    pub(super) margin: f32,
}

/// Which bodies meet: the numbers of bodies, and the sets that meet. Layers may not let all their bodies meet.
#[derive(Clone, Copy)]
pub(super) struct SetsThatMeet<'a> {
    pub(super) numbers: &'a Numbers,
    pub(super) sets: &'a [[u32; 2]],
}

impl<'a> SetsThatMeet<'a> {
    /// Returns the sets that the bodies of a set meet.
    fn met_by(self, set: u32) -> impl Iterator<Item = u32> + use<'a> {
        let met = move |&[one, other]: &[u32; 2]| if set == one { Some(other) } else { (set == other).then_some(one) };
        self.sets.iter().filter_map(met)
    }

    pub(super) fn meet(self, one: Member, other: Member) -> bool {
        self.sets.binary_search(&[one.set.min(other.set), one.set.max(other.set)]).is_ok()
    }

    /// Returns the pair of two bodies that meet, from their numbers.
    pub(super) fn pair(self, one: u32, other: u32) -> Option<[u32; 2]> {
        let [one, other] = [one, other].map(|number| self.numbers.member(number));
        one.pair(other, [one.set.min(other.set), one.set.max(other.set)])
    }
}

/// Tells of two bodies of two sets whether layers let them meet.
pub(in crate::coherent) type Meets<'a> = &'a (dyn Fn([u32; 2], [u32; 2]) -> bool + Sync);

/// Layers, which may not let all bodies meet; what decides where stand-ins leave doubt, if there are stand-ins; and how
/// space repeats, if it does.
#[derive(Clone, Copy)]
pub(in crate::coherent) struct Rules<'a, const D: usize> {
    pub(in crate::coherent) layers: Option<Meets<'a>>,
    pub(in crate::coherent) decide: Option<Decide<'a, D>>,
    pub(in crate::coherent) repeats: Option<Repeats<'a, D>>,
}

impl<const D: usize> Rules<'_, D> {
    /// Returns how far from touching two bodies may be while it is in doubt whether they touch.
    pub(super) fn within(self) -> f32 {
        self.decide.map_or(0.0, |decide| decide.within)
    }
}

/// A stray body.
#[derive(Debug, Clone, Default)]
pub(super) struct Stray<const D: usize> {
    /// The body as it is, and as it was when the bodies near it were listed.
    pub(super) body: Packed,
    seen: Option<Packed>,
    /// How it is seen in the cell, where space repeats.
    pub(super) home: View<D>,
    /// All bodies whose margins touch it while it does not go far from where it was listed, set by set and view by
    /// view; and where those of each view end.
    near: Vec<u32>,
    views: Vec<(u32, View<D>, usize)>,
    /// The numbers of the bodies that it touches, without stray bodies before it; and of those that it touched in the
    /// frame before.
    pub(super) touched: Vec<u32>,
    pub(super) touched_before: Vec<u32>,
}

impl<const D: usize> Stray<D> {
    pub(super) fn bytes(&self) -> usize {
        let Self { near, views, touched, touched_before, .. } = self;
        [near, touched, touched_before].map(Vec::capacity).iter().sum::<usize>() * size_of::<u32>()
            + views.capacity() * size_of::<(u32, View<D>, usize)>()
    }

    /// Forgets what is known of the body, or of another one that had this memory.
    pub(super) fn begin(&mut self) {
        self.seen = None;
        self.touched.clear();
    }

    /// Whether the body is there, and has not gone.
    pub(super) fn is_there(&self) -> bool {
        !self.body.radius().is_nan()
    }

    /// Whether the body, which has been seen with this margin, is where it may touch only the bodies listed as near.
    fn is_near(&self, margin: f32) -> bool {
        self.seen.is_some_and(|seen| {
            let (moved2, _) = seen.measure::<D>(&self.body);
            self.body.radius() <= seen.radius() && moved2.sqrt() <= margin * NEARLY
        })
    }

    /// Begins a frame, in which the body touches none yet.
    pub(super) fn begin_frame(&mut self) {
        core::mem::swap(&mut self.touched, &mut self.touched_before);
        self.touched.clear();
    }

    /// Finds which of the other bodies this body, which is `who`, touches; no stray bodies are among these. Returns
    /// whether it is sound.
    pub(super) fn find_among(
        &mut self,
        who: Member,
        (relation, rules): (SetsThatMeet<'_>, Rules<'_, D>),
        among: Among<'_, D>,
    ) -> bool {
        // How far stand-ins may be wrong grows with how far one of them goes.
        if !self.is_near(among.margin - rules.within()) {
            let is_sound = self.see(who.set, (relation, rules), among);
            self.seen = Some(self.body).filter(|_| is_sound);
            if !is_sound {
                return false;
            }
        }
        let Self { body, near, views, touched, .. } = self;
        let mut begin = 0;
        for &(set, view, end) in &*views {
            let (bodies, seen) = (among.now.bodies(set as usize), view.of(*body));
            let touches = |other: u32| {
                let measured = bodies[other as usize].measure::<D>(&seen);
                let pair = ([who.set, set], [who.id, other], view.image.axes(|steps| -steps));
                let touches = |decide: Decide<'_, D>| decide.touches(pair, measured);
                rules.decide.map_or_else(|| measured.0 <= measured.1 * measured.1, touches)
            };
            let first = relation.numbers.first(set as usize);
            touched.extend(near[begin..end].iter().filter(|&&other| touches(other)).map(|&other| first + other));
            begin = end;
        }
        true
    }

    /// Lists the bodies near this body, which is of this set; returns whether it is sound.
    fn see(&mut self, set: u32, (relation, rules): (SetsThatMeet<'_>, Rules<'_, D>), among: Among<'_, D>) -> bool {
        let Self { body, near, views, .. } = self;
        near.clear();
        views.clear();
        let reach = reaching(body.radius() + among.margin + rules.within());
        let mut is_sound = true;
        for set in relation.met_by(set) {
            let (tree, bodies) = (among.trees[set as usize].own_tree(), among.now.bodies(set as usize));
            each_view(rules.repeats, (*body, reach), |view| {
                let (seen, len) = (view.of(*body), near.len());
                let circle = Circle::new(from_axes(|axis| seen.0[axis]), reach);
                // Behind the bodies of its set the tree has ghost images of them.
                let note = |other: u32| near.extend(Some(other).filter(|&other| (other as usize) < bodies.len()));
                is_sound &= Queries::of_stand_ins(tree).visit_circle(circle, note).is_ok();
                if near.len() > len {
                    views.push((set, view, near.len()));
                }
            });
        }
        is_sound
    }
}

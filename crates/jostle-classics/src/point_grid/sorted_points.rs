//! Points counted into cells that lie row by row in one array.

use crate::body::Body;
use crate::grid::{CellMap, CellRange};

/// A body in its cell.
#[derive(Debug, Clone, Copy)]
struct Point {
    body: Body<2>,
    id: u32,
}

const NOWHERE: Point = Point { body: Body { center: [0.0; 2], radius: 0.0 }, id: 0 };

/// Bodies sorted by the cell of their centre, row-major, then by id.
#[derive(Debug, Clone)]
pub(super) struct SortedPoints {
    /// Where each cell begins in `points`, and where the last ends.
    starts: Vec<u32>,
    points: Vec<Point>,
    /// The largest radius among the points.
    largest: f32,
}

impl SortedPoints {
    pub(super) fn new(map: &CellMap) -> Self {
        Self { starts: vec![0; map.count() + 1], points: Vec::new(), largest: 0.0 }
    }

    pub(super) fn bytes(&self) -> usize {
        self.starts.capacity() * size_of::<u32>() + self.points.capacity() * size_of::<Point>()
    }

    /// Takes the bodies with a radius of at most `bound`: counts the bodies of each cell, adds up where cells end, and
    /// deals the bodies out, the last first. O(n + cells).
    pub(super) fn fill(&mut self, map: &CellMap, bodies: &[Body<2>], bound: f32) {
        let common = || bodies.iter().enumerate().filter(|(_, body)| body.radius <= bound);
        let cell = |body: &Body<2>| map.index(map.cell(body.center));
        self.starts.fill(0);
        common().for_each(|(_, body)| self.starts[cell(body)] += 1);
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.points.resize(end as usize, NOWHERE);
        for (id, &body) in common().rev() {
            let start = &mut self.starts[cell(&body)];
            *start -= 1;
            self.points[*start as usize] = Point { body, id: id as u32 };
        }
        self.largest = self.points.iter().fold(0.0, |largest: f32, point| largest.max(point.body.radius));
    }

    /// Returns the cells of all points that a body may overlap: the cells of its box, if its radius were larger by the
    /// largest radius. The sum of radii is rounded here as in the predicate, so the margin of the box covers it.
    #[inline]
    fn reach(&self, map: &CellMap, body: &Body<2>) -> CellRange {
        map.range(&Body { radius: body.radius + self.largest, ..*body }.aabb())
    }

    /// Returns the points from cell `first` up to the end of cell `last` of a row.
    #[inline]
    fn row(&self, map: &CellMap, row: u16, [first, last]: [u16; 2]) -> &[Point] {
        let (begin, end) = (self.starts[map.index([first, row])], self.starts[map.index([last, row]) + 1]);
        &self.points[begin as usize..end as usize]
    }

    /// The cells with a point in them.
    pub(super) fn occupied(&self, map: &CellMap) -> impl Iterator<Item = [u16; 2]> {
        let starts = self.starts.windows(2);
        map.all().cells().zip(starts).filter(|(_, ends)| ends[0] < ends[1]).map(|(cell, _)| cell)
    }

    /// Finds every pair of points once, by the first of the two. Returns the number of tests.
    pub(super) fn for_each_pair(&self, map: &CellMap, hit: &mut dyn FnMut([u32; 2])) -> u64 {
        let mut tests = 0;
        for (at, point) in self.points.iter().enumerate() {
            let (cells, row) = (self.reach(map, &point.body), map.cell(point.body.center)[1]);
            let columns = [cells.lo[0], cells.hi[0]];
            let end = self.starts[map.index([cells.hi[0], row]) + 1] as usize;
            tests += point.test(&self.points[at + 1..end], hit);
            for row in (row..=cells.hi[1]).skip(1) {
                tests += point.test(self.row(map, row, columns), hit);
            }
        }
        tests
    }

    /// Finds every pair of one of the points with a body that is none of them. Returns the number of tests.
    pub(super) fn for_each_hit(&self, map: &CellMap, id: u32, body: &Body<2>, hit: &mut dyn FnMut([u32; 2])) -> u64 {
        let (cells, giant) = (self.reach(map, body), Point { body: *body, id });
        let columns = [cells.lo[0], cells.hi[0]];
        (cells.lo[1]..=cells.hi[1]).map(|row| giant.test(self.row(map, row, columns), hit)).sum()
    }
}

impl Point {
    #[inline]
    fn test(&self, others: &[Self], hit: &mut dyn FnMut([u32; 2])) -> u64 {
        for other in others.iter().filter(|other| self.body.overlaps(&other.body)) {
            hit([self.id.min(other.id), self.id.max(other.id)]);
        }
        others.len() as u64
    }
}

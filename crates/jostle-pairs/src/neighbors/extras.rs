//! The columns of neighbour lists that the caller has asked for beside the ids.

use core::ops::Range;

use bytemuck::Zeroable;
use jostle_core::disjoint::Disjoint;
use jostle_core::scratch::{resize_with_headroom, with_headroom};

/// Sets the length of a list whose values will all be set. Where memory must grow, it is new memory: nothing is copied,
/// and the thread that writes to a place first also touches it first.
pub(super) fn resize_anew<T: Zeroable + Copy>(list: &mut Vec<T>, len: usize) {
    if list.capacity() < len {
        *list = Vec::new();
    }
    resize_with_headroom(list, len);
}

/// Bytes that a list takes anew to hold so many values.
pub(super) fn more_bytes<T>(list: &Vec<T>, len: usize) -> usize {
    if list.capacity() < len { with_headroom(len).saturating_mul(size_of::<T>()) } else { 0 }
}

/// Which columns the caller has asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Wanted {
    pub(super) distances2: bool,
    pub(super) distances2_f64: bool,
    pub(super) image_shifts: bool,
    pub(super) vectors: bool,
}

/// One value of each column for each neighbour; columns that were not asked for are empty.
#[derive(Debug, Clone, Default)]
pub(super) struct Extras {
    pub(super) wanted: Wanted,
    pub(super) distances2: Vec<f32>,
    pub(super) distances2_f64: Vec<f64>,
    /// Flat, `dimensions` numbers for each neighbour: the lists are of no fixed dimension.
    pub(super) image_shifts: Vec<i32>,
    pub(super) vectors: Vec<f64>,
    /// The dimensions of the last search.
    dimensions: usize,
}

impl Extras {
    /// Columns of no search, none of them wanted.
    pub(super) fn of(
        distances2: Vec<f32>,
        distances2_f64: Vec<f64>,
        image_shifts: Vec<i32>,
        vectors: Vec<f64>,
    ) -> Self {
        Self { wanted: Wanted::default(), distances2, distances2_f64, image_shifts, vectors, dimensions: 0 }
    }

    pub(super) fn bytes(&self) -> usize {
        self.distances2.capacity() * size_of::<f32>()
            + (self.distances2_f64.capacity() + self.vectors.capacity()) * size_of::<f64>()
            + self.image_shifts.capacity() * size_of::<i32>()
    }

    /// Makes room for `neighbors` neighbours in a space of `axes` axes.
    pub(super) fn resize(&mut self, neighbors: usize, axes: usize) {
        let Wanted { distances2, distances2_f64, image_shifts, vectors } = self.wanted;
        self.dimensions = axes;
        resize_anew(&mut self.distances2, if distances2 { neighbors } else { 0 });
        resize_anew(&mut self.distances2_f64, if distances2_f64 { neighbors } else { 0 });
        resize_anew(&mut self.image_shifts, if image_shifts { neighbors * axes } else { 0 });
        resize_anew(&mut self.vectors, if vectors { neighbors * axes } else { 0 });
    }

    /// Bytes that [`Extras::resize`] asks the system for.
    pub(super) fn more_bytes(&self, neighbors: usize, axes: usize) -> usize {
        let Wanted { distances2, distances2_f64, image_shifts, vectors } = self.wanted;
        let (flat, of) = (neighbors.saturating_mul(axes), |wanted: bool, bytes: usize| if wanted { bytes } else { 0 });
        of(distances2, more_bytes(&self.distances2, neighbors))
            .saturating_add(of(distances2_f64, more_bytes(&self.distances2_f64, neighbors)))
            .saturating_add(of(image_shifts, more_bytes(&self.image_shifts, flat)))
            .saturating_add(of(vectors, more_bytes(&self.vectors, flat)))
    }

    pub(super) fn clear(&mut self) {
        self.distances2.clear();
        self.distances2_f64.clear();
        self.image_shifts.clear();
        self.vectors.clear();
    }

    pub(super) fn image_shifts<const D: usize>(&self) -> &[[i32; D]] {
        self.check_dimensions(D);
        self.image_shifts.as_chunks().0
    }

    pub(super) fn vectors<const D: usize>(&self) -> &[[f64; D]] {
        self.check_dimensions(D);
        self.vectors.as_chunks().0
    }

    fn check_dimensions(&self, asked: usize) {
        let found = self.dimensions;
        assert!(found == asked || found == 0, "the lists are of a search in {found} dimensions, not {asked}");
    }

    /// Shares the columns with tasks that write them block by block.
    pub(super) fn share<const D: usize>(&mut self) -> Shared<'_, D> {
        Shared {
            distances2: Disjoint::new(&mut self.distances2),
            distances2_f64: Disjoint::new(&mut self.distances2_f64),
            image_shifts: Disjoint::new(self.image_shifts.as_chunks_mut().0),
            vectors: Disjoint::new(self.vectors.as_chunks_mut().0),
        }
    }
}

/// Columns that several tasks write.
pub(super) struct Shared<'a, const D: usize> {
    distances2: Disjoint<'a, f32>,
    distances2_f64: Disjoint<'a, f64>,
    image_shifts: Disjoint<'a, [i32; D]>,
    vectors: Disjoint<'a, [f64; D]>,
}

impl<const D: usize> Shared<'_, D> {
    /// The columns of some neighbours.
    ///
    /// # Safety
    /// While the columns live, no other reference to any of these neighbours may be made.
    #[allow(unsafe_code, reason = "each task writes a block of its own")]
    pub(super) unsafe fn block(&self, range: Range<usize>) -> Block<'_, D> {
        let of = |len: usize| if len == 0 { 0..0 } else { range.clone() };
        // SAFETY: by the caller's promise; columns are separate vectors.
        unsafe {
            Block {
                distances2: self.distances2.range(of(self.distances2.len())),
                distances2_f64: self.distances2_f64.range(of(self.distances2_f64.len())),
                image_shifts: self.image_shifts.range(of(self.image_shifts.len())),
                vectors: self.vectors.range(of(self.vectors.len())),
            }
        }
    }
}

/// The columns of successive neighbours; those that were not asked for are empty.
pub(super) struct Block<'a, const D: usize> {
    pub(super) distances2: &'a mut [f32],
    pub(super) distances2_f64: &'a mut [f64],
    pub(super) image_shifts: &'a mut [[i32; D]],
    pub(super) vectors: &'a mut [[f64; D]],
}

impl<const D: usize> Block<'_, D> {
    /// Whether distances in `f32` alone were asked for.
    pub(super) fn wants_distances2_alone(&self) -> bool {
        let Self { distances2, distances2_f64, image_shifts, vectors } = self;
        !distances2.is_empty() && distances2_f64.is_empty() && image_shifts.is_empty() && vectors.is_empty()
    }
}

//! What candidates of two sets call bodies: by id or by rank in their tree, and behind those of a set its images, where space repeats.

use jostle_core::axes::Both;

/// See the top of this file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names<'a> {
    /// The ids of ranks, if candidates name bodies so.
    pub(super) ids: &'a [u32],
    /// Whether both sets are the same.
    pub(super) within: bool,
    /// Of the second set, ids from this one on are those of images of these bodies.
    pub(super) first_image: u32,
    pub(super) images_of: &'a [u32],
}

impl Names<'_> {
    /// The ids of a candidate, the lesser first within a set; those of images among them.
    #[inline(always)]
    pub(super) fn ids(&self, names: [u32; 2]) -> [u32; 2] {
        if self.ids.is_empty() {
            return names;
        }
        let [a, b] = names.both(|rank| self.ids[rank as usize]);
        [a.min(b), a.max(b)]
    }

    /// The ids of the bodies of a candidate, the lesser first within a set.
    #[inline(always)]
    pub(super) fn pair(&self, names: [u32; 2]) -> [u32; 2] {
        let [a, b] = self.ids(names);
        if b >= self.first_image { self.without_images([a, b]) } else { [a, b] }
    }

    #[cold]
    fn without_images(&self, [a, b]: [u32; 2]) -> [u32; 2] {
        let b = self.images_of[(b - self.first_image) as usize];
        if self.within { [a.min(b), a.max(b)] } else { [a, b] }
    }
}

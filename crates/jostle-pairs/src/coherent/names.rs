//! How candidates of two sets name bodies: by id, or by rank in their tree. Where space repeats, the ghost images of a
//! set have names behind those of its bodies.

use jostle_core::axes::Both;

/// See the top of this file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names<'a> {
    /// The ids of ranks, if candidates name bodies by rank.
    pub(super) ids: &'a [u32],
    /// Whether both sets are the same.
    pub(super) within: bool,
    /// In the second set, ids from `first_image` on are those of ghost images, of the bodies `images_of`.
    pub(super) first_image: u32,
    pub(super) images_of: &'a [u32],
}

impl Names<'_> {
    /// Returns the ids of a candidate, the lesser first within a set. A ghost image has an id of its own.
    #[inline(always)]
    pub(super) fn ids(&self, names: [u32; 2]) -> [u32; 2] {
        if self.ids.is_empty() {
            return names;
        }
        let [a, b] = names.both(|rank| self.ids[rank as usize]);
        [a.min(b), a.max(b)]
    }

    /// Returns the ids of the bodies of a candidate, the lesser first within a set. No branch asks for images, since where
    /// there are many no processor foresees which candidates have one.
    #[inline(always)]
    pub(super) fn pair(&self, names: [u32; 2]) -> [u32; 2] {
        let [a, b] = self.ids(names);
        let image = b.checked_sub(self.first_image);
        let body = self.images_of.get(image.unwrap_or(0) as usize).copied().unwrap_or(b);
        let b = if image.is_some() { body } else { b };
        if self.within { [a.min(b), a.max(b)] } else { [a, b] }
    }
}

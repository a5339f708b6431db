//! Columns of plain values as bytes of a message, one after the other, in the order of bytes of the machine.

use bytemuck::Pod;

/// Appends values.
pub(crate) fn put<T: Pod>(bytes: &mut Vec<u8>, values: &[T]) {
    bytes.extend_from_slice(bytemuck::cast_slice(values));
}

/// Reads what [`put`] has written, in the same order.
#[derive(Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl Reader<'_> {
    /// Appends the next `count` values to a column.
    ///
    /// # Panics
    /// When fewer values are left: the ranks do not run the same program.
    pub(crate) fn take<T: Pod>(&mut self, count: usize, column: &mut Vec<T>) {
        if size_of::<T>() == 0 {
            column.extend(core::iter::repeat_n(T::zeroed(), count));
            return;
        }
        let (values, rest) = self.0.split_at(count * size_of::<T>());
        column.extend(values.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned::<T>));
        self.0 = rest;
    }

    /// The next value.
    pub(crate) fn one<T: Pod>(&mut self) -> T {
        let (value, rest) = self.0.split_at(size_of::<T>());
        self.0 = rest;
        bytemuck::pod_read_unaligned(value)
    }
}

/// All values of a message.
pub(crate) fn all<T: Pod>(bytes: &[u8]) -> Vec<T> {
    let mut column = Vec::new();
    Reader(bytes).take(bytes.len() / size_of::<T>(), &mut column);
    column
}

//! Columns of memory with a stride: every layout about the end of the memory, against plain arithmetic.

use jostle_core::{Column, Scalar, ViewError};

const BASE: usize = 30;

/// Returns the error that the layout should be refused with.
fn fault(count: usize, stride: usize, offset: usize, scalar: usize) -> Option<ViewError> {
    if count > 1 && stride < scalar {
        return Some(ViewError::Stride { stride, scalar });
    }
    let [steps, wide, first] = [count.saturating_sub(1), stride, offset].map(|number| number as u128);
    let beyond = count > 0 && steps * wide + first + scalar as u128 > BASE as u128;
    beyond.then_some(ViewError::Base { count, stride, offset, scalar, base: BASE })
}

fn layouts<T: Scalar>() {
    let scalar = size_of::<T>();
    // No two values are equal, and none is NaN.
    let bytes: Vec<u8> = (0..=BASE as u8).collect();
    let base = &bytes[1..];
    let huge = [usize::MAX - 3, usize::MAX / 2, usize::MAX];
    let mut sound = 0;
    for count in (0..9).chain(huge) {
        for stride in (0..20).chain(huge) {
            for offset in (0..=BASE + 1).chain(huge) {
                let column = Column::<T>::from_strided(base, count, stride, offset);
                let column = match fault(count, stride, offset, scalar) {
                    Some(fault) => {
                        assert_eq!(column.err(), Some(fault));
                        continue;
                    }
                    None => column.expect("a layout"),
                };
                let at = |id: usize| bytemuck::pod_read_unaligned::<T>(&base[offset + id * stride..][..scalar]);
                let expected: Vec<T> = (0..count).map(at).collect();
                assert!(
                    (0..count).map(|id| column.get(id)).eq(expected.iter().copied()),
                    "{column:?} from {offset} on"
                );
                let mut copied = vec![T::default(); count - count.min(1)];
                column.copy_into(count.min(1), &mut copied);
                assert_eq!(copied, &expected[count.min(1)..], "{column:?} from {offset} on");
                let mut mapped = vec![None; copied.len()];
                column.map_into(count.min(1), &mut mapped, Some);
                assert!(mapped.into_iter().flatten().eq(copied), "{column:?} from {offset} on");
                assert!(column.as_slice().is_none_or(|slice| slice == expected), "{column:?} from {offset} on");
                sound += 1;
            }
        }
    }
    assert!(sound > 1_000, "{sound} layouts");
}

#[test]
fn columns_are_read_where_they_are_or_refused() {
    layouts::<f32>();
    layouts::<f64>();
}

#[test]
fn nothing_is_read_beyond_the_last_body() {
    let column = Column::<f32>::from_strided(&[1.0_f32, 2.0, 3.0], 2, 8, 0).expect("a layout");
    for first in [0, 1, 2, 3, usize::MAX] {
        let mapped = std::panic::catch_unwind(|| column.map_into(first, &mut [0.0; 2], |value| value));
        let copied = std::panic::catch_unwind(|| column.copy_into(first, &mut [0.0; 2]));
        assert_eq!([mapped.is_ok(), copied.is_ok()], [first == 0; 2], "from {first} on");
    }
    assert!(std::panic::catch_unwind(|| column.get(2)).is_err());
}

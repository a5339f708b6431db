//! Refuses bad bodies, without touching the heap while all bodies are good.

use jostle_core::bounds::bounds;
use jostle_core::limits::REACH;
use jostle_core::{Bodies, Threads, ViewError};

use crate::body::Body;

/// Checks that all bodies of a frame are sound. O(n).
pub(crate) fn check<const D: usize>(bodies: Bodies<'_, D>) -> Result<(), ViewError> {
    bodies.check_shape()?;
    let sound = |id| bodies.radii().get(id) >= 0.0 && is_sound(&body(bodies, id));
    if (0..bodies.len()).all(sound) { Ok(()) } else { bounds(bodies, Threads::Serial).map(drop) }
}

/// Copies the bodies of a frame, by id, once all are found to be sound. O(n).
pub(crate) fn take<const D: usize>(bodies: Bodies<'_, D>, into: &mut Vec<Body<D>>) -> Result<(), ViewError> {
    check(bodies)?;
    into.clear();
    into.extend((0..bodies.len()).map(|id| body(bodies, id)));
    Ok(())
}

/// Checks a single body. The error names the body by the caller's `id`.
pub(crate) fn check_one<const D: usize>(id: u32, body: &Body<D>) -> Result<(), ViewError> {
    if is_sound(body) {
        return Ok(());
    }
    let columns = body.center.each_ref().map(core::slice::from_ref);
    bounds(Bodies::from_slices(columns, &[body.radius]), Threads::Serial).map(drop).map_err(|error| match error {
        ViewError::Bodies { count, first } => {
            ViewError::Bodies { count, first: first.into_iter().map(|(_, reason)| (id, reason)).collect() }
        }
        other => other,
    })
}

/// Body `id` of a view.
#[inline]
pub(crate) fn body<const D: usize>(bodies: Bodies<'_, D>, id: usize) -> Body<D> {
    Body { center: bodies.center(id), radius: bodies.radius(id) }
}

/// Returns whether the engine would accept the body. Comparisons with NaN are false.
#[inline]
fn is_sound<const D: usize>(body: &Body<D>) -> bool {
    body.radius >= 0.0 && body.center.iter().all(|x| x.abs() + body.radius <= REACH)
}

#[cfg(test)]
mod tests {
    use super::{check, check_one};
    use crate::body::Body;
    use jostle_core::{Circles, Reason, ViewError};

    #[test]
    fn a_margin_does_not_make_up_for_a_negative_radius() {
        let one = Circles::new(&[0.0], &[0.0], -0.5);
        let expected = ViewError::Bodies { count: 1, first: vec![(0, Reason::RadiusNegative)] };
        assert_eq!(check(one.with_margin(1.0)), Err(expected));
    }

    #[test]
    fn a_single_body_is_named_as_the_caller_names_it() {
        let bad = Body { center: [0.0, f32::NAN], radius: 1.0 };
        let expected = ViewError::Bodies { count: 1, first: vec![(77, Reason::CenterNotFinite { axis: 1 })] };
        assert_eq!(check_one(77, &bad), Err(expected));
        assert_eq!(check_one(77, &Body { center: [0.0, 1.0], radius: 0.0 }), Ok(()));
        assert!(check_one(77, &Body { center: [0.0, 1.2e18], radius: 0.0 }).is_err());
    }
}

//! One search recorded task by task, for the lanes of the page.

use std::fmt::Write as _;
use std::time::Duration;

use jostle::{Input, InputError, PairFinder, Recording, Spheres, Threads};

use crate::view::View;

/// Searches once more, task after task on the calling thread, and returns in JSON how many microseconds each task took:
/// `"regions":[{"name":"...","before":0.5,"tasks":[1.25,...]},...],"after":0.5`. Takes about twice as long as a search
/// on one thread.
///
/// # Errors
/// Those of a search within the view.
pub(crate) fn json(view: View<'_>, heights: Option<&[f32]>) -> Result<String, InputError> {
    match (view, heights) {
        (View::Circles(circles), None) => recorded::<2>(circles.into()),
        (View::Circles(circles), Some(z)) => {
            let [x, y] = *circles.centers();
            let spheres = Spheres::from_columns([x, y, z.into()], circles.radii());
            recorded::<3>(spheres.with_margin(circles.margin()).into())
        }
        (View::Boxes(boxes), _) => recorded::<2>(boxes.into()),
    }
}

fn recorded<const D: usize>(bodies: Input<'_, D>) -> Result<String, InputError> {
    // The first search allocates memory, which the later one finds.
    let mut finder = PairFinder::new();
    finder.find(bodies)?;
    let (_, recording) = finder.on(Threads::Current).find_recorded(bodies)?;
    Ok(told(&recording))
}

fn told(recording: &Recording) -> String {
    let micros = |time: Duration| format!("{:.2}", time.as_secs_f64() * 1e6);
    let mut json = String::from(r#""regions":["#);
    for (at, region) in recording.regions.iter().enumerate() {
        let tasks: Vec<_> = region.tasks.iter().map(|&task| micros(task)).collect();
        let (comma, before) = (if at > 0 { "," } else { "" }, micros(region.before));
        // Writing to a String cannot fail. The names are the engine's own.
        _ = write!(json, r#"{comma}{{"name":"{}","before":{before},"tasks":[{}]}}"#, region.name, tasks.join(","));
    }
    _ = write!(json, r#"],"after":{}"#, micros(recording.after));
    json
}

#[cfg(test)]
mod tests {
    use jostle::Circles;

    #[test]
    fn every_region_is_told_with_its_tasks() {
        let x: Vec<_> = (0..20_000).map(|id| id as f32).collect();
        let json = super::json(Circles::new(&x, &x, 1.0).into(), None).unwrap();
        assert!(json.starts_with(r#""regions":[{"name":""#) && json.contains(r#"],"after":"#), "{json}");
        assert!(json.matches(r#""name":""#).count() > 3, "{json}");
        assert_eq!(json.matches('[').count(), json.matches(']').count());
        assert!(super::json(Circles::new(&[f32::NAN], &[0.0], 1.0).into(), Some(&[0.0])).is_err());
    }
}

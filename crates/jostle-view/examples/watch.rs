//! One's own loop, watched in a browser: `cargo run --release -p jostle-view --example watch [frames]`.

use std::error::Error;
use std::thread;
use std::time::Duration;

use jostle::{Circles, PairFinder};
use jostle_view::Viewer;

fn main() -> Result<(), Box<dyn Error>> {
    let frames = std::env::args().nth(1).map_or(Ok(u64::MAX), |frames| frames.parse())?;
    let (mut x, mut y, radius) = (vec![0.0; 5000], vec![0.0; 5000], 0.5);

    // It serves the page on a thread of its own, to this machine alone.
    let mut viewer = Viewer::start(([127, 0, 0, 1], 0).into())?;
    println!("{}", viewer.url());

    let mut finder = PairFinder::new();
    for frame in 0..frames {
        for id in 0..x.len() {
            let (turn, out) = (id as f32 * 2.4 + frame as f32 * 1e-3, (id as f32).sqrt());
            let breath = 1.0 + 0.2 * (frame as f32 * 0.01 + out * 0.2).sin();
            (x[id], y[id]) = (out * breath * turn.cos(), out * breath * turn.sin());
        }
        let view = Circles::new(&x, &y, radius);
        let found = finder.find(view)?;
        // It never waits, and costs nothing to speak of while nobody looks.
        viewer.frame(view, &found);
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

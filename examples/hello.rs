//! Finds the overlapping pairs of a few circles, before and after they move: `cargo run --release --example hello`.

use jostle::{Circles, InputError, PairFinder};

fn main() -> Result<(), InputError> {
    // Circles stay where they are, in your own arrays: here one array a column, elsewhere fields of your structs.
    let mut x = vec![0.0, 1.5, 6.0, 6.5, 9.0];
    let y = vec![0.0, 0.0, 0.0, 1.0, 0.0];
    let radius = vec![1.0, 0.5, 1.0, 0.25, 1.0];

    // Make one finder and keep it. It owns all memory, and later frames allocate nothing.
    let mut finder = PairFinder::new();

    let found = finder.find(Circles::new(&x, &y, &radius))?;
    println!("at first:");
    for &[a, b] in found.pairs() {
        // a < b are positions in your arrays. Circles 0 and 1 touch: that counts.
        println!("  circle {a} overlaps circle {b}");
    }

    // Move them, and search again.
    for x in &mut x[..2] {
        *x += 7.0;
    }
    let found = finder.find(Circles::new(&x, &y, &radius))?;
    println!("seven to the right:");
    for &[a, b] in found.pairs() {
        println!("  circle {a} overlaps circle {b}");
    }

    // `count` and `for_each_pair` make no list. One radius may serve all circles.
    println!("with radius 1 for all: {} pairs", finder.count(Circles::new(&x, &y, 1.0))?);

    // A NaN makes no circle: the search refuses it, and the error names the body at fault.
    x[3] = f32::NAN;
    if let Err(error) = finder.find(Circles::new(&x, &y, &radius)) {
        println!("{error}");
    }
    Ok(())
}

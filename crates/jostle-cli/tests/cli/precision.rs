//! No value is rounded without a word: values that f32 does not hold are searched and verified in f64.

use jostle::{Circles64, PairFinder};

use crate::program::{Folder, array, figure};

/// Centres a decimetre apart, far from the origin, and radii of a centimetre.
const FAR: &str = "x,y,r\n0,0,0\n4512345.10,0,0.01\n4512345.20,0,0.01\n4512345.20,0.01,0.01\n";

fn pairs(folder: &Folder, arguments: &str) -> String {
    figure(&folder.succeed(&format!("pairs {arguments}")), "pairs").to_owned()
}

#[test]
fn text_that_f32_would_round_is_searched_in_f64() {
    let folder = Folder::new();
    folder.write("in.csv", FAR);
    let output = folder.succeed("pairs in.csv -o out.csv --png out.png --cells --size 64");
    assert_eq!(figure(&output, "precision"), "f64, as f32 would round line 3, column x: 4512345.1");
    assert_eq!(folder.read("out.csv"), b"a,b\n2,3\n");
    for against in ["brute", "sweep"] {
        let output = folder.succeed(&format!("verify in.csv --against {against}"));
        assert!(figure(&output, "compared").starts_with("1 pair with the 1 of"), "{output}");
        assert!(figure(&output, "precision").starts_with("f64"));
    }
    // In f32 the two bodies are half a unit apart: the pairs differ, and verify tells.
    assert_eq!(pairs(&folder, "in.csv --precision f32 -o rounded.csv"), "3");
    assert_eq!(folder.run("verify in.csv --pairs rounded.csv").code, Some(1));
    let output = folder.succeed("verify in.csv --pairs rounded.csv --precision f32");
    assert_eq!(figure(&output, "precision"), "f32, as asked for; rounded is line 3, column x: 4512345.1");
}

#[test]
fn what_f32_holds_is_searched_in_f32() {
    let folder = Folder::new();
    folder.write("in.csv", "x,y,r\n0.5,1e3,2\n16777216,-0.125,3\n");
    let exact = "f32, which holds every value as it is";
    assert_eq!(figure(&folder.succeed("pairs in.csv"), "precision"), exact);
    assert_eq!(figure(&folder.succeed("pairs in.csv --precision f64"), "precision"), "f64, as asked for");
    assert_eq!(figure(&folder.succeed("pairs in.csv --radius 0.5"), "precision"), exact);
    let output = folder.succeed("pairs in.csv --radius 0.1");
    assert_eq!(figure(&output, "precision"), "f64, as f32 would round --radius 0.1");
    let message = folder.refuse("pairs in.csv --radius 1e39 --precision f32");
    assert!(message.contains("--radius 1e39 does not fit a 32-bit float"), "{message}");
    folder.write("in.csv", "x,y,r\n0,0,1\n1e39,0,1\n");
    assert!(
        folder.refuse("pairs in.csv --precision f32").contains("line 3, column x: 1e39 does not fit a 32-bit float")
    );
    assert_eq!(pairs(&folder, "in.csv"), "0");
}

#[test]
fn an_array_of_f64_is_searched_as_the_library_does() {
    let folder = Folder::new();
    // A lattice at a place where f32 cannot tell its points from their neighbours.
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for i in 0..900 {
        x.push(5e8 + 0.1 * f64::from(i % 30));
        y.push(-5e8 + 0.1 * f64::from(i / 30));
    }
    let radius = 0.0500001;
    let found = PairFinder::new().find(Circles64::new(&x, &y, radius)).unwrap().pairs().to_vec();
    let rows: Vec<_> = x.iter().zip(&y).flat_map(|(&x, &y)| [x, y]).collect();
    folder.write("in.npy", array("<f8", false, 2, &rows));
    assert_eq!(pairs(&folder, "in.npy --radius 0.0500001 -o out.csv --frames 2"), "1,740");
    let text: String = found.iter().map(|[a, b]| format!("{a},{b}\n")).collect();
    assert!(folder.read("out.csv") == format!("a,b\n{text}").into_bytes());
    folder.succeed("verify in.npy --radius 0.0500001 --pairs out.csv");
}

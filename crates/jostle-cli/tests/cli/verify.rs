//! The verifier: what it accepts, and what it says of pairs that are wrong.

use std::path::Path;

use crate::program::{Folder, bodies, csv, figure};

#[test]
fn pairs_are_verified_in_both_ways() {
    let folder = Folder::new();
    folder.write("flat.csv", csv(&bodies::<2>().0));
    folder.write("deep.csv", csv(&bodies::<3>().0));
    for file in ["flat.csv", "deep.csv"] {
        for (method, name) in [("brute", "a double loop"), ("sweep", "a sweep"), ("auto", "a double loop")] {
            let output = folder.succeed(&format!("verify {file} --against {method} --threads 2"));
            assert!(figure(&output, "compared").ends_with(name), "{output}");
            assert_eq!(figure(&output, "threads"), "2 and 1: the same sequence");
            assert_eq!(figure(&output, "result"), "equal");
        }
    }
}

#[test]
fn pairs_of_another_program_are_compared() {
    let folder = Folder::new();
    folder.write("in.csv", "x,y,r\n0,0,1\n1,0,1\n2,0,1\n9,9,1\n");
    folder.write("right.csv", "b,a\n2,1\n1,0\n2,0\n");
    assert_eq!(figure(&folder.succeed("verify in.csv --pairs right.csv"), "result"), "equal");
    folder.write("wrong.csv", "a,b\n0,1\n0,1\n2,1\n2,3\n");
    let run = folder.run("verify in.csv --pairs wrong.csv");
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""));
    for (name, value) in
        [("not a < b", "1: 2,1"), ("repeated", "1: 0,1"), ("missing", "2: 0,2 1,2"), ("extra", "2: 2,1 2,3")]
    {
        assert_eq!(figure(&run.stdout, name), value);
    }
    assert_eq!(figure(&run.stdout, "result"), "DIFFERENT");
}

#[test]
fn lists_that_are_no_pairs_are_refused() {
    let folder = Folder::new();
    folder.write("in.csv", "x,y,r\n0,0,1\n1,0,1\n");
    for (content, message) in [
        ("a,c\n", "error: pairs.csv: line 1: no column \"b\" among a, c"),
        ("a,b\n0,1\n0,-1\n", "error: pairs.csv: line 3, column b: \"-1\" is no id"),
        ("a,b\n0,2\n", "error: pairs.csv: id 2, but the input holds 2 circles"),
    ] {
        folder.write("pairs.csv", content);
        let run = folder.run("verify in.csv --pairs pairs.csv");
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.starts_with(message), "{}", run.stderr);
    }
}

#[test]
fn the_places_are_read_as_their_readme_says() {
    let folder = Folder::new();
    let places = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/places.csv");
    for (against, name) in [("brute", "a double loop"), ("sweep", "a sweep")] {
        let output = folder.succeed(&format!("verify {} --against {against}", places.display()));
        assert!(figure(&output, "input").ends_with("69,472 circles"));
        assert_eq!(figure(&output, "compared"), format!("46,323 pairs with the 46,323 of {name}"));
    }
}

#[test]
fn the_lands_are_read_as_their_readme_says() {
    let folder = Folder::new();
    let lands = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/lands.csv");
    for (against, name) in [("brute", "a double loop"), ("sweep", "a sweep")] {
        let output = folder.succeed(&format!("verify {} --against {against}", lands.display()));
        assert!(figure(&output, "input").ends_with("7,763 boxes"));
        assert_eq!(figure(&output, "compared"), format!("23,544 pairs with the 23,544 of {name}"));
    }
}

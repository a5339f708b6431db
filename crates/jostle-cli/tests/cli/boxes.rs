//! Files of boxes: recognised by the names of their columns, in every format, and refused by row.

use jostle::{Boxes, PairFinder};
use jostle_testkit::shapes::{BoxKind, BoxScene, box_pairs, boxes};

use crate::program::{Folder, array, figure};

/// Returns boxes with two axes as text, with columns in an order of their own.
fn csv(boxes: &BoxScene<2>) -> String {
    let mut text = "YMAX,name,xMin,ymin,xmax\n".to_owned();
    for id in 0..boxes.len() {
        // In f64, whose shortest text is read as the same number.
        let [[x0, y0], [x1, y1]] = [boxes.view().lo(id), boxes.view().hi(id)].map(|corner| corner.map(f64::from));
        text.push_str(&format!("{y1},of {id},{x0},{y0},{x1}\n"));
    }
    text
}

#[test]
fn boxes_are_found_drawn_and_verified() {
    let folder = Folder::new();
    for kind in [BoxKind::Uniform, BoxKind::Degenerate] {
        let boxes = boxes::<2>(kind, 200);
        folder.write("in.csv", csv(&boxes));
        let output = folder.succeed("pairs in.csv -o out.csv --png out.png --cells --size 100 --threads 1");
        assert!(figure(&output, "input").contains("in.csv: 200 boxes, read in"), "{output}");
        let found = PairFinder::new().find(boxes.view()).unwrap().pairs().to_vec();
        let pairs: String = found.iter().map(|[a, b]| format!("{a},{b}\n")).collect();
        assert_eq!(String::from_utf8(folder.read("out.csv")).unwrap(), format!("a,b\n{pairs}"));
        let count = box_pairs(&boxes).len();
        assert_eq!(figure(&folder.succeed("pairs in.csv --count"), "pairs"), count.to_string());
        for (method, name) in [("brute", "a double loop"), ("sweep", "a sweep")] {
            let output = folder.succeed(&format!("verify in.csv --against {method}"));
            assert_eq!(figure(&output, "compared"), format!("{count} pairs with the {count} of {name}"));
        }
        folder.succeed("verify in.csv --pairs out.csv");
    }
}

#[test]
fn boxes_in_space_and_their_shadows() {
    let folder = Folder::new();
    // f32 would round 0.1: the first two boxes touch in f64 alone.
    folder.write("in.csv", "xmin,ymin,zmin,xmax,ymax,zmax\n0,0,0,0.1,1,1\n0.1,0,0,1,1,1\n0.5,0.5,7,0.6,0.6,inf\n");
    let output = folder.succeed("pairs in.csv -o out.csv --png out.png --size 64");
    assert_eq!(figure(&output, "precision"), "f64, as f32 would round line 2, column xmax: 0.1");
    assert_eq!(folder.read("out.csv"), b"a,b\n0,1\n");
    assert_eq!(figure(&folder.succeed("pairs in.csv --dim 2"), "pairs"), "2");
    for against in ["brute", "sweep"] {
        folder.succeed(&format!("verify in.csv --against {against}"));
    }
}

#[test]
fn columns_by_other_names_and_arrays() {
    let folder = Folder::new();
    let pairs = |arguments: &str| {
        folder.succeed(&format!("pairs {arguments} -o out.csv"));
        String::from_utf8(folder.read("out.csv")).unwrap()
    };
    folder.write("in.csv", "left,low,right,high,r\n0,0,2,2,1\n1,1,3,3,1\n9,9,9,9,1\n");
    assert_eq!(pairs("in.csv --columns left,low,right,high --boxes"), "a,b\n0,1\n");
    assert_eq!(pairs("in.csv --columns 1,2,3,4 --boxes"), "a,b\n0,1\n");
    folder.write("in.csv", "min_x,min_y,max_x,max_y\n0,0,2,2\n1,1,3,3\n");
    assert_eq!(pairs("in.csv --columns min_x,min_y,max_x,max_y"), "a,b\n0,1\n");
    assert_eq!(pairs("in.csv --columns 1,2,3,4"), "a,b\n0,1\n");
    folder.write("in.npy", array("<f8", false, 4, &[0.0_f64, 0.0, 2.0, 2.0, 2.0, 2.0, 3.0, 3.0]));
    assert_eq!(pairs("in.npy --boxes"), "a,b\n0,1\n");
    assert_eq!(pairs("in.npy --boxes --columns 1,2,3,4"), "a,b\n0,1\n");
    folder.write("in.npy", array("<f8", false, 6, &[0.0_f64, 0.0, 0.0, 2.0, 2.0, 0.0, 2.0, 2.0, 1.0, 3.0, 3.0, 1.0]));
    assert_eq!(pairs("in.npy --boxes"), "a,b\n");
    assert_eq!(pairs("in.npy --boxes --dim 2"), "a,b\n0,1\n");
}

#[test]
fn what_is_wrong_with_a_box_is_told_by_line() {
    let folder = Folder::new();
    folder.write("in.csv", "xmin,ymin,xmax,ymax\n0,0,1,1\n\n0,3,1,2.5\nnan,0,1,1\n0,0,-inf,1\n0,inf,1,inf\n");
    for command in ["pairs in.csv -o out.csv", "verify in.csv"] {
        assert_eq!(
            folder.refuse(command),
            "error: in.csv: 4 of 5 boxes cannot be used\n  line 4: ymin is 3, above ymax, which is 2.5\n  line 5: xmin is NaN\n  \
             line 6: xmax is -inf\n  line 7: ymin is inf\n"
        );
    }
    folder.write("in.csv", "xmin,ymin,xmax,ymax\n2,0,1,1\n");
    assert!(
        folder.refuse("pairs in.csv").contains("in.csv: 1 of 1 box cannot be used\n  line 2: xmin is 2, above xmax")
    );
    assert_eq!(folder.names(), ["in.csv"]);
}

#[test]
fn columns_that_may_be_of_circles_or_of_boxes_are_asked_about() {
    let folder = Folder::new();
    folder.write("in.csv", "x,y,r,XMIN,ymin,xmax,ymax\n0,0,1,0,0,1,1\n2,0,1,1,1,2,2\n9,9,1,2,2,3,3\n");
    let message = folder.refuse("pairs in.csv");
    assert!(
        message.contains("columns r and XMIN: are the bodies circles (say --columns x,y,r), or boxes"),
        "{message}"
    );
    assert!(message.contains("(say --columns xmin,ymin,xmax,ymax, without a radius)?"), "{message}");
    let message = folder.refuse("verify in.csv --radius 1");
    assert!(
        message.contains("--radius and a column XMIN: are the bodies circles (say --columns x,y with"),
        "{message}"
    );
    let pairs = |arguments: &str| figure(&folder.succeed(&format!("pairs in.csv {arguments}")), "pairs").to_owned();
    assert_eq!(pairs("--columns x,y,r"), "1");
    assert_eq!(pairs("--columns x,y --radius 4"), "1");
    assert_eq!(pairs("--boxes"), "2");
    assert_eq!(pairs("--columns xmin,ymin,xmax,ymax"), "2");
    for (arguments, message) in [
        ("--columns xmin,ymin,r", "circles have three columns, as in x,y,r, boxes have four, xmin,ymin,xmax,ymax"),
        ("--columns xmin,xmax,ymin,ymax", "lower corners are read first, then upper ones, as in xmin,ymin,xmax,ymax"),
        ("--columns 4,6,5,7", "lower corners are read first"),
        ("--columns xmin,ymin,xmax,ymax --radius 1", "boxes have no radius"),
        ("--boxes --radius 1", "cannot be used with"),
        ("--boxes --dim 3", "no column \"zmin\" among"),
        ("--columns xmin,ymin,xmax,ymax --dim 3", "boxes have four"),
    ] {
        let error = folder.refuse(&format!("pairs in.csv {arguments}"));
        assert!(error.contains(message), "{arguments}: {error}");
    }
    folder.write("half.csv", "xmin,ymin,xmax\n");
    assert!(folder.refuse("pairs half.csv").contains("no column \"ymax\" among xmin, ymin, xmax"));
    folder.write("boxes.csv", "xmin,ymin,xmax,ymax\n0,0,1,1\n");
    assert!(
        folder.refuse("simulate --from boxes.csv --frames 1").contains("boxes.csv: holds boxes; agents are circles")
    );
}

#[test]
fn boxes_of_f32_are_searched_in_f32() {
    let folder = Folder::new();
    folder.write("in.csv", "xmin,ymin,xmax,ymax\n0.5,-1e3,0.75,2\n0.75,2,16777216,3\n");
    let output = folder.succeed("pairs in.csv -o out.csv");
    assert_eq!(figure(&output, "precision"), "f32, which holds every value as it is");
    let boxes = Boxes::new([&[0.5, 0.75], &[-1e3, 2.0]], [&[0.75, 16777216.0], &[2.0, 3.0]]);
    assert_eq!(PairFinder::new().find(boxes).unwrap().pairs(), [[0, 1]]);
    assert_eq!(folder.read("out.csv"), b"a,b\n0,1\n");
}

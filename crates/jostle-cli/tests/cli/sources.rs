//! Where bodies come from: standard input, packed files, text of many kinds.

use std::io::Write;
use std::process::Stdio;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::program::{Folder, Run, array, bodies, csv, figure};

/// Runs the program with these bytes as standard input.
fn fed(folder: &Folder, arguments: &str, bytes: &[u8]) -> Run {
    let mut command = folder.command(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // A program that refuses does not read to the end.
    std::thread::scope(|scope| {
        scope.spawn(move || drop(pipe.write_all(bytes)));
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    })
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns the pairs of a text, as CSV.
fn pairs(text: &str, arguments: &str) -> String {
    let folder = Folder::new();
    let run = fed(&folder, &format!("pairs - -o - {arguments}"), text.as_bytes());
    assert_eq!(run.code, Some(0), "{text:?}: {}", run.stderr);
    run.stdout
}

fn refusal(text: &str, arguments: &str) -> String {
    let folder = Folder::new();
    let run = fed(&folder, &format!("pairs - {arguments}"), text.as_bytes());
    assert_eq!(run.code, Some(2), "{text:?}: {}", run.stdout);
    run.stderr
}

#[test]
fn every_format_is_read_from_standard_input_and_packed() {
    let folder = Folder::new();
    let (circles, found) = bodies::<2>();
    let text = csv(&circles);
    folder.write("in.csv", &text);
    folder.succeed("pairs in.csv -o out.csv");
    let truth = folder.read("out.csv");
    assert!(!found.is_empty());
    let columns: Vec<f32> =
        (0..circles.len()).flat_map(|id| [circles.centers[0][id], circles.centers[1][id], circles.radii[id]]).collect();
    // Pairs as Parquet can be read, too, as bodies with columns a and b.
    folder.succeed("pairs in.csv -o pairs.parquet");
    for (name, bytes) in [("again.csv", text.into_bytes()), ("again.npy", array("<f4", false, 3, &columns))] {
        for (name, bytes) in [(name.to_owned(), bytes.clone()), (format!("{name}.gz"), packed(&bytes))] {
            let run = fed(&folder, "pairs - -o out.csv", &bytes);
            assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{name}");
            assert!(figure(&run.stdout, "input").starts_with("standard input: 150 circles"), "{}", run.stdout);
            assert!(folder.read("out.csv") == truth, "{name}");
            folder.write(&name, bytes);
            folder.succeed(&format!("pairs {name} -o out.csv"));
            assert!(folder.read("out.csv") == truth, "{name}");
        }
    }
    let parquet = folder.read("pairs.parquet");
    folder.write("pairs.parquet.gz", packed(&parquet));
    let from = |run: Run| figure(&run.stdout, "pairs").to_owned();
    let arguments = "--columns a,b --radius 1";
    let plain = from(folder.run(&format!("pairs pairs.parquet {arguments}")));
    assert_eq!(from(fed(&folder, &format!("pairs - {arguments}"), &parquet)), plain);
    assert_eq!(from(folder.run(&format!("pairs pairs.parquet.gz {arguments}"))), plain);
    assert_eq!(from(fed(&folder, &format!("pairs - {arguments}"), &packed(&parquet))), plain);
}

#[test]
fn fields_stand_between_many_things() {
    let truth = "a,b\n0,1\n";
    for text in [
        "x;y;r\n0;0;1\n1;0;1\n9;9;1\n",
        "x\ty\tr\r\n0\t0\t1\r\n1\t0\t1\r\n\r\n9\t9\t1\r\n",
        "X,Y,R\n0,0,1\n1,0,1\n9,9,1",
        "x y r\n0 0 1\n  1   0 1 \n9 9\t1\n",
        "# x y r\n0.0 0.0 1.0\n1.0 0.0 1.0\n9.0 9.0 1.0\n",
        "\n\n#x,y,r\n0,0,1\n1,0,1\n\n9,9,1\n",
        "# places, by hand\n# in km\nx,y,r\n0,0,1\n1,0,1\n9,9,1\n",
        "# at 0.5 s\n# x y r\n0.0 0.0 1.0\n1.0 0.0 1.0\n9.0 9.0 1.0\n",
    ] {
        let text = text.replace("9\t1\n", "9 1\n");
        assert_eq!(pairs(&text, ""), truth, "{text:?}");
    }
    let folder = Folder::new();
    folder.write("in.txt", "x;y;r\n0;0;1\n1;0;1\n");
    folder.write("in.tsv", "x\ty\tr\n0\t0\t1\n1\t0\t1\n");
    for name in ["in.txt", "in.tsv"] {
        assert_eq!(figure(&folder.succeed(&format!("pairs {name}")), "pairs"), "1");
    }
    // A decimal comma is not taken for a separator of fields.
    let message = refusal("x;y;r\n0,5;0;1\n", "");
    assert!(message.contains("line 2, column x: \"0,5\" is not a number"), "{message}");
}

#[test]
fn comments_before_the_names_may_be_long_and_follow_a_mark() {
    let bodies = "x;y;r\n0;0;1\n1;0;1\n";
    let many = "# a comment of some words\n".repeat(5_000);
    let long = format!("# {}\n", "word ".repeat(40_000));
    let marked = format!("\u{feff}{many}");
    for comments in ["\u{feff}# a comment\n", "\u{feff}", &many, &long, &marked] {
        assert_eq!(pairs(&format!("{comments}{bodies}"), ""), "a,b\n0,1\n");
    }
    let refused = refusal(&format!("{many}x;y;r\n0;0;1\n1;0\n"), "");
    assert!(refused.contains("line 5003"), "{refused}");
}

#[test]
fn text_without_names_is_read_by_position() {
    let text = "0,0,1\n\n1,0,1\n9,9,1\n";
    for arguments in ["--columns 1,2,3", "--header no", "--columns 2,1,3", "--header no --columns 1,2,3"] {
        assert_eq!(pairs(text, arguments), "a,b\n0,1\n", "{arguments}");
    }
    assert_eq!(pairs("north,x,y,size\na,0,0,1\nb,1,0,1\n", "--columns 2,3,4"), "a,b\n0,1\n");
    let message = refusal(text, "");
    assert!(message.contains("the first line holds numbers, not names: 0, 0, 1; if it is a body"), "{message}");
    // Some programs give such names to columns without names.
    let numbered = "0,1,2\n90,0,1\n91,0,1\n";
    let message = refusal(numbered, "--columns 1,2,3");
    assert!(message.contains("--header yes, if it is a body, --header no"), "{message}");
    assert_eq!(pairs(numbered, "--columns 1,2,3 --header no"), "a,b\n1,2\n");
    assert_eq!(pairs("0,1,2,3\n7,0,0,1\n7,1,0,1\n", "--columns 1,2,3 --header yes"), "a,b\n0,1\n");
    let message = refusal("0,0,1\n5,5\n", "--header no");
    assert!(message.contains("line 2: 2 fields, where the first line has 3 columns"), "{message}");
    let message = refusal("7,8,1\n1,zwei,1\n", "--columns 1,2,3");
    assert!(message.contains("line 2, column 2: \"zwei\" is not a number"), "{message}");
}

#[test]
fn arrays_of_integers_are_read() {
    let folder = Folder::new();
    folder.write("in.npy", array("<i8", false, 3, &[0_i64, 0, 1, 1, 0, 1, -9, 9, 1]));
    assert_eq!(figure(&folder.succeed("pairs in.npy"), "pairs"), "1");
    folder.write("in.npy", array("|u1", false, 2, &[0_u8, 0, 200, 255]));
    assert_eq!(figure(&folder.succeed("pairs in.npy --radius 1"), "pairs"), "0");
    folder.write("in.npy", array("<u8", false, 3, &[0_u64, 0, 1, u64::MAX, 0, 1]));
    let message = folder.refuse("pairs in.npy");
    assert!(
        message.contains("row 1, column 1: 18446744073709551615 is an integer that a 64-bit float would"),
        "{message}"
    );
}

#[test]
fn what_is_empty_is_said_to_be() {
    let folder = Folder::new();
    for name in ["in.csv", "in.npy", "in.parquet", "in.csv.gz"] {
        folder.write(name, "");
        assert_eq!(folder.refuse(&format!("pairs {name}")), format!("error: {name}: the file is empty\n"));
    }
    folder.write("in.csv", "\n \n");
    assert_eq!(folder.refuse("pairs in.csv"), "error: in.csv: the file is empty\n");
    assert_eq!(refusal("", ""), "error: standard input: nothing to read: this is empty\n");
    std::fs::create_dir(folder.path("folder.csv")).unwrap();
    assert_eq!(folder.refuse("pairs folder.csv"), "error: folder.csv: this is a folder\n");
    folder.write("in.csv.gz", "no gzip");
    assert!(folder.refuse("pairs in.csv.gz").starts_with("error: in.csv.gz: cannot read"));
}

#[test]
fn a_line_without_end_is_refused() {
    let long = "0".repeat(3 << 20);
    let told = |line: u32| format!("line {line} is longer than 1,048,576 bytes; lines end in LF or CR LF\n");
    for (text, line) in [(long.clone(), 1), (format!("# a\n{long}"), 2), (format!("x,y,r\n0,0,1\n\n{long}\n"), 4)] {
        assert_eq!(refusal(&text, ""), format!("error: standard input: cannot read: {}", told(line)));
    }
    if cfg!(target_os = "linux") {
        let message = Folder::new().refuse("pairs /dev/zero");
        assert_eq!(message, format!("error: /dev/zero: cannot read: {}", told(1)));
    }
}

#[test]
fn packed_parts_follow_each_other_and_nothing_else_does() {
    let folder = Folder::new();
    let parts = [packed(b"x,y,r\n0,0,1\n1"), packed(b""), packed(b",0,1\n")].concat();
    folder.write("in.csv.gz", &parts);
    assert_eq!(figure(&folder.succeed("pairs in.csv.gz"), "pairs"), "1");
    for zeros in [1, 511, 600_000] {
        folder.write("in.csv.gz", [&parts[..], &vec![0; zeros]].concat());
        assert_eq!(figure(&folder.succeed("pairs in.csv.gz"), "pairs"), "1", "{zeros} bytes of padding");
    }
    for garbage in ["\x01", "garbage", "\0\0\0\0\0\0\0\0\0\0\0\0\0\x1f", "\0\x1f\u{b}"] {
        folder.write("in.csv.gz", [&parts, garbage.as_bytes()].concat());
        let message = "error: in.csv.gz: cannot read: there are bytes after the end of the packed data\n";
        assert_eq!(folder.refuse("pairs in.csv.gz"), message);
    }
    folder.write("in.csv.gz", &parts[..parts.len() - 3]);
    assert!(!folder.refuse("pairs in.csv.gz").contains("after the end"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_standard_input_is_read_by_either_name() {
    let folder = Folder::new();
    folder.write("in.csv", "x,y,r\n0,0,1\n1,0,1\n");
    for name in ["-", "/dev/stdin", "/dev/fd/0"] {
        let input = std::fs::File::open(folder.path("in.csv")).unwrap();
        let output = folder.command(&format!("pairs {name} -o -")).stdin(input).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "a,b\n0,1\n", "{name}: {:?}", output.stderr);
    }
}

#[test]
fn pairs_of_every_format_are_verified() {
    let folder = Folder::new();
    folder.write("in.csv", csv(&bodies::<2>().0));
    for name in ["pairs.csv", "pairs.npy", "pairs.parquet"] {
        folder.succeed(&format!("pairs in.csv -o {name}"));
        assert_eq!(figure(&folder.succeed(&format!("verify in.csv --pairs {name}")), "result"), "equal");
        let run = fed(&folder, "verify in.csv --pairs -", &folder.read(name));
        assert_eq!((run.code, figure(&run.stdout, "result")), (Some(0), "equal"), "{name}");
    }
    folder.write("pairs.npy", array("<i8", false, 2, &[0_i64, 1, 5, 4]));
    assert_eq!(figure(&folder.run("verify in.csv --pairs pairs.npy").stdout, "not a < b"), "1: 5,4");
    folder.write("pairs.npy", array("<f8", false, 2, &[0.0_f64, 1.5]));
    assert!(folder.run("verify in.csv --pairs pairs.npy").stderr.contains("pairs.npy: row 0: 1.5 is no id"));
    let message = folder.refuse("verify - --pairs -");
    assert!(message.contains("bodies and pairs cannot both come from standard input"), "{message}");
}

//! What the program says about input that it cannot use.

use crate::program::{Folder, figure};

/// Returns the message about a CSV file.
fn about(content: &str) -> String {
    let folder = Folder::new();
    folder.write("in.csv", content);
    let message = folder.refuse("pairs in.csv -o out.csv --png out.png");
    assert_eq!(folder.names(), ["in.csv"], "a refused input leaves no output");
    message
}

#[test]
fn a_field_is_named_by_file_line_and_column() {
    let message = about("x,y,r\n1,2,3\n\n4,\"a\n b\",6\n");
    assert_eq!(message, "error: in.csv: line 4, column y: \"a\\n b\" is not a number\n");
    assert_eq!(about("x,y,r\r\n1,2,3\r\n4,,6\r\n"), "error: in.csv: line 3, column y: no value\n");
    assert_eq!(about("x,y,r\n1,2,1e309\n"), "error: in.csv: line 2, column r: 1e309 does not fit a 64-bit float\n");
}

#[test]
fn an_integer_that_would_be_rounded_is_named() {
    let rounds = "9007199254740993 is an integer that a 64-bit float would round";
    let message = about("x,y,r\n9007199254740992,0,0\n9007199254740993,0,0\n");
    assert_eq!(message, format!("error: in.csv: line 3, column x: {rounds}\n"));
    let folder = Folder::new();
    folder.write("in.csv", "9007199254740993,0,0\n9007199254740992,0,0\n");
    let message = folder.refuse("pairs in.csv --columns 1,2,3");
    assert_eq!(message, format!("error: in.csv: line 1, column 1: {rounds}\n"));
    folder.write("in.csv", "x,y,r\n9007199254740994,0,0\n9007199254740992,0,0\n");
    assert_eq!(figure(&folder.succeed("pairs in.csv"), "pairs"), "0");
}

#[test]
fn a_line_of_another_length_is_named() {
    let more = "where the first line has 3 columns";
    assert_eq!(about("x,y,r\n1,2,3\n\n1,2\n"), format!("error: in.csv: line 4: 2 fields, {more}\n"));
    assert_eq!(about("x,y,r\n1\n"), format!("error: in.csv: line 2: 1 field, {more}\n"));
}

#[test]
fn a_quote_that_is_never_closed_is_named() {
    for (content, line) in [
        ("\"x,y,r\n0,0,1\n", 1),
        ("x,y,\"r\n0,0,1\n", 1),
        ("x,y,r\n\n0,0,\"1\n1,0,1", 3),
        ("x,y,r,name\n0,0,1,a\n1,0,1,\"b\n1,0,1,c\n1,0,1,d\n", 3),
        ("x,y,r,name\n1,0,1,\"b\"\"", 2),
        ("a,b,x,y,r\n\"1\n2\",\"1,2,1\n", 3),
        ("x y r name\n1 0 1 \"b c\n1 0 1 d\n", 2),
    ] {
        let message = format!("error: in.csv: line {line}: a quote is opened and never closed\n");
        assert_eq!(about(content), message, "{content:?}");
    }
    let folder = Folder::new();
    for end in ["", "\n", "\r\n\r\n"] {
        folder.write("in.csv", format!("x,y,r,name\n0,0,1,5\" pipe\n1,0,1,\"6\"\" pipe\n\"{end}"));
        assert_eq!(figure(&folder.succeed("pairs in.csv"), "pairs"), "1");
        folder.write("pairs.csv", format!("a,b,\"all\"\n0,1,\"\n\"{end}"));
        assert_eq!(figure(&folder.succeed("verify in.csv --pairs pairs.csv"), "result"), "equal");
    }
    folder.write("pairs.csv", "a,b,name\n0,1,\"\n0,2,\n");
    assert!(folder.refuse("verify in.csv --pairs pairs.csv").contains("line 2: a quote is opened and never closed"));
}

#[test]
fn messages_are_bounded_and_printable() {
    let message = about("a\u{1b}[31mRED,y,r\n1,2,3\n");
    let hint = "--radius or --columns may help";
    assert_eq!(
        message.replace(hint, "--columns may help"),
        "error: in.csv: line 1: no column \"x\" among a\\u{1b}[31mRED, y, r; --columns may help\n"
    );
    for name in ["name", "\u{1b}", &"n".repeat(1000)] {
        let names = vec![name; 1000].join(",");
        for content in [format!("{names}\n"), format!("x,y,r\n{names}"), format!("x,y,r\n1,1,\"{names}\"\n")] {
            let message = about(&content);
            assert!(message.len() < 400 && !message.contains('\u{1b}'), "{message}");
        }
    }
    let numbers = vec!["1"; 1000].join(",");
    assert!(about(&numbers).contains("in.csv: the first line holds numbers, not names: 1, 1"), "{}", about(&numbers));
    assert!(about(&numbers).len() < 400);
}

#[test]
fn what_only_looks_like_text_is_named() {
    assert!(about("x,y,r\r0,0,1\r1,0,1\r").contains("in.csv: its lines end in CR alone"));
    let folder = Folder::new();
    let refuse = |bytes: &[u8]| {
        folder.write("in.csv", bytes);
        folder.refuse("pairs in.csv")
    };
    assert_eq!(refuse(b"\xff\xfex\0,\0y\0"), "error: in.csv: this is UTF-16, where UTF-8 was expected\n");
    assert_eq!(refuse(b"\xfe\xff\0x\0,\0y"), "error: in.csv: this is UTF-16, where UTF-8 was expected\n");
    let packed = "error: in.csv: this is packed by gzip: its name must end in .gz\n";
    assert_eq!(refuse(b"\x1f\x8b\x08\0"), packed);
}

#[test]
fn numbers_in_messages_are_short() {
    let message = about("x,y,r\n0,0,-1e-300\n0,1e300,1\n");
    assert!(message.contains("line 2: r is -1e-300, a negative radius"), "{message}");
    let folder = Folder::new();
    folder.write("in.csv", "x,y,r\n0,0,1\n0,1e100,1\n");
    let output = folder.succeed("pairs in.csv");
    assert_eq!(figure(&output, "precision"), "f64, as f32 would round line 3, column y: 1e100");
}

#[test]
fn columns_that_are_missing_are_named() {
    let hint = "--radius or --columns may help";
    assert_eq!(about("x,y,z\n"), format!("error: in.csv: line 1: no column \"r\" among x, y, z; {hint}\n"));
    assert!(about("a,2,3\n").contains("line 1: no column \"x\" among a, 2, 3"));
}

#[test]
fn the_end_of_a_long_file_is_reached_without_a_bar_in_a_pipe() {
    // The file is so long that a terminal would be shown a progress bar.
    let rows = 2_200_000;
    let mut content = "x,y,r\n".to_owned();
    content.push_str(&"0,1,0.5\n".repeat(rows));
    content.push_str("0,1,half\n");
    assert!(content.len() > 16 << 20);
    assert_eq!(about(&content), format!("error: in.csv: line {}, column r: \"half\" is not a number\n", rows + 2));
}

#[test]
fn files_that_cannot_be_read_or_written() {
    let folder = Folder::new();
    folder.write("in.csv", "x,y,r\n0,0,1\n");
    folder.write("in.tex", "x,y,r\n");
    folder.write("in.npy", "x,y,r\n");
    folder.write("in.parquet", "x,y,r\n");
    for (arguments, message) in [
        ("pairs none.csv", "none.csv: cannot open"),
        ("verify none.csv", "none.csv: cannot open"),
        ("pairs in.tex", "in.tex: the name of the file must end in"),
        ("pairs in.npy", "in.npy: not a .npy file"),
        ("pairs in.parquet", "in.parquet: not a Parquet file"),
        ("pairs in.csv -o out.txt", "out.txt: pairs are written to"),
        ("pairs in.csv -o out.png", "out.png: pictures are drawn with --png"),
        ("pairs in.csv -o none/out.csv", "-o none/out.csv: there is no folder none"),
        ("pairs in.csv --png none/out.png", "there is no folder none"),
        ("simulate --agents 2 --frames 1 --gif none/out.gif", "there is no folder none"),
    ] {
        let error = folder.refuse(arguments);
        assert!(error.starts_with("error: ") && error.contains(message), "{arguments}: {error}");
    }
}

#[test]
fn arrays_that_do_not_fit() {
    let folder = Folder::new();
    let array = |header: &str, values: usize| {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        let padded = format!("{header:<117}\n");
        bytes.extend((padded.len() as u16).to_le_bytes());
        bytes.extend(padded.as_bytes());
        bytes.extend(vec![0; values]);
        folder.write("in.npy", bytes);
        folder.run("pairs in.npy").stderr
    };
    let of = |descr: &str, shape: &str| format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}");
    assert!(array(&of("<c8", "(1, 3)"), 24).contains("values of type '<c8', where f4, f8 or integers were expected"));
    assert!(array(&of("<f4", "(3,)"), 12).contains("an array of 1 axis,"));
    assert!(array(&of("<f4", "(1, 2)"), 8).contains("2 columns, where x, y, r or x, y, z, r were expected"));
    assert!(
        array(&of("<f4", "(4000000000, 3)"), 12).contains("shorter than an array of 4,000,000,000 rows and 3 columns")
    );
    for shape in ["(4294967296, 4294967296)", "(18_446_744_073_709_551_615, 0x2)", "(0, 4294967296, 4294967296)"] {
        assert!(array(&of("<f4", shape), 12).contains("not a .npy file: an array of "), "{shape}");
    }
    // A parser that tries each bracket in two ways would take years.
    for nested in ["{", "[", "(["].map(|open| open.repeat(40)) {
        assert!(array(&nested, 12).contains("in.npy: not a .npy file: its header is "), "{nested}");
        assert!(array(&of("<f4", &nested), 12).contains("in.npy: not a .npy file: its header is "), "{nested}");
    }
    folder.write("long.npy", [&b"\x93NUMPY\x02\x00"[..], &70_000_u32.to_le_bytes(), &[b' '; 70_000]].concat());
    assert!(folder.refuse("pairs long.npy").contains("long.npy: not a .npy file: a header of 70,000 bytes"));
    array(&of("<f4", "(1, 3)"), 12);
    let message = folder.refuse("pairs in.npy --columns a,b,c");
    assert!(message.contains("--columns a: the columns have no names, but positions from 1 to 3"), "{message}");
}

#[test]
fn values_outside_the_contract_are_named_by_line() {
    let message = about("x,y,r\n0,0,1\n\nnan,0,1\n0,0,-1\n0,2305843009213693952,1\n0,0,inf\n");
    let told = "error: in.csv: 4 of 5 circles cannot be used\n  line 4: x is NaN\n  line 5: r is -1, a negative radius\n  \
                line 6: |y| + r is above 2^60; --precision f64 goes further\n  line 7: r is inf\n";
    assert_eq!(message, told);
    let message = about("x,y,r\n0.1,-1e200,1\n");
    assert_eq!(message, "error: in.csv: 1 of 1 circle cannot be used\n  line 2: |y| + r is above 2^500\n");
}

#[test]
fn command_lines_that_make_no_sense() {
    let folder = Folder::new();
    folder.write("in.csv", "x,y,r\n0,0,1\n");
    for (arguments, message) in [
        ("", "Usage: jostle <COMMAND>"),
        ("pairs", "<FILE>"),
        ("pairs in.csv --radius -1", "a radius is finite and not negative"),
        ("pairs in.csv --radius nan", "a radius is finite and not negative"),
        ("pairs in.csv --dim 4", "2..=3"),
        ("pairs in.csv --threads 0", "1..=1024"),
        (
            "pairs in.csv --columns x,y",
            "--columns x,y: two columns, where x,y,r are needed; give a third, or --radius R",
        ),
        ("pairs in.csv --columns x", "--columns x: 0 axes without --radius"),
        ("pairs in.csv --columns x,y,y", "--columns x,y,y: the column y is named twice"),
        ("pairs in.csv --columns x,y,r,r", "--columns x,y,r,r: the column r is named twice"),
        ("pairs in.csv --columns x,1,r", "--columns x,1,r: the column x is named twice"),
        ("pairs in.csv --header maybe", "'--header <yes|no>': say yes or no"),
        ("pairs in.csv --size 40", "--png <OUT>"),
        ("pairs in.csv --cells", "--png <OUT>"),
        ("simulate --size 40", "--png <OUT>|--gif <OUT>"),
        ("simulate --cells", "--png <OUT>|--gif <OUT>"),
        ("simulate --coverage", "--png <OUT>|--gif <OUT>"),
        ("simulate --window world", "--png <OUT>|--gif <OUT>"),
        ("pairs in.csv --columns x,y,r --dim 3", "which does not fit"),
        ("pairs in.csv --png a.png --window 0,0,0,1", "x0 < x1"),
        ("simulate --agents 0", "--agents"),
        ("simulate --gif a.gif --every 0", "--every"),
        ("simulate --every 2", "--gif"),
        ("simulate --radius 2", "--from"),
        ("simulate --agents 9 --radius 2", "cannot be used with"),
        ("simulate --scene dense --columns x,y,r", "cannot be used with"),
        ("simulate --agents 9 --header no", "cannot be used with"),
        ("pairs in.csv --count --window 0,0,1,1", "cannot be used with"),
        ("simulate --from in.csv --agents 2", "cannot be used with"),
        ("simulate --speed 0", "a speed is from 1e-9 to 1e9"),
        ("simulate --speed -1", "a speed is from 1e-9 to 1e9"),
        ("simulate --png a.png --window 1,0,0,1", "x0 < x1"),
        ("simulate --scene tidy", "no scene is called \"tidy\""),
        ("simulate --engine abacus", "possible values: jostle, brute-force"),
        (
            "simulate --dim 3 --engine point-grid",
            "--engine with --dim 3: no system is called \"point-grid\": brute-force",
        ),
        (
            "simulate --engine brute-force --agents 50001",
            "--engine with --dim 2: brute-force is for at most 50000 bodies, not 50001",
        ),
        ("simulate --engine linear-octree", "--engine with --dim 2: no system is called \"linear-octree\""),
    ] {
        let error = folder.refuse(arguments);
        assert!(error.contains(message), "{arguments}: {error}");
    }
    assert!(folder.succeed("--help").contains("Exit code"));
    let help = folder.succeed("simulate --help");
    assert!(
        help.contains("Not physical") && help.contains("dense or fluid") && !help.contains("true, false"),
        "{help}"
    );
}

#[test]
fn a_third_column_that_may_be_z_or_r_is_asked_about() {
    let folder = Folder::new();
    folder.write("in.csv", "lon,lat,size\n0,0,7\n1,0,1\n");
    let message = folder.refuse("pairs in.csv --columns lon,lat,size --radius 1");
    assert!(message.contains("is size the third axis (say --dim 3), or a radius"), "{message}");
    assert!(message.contains("(say --dim 2)?"), "{message}");
    let pairs = |arguments: &str| figure(&folder.succeed(&format!("pairs {arguments}")), "pairs").to_owned();
    assert_eq!(pairs("in.csv --columns lon,lat,size --radius 1 --dim 2"), "1");
    assert_eq!(pairs("in.csv --columns lon,lat,size --radius 1 --dim 3"), "0");
    folder.write("in.csv", "x,y,z\n0,0,7\n1,0,1\n");
    let message = folder.refuse("verify in.csv --columns x,y,z");
    assert!(message.contains("is z the radius of circles (say --dim 2), or the third axis"), "{message}");
    assert_eq!(pairs("in.csv --columns x,y,z --radius 1"), "0");

    let mut bytes = b"\x93NUMPY\x01\0v\0".to_vec();
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    bytes.extend(format!("{header:<117}\n").as_bytes());
    [0.0, 0.0, 7.0, 1.0, 0.0, 1.0_f32].iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    folder.write("in.npy", bytes);
    let message = folder.refuse("pairs in.npy --radius 1");
    assert!(message.contains("are they x, y, z (say --dim 3), or x, y, r"), "{message}");
    assert!(message.contains("(say --dim 2)?"), "{message}");
    assert_eq!(pairs("in.npy --radius 1 --dim 2"), "1");
    assert_eq!(pairs("in.npy --radius 1 --dim 3"), "0");
    assert_eq!(pairs("in.npy"), "1");
}

#[test]
fn a_start_that_cannot_be_used_is_refused() {
    let folder = Folder::new();
    let about = |content: &str| {
        folder.write("in.csv", content);
        folder.refuse("simulate --from in.csv --png new.png")
    };
    assert!(about("x,y,r\n").contains("in.csv: no bodies to start from"));
    assert!(about("x,y,r\n0,0,1\nnan,0,1\n").contains("line 3: x is NaN"));
    assert!(about("x,y,r\n0,0,1\n1e30,0,1\n").ends_with("line 3: |x| + r is above 2^60\n"), "without --precision");
    assert!(about("x,y,r,vx\n0,0,1,0\n").contains("no column \"vy\""));
    assert!(
        about("x,y,r,vx,vy\n0,0,1,0,0\n0,0,1,0,inf\n").contains("line 3: vy is inf, which is no number up to 2^60")
    );
    folder.write("in.csv", "x,y,r\n0,0,0\n0,1,0\n");
    let message = folder.refuse("simulate --from in.csv --engine uniform-grid");
    assert!(message.contains("the world from 0 to 0 along x has no finite size"), "{message}");
    assert!(folder.refuse("simulate --from none.csv").contains("none.csv: cannot open"));
    folder.refuse("simulate --from in.csv --png in.csv --force");
    assert_eq!(folder.names(), ["in.csv"]);
}

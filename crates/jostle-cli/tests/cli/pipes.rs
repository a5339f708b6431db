//! Readers of standard output that go away early.

use std::fmt::Write as _;
use std::process::Stdio;

use crate::program::Folder;

/// Runs the program with a standard output that nobody reads, and returns the exit code and standard error.
fn unread(folder: &Folder, arguments: &str) -> (Option<i32>, String) {
    let mut child = folder.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = Folder::new();
    let mut content = "x,y,r\n".to_owned();
    // More pairs than any pipe holds.
    (0..500).for_each(|i| writeln!(content, "{i},0,300").unwrap());
    folder.write("in.csv", content);
    let (code, figures) = unread(&folder, "pairs in.csv -o -");
    assert!(code == Some(0) && !figures.contains("panicked") && !figures.contains("error"), "{code:?} {figures}");
    let (code, figures) = unread(&folder, "simulate --agents 50 --frames 8 --size 300 --every 1 --gif -");
    assert!(code == Some(0) && !figures.contains("panicked") && !figures.contains("error"), "{code:?} {figures}");
    for arguments in ["pairs in.csv -o out.csv", "simulate --agents 10 --frames 2", "verify in.csv"] {
        assert_eq!(unread(&folder, arguments), (Some(0), String::new()), "{arguments}");
    }
    assert!(folder.names().contains(&"out.csv".to_owned()), "what was asked for is written all the same");
}

#[test]
fn a_closed_pipe_does_not_hide_a_difference() {
    let folder = Folder::new();
    folder.write("in.csv", "x,y,r\n0,0,1\n1,0,1\n");
    folder.write("none.csv", "a,b\n");
    assert_eq!(unread(&folder, "verify in.csv --pairs none.csv"), (Some(1), String::new()));
}

#[test]
fn an_error_that_nobody_reads_has_its_exit_code() {
    let folder = Folder::new();
    for arguments in ["pairs none.csv", "verify none.csv", "simulate --from none.csv"] {
        let mut child = folder.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stderr.take());
        assert_eq!(child.wait().unwrap().code(), Some(2), "{arguments}");
    }
}

//! Counting without a list, and lists that would not fit.

use std::fmt::Write as _;
use std::process::Output;

use crate::program::{Folder, bodies, csv, figure};

#[test]
fn pairs_are_counted_without_a_list() {
    let folder = Folder::new();
    for text in
        [csv(&bodies::<2>().0), csv(&bodies::<3>().0), "x,y,r\n0.1,0,1\n0.3,0,1\n".to_owned(), "x,y,r\n".to_owned()]
    {
        folder.write("in.csv", text);
        let all = folder.succeed("pairs in.csv");
        let counted = folder.succeed("pairs in.csv --count --frames 2");
        assert_eq!(figure(&counted, "pairs"), figure(&all, "pairs"));
        assert!(figure(&counted, "memory").ends_with("and 0 B of pairs"), "{counted}");
        assert!(!counted.contains("most contacts"));
    }
    for output in ["-o out.csv", "--png out.png"] {
        assert!(folder.refuse(&format!("pairs in.csv --count {output}")).contains("cannot be used with"));
    }
}

#[test]
fn more_pairs_than_allowed_are_refused() {
    let folder = Folder::new();
    folder.write("in.csv", "x,y,r\n0,0,1\n1,0,1\n2,0,1\n9,9,1\n");
    for (command, stop) in [("pairs", ", or say --count to stop at the number"), ("verify", "")] {
        folder.succeed(&format!("{command} in.csv --max-pairs 3"));
        let message = folder.refuse(&format!("{command} in.csv --max-pairs 2"));
        let told = format!("error: 3 pairs, more than --max-pairs 2 allows; raise --max-pairs{stop}\n");
        assert_eq!(message, told);
    }
    folder.write("in.csv", "x,y,r\n0,0,1\nnan,0,1\n2,0,1\n9,9,1\n");
    assert!(folder.refuse("pairs in.csv --max-pairs 2").contains("line 3: x is NaN"));
}

/// Runs the program on one thread, in an address space of 2 GB.
#[cfg(target_os = "linux")]
fn within_2_gb(folder: &Folder, arguments: &str) -> Output {
    folder.limited("ulimit -v 2000000", &format!("{arguments} --threads 1")).output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn agents_that_memory_does_not_hold_are_refused_before_they_are_made() {
    let folder = Folder::new();
    for agents in ["20000000", "4294967294"] {
        let output = within_2_gb(&folder, &format!("simulate --agents {agents} --frames 1 --png out.png"));
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.starts_with(&format!("error: --agents {agents}: so many need some ")), "{message}");
        assert!(message.contains(" GiB, and ") && message.ends_with(" of memory are free\n"), "{message}");
    }
    assert!(folder.names().is_empty());
    assert_eq!(within_2_gb(&folder, "simulate --agents 20000 --frames 1").status.code(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_list_that_memory_does_not_hold_is_refused_before_it_is_made() {
    let folder = Folder::new();
    let mut content = "x,y,r\n".to_owned();
    // Half of 20,000 squared: 200 million pairs, for which an address space of 2 GB is too small.
    (0..20_000).for_each(|i| writeln!(content, "{i},0,99999").unwrap());
    folder.write("in.csv", content);
    let output = within_2_gb(&folder, "pairs in.csv -o out.csv");
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.starts_with("error: a list of 199,990,000 pairs needs some 2.98 GiB, and "), "{message}");
    assert!(message.contains("; say --max-pairs 199990000 to try it all the same, or say --count"), "{message}");
    assert_eq!(folder.names(), ["in.csv"]);
    assert_eq!(within_2_gb(&folder, "pairs in.csv --count").status.code(), Some(0));
}

//! What outputs never replace: an input, another output, a file that may not be written, a file of another kind.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::program::Folder;

const BODIES: &str = "x,y,r\n0,0,1\n1,0,1\n";

/// Makes a folder with bodies in it.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("in.csv", BODIES);
    folder
}

/// Checks that the program refuses and leaves every file as it was.
fn refuse(folder: &Folder, arguments: &str, message: &str) {
    let content =
        || -> Vec<_> { folder.names().into_iter().map(|name| (fs::read(folder.path(&name)).ok(), name)).collect() };
    let before = content();
    let error = folder.refuse(arguments);
    assert!(error.starts_with("error: ") && error.contains(message), "{arguments}: {error}");
    assert!(before == content(), "{arguments}");
}

#[test]
fn an_input_is_not_replaced() {
    let folder = folder();
    refuse(&folder, "pairs in.csv -o in.csv", "-o in.csv would replace the input in.csv");
    refuse(&folder, "pairs in.csv -o ./in.csv --force", "-o ./in.csv would replace the input");
    refuse(&folder, "pairs in.csv --png in.csv", "--png in.csv: the name of such a picture must end in .png");
}

#[cfg(unix)]
#[test]
fn an_input_is_known_by_other_names() {
    let folder = folder();
    std::os::unix::fs::symlink("in.csv", folder.path("soft.csv")).unwrap();
    fs::hard_link(folder.path("in.csv"), folder.path("hard.csv")).unwrap();
    std::os::unix::fs::symlink("soft.csv", folder.path("soft.png")).unwrap();
    for arguments in [
        "pairs in.csv -o soft.csv",
        "pairs in.csv -o hard.csv --force",
        "pairs soft.csv -o hard.csv",
        "pairs hard.csv -o in.csv",
        "pairs in.csv --png soft.png --force",
    ] {
        refuse(&folder, arguments, "would replace the input");
    }
    // The shell has led standard output, or standard input, to the file.
    let open = |name: &str| fs::File::options().read(true).append(true).create(true).open(folder.path(name)).unwrap();
    folder.write("pairs.csv", "a,b\n0,1\n");
    for (arguments, message) in [
        ("pairs in.csv -o -", "-o - would replace the input in.csv"),
        ("pairs in.csv", "standard output would be written to in.csv, too"),
        ("pairs in.csv -o new.csv", "standard output would be written to in.csv, too"),
        ("simulate --from hard.csv --frames 1", "standard output would be written to hard.csv, too"),
        ("verify in.csv --pairs pairs.csv", "standard output would be written to in.csv, too"),
    ] {
        let run = folder.command(arguments).stdout(open("in.csv")).output().unwrap();
        let error = String::from_utf8(run.stderr).unwrap();
        assert!(run.status.code() == Some(2) && error.contains(message), "{arguments}: {error}");
    }
    let run = folder.command("pairs pairs.csv --columns a,b --radius 1 -o new.csv").stdout(open("new.csv")).output();
    assert!(String::from_utf8(run.unwrap().stderr).unwrap().contains("would be written to new.csv, too"));
    let run = folder.command("pairs - -o in.csv").stdin(open("in.csv")).output().unwrap();
    assert!(String::from_utf8(run.stderr).unwrap().contains("would replace the input standard input"));
    assert_eq!(folder.read("in.csv"), BODIES.as_bytes());
    assert!(folder.read("new.csv").is_empty());
}

#[cfg(unix)]
#[test]
fn outputs_do_not_replace_each_other() {
    let folder = folder();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, folder.path(name)).unwrap();
    // Links to a file that exists, and to one that does not.
    folder.write("old.csv", "a,b\n");
    link("old.csv", "old.png");
    link("new.csv", "new.png");
    link("new.png", "new.gif");
    let both = "both would write the same file";
    refuse(&folder, "pairs in.csv -o old.csv --png old.png --force", both);
    refuse(&folder, "pairs in.csv -o new.csv --png new.png", both);
    refuse(&folder, "simulate --agents 2 --frames 1 --png new.png --gif new.gif", both);
    refuse(&folder, "pairs in.csv -o - --png -", both);
    link("loop.csv", "loop.csv");
    link("two.csv", "one.csv");
    link("one.csv", "two.csv");
    for name in ["loop.csv", "one.csv"] {
        let told = format!("-o {name}: this link leads to itself, or through too many others");
        refuse(&folder, &format!("pairs in.csv -o {name} --force"), &told);
        assert!(folder.path(name).is_symlink());
    }
    // Output through a link that leads nowhere yet is written to where the link leads.
    link("late.png", "way.png");
    folder.succeed("pairs in.csv --png way.png");
    assert!(folder.path("way.png").is_symlink() && folder.read("late.png").starts_with(b"\x89PNG"));
}

#[test]
fn a_read_only_file_is_not_replaced() {
    let folder = folder();
    folder.succeed("pairs in.csv -o keep.csv --png keep.png");
    folder.succeed("simulate --agents 2 --frames 1 --gif keep.gif --size 16");
    for name in ["keep.csv", "keep.png", "keep.gif"] {
        let mut permissions = fs::metadata(folder.path(name)).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(folder.path(name), permissions).unwrap();
    }
    refuse(&folder, "pairs in.csv -o keep.csv --force", "-o keep.csv: this file is read-only");
    refuse(&folder, "pairs in.csv --png keep.png", "--png keep.png: this file is read-only");
    refuse(&folder, "simulate --agents 2 --frames 1 --gif keep.gif", "--gif keep.gif: this file is read-only");
}

#[test]
fn a_file_of_another_kind_is_replaced_only_when_forced() {
    let folder = folder();
    folder.write("notes.csv", "day,what\n1,much\n");
    // An array of centres, and an array of pairs.
    folder.succeed("pairs in.csv -o pairs.npy");
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }";
    folder.write(
        "notes.npy",
        format!("\u{93}NUMPY\x01\0v\0{header:<117}\n").chars().map(|c| c as u8).collect::<Vec<_>>(),
    );
    folder.write("notes.parquet", "words");
    folder.write("notes.png", "GIF89a");
    folder.write("notes.gif", "\x7fELF");
    for name in ["notes.csv", "notes.npy", "notes.parquet", "notes.png"] {
        let option = if name.ends_with("png") { "--png" } else { "-o" };
        refuse(&folder, &format!("pairs in.csv {option} {name}"), "there is a file that holds no ");
        folder.succeed(&format!("pairs in.csv {option} {name} --force"));
        // The program may replace files that it has written.
        folder.succeed(&format!("pairs in.csv {option} {name}"));
    }
    let film = "simulate --agents 2 --frames 1 --size 16 --gif notes.gif";
    refuse(&folder, film, "--gif notes.gif: there is a file that holds no GIF animation; --force replaces it");
    folder.succeed(&format!("{film} --force"));
    folder.succeed(film);
    folder.write("empty.csv", "");
    folder.succeed("pairs in.csv -o empty.csv");
    // An array of arrays of pairs.
    let header = "{'descr': '<u4', 'fortran_order': False, 'shape': (0, 2, 7), }";
    folder
        .write("deep.npy", format!("\u{93}NUMPY\x01\0v\0{header:<117}\n").chars().map(|c| c as u8).collect::<Vec<_>>());
    refuse(&folder, "pairs in.csv -o deep.npy", "there is a file that holds no ");
}

#[test]
fn folders_are_no_outputs() {
    let folder = folder();
    fs::create_dir(folder.path("out.csv")).unwrap();
    assert!(folder.refuse("pairs in.csv -o out.csv --force").contains("-o out.csv: this is a folder"));
}

#[test]
fn pictures_go_to_standard_output_too() {
    let folder = folder();
    for arguments in ["pairs in.csv --png -", "simulate --agents 5 --frames 2 --size 20 --png -"] {
        let output = folder.command(arguments).output().unwrap();
        assert!(output.status.success() && output.stdout.starts_with(b"\x89PNG"), "{arguments}");
        assert!(String::from_utf8(output.stderr).unwrap().contains("threads"));
    }
    let output = folder.command("simulate --agents 5 --frames 2 --size 20 --gif -").output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"GIF89a"));
    for (arguments, message) in [
        ("pairs in.csv --png out.gif", "--png out.gif: the name of such a picture must end in .png"),
        ("pairs in.csv --png out", "must end in .png"),
        ("simulate --gif out.png", "--gif out.png: the name of such a picture must end in .gif"),
    ] {
        refuse(&folder, arguments, message);
    }
}

/// Runs the program to its end, and returns what it writes to `target`, which is then as it was.
#[cfg(unix)]
fn whole(folder: &Folder, arguments: &str, target: &str) -> Vec<u8> {
    let old = folder.read(target);
    folder.succeed(arguments);
    let new = folder.read(target);
    folder.write(target, old);
    new
}

/// Sends a signal once a temporary file is there, each time after a longer delay. Returns how often the signal came in
/// time. One that comes late may end the program when `new` is in place.
#[cfg(unix)]
fn interrupted(folder: &Folder, arguments: &str, signal: &str, (target, new): (&str, &[u8])) -> usize {
    let old = folder.read(target);
    let names = folder.names();
    let mut times = 0;
    for delay in [0, 1, 2, 5, 10, 20] {
        // It leaves no memory dump behind.
        let mut command = folder.limited("ulimit -c 0", arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        while folder.names() == names && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_micros(100));
        }
        sleep(Duration::from_millis(delay));
        Command::new("kill").args(["-s", signal, &child.id().to_string()]).stderr(Stdio::null()).status().unwrap();
        let ended = child.wait().unwrap();
        assert_eq!(folder.names(), names, "{arguments}: {signal} after {delay} ms, {ended}");
        if !ended.success() {
            assert_eq!(
                ended.code(),
                None,
                "{arguments}: ended by the signal, not by an error: {}",
                std::io::read_to_string(child.stderr.take().unwrap()).unwrap()
            );
        }
        let left = folder.read(target);
        if !ended.success() && left == old {
            times += 1;
        } else {
            assert!(left == new, "{arguments}: what was there stays until all is written, {ended}");
            folder.write(target, &old);
        }
    }
    times
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_once() {
    let folder = folder();
    for name in ["full.csv", "full.npy", "full.parquet", "full.png", "full.gif"] {
        std::os::unix::fs::symlink("/dev/full", folder.path(name)).unwrap();
        let arguments = match &name[5..] {
            "png" => "pairs in.csv --size 16 --png",
            "gif" => "simulate --agents 2 --frames 1 --size 16 --gif",
            _ => "pairs in.csv -o",
        };
        let error = folder.refuse(&format!("{arguments} {name}"));
        assert_eq!(error, format!("error: cannot write {name}: No space left on device (os error 28)\n"));
    }
}

/// A file beyond the limit of its size sends SIGXFSZ.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_size_leaves_no_temporary_files() {
    let folder = Folder::new();
    let mut content = "x,y,r\n".to_owned();
    (0..500).for_each(|i| writeln!(content, "{i},0,9999").unwrap());
    folder.write("in.csv", content);
    let output = folder.limited("ulimit -c 0; ulimit -f 100", "pairs in.csv -o out.csv").output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    assert_eq!(folder.names(), ["in.csv"]);
}

#[cfg(unix)]
#[test]
fn signals_leave_no_temporary_files() {
    let folder = Folder::new();
    let mut content = "x,y,r\n".to_owned();
    (0..2_000).for_each(|i| writeln!(content, "{i},0,9999").unwrap());
    folder.write("in.csv", content);
    folder.write("old.csv", "a,b\n5,7\n");
    folder.succeed("simulate --agents 2 --frames 1 --size 16 --gif old.gif");
    let film = "simulate --agents 2000 --frames 400 --size 300 --gif old.gif";
    let pairs = "pairs in.csv -o old.csv";
    let (list, pictures) = (whole(&folder, pairs, "old.csv"), whole(&folder, film, "old.gif"));
    // A caller that ignores SIGINT and SIGQUIT hands this down: then only the last signal ends the program.
    let mut times = 0;
    for signal in ["INT", "QUIT", "TERM"] {
        times = interrupted(&folder, pairs, signal, ("old.csv", &list));
        times = times.min(interrupted(&folder, film, signal, ("old.gif", &pictures)));
    }
    assert!(times > 0);
}

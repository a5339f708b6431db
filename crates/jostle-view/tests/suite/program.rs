//! Tests the program from outside.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use jostle_view::{Section, Sections};

use crate::client::{Client, get, until};

/// A running program. It ends with the test.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

pub(crate) fn start(arguments: &[&str]) -> (Running, SocketAddr) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jostle-view"));
    let mut child = command.args(arguments).args(["--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").and_then(|url| url.strip_suffix('/')).unwrap();
    (Running(child), address.parse().unwrap())
}

fn bodies(frame: &[u8]) -> u32 {
    u32::from_le_bytes(frame[4..8].try_into().unwrap())
}

fn number(frame: &[u8]) -> f64 {
    f64::from_le_bytes(frame[16..24].try_into().unwrap())
}

#[test]
fn the_simulation_obeys_the_page() {
    let (_running, address) = start(&["--agents", "300", "--scene", "dense"]);
    let mut client = Client::attach(address);
    let controls = client.text();
    assert!(
        controls.contains(r#""paused":false,"rate":60,"gravity":0,"frame":0,"frames":0,"scene":"dense","#),
        "{controls}"
    );
    assert!(controls.contains(r#""agents":300,"engine":"jostle","#), "{controls}");
    let (first, second) = (client.frame().0, client.frame().0);
    assert!(number(&first) < number(&second));
    assert_eq!(bodies(&first), 300);

    client.say("pause");
    assert!(client.text().contains(r#""paused":true"#));
    client.say("ask 1 box -1 -1 1e6 1e6");
    assert!(client.text().contains(r#""count":300"#));
    // One step is one frame. Frames that were on their way lack sections that are wanted since.
    client.say("want contacts");
    let mut still = client.frame().0;
    while Sections::of(&still).count() < 3 {
        still = client.frame().0;
    }
    client.say("step");
    assert_eq!(number(&client.frame().0), number(&still) + 1.0);
    client.say("giant 2 2 3");
    client.say("step");
    while bodies(&client.frame().0) != 301 {}
    // A dragged body goes where it is dragged to, even in a world that stands still. A viewer who leaves lets go.
    client.say("drag 7 3 4");
    until("it is where it is dragged to", || {
        client.say("ask 2 point 3 4");
        client.text().contains(r#"{"id":7,"x":3,"y":4,"#)
    });
    let mut other = Client::attach(address);
    other.say("drag 8 5 5");
    drop(other);
    client.say("scene powerlaw");
    assert!(client.text().contains(r#""scene":"powerlaw""#));
    client.say("agents 20");
    assert!(client.text().contains(r#""agents":20"#));
    client.say("run");
    assert!(client.text().contains(r#""paused":false"#));
    while bodies(&client.frame().0) != 20 {}
    client.say("scene elsewhere");
    client.say("rate 120");
    let controls = client.text();
    assert!(controls.contains(r#""rate":120"#) && controls.contains(r#""scene":"powerlaw""#), "{controls}");

    // The slow rate holds once the frames that were on their way have come. Those that come while this thread is held up
    // are at hand after it: so time runs from the start.
    let start = Instant::now();
    client.say("rate 6");
    assert!(client.text().contains(r#""rate":6,"#));
    (0..6).for_each(|_| _ = client.frame());
    assert!(start.elapsed() > Duration::from_millis(300), "{:?}", start.elapsed());
}

#[test]
fn older_systems_search_in_the_engines_place() {
    let (_running, address) = start(&["--agents", "500", "--scene", "dense", "--engine", "uniform-grid"]);
    let mut client = Client::attach(address);
    assert!(client.text().contains(r#""engine":"uniform-grid","engines":["jostle","brute-force","#));
    client.say("pause");
    assert!(client.text().contains(r#""paused":true"#));
    // Every system finds the same pairs of the same circles, and shows its own cells.
    let mut truth = Vec::new();
    for system in ["uniform-grid", "jostle", "brute-force", "linear-quadtree", "linear-quadtree-touching"]
        .into_iter()
        .chain(["dynamic-quadtree", "loose-quadtree", "loose-tight-grid", "point-grid", "grid-hierarchy"])
    {
        client.say(&format!("engine {system}"));
        if system != "uniform-grid" {
            let controls = client.text();
            assert!(controls.contains(&format!(r#""engine":"{system}""#)), "{controls}");
        }
        client.say("want pairs cells order boxes 0");
        let (mut pairs, mut cells) = (Vec::new(), 0);
        while pairs.is_empty() || (cells > 0) == ["jostle", "brute-force"].contains(&system) {
            let frame = client.frame().0;
            let of = |kind| Sections::of(&frame).find(|section| section.0 == kind).map_or(&[][..], |section| section.1);
            pairs = of(Section::Pairs).chunks(8).map(<[u8]>::to_vec).collect();
            cells = of(Section::Cells).len() / 16;
            assert_eq!(of(Section::Order).is_empty(), of(Section::Boxes).is_empty());
        }
        pairs.sort();
        if truth.is_empty() {
            truth = pairs.clone();
        }
        assert_eq!(pairs, truth, "{system}");
    }
    // The tree answers all the same.
    client.say("ask 1 box -1 -1 1e6 1e6");
    assert!(client.text().contains(r#""count":500"#));
    client.say("engine brute-force");
    assert!(client.text().contains(r#""engine":"brute-force""#));
    client.say("agents 60000");
    let controls = client.text();
    assert!(
        controls.contains(r#""engine":"jostle""#) && controls.contains("at most 50000 bodies, not 60000"),
        "{controls}"
    );
    client.say("engine abacus");
    assert!(client.text().contains(r#"no system is called \"abacus\""#));
    client.say("threads 1");
    assert!(client.text().contains(r#""threads":1,"#));
    client.say("run");
    assert!(client.text().contains(r#""notice":"""#));
}

#[test]
fn an_address_in_use_is_named() {
    let (_running, address) = start(&["--agents", "1"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_jostle-view"));
    let output = command.args(["--listen", &address.to_string()]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains(&address.to_string()), "{error}");
}

#[test]
fn no_address_is_told_where_nothing_can_be_shown() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jostle-view"));
    let refused = ["--engine", "brute-force", "--agents", "60000", "--listen", "127.0.0.1:0"];
    let output = command.args(refused).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && told.starts_with("error: brute-force is for at most "), "{told}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[cfg(target_os = "linux")]
#[test]
fn those_who_say_nothing_take_few_of_the_programs_files() {
    let (running, address) = start(&["--agents", "9"]);
    let open = || std::fs::read_dir(format!("/proc/{}/fd", running.id())).unwrap().count();
    let before = open();
    let silent: Vec<_> = (0..200).map(|_| TcpStream::connect(address).unwrap()).collect();
    until("some are let in", || open() > before + 100);
    std::thread::sleep(Duration::from_millis(100));
    assert!(open() <= before + 128, "{} files for them", open() - before);
    drop(silent);
    assert!(get(address, "/", &address.to_string()).starts_with("HTTP/1.1 200"));
}

#[test]
fn the_circles_of_a_file_are_shown() {
    let places = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/places.csv");
    let (_running, address) = start(&[places]);
    let mut client = Client::attach(address);
    assert!(bodies(&client.frame().0) > 60_000);
    let mut command = Command::new(env!("CARGO_BIN_EXE_jostle-view"));
    let output = command.args(["no such file.csv"]).output().unwrap();
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("no such file.csv"));
}

#[test]
fn a_file_is_told_of_as_by_the_other_program() {
    let folder = Folder::new("refused", &[("nan.csv", "x,y,r\n0,0,1\nnan,0,1\n"), ("bare.csv", "0,0,1\n1,0,2\n")]);
    let refused = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_jostle-view")).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let path = folder.path("nan.csv");
    let told = format!("error: {path}: 1 of 2 circles cannot be used\n  line 3: x is NaN\n");
    assert_eq!(refused(&[&path]), told);
    let path = folder.path("bare.csv");
    assert!(refused(&[&path]).contains("say --header no"));
    assert!(refused(&[&path, "--header", "maybe"]).contains("say yes or no"));
    let (_running, address) = start(&[&path, "--header", "no"]);
    assert_eq!(bodies(&Client::attach(address).frame().0), 2);
}

/// Files in a folder of their own. They are deleted with the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("jostle-view-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (file, text) in files {
            std::fs::write(folder.join(file), text).unwrap();
        }
        Self(folder)
    }

    pub(crate) fn path(&self, file: &str) -> String {
        self.0.join(file).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

fn pairs(frame: &[u8]) -> u32 {
    u32::from_le_bytes(frame[64..68].try_into().unwrap())
}

#[test]
fn many_files_are_a_film() {
    let files = [
        ("f10.csv", "x,y,r\n0,0,1\n1,0,1\n5,0,1\n"),
        ("f9.csv", "x,y,r\n0,0,1\n0,1,1\n"),
        ("f2.csv", "x,y,r\n1,2,3\n"),
    ];
    let folder = Folder::new("film", &[&files[..], &[("f3.csv", "x,y,r\n1,2,none\n"), ("readme", "")]].concat());
    let (_running, address) = start(&[&folder.path(""), "--rate", "1000"]);
    let mut client = Client::attach(address);
    // The program stops before the file that cannot be read, says why, and goes on when asked to.
    let mut controls = client.text();
    while !controls.contains(r#""paused":true"#) {
        controls = client.text();
    }
    assert!(controls.contains(r#""frames":4,"#), "{controls}");
    assert!(
        controls.contains(r#""frame":1,"#) && controls.contains("f3.csv: line 2") && controls.contains("none"),
        "{controls}"
    );
    client.say("step");
    let mut frame = client.frame().0;
    while bodies(&frame) != 2 {
        frame = client.frame().0;
    }
    assert_eq!(pairs(&frame), 1);
    client.say("seek 77");
    while bodies(&client.frame().0) != 3 {}
    client.say("step");
    while bodies(&client.frame().0) != 1 {}
    // Opens files by a pattern. Only the program can unpack the last of them.
    let (_running, address) = start(&[&folder.path("f?0.*")]);
    assert_eq!(bodies(&Client::attach(address).frame().0), 3);
    for (file, fault) in [("f?.npy", "no file has such a name"), ("f3.csv", "line 2")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jostle-view"));
        let output = command.args([folder.path(file)]).output().unwrap();
        assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains(fault));
    }
}

/// The search in 64 bits accepts the second file, and the search of what is to be seen, in 32, does not.
#[test]
fn a_frame_that_cannot_be_shown_leaves_the_one_before() {
    let files = [
        ("f1.csv", "x,y,r\n0,0,1\n1,0,1\n50,50,1\n"),
        ("f2.csv", "x,y,r\n1e100,0,1\n-1e100,0,1\n1e100,0,1\n0,1,1\n0,1,1\n"),
    ];
    let folder = Folder::new("refused", &files);
    let (_running, address) = start(&[&folder.path(""), "--rate", "1000"]);
    let mut client = Client::attach(address);
    until("the second file is refused", || client.text().contains("f2.csv: 3 of 5 circles cannot be used"));
    let mut frame = client.frame().0;
    client.say("want pairs");
    while Sections::of(&frame).all(|section| section.0 != Section::Pairs) {
        frame = client.frame().0;
    }
    let listed = Sections::of(&frame).find(|section| section.0 == Section::Pairs).unwrap().1;
    assert_eq!((bodies(&frame), pairs(&frame), listed), (3, 1, &[0, 0, 0, 0, 1, 0, 0, 0][..]));
}

#[cfg(target_os = "linux")]
#[test]
fn an_address_that_cannot_be_printed_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_jostle-view"));
    let output = command.args(["--agents", "9", "--listen", "127.0.0.1:0"]).stdout(full).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && told.starts_with("error: cannot print the address: "), "{told}");
}

#[test]
fn what_32_bits_do_not_hold_is_searched_in_64() {
    let circles = "x,y,r\n1000000000,0,1\n1000000001.9,0,1\n1000000004,0,1\n";
    let spheres = "x,y,z,r\n1000000000,5,0.1,1\n1000000001.9,5,0,1\n1000000000,5,4,1\n";
    let folder = Folder::new(
        "far",
        &[("circles.csv", circles), ("spheres.csv", spheres), ("near.csv", "x,y,z,r\n0,0,0,1\n0,0,3,1\n")],
    );
    let ask = |client: &mut Client, question: &str| {
        client.say(question);
        client.text()
    };
    let (_running, address) = start(&[&folder.path("circles.csv")]);
    let mut client = Client::attach(address);
    let frame = client.frame().0;
    // In 32 bits all bodies would be in one place.
    assert_eq!((bodies(&frame), pairs(&frame)), (3, 1));
    let answer = ask(&mut client, "ask 1 nearest 0 0 3");
    assert!(answer.contains(r#"{"id":1,"x":-0.1"#) && answer.contains(r#"{"id":2,"x":2,"#), "{answer}");
    assert!(ask(&mut client, "ask 2 sight 0 0 9 0 0 -1").contains("these are circles"));

    for (file, z) in [("spheres.csv", 2.0), ("near.csv", 3.0)] {
        let (_running, address) = start(&[&folder.path(file)]);
        let mut client = Client::attach(address);
        client.say("want order boxes 0 threads clusters");
        let mut frame = client.frame().0;
        while Sections::of(&frame).count() < 5 {
            frame = client.frame().0;
        }
        let of = |kind| Sections::of(&frame).find(|section| section.0 == kind).unwrap().1;
        let heights = of(Section::Heights);
        assert_eq!(heights.len(), 8 + 2 * bodies(&frame) as usize);
        let boxes = of(Section::Boxes).len();
        assert!(boxes > 4 && (boxes - 4).is_multiple_of(24), "{boxes}");
        assert_eq!(f32::from_le_bytes(heights[4..8].try_into().unwrap()), z, "{file}");
        let x = if file == "near.csv" { 0.0 } else { -0.95 };
        let answer = ask(&mut client, &format!("ask 1 sight {x} 0 9 0 0 -1"));
        assert!(answer.contains(r#""kind":"sight""#) && answer.contains(&format!(r#""z":{z},"r":1"#)), "{answer}");
        assert!(ask(&mut client, "ask 2 point 0 0").contains("these are spheres"));
        assert!(ask(&mut client, "ask 3 record").contains(r#""regions":["#));
    }
}

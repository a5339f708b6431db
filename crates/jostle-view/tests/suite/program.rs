//! The program from outside.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use crate::client::Client;

/// A program that is ended with the test.
pub(crate) struct Running(Child);

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
    assert!(controls.contains(r#""paused":false,"rate":60,"gravity":0,"scene":"dense","#), "{controls}");
    assert!(controls.contains(r#""agents":300"#), "{controls}");
    let (first, second) = (client.frame().0, client.frame().0);
    assert!(number(&first) < number(&second));
    assert_eq!(bodies(&first), 300);

    client.say("pause");
    assert!(client.text().contains(r#""paused":true"#));
    client.say("ask 1 box -1 -1 1e6 1e6");
    assert!(client.text().contains(r#""count":300"#));
    client.say("giant 2 2 3");
    client.say("step");
    while bodies(&client.frame().0) != 301 {}
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
fn the_circles_of_a_file_are_shown() {
    let places = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/places.csv");
    let (_running, address) = start(&[places]);
    let mut client = Client::attach(address);
    assert!(bodies(&client.frame().0) > 60_000);
    let mut command = Command::new(env!("CARGO_BIN_EXE_jostle-view"));
    let output = command.args(["no such file.csv"]).output().unwrap();
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("no such file.csv"));
}

//! Runs the program in a folder of its own.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use bytemuck::{NoUninit, bytes_of};
use jostle::PairFinder;
use jostle_testkit::{Kind, Scene, oracle, scene::scene};
use tempfile::TempDir;

/// A folder, and the program run in it.
pub(crate) struct Folder(TempDir);

/// The exit code and the output of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Returns the names of all files.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jostle"));
        command.current_dir(self.0.path()).args(arguments.split_whitespace()).stdin(Stdio::null());
        // How messages look is not left to whoever runs the tests.
        command.env_remove("CLICOLOR_FORCE").env_remove("COLUMNS");
        command
    }

    /// Makes the command of the program under limits that a shell sets first.
    #[cfg(unix)]
    pub(crate) fn limited(&self, limits: &str, arguments: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{limits}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_jostle")]);
        command.current_dir(self.0.path()).args(arguments.split_whitespace());
        command
    }

    /// Runs the program with arguments separated by spaces.
    pub(crate) fn run(&self, arguments: &str) -> Run {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Runs the program, which must succeed and write nothing to standard error.
    pub(crate) fn succeed(&self, arguments: &str) -> String {
        let run = self.run(arguments);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{arguments}");
        run.stdout
    }

    /// Runs the program, which must refuse, and returns its message.
    pub(crate) fn refuse(&self, arguments: &str) -> String {
        let run = self.run(arguments);
        assert_eq!(run.code, Some(2), "{arguments}");
        run.stderr
    }
}

/// Returns the value of a row of figures.
pub(crate) fn figure<'a>(output: &'a str, name: &str) -> &'a str {
    let value = output.lines().find_map(|line| line.strip_prefix(name)).map(str::trim_start);
    value.unwrap_or_else(|| panic!("no {name} in\n{output}"))
}

/// Returns a scene with some pairs, and its pairs in the order of the library.
pub(crate) fn bodies<const D: usize>() -> (Scene<D>, Vec<[u32; 2]>) {
    let scene = scene::<D>(Kind::Dense, 150, 5);
    let pairs = PairFinder::new().find(scene.view()).unwrap().pairs().to_vec();
    let mut sorted = pairs.clone();
    sorted.sort_unstable();
    assert!(sorted.len() > 100 && sorted == oracle::pairs(scene.view()));
    (scene, pairs)
}

/// Returns a scene as CSV, with every number in full and a column of names that hold commas, quotes and line breaks.
pub(crate) fn csv<const D: usize>(scene: &Scene<D>) -> String {
    let axes = ["x", "y", "z"][..D].join(",");
    let mut text = format!("{axes},name,r\r\n");
    for id in 0..scene.len() {
        let center: Vec<_> = scene.centers.iter().map(|column| f64::from(column[id]).to_string()).collect();
        text.push_str(&format!("{},\"a \"\"b\"\", c\n{id}\",{}\r\n", center.join(","), f64::from(scene.radii[id])));
    }
    text
}

/// Returns a NumPy array of this type and number of columns, as NumPy writes it. The values stand in the order that it
/// asks for.
pub(crate) fn array<T: NoUninit>(kind: &str, columns_first: bool, columns: usize, values: &[T]) -> Vec<u8> {
    let rows = values.len() / columns;
    let order = if columns_first { "True" } else { "False" };
    let text = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': ({rows}, {columns}), }}");
    let mut bytes = [b"\x93NUMPY\x01\x00v\x00", format!("{text:<117}\n").as_bytes()].concat();
    for value in values {
        let at = bytes.len();
        bytes.extend(bytes_of(value));
        if kind.starts_with('>') != cfg!(target_endian = "big") {
            bytes[at..].reverse();
        }
    }
    bytes
}

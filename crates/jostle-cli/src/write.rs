//! What the program writes: pairs as CSV, NumPy array or Parquet, and pictures. Each output is checked before any work
//! is done, and none replaces a file that its user may want to keep.

mod csv;
mod identity;
mod kind;
mod npy;
mod parquet;
mod replace;
mod sink;
mod temporary;

use std::fs;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::names::{STDIO, ending, name};
use identity::Identity;
use kind::Kind;
use replace::{check_folder, replace};
use sink::Sink;

/// The writer that takes the content of an output.
pub(crate) type Out<'a> = BufWriter<Sink<'a>>;

/// One output of a command.
#[derive(Debug)]
pub(crate) struct Output {
    /// The option that asked for it.
    option: &'static str,
    kind: Kind,
    /// `None` is standard output.
    path: Option<PathBuf>,
}

impl Output {
    /// Pairs, in the format that the ending names; CSV on standard output.
    pub(crate) fn pairs(option: &'static str, path: &Path) -> Result<Self> {
        let kind = match ending(path).as_deref() {
            _ if path == Path::new(STDIO) => Kind::Csv,
            Some("csv") => Kind::Csv,
            Some("npy") => Kind::Npy,
            Some("parquet") => Kind::Parquet,
            Some("png") => bail!("{}: pictures are drawn with --png", path.display()),
            _ => bail!("{}: pairs are written to files that end in .csv, .npy or .parquet", path.display()),
        };
        Ok(Self::new(option, kind, path))
    }

    /// A still picture.
    pub(crate) fn png(option: &'static str, path: &Path) -> Result<Self> {
        Self::picture(option, Kind::Png, path)
    }

    /// An animation.
    pub(crate) fn gif(option: &'static str, path: &Path) -> Result<Self> {
        Self::picture(option, Kind::Gif, path)
    }

    fn picture(option: &'static str, kind: Kind, path: &Path) -> Result<Self> {
        let wanted = kind.ending();
        let fits = path == Path::new(STDIO) || ending(path).as_deref() == Some(wanted);
        ensure!(fits, "{option} {}: the name of such a picture must end in .{wanted}", path.display());
        Ok(Self::new(option, kind, path))
    }

    fn new(option: &'static str, kind: Kind, path: &Path) -> Self {
        Self { option, kind, path: (path != Path::new(STDIO)).then(|| path.to_owned()) }
    }

    pub(crate) fn is_stdout(&self) -> bool {
        self.path.is_none()
    }

    /// Writes what `fill` writes. A file appears, or is replaced, only once it is complete. It is no error if the
    /// reader of standard output stops early.
    pub(crate) fn write(&self, fill: impl FnOnce(&mut Out<'_>) -> Result<()>) -> Result<()> {
        match &self.path {
            Some(path) => replace(path, fill),
            None => sink::to_stdout(fill),
        }
    }

    /// Writes a list of pairs.
    ///
    /// # Errors
    /// When writing fails, or this output is not one for pairs.
    pub(crate) fn write_pairs(&self, pairs: &[[u32; 2]]) -> Result<()> {
        self.write(|out| match self.kind {
            Kind::Csv => Ok(csv::write(out, pairs)?),
            Kind::Npy => Ok(npy::write(out, pairs)?),
            Kind::Parquet => parquet::write(out, pairs),
            Kind::Png | Kind::Gif => bail!("{} is a picture", self.option),
        })
    }

    fn identity(&self) -> Option<Identity> {
        self.path.as_deref().map_or_else(|| Identity::of_stream("/dev/stdout"), Identity::of_output)
    }

    /// Refuses a path that cannot be written, or that holds a file of another kind.
    fn check(&self, force: bool) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let refused = || format!("{} {}", self.option, path.display());
        check_folder(path).with_context(refused)?;
        let Ok(there) = fs::metadata(path) else { return Ok(()) };
        ensure!(!there.is_dir(), "{}: this is a folder", refused());
        if !there.is_file() {
            return Ok(());
        }
        // The superuser may write any file. But a user who made a file read-only meant it.
        let writable = !there.permissions().readonly() && fs::File::options().write(true).open(path).is_ok();
        ensure!(writable, "{}: this file is read-only; choose another name, or make it writable", refused());
        let same = force || there.len() == 0 || self.kind.is_kind_of(path);
        ensure!(same, "{}: there is a file that holds no {}; --force replaces it", refused(), self.kind);
        Ok(())
    }
}

/// Refuses, before any work is done, outputs that would destroy something: an input, each other, a file that may not be
/// written or, unless forced, a file of another kind. Files are told apart by what they are, not by their names.
/// Standard output counts too: if no result goes there, figures do.
pub(crate) fn check(inputs: &[&Path], outputs: &[&Output], force: bool) -> Result<()> {
    for (at, output) in outputs.iter().enumerate() {
        let identity = output.identity();
        let called = output.path.as_deref().unwrap_or(Path::new(STDIO)).display();
        for input in inputs {
            let same = identity.is_some() && Identity::of_input(input) == identity;
            ensure!(!same, "{} {called} would replace the input {}: choose another name", output.option, name(input));
        }
        for other in &outputs[..at] {
            let streams = output.is_stdout() && other.is_stdout();
            let same = streams || identity.is_some() && other.identity() == identity;
            ensure!(!same, "{} and {} {called}: both would write the same file", other.option, output.option);
        }
    }
    let figures = Identity::of_stream("/dev/stdout").filter(|_| !outputs.iter().any(|output| output.is_stdout()));
    if figures.is_some() {
        let input = inputs.iter().find(|input| Identity::of_input(input) == figures);
        let output =
            outputs.iter().find(|output| output.identity() == figures).and_then(|output| output.path.as_deref());
        if let Some(path) = input.copied().or(output) {
            bail!("standard output would be written to {}, too: lead it elsewhere", name(path));
        }
    }
    outputs.iter().try_for_each(|output| output.check(force))
}

//! The bodies of a file, or of many files, which make a film.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::{Args as Group, value_parser};
use jostle_cli::{InputArgs, Precision, told, yes_or_no};
use jostle_view::{Command, Controls, Viewer};

use crate::bodies::{Bodies, Finders};
use crate::files;
use crate::pace::Pace;

/// What to read.
#[derive(Debug, Group)]
pub(crate) struct FileArgs {
    /// Show the bodies of this file, which `jostle pairs` could read: text, .npy or .parquet, in place of a simulation
    ///
    /// Of several files, of all those in a directory, or that fit a pattern as 'step*.npy', each is a frame of a film, in natural order.
    /// Bodies are searched in 32-bit floats where these hold every value, else in 64. Spheres are seen along their third axis, and
    /// can be turned; boxes are rectangles.
    #[arg(value_name = "FILE")]
    file: Vec<PathBuf>,
    /// One radius for all bodies
    #[arg(long, value_name = "R", requires = "file")]
    radius: Option<f64>,
    /// Circles (2) or spheres (3), where the file does not say; of boxes in space, 2 takes their first two axes
    #[arg(long, value_name = "2|3", value_parser = value_parser!(u8).range(2..=3), requires = "file")]
    dim: Option<u8>,
    /// The columns of the file to read as x, y[, z], r; of boxes as lower corners, then upper ones
    #[arg(long, value_name = "X,Y[,Z],R", value_delimiter = ',', requires = "file")]
    columns: Option<Vec<String>>,
    /// The bodies are boxes [default: told by columns called xmin and the like; arrays have no names]
    #[arg(long, conflicts_with = "radius", requires = "file")]
    boxes: bool,
    /// Whether text begins with a line of names [default: yes, unless --columns gives positions and numbers stand there]
    #[arg(long, value_name = "yes|no", value_parser = yes_or_no, requires = "file")]
    header: Option<bool>,
}

/// Frames a second, unless others are asked for.
const RATE: f32 = 10.0;

/// Files that are shown one after the other, over and over.
pub(crate) struct Film {
    args: FileArgs,
    /// At least one.
    files: Vec<PathBuf>,
    bodies: Bodies,
    finders: Finders,
    controls: Controls,
    pace: Pace,
    /// The frame that is asked for.
    sought: Option<u32>,
}

impl Film {
    /// Opens the film that is asked for, at its first frame; `None` if none is asked for.
    ///
    /// # Errors
    /// When there are no such files, or the first one cannot be read or searched.
    pub(crate) fn open(args: FileArgs, rate: Option<f32>) -> Result<Option<Self>> {
        if args.file.is_empty() {
            return Ok(None);
        }
        let files = files::list(&args.file)?;
        let controls = Controls { rate: rate.unwrap_or(RATE), frames: files.len() as u32, ..Controls::default() };
        let (bodies, finders) = (Bodies::default(), Finders::default());
        let mut film = Self { args, files, bodies, finders, controls, pace: Pace::new(), sought: None };
        film.load(0)?;
        Ok(Some(film))
    }

    /// Shows the film for ever. A single file has no controls.
    pub(crate) fn run(&mut self, viewer: &mut Viewer) -> Result<()> {
        self.controls.paused = self.files.len() == 1;
        // The first frame has its time, like the others.
        self.pace.begins(&self.controls);
        loop {
            while let Some(command) = viewer.command() {
                self.obey(command);
            }
            if self.files.len() > 1 {
                viewer.set_controls(&self.controls);
            }
            let begins = self.pace.begins(&self.controls);
            let next = match self.sought.take() {
                Some(frame) => frame,
                None if begins => (self.controls.frame + 1) % self.controls.frames,
                None => {
                    viewer.still(self.bodies.view(), self.bodies.shown(&self.finders));
                    continue;
                }
            };
            let start = Instant::now();
            match self.load(next) {
                Ok(()) => {
                    viewer.set_rest(start.elapsed());
                    viewer.frame(self.bodies.view(), self.bodies.shown(&self.finders));
                }
                // The page still shows the frame before. The frame after may be readable.
                Err(refusal) => (self.controls.notice, self.controls.paused) = (told(&refusal), true),
            }
            self.controls.frame = next;
        }
    }

    fn obey(&mut self, command: Command) {
        self.controls.notice.clear();
        match self.pace.obey(command, &mut self.controls) {
            Some(Command::Restart) => self.sought = Some(0),
            Some(Command::Seek(frame)) => self.sought = Some(frame.min(self.controls.frames - 1)),
            _ => {}
        }
    }

    /// Reads and searches the bodies of a frame.
    fn load(&mut self, frame: u32) -> Result<()> {
        let file = self.files[frame as usize].clone();
        let FileArgs { radius, dim, ref columns, boxes, header, .. } = self.args;
        let columns = columns.clone();
        let precision = Precision::Auto;
        let input = InputArgs { file, radius, dim, columns, boxes, header, precision };
        let table = jostle_cli::read(&input)?;
        ensure!(
            !table.is_of_boxes() || table.dim() == 2,
            "{}: holds boxes in space, and boxes are shown in the plane alone: --dim 2 shows their first two axes",
            input.file.display()
        );
        let bodies = Bodies::of(&table);
        if let Err(refusal) = bodies.find(&mut self.finders) {
            // One of the finders may have searched these bodies before another refused them. The bodies that are still
            // shown were accepted before.
            _ = self.bodies.find(&mut self.finders);
            return Err(table.explain(refusal, &input.file, ""));
        }
        self.bodies = bodies;
        Ok(())
    }
}

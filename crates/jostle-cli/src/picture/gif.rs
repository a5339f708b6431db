//! Animations, encoded by a thread of their own while the next frames are computed.

use std::io::Write;
use std::thread::{Scope, ScopedJoinHandle};

use anyhow::{Result, anyhow, bail};
use crossbeam::channel::{Receiver, Sender, bounded};
use gif::{Encoder, Frame, Repeat};

use super::Image;
use super::palette::{coarser, colors};
use crate::write::Output;

/// Frames that may wait for the encoder; then the simulation waits, so that memory stays bounded.
const WAITING: usize = 4;

/// Time a picture is shown, in units of 10 ms: browsers play nothing faster than 50 pictures a second.
const DELAY: u16 = 4;

/// An animation in the making.
pub(crate) struct Film<'scope> {
    frames: Sender<Step>,
    encoder: ScopedJoinHandle<'scope, Result<()>>,
}

/// A message to the encoder. If the channel ends without the end of the film, no file is left.
enum Step {
    Frame(Image),
    End,
}

impl<'scope> Film<'scope> {
    /// Starts the encoder. All pictures are as large as the first one.
    pub(crate) fn start<'env>(scope: &'scope Scope<'scope, 'env>, output: &'env Output, first: Image) -> Result<Self> {
        let (width, height) = (u16::try_from(first.width)?, u16::try_from(first.height)?);
        let (frames, waiting) = bounded(WAITING);
        let encoder = scope.spawn(move || output.write(|out| encode(out, width, height, &waiting)));
        let film = Self { frames, encoder };
        film.push(first);
        Ok(film)
    }

    /// Adds a frame; waits while [`WAITING`] frames are not encoded yet. [`Self::finish`] tells what stopped the
    /// encoder.
    pub(crate) fn push(&self, image: Image) {
        // Without a receiver the encoder has failed, and the frame is of no use.
        let _ = self.frames.send(Step::Frame(image));
    }

    /// Ends the film, and waits until it is written.
    pub(crate) fn finish(self) -> Result<()> {
        let _ = self.frames.send(Step::End);
        self.encoder.join().unwrap_or_else(|_| Err(anyhow!("the encoder of the animation panicked")))
    }
}

fn encode(out: impl Write, width: u16, height: u16, steps: &Receiver<Step>) -> Result<()> {
    let mut encoder = Encoder::new(out, width, height, &colors())?;
    encoder.set_repeat(Repeat::Infinite)?;
    let coarser = coarser();
    for step in steps {
        let Step::Frame(mut image) = step else {
            encoder.into_inner()?;
            return Ok(());
        };
        image.pixels.iter_mut().for_each(|pixel| *pixel = coarser[usize::from(*pixel)]);
        // Leaving out the pixels that did not change was tried: frames of moving agents came out larger.
        let frame = Frame { width, height, delay: DELAY, buffer: image.pixels.into(), ..Frame::default() };
        encoder.write_frame(&frame)?;
    }
    bail!("the simulation stopped before its end")
}

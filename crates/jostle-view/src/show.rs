//! The simulation, steered by its viewers.

use std::time::Instant;

use anyhow::Result;
use jostle_testkit::Kind;
use jostle_view::{Command, Controls, Viewer};

use crate::pace::Pace;
use crate::search::{JOSTLE, Search, engines, most_threads};
use crate::world::World;

/// Frames a second, unless others are asked for.
const RATE: f32 = 60.0;

/// The simulation, and what its controls say.
pub(crate) struct Show {
    world: World,
    kind: Kind,
    search: Search,
    controls: Controls,
    pace: Pace,
}

impl Show {
    pub(crate) fn new(kind: Kind, agents: u32, rate: Option<f32>, engine: &str, threads: Option<u32>) -> Result<Self> {
        let most = most_threads();
        let threads = threads.unwrap_or(most).min(most);
        let controls = Controls {
            rate: rate.unwrap_or(RATE),
            scene: kind.to_string(),
            scenes: Kind::ALL.into_iter().chain([Kind::Fluid]).map(|kind| kind.to_string()).collect(),
            agents,
            engine: engine.to_owned(),
            engines: engines().into_iter().map(str::to_owned).collect(),
            threads,
            most_threads: most,
            ..Controls::default()
        };
        let mut search = Search::new(threads)?;
        let world = World::new(kind, agents, &mut search.finder)?;
        let mut show = Self { world, kind, search, controls, pace: Pace::new() };
        show.search.choose(engine, &show.world)?;
        show.find()?;
        Ok(show)
    }

    /// Runs the simulation for ever.
    pub(crate) fn run(&mut self, viewer: &mut Viewer) -> Result<()> {
        viewer.set_pool(self.search.pool());
        loop {
            while let Some(command) = viewer.command() {
                self.controls.notice.clear();
                self.obey(command)?;
                viewer.set_pool(self.search.pool());
            }
            viewer.set_controls(&self.controls);
            if !self.pace.begins(&self.controls) {
                viewer.still(self.world.view(), self.search.shown());
                continue;
            }
            let start = Instant::now();
            // The world that is shown, and asked about while nothing moves, is the world that was searched.
            self.world.collide(self.search.pairs());
            self.world.drift(self.controls.gravity);
            self.find()?;
            viewer.set_rest(start.elapsed().saturating_sub(self.search.time()));
            viewer.frame(self.world.view(), self.search.shown());
        }
    }

    fn obey(&mut self, command: Command) -> Result<()> {
        let Some(command) = self.pace.obey(command, &mut self.controls) else { return Ok(()) };
        match command {
            Command::Gravity(gravity) => self.controls.gravity = gravity.clamp(-1.0, 1.0),
            Command::Restart => self.restart()?,
            Command::Scene(name) => {
                // The page offers the names of scenes; another name is no scene.
                if let Ok(kind) = name.parse() {
                    (self.kind, self.controls.scene) = (kind, name);
                    self.restart()?;
                }
            }
            Command::Agents(agents) => {
                self.controls.agents = agents;
                self.restart()?;
            }
            Command::Engine(name) => {
                self.choose(&name);
                self.find()?;
            }
            Command::Threads(threads) => {
                self.controls.threads = threads.min(self.controls.most_threads);
                self.search.set_threads(self.controls.threads)?;
            }
            Command::Giant { center, radius } => {
                self.world.add(center, radius);
                // Tree and pairs are then of all bodies, even while nothing moves.
                self.find()?;
            }
            Command::Drag { id, to } => {
                self.world.drag(id, to);
                self.find()?;
            }
            Command::Drop => self.world.let_go(),
            _ => {}
        }
        Ok(())
    }

    fn find(&mut self) -> Result<()> {
        Ok(self.search.find(self.world.view())?)
    }

    /// Searches by the system of this name, or else by the engine, and tells the page why.
    fn choose(&mut self, engine: &str) {
        if let Err(refusal) = self.search.choose(engine, &self.world) {
            self.controls.notice = format!("{refusal:#}");
        }
        self.controls.engine = if self.search.is_by_engine() { JOSTLE } else { engine }.to_owned();
    }

    fn restart(&mut self) -> Result<()> {
        self.world = World::new(self.kind, self.controls.agents, &mut self.search.finder)?;
        // The cells of the system depend on the size of the world.
        let engine = self.controls.engine.clone();
        self.choose(&engine);
        self.find()
    }
}

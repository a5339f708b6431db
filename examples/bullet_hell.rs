//! A hundred thousand shots among a thousand ships. Shots meet ships, never other shots. No ship is hit by its own
//! shots, and no escort by another escort's. Shows two sets of bodies, layers, and groups.
//!
//! `cargo run --release --example bullet_hell [shots] [frames]`

mod harness;

use std::error::Error;

use harness::{Clock, Random, arguments};
use jostle::{Circles, Layers, PairFinder, Set};

/// The category of a body, one bit each. A pair is kept when the mask of each body holds the category of the other.
const ESCORT: u32 = 1;
const PIRATE: u32 = 2;
const SHOT: u32 = 4;

/// Shots in the air for each ship.
const SHOTS_A_SHIP: usize = 100;

/// Area of the arena for each shot.
const AREA_A_SHOT: f32 = 1.0;

/// Radius of a shot, and the most that it flies in a frame on each axis.
const CALIBRE: f32 = 0.05;
const SPEED: f32 = 0.3;

/// The most that a ship sails in a frame on each axis.
const CRUISE: f32 = 0.05;

/// Hits that a ship takes before it sinks and another is sent in its place.
const HULL: u32 = 20;

struct Ships {
    x: Vec<f32>,
    y: Vec<f32>,
    velocity: Vec<[f32; 2]>,
    radius: Vec<f32>,
    fleet: Vec<u32>,
    hits: Vec<u32>,
    /// The ship's own number, negative: bodies of one negative group never meet.
    group: Vec<i32>,
}

struct Shots {
    x: Vec<f32>,
    y: Vec<f32>,
    velocity: Vec<[f32; 2]>,
    owner: Vec<u32>,
    /// The fleets that the shot hits, and the group of its owner.
    foes: Vec<u32>,
    group: Vec<i32>,
    spent: Vec<bool>,
}

impl Ships {
    fn new(ships: usize, side: f32, random: &mut Random) -> Self {
        Self {
            x: random.column(ships, 0.0, side),
            y: random.column(ships, 0.0, side),
            velocity: (0..ships).map(|_| [(); 2].map(|()| random.between(-CRUISE, CRUISE))).collect(),
            radius: random.column(ships, 0.5, 1.5),
            fleet: (0..ships).map(|ship| if ship % 2 == 0 { ESCORT } else { PIRATE }).collect(),
            hits: vec![0; ships],
            group: (1..=ships as i32).map(|number| -number).collect(),
        }
    }

    fn set(&self) -> Set<'_, 2> {
        let layers = Layers::new(&self.fleet, SHOT).with_groups(&self.group);
        Set::from(Circles::new(&self.x, &self.y, &self.radius)).layers(layers)
    }

    /// Moves all ships. A ship that leaves on one side enters on the other.
    fn sail(&mut self, side: f32) {
        for ship in 0..self.x.len() {
            self.x[ship] = (self.x[ship] + self.velocity[ship][0]).rem_euclid(side);
            self.y[ship] = (self.y[ship] + self.velocity[ship][1]).rem_euclid(side);
        }
    }
}

impl Shots {
    /// Makes shots that are all still in their barrels.
    fn new(shots: usize, ships: &Ships) -> Self {
        let owner: Vec<u32> = (0..shots).map(|shot| (shot / SHOTS_A_SHIP) as u32).collect();
        // Pirates fire at everybody, other pirates included.
        let foes = |&owner: &u32| if ships.fleet[owner as usize] == ESCORT { PIRATE } else { ESCORT | PIRATE };
        Self {
            x: vec![0.0; shots],
            y: vec![0.0; shots],
            velocity: vec![[0.0; 2]; shots],
            foes: owner.iter().map(foes).collect(),
            group: owner.iter().map(|&owner| ships.group[owner as usize]).collect(),
            owner,
            spent: vec![true; shots],
        }
    }

    fn set(&self) -> Set<'_, 2> {
        Set::from(Circles::new(&self.x, &self.y, CALIBRE))
            .layers(Layers::new(SHOT, &self.foes).with_groups(&self.group))
    }

    /// Moves all shots. A shot that is spent or has left the arena is fired anew from the middle of its ship.
    fn fly(&mut self, ships: &Ships, side: f32, random: &mut Random) {
        for shot in 0..self.x.len() {
            let inside = (0.0..side).contains(&self.x[shot]) && (0.0..side).contains(&self.y[shot]);
            if self.spent[shot] || !inside {
                let owner = self.owner[shot] as usize;
                (self.x[shot], self.y[shot]) = (ships.x[owner], ships.y[owner]);
                self.velocity[shot] = [(); 2].map(|()| random.between(-SPEED, SPEED));
                self.spent[shot] = false;
            }
            self.x[shot] += self.velocity[shot][0];
            self.y[shot] += self.velocity[shot][1];
        }
    }
}

/// The counts of a run.
#[derive(Default)]
struct Tally {
    hits: usize,
    /// Hits by a ship on itself, or by one escort on another: the layers leave none.
    by_friends: usize,
    sunk: usize,
}

impl Tally {
    fn hit(&mut self, shot: usize, ship: usize, shots: &mut Shots, ships: &mut Ships) {
        // A shot that meets two ships at once hits the first of them in the list, whose order is always the same.
        if std::mem::replace(&mut shots.spent[shot], true) {
            return;
        }
        let owner = shots.owner[shot] as usize;
        self.hits += 1;
        self.by_friends += usize::from(owner == ship || ships.fleet[owner] & ships.fleet[ship] & ESCORT != 0);
        ships.hits[ship] += 1;
        if ships.hits[ship] == HULL {
            ships.hits[ship] = 0;
            self.sunk += 1;
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let [count, frames] = arguments([100_000, 500])?;
    let side = (count as f32 * AREA_A_SHOT).sqrt();
    let mut random = Random::new(1);
    let mut ships = Ships::new(count.div_ceil(SHOTS_A_SHIP), side, &mut random);
    let mut shots = Shots::new(count, &ships);
    let (mut finder, mut tally, mut pairs) = (PairFinder::new(), Tally::default(), 0);

    let mut clock = Clock::start();
    for _ in 0..frames {
        let found = finder.find_between(shots.set(), ships.set())?;
        clock.jostle();
        pairs += found.pairs().len();
        for &[shot, ship] in found.pairs() {
            tally.hit(shot as usize, ship as usize, &mut shots, &mut ships);
        }
        ships.sail(side);
        shots.fly(&ships, side, &mut random);
        clock.own();
    }

    let Tally { hits, by_friends, sunk } = tally;
    println!("{count} shots, {} ships, {frames} frames, {clock}", ships.x.len());
    println!("{:.1} pairs a frame; {hits} hits, {sunk} ships sunk", pairs as f64 / frames.max(1) as f64);
    println!("{by_friends} hits by a ship on itself, or by an escort on another");
    Ok(())
}

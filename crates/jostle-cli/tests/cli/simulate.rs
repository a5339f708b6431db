//! The simulation: the same for any number of threads, and never gaining energy.

use crate::program::{Folder, figure};

/// More agents than one task holds, so that several threads have work.
const AGENTS: usize = 9_000;

#[test]
fn threads_do_not_matter() {
    let folder = Folder::new();
    for scene in ["uniform --dim 2", "dense --dim 3"] {
        let runs = ["1", "2", "3"].map(|threads| {
            let file = format!("{threads}.png");
            let run = format!("simulate --agents {AGENTS} --frames 3 --scene {scene} --threads {threads} --png {file}");
            let output = folder.succeed(&run);
            let rows = ["kinetic energy", "deepest overlap", "state"].map(|name| figure(&output, name).to_owned());
            (rows, folder.read(&file))
        });
        assert!(runs[0] == runs[1] && runs[0] == runs[2], "{scene}");
    }
}

#[test]
fn seeds_matter() {
    let folder = Folder::new();
    let states = [1, 2].map(|seed| {
        let output = folder.succeed(&format!("simulate --agents 50 --frames 2 --seed {seed}"));
        figure(&output, "state").to_owned()
    });
    assert_ne!(states[0], states[1]);
}

#[test]
fn energy_does_not_grow() {
    let folder = Folder::new();
    for scene in ["uniform", "clustered", "powerlaw", "dense"] {
        for dim in [2, 3] {
            let run = format!("simulate --agents 400 --frames 150 --scene {scene} --dim {dim}");
            let output = folder.succeed(&run);
            let energy: Vec<f64> =
                figure(&output, "kinetic energy").split(' ').filter_map(|w| w.parse().ok()).collect();
            let [start, end] = energy[..] else { panic!("{output}") };
            assert!(start > 0.0 && end > 0.0 && end <= start * (1.0 + 1e-5), "{run}: {start} to {end}");
        }
    }
}

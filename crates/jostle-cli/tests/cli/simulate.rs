//! The simulation: the same for any number of threads, and never gaining energy.

use jostle_classics::{System, SystemInSpace};

use crate::program::{Folder, figure};

/// More agents than one task holds, and pictures of several bands of rows, so that several threads have work.
const AGENTS: usize = 9_000;

#[test]
fn threads_do_not_matter() {
    let folder = Folder::new();
    for scene in ["uniform --dim 2", "dense --dim 3"] {
        let runs = ["1", "2", "3"].map(|threads| {
            let file = format!("{threads}.png");
            let run = format!(
                "simulate --agents {AGENTS} --frames 3 --scene {scene} --threads {threads} --png {file} --size 400"
            );
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

#[test]
fn engines_do_not_matter() {
    let folder = Folder::new();
    let run = |engine: &str, dim: u8, scene: &str| {
        let run = format!("simulate --agents 700 --frames 66 --dim {dim} --scene {scene} --engine {engine}");
        let output = folder.succeed(&format!("{run} --png {engine}.png --size 200"));
        let rows = ["kinetic energy", "deepest overlap", "state"].map(|name| figure(&output, name).to_owned());
        assert_eq!(figure(&output, "engine"), engine);
        (rows, folder.read(&format!("{engine}.png")))
    };
    for scene in ["clustered", "powerlaw"] {
        let ours = run("jostle", 2, scene);
        for system in System::ALL {
            assert!(run(system.name(), 2, scene) == ours, "{system}, {scene}");
        }
        let ours = run("jostle", 3, scene);
        for system in SystemInSpace::ALL {
            assert!(run(system.name(), 3, scene) == ours, "{system}, {scene}");
        }
    }
}

#[test]
fn coverage_is_drawn_in_the_plane_and_in_space() {
    let folder = Folder::new();
    for dim in [2, 3] {
        let run = format!("simulate --agents 300 --frames 2 --dim {dim} --size 300 --png");
        folder.succeed(&format!("{run} agents.png"));
        folder.succeed(&format!("{run} coverage.png --coverage"));
        assert_ne!(folder.read("agents.png"), folder.read("coverage.png"), "{dim}D");
    }
}

#[test]
fn each_engine_draws_its_own_cells() {
    let folder = Folder::new();
    let mut pictures: Vec<Vec<u8>> = Vec::new();
    for engine in ["jostle", "brute-force", "linear-quadtree", "dynamic-quadtree", "loose-quadtree", "uniform-grid"] {
        folder.succeed(&format!("simulate --agents 300 --frames 2 --engine {engine} --cells --size 300 --png out.png"));
        let picture = folder.read("out.png");
        assert!(!pictures.contains(&picture), "{engine}");
        pictures.push(picture);
    }
}

/// `script` runs a command with a terminal as output. Elsewhere `succeed` checks that no progress is shown.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_is_shown_progress() {
    let folder = Folder::new();
    let run = "\"$JOSTLE\" simulate --agents 100 --frames 20";
    let mut script = std::process::Command::new("script");
    script.current_dir(folder.path(".")).args(["-qec", run, "/dev/null"]).stdin(std::process::Stdio::null());
    // A terminal that can show it, and a shell, whatever those are of whoever runs the tests.
    script.env("JOSTLE", env!("CARGO_BIN_EXE_jostle")).env("TERM", "xterm").env("SHELL", "/bin/sh");
    match script.output() {
        Ok(output) => {
            let shown = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(
                output.status.success() && shown.contains("simulating") && shown.contains("of 20 frames"),
                "{shown}"
            );
        }
        Err(error) => eprintln!("not tested, as there is no script: {error}"),
    }
}

#[test]
fn speed_is_the_time_that_passes_in_a_frame() {
    let folder = Folder::new();
    let run = |arguments: &str| {
        let output = folder.succeed(&format!("simulate --scene clustered --agents 300 {arguments}"));
        ["kinetic energy", "state"].map(|name| figure(&output, name).to_owned())
    };
    let start = |energy: &str| energy.split(' ').next().unwrap().to_owned();
    let (one, half) = (run("--frames 3"), run("--frames 3 --speed 0.5"));
    assert_eq!(one, run("--frames 3 --speed 1"));
    assert_ne!(one, half);
    assert_eq!(start(&one[0]), start(&half[0]), "velocities are the same");
}

#[test]
fn bodies_and_velocities_of_a_file_are_where_it_starts() {
    let folder = Folder::new();
    // One body is at rest. Another meets it after three frames of four and hands over its speed of 1. A third, far
    // away, makes room behind them.
    folder.write("in.csv", "r,vy,vx,y,x\n1,0,0,0,0\n1,0,-1,0,5.5\n0,0,0,-3,-50\n");
    let run = |arguments: &str| folder.succeed(&format!("simulate --from in.csv {arguments}"));
    let output = run("--frames 4");
    assert_eq!(figure(&output, "input"), "in.csv: 3 circles, as 32-bit floats");
    assert_eq!(figure(&output, "velocities"), "columns of the file");
    assert_eq!(figure(&output, "world"), "-50.00,-3.00,6.50,1.00");
    assert_eq!(figure(&output, "kinetic energy"), "0.500000 at the start, 0.500000 at the end");
    let state = |output: &str| figure(output, "state").to_owned();
    assert_ne!(state(&output), state(&run("--frames 4 --speed 0.5")));
    assert_eq!(state(&output), state(&run("--frames 4 --seed 2")), "nothing is random");
    folder.succeed("simulate --from in.csv --frames 4 --gif out.gif --png out.png --size 200");
    // The program tells what it rounds.
    folder.write("far.csv", "x,y,r\n0,0,1\n4512345.25,0.1,1\n");
    let input = folder.succeed("simulate --from far.csv --frames 1");
    assert_eq!(
        figure(&input, "input"),
        "far.csv: 2 circles, as 32-bit floats, which round line 3, column x: 4512345.25"
    );
    // However slow the bodies are, whole bodies are seen.
    folder.write("slow.csv", "x,y,r,vx,vy\n0,0,1,1e-6,0\n100,100,1,0,1e-6\n");
    let slow = folder.succeed("simulate --from slow.csv --frames 4 --gif out.gif --size 200");
    assert_eq!(figure(&slow, "animation"), "2 pictures, --window -1.00,-1.00,29.00,29.00");
    // Without velocities in the file, velocities are random, by the seed.
    folder.write("in.csv", "x,y,r\n0,0,1\n9,0,1\n4,7,2\n");
    let [one, two] = ["--seed 1", "--seed 2"].map(|seed| run(&format!("--frames 2 {seed}")));
    assert_eq!(figure(&one, "velocities"), "random, seed 1");
    assert_ne!(state(&one), state(&two));
}

#[test]
fn any_file_that_pairs_reads_is_a_start() {
    let folder = Folder::new();
    folder.write("in.csv", "x,y,z,r,vx,vy,vz\n0,0,0,1,1,0,0\n9,0,0.5,1,0,0,1\n4,7,3,2,0,1,0\n");
    let state =
        |arguments: &str| figure(&folder.succeed(&format!("simulate --frames 3 {arguments}")), "state").to_owned();
    assert_ne!(state("--from in.csv"), state("--from in.csv --dim 2"));
    assert_ne!(state("--from in.csv"), state("--from in.csv --radius 2"));
    assert_eq!(state("--from in.csv"), state("--from in.csv --columns x,y,z,r"));
    assert_eq!(state("--from in.csv --engine linear-octree"), state("--from in.csv --threads 1"));
    let array: Vec<f32> = vec![0.0, 0.0, 1.0, 9.0, 0.0, 1.0];
    let header = format!("{:<117}\n", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}");
    let mut bytes = [b"\x93NUMPY\x01\x00".as_slice(), &118_u16.to_le_bytes(), header.as_bytes()].concat();
    bytes.extend(array.iter().flat_map(|value| value.to_le_bytes()));
    folder.write("in.npy", bytes);
    folder.write("same.csv", "x,y,r\n0,0,1\n9,0,1\n");
    assert_eq!(state("--from in.npy"), state("--from same.csv"));
    // Points, and bodies at one place, have masses and a world, too.
    for bodies in ["0,0,0\n0,0,0\n1,1,0\n", "5,5,0\n", "5,5,1e15\n5,5,1e15\n", "0,0,0\n1e15,0,1e-20\n"] {
        folder.write("odd.csv", format!("x,y,r\n{bodies}"));
        let output = folder.succeed("simulate --from odd.csv --frames 5 --gif odd.gif --size 100");
        assert!(!output.contains("NaN"), "{output}");
    }
}

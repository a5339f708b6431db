//! The same scenes under MPI. Started without `mpirun`, this program starts itself under `mpirun` with each number of
//! ranks. `MPIRUN` names another `mpirun`; `--ignored` sends a message of more than 2^31 bytes instead.

#[path = "../suite/kit.rs"]
#[allow(dead_code, reason = "threads are the other suite's")]
mod kit;

use std::path::{Path, PathBuf};
use std::process::{Command, exit, id};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use jostle::{Circles, Space};
use jostle_mpi::{DistributedError, DistributedFinder, MpiRanks, Share, Transport};
use jostle_testkit::pairs::{Hit, sort_hits};
use jostle_testkit::scene::{scene, world};
use jostle_testkit::{Kind, Scene, ugly};

use kit::{Deal, alone, here};

/// Tells this program how many ranks to expect.
const CHILD: &str = "JOSTLE_MPI_CHILD";

/// Numbers of ranks. The run that takes longest comes first.
const RANKS: [u32; 6] = [8, 7, 4, 3, 2, 1];

fn main() {
    match env::var(CHILD).as_deref() {
        Ok("panic") => return rank_that_panics(),
        Ok("huge") => return huge_message(),
        Ok(ranks) => return rank_of_many(ranks),
        Err(_) => {}
    }
    let program = env::current_exe().expect("a program knows its path");
    if env::args().any(|argument| argument == "--ignored") {
        assert!(mpirun(&program, 2, "huge").status().expect("mpirun is installed").success());
        println!("test a message above 2^31 bytes ... ok");
        return;
    }
    // Two runs at a time, since ranks wait for each other more than they compute.
    let next = AtomicUsize::new(0);
    let run_some = || {
        while let Some(&ranks) = RANKS.get(next.fetch_add(1, Ordering::Relaxed)) {
            run(&program, ranks);
        }
    };
    thread::scope(|scope| {
        scope.spawn(run_some);
        scope.spawn(run_some);
    });
    // Nothing depends on whether the folders can be removed.
    let _ = fs::remove_dir_all(sessions());
}

/// Returns where sessions of this run keep their files. The path is short, since sockets are among them.
fn sessions() -> PathBuf {
    env::temp_dir().join(format!("jostle-{}", id()))
}

/// Makes the command that runs this program as so many ranks.
fn mpirun(program: &Path, ranks: u32, child: &str) -> Command {
    let mut mpirun = Command::new(env::var_os("MPIRUN").unwrap_or_else(|| "mpirun".into()));
    // Each session has a folder of its own: two sessions of Open MPI that begin at once may both try to make the same
    // folder, and fail.
    let session = sessions().join(format!("{ranks}-{child}"));
    fs::create_dir_all(&session).expect("a folder for temporary files");
    mpirun.env("TMPDIR", session);
    mpirun.args(["-n", &ranks.to_string()]).arg(program).env(CHILD, child);
    // Settings of Open MPI, which asks for leave; MPICH does all of this unasked. Ranks may outnumber the cores, so
    // they must yield, and may run on any core.
    for allowed in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"] {
        mpirun.env(allowed, "1");
    }
    mpirun.env("OMPI_MCA_mpi_yield_when_idle", "1").env("OMPI_MCA_hwloc_base_binding_policy", "none");
    mpirun
}

/// Runs all scenes on so many ranks. With 3 ranks, it also checks that a rank that panics ends the others.
fn run(program: &Path, ranks: u32) {
    let status = mpirun(program, ranks, &ranks.to_string()).status().expect("mpirun is installed");
    if !status.success() {
        println!("test mpirun -n {ranks} ... FAILED: {status}");
        exit(1);
    }
    println!("test mpirun -n {ranks} ... ok");
    if ranks == 3 {
        // Without a backtrace, what a rank says fits into what `mpirun` passes on at once.
        let ended = mpirun(program, ranks, "panic").env("RUST_BACKTRACE", "0").output().expect("mpirun is installed");
        let said = String::from_utf8_lossy(&ended.stderr);
        let is_told = said.contains("rank 1 falls") && said.contains("rank 1 has panicked: all ranks are aborted");
        if ended.status.success() || !is_told {
            println!("test a rank that panics ends the others ... FAILED: {}\n{said}", ended.status);
            exit(1);
        }
        println!("test a rank that panics ends the others ... ok");
    }
}

fn rank_that_panics() {
    let universe = mpi::initialize().expect("MPI begins once");
    let ranks = MpiRanks::new(&universe.world());
    assert!(ranks.rank() != 1, "rank 1 falls");
    ranks.barrier();
}

/// Sends a message of more bytes than MPI counts there and back. Takes some 8 GB of memory.
fn huge_message() {
    let universe = mpi::initialize().expect("MPI begins once");
    let ranks = MpiRanks::new(&universe.world());
    let block: Vec<u8> = (0..1 << 20).map(|at| (at % 251) as u8).collect();
    for from in 0..2 {
        let outgoing = if ranks.rank() == from { vec![(1 - from, block.repeat((1 << 11) + 1))] } else { Vec::new() };
        let (incoming, ()) = ranks.exchange(outgoing, || ());
        assert_eq!(incoming.len(), usize::from(ranks.rank() != from));
        for (_, bytes) in incoming {
            assert_eq!(bytes.len(), (1 << 31) + (1 << 20));
            assert!(bytes.chunks(1 << 20).all(|part| part == block));
        }
    }
}

fn rank_of_many(wanted: &str) {
    let universe = mpi::initialize().expect("MPI begins once");
    let ranks = MpiRanks::new(&universe.world());
    assert_eq!(ranks.size().to_string(), wanted, "`mpirun` is of another MPI than this program");
    transport(&ranks);
    for (number, kind) in Kind::ALL.into_iter().enumerate() {
        for space in [Space::open(), Space::periodic([Some([0.0, world::<2>(kind, 1500)]), None])] {
            check(&ranks, &kind.to_string(), &scene::<2>(kind, 1500, number as u64), space, Deal::ALL[number]);
        }
        let cube = Space::periodic([Some([0.0, world::<3>(kind, 1500)]); 3]);
        for space in [Space::open(), cube] {
            check(&ranks, &kind.to_string(), &scene::<3>(kind, 1500, number as u64), space, Deal::ALL[3 - number]);
        }
    }
    for (number, (name, scene)) in ugly::all::<2>().into_iter().enumerate() {
        check(&ranks, name, &scene, Space::open(), Deal::ALL[number % 4]);
    }
    errors(&ranks);
    // Here messages go in many pieces.
    let ranks = ranks.with_pieces(1000);
    check(&ranks, "in pieces", &scene::<2>(Kind::Dense, 1500, 9), Space::open(), Deal::Round);
}

/// Checks that all pairs of all ranks are those of one process.
fn check<const D: usize>(ranks: &MpiRanks, name: &str, scene: &Scene<D>, space: Space<D>, deal: Deal) {
    let in_place = name.len().is_multiple_of(2);
    let mine = here(ranks, scene, space, (deal, in_place));
    let all = ranks.all_gather(bytemuck::cast_slice(&mine)).concat();
    if ranks.rank() > 0 {
        return;
    }
    let mut hits: Vec<Hit> = all.chunks_exact(size_of::<Hit>()).map(bytemuck::pod_read_unaligned).collect();
    sort_hits(&mut hits);
    let expected = alone(scene.view(), space);
    assert!(hits == expected, "{name}: {} hits, {} of one, {deal:?}, {space:?}", hits.len(), expected.len());
}

fn transport(ranks: &MpiRanks) {
    let (rank, size) = (ranks.rank(), ranks.size());
    assert_eq!(ranks.scan(u64::from(rank) + 1), u64::from(rank * (rank + 1) / 2));
    let mut greatest = [f64::from(rank), -f64::from(rank)];
    ranks.max(&mut greatest);
    assert_eq!(greatest, [f64::from(size - 1), 0.0]);
    // Many exchanges follow each other, and ranks are not in step. Each rank gets what was sent in its round.
    for round in 0..200_u32 {
        let to = (rank + round) % size;
        let mine = vec![round as u8; (rank % 2 * round * 100) as usize];
        let (messages, ()) = ranks.exchange(vec![(to, mine)], || ());
        let from = (rank + size - round % size) % size;
        assert_eq!(messages, [(from, vec![round as u8; (from % 2 * round * 100) as usize])]);
    }
    assert_eq!(ranks.broadcast(size - 1, &[rank as u8]), [(size - 1) as u8]);
}

/// Checks that a NaN on the last rank is an error on all ranks.
fn errors(ranks: &MpiRanks) {
    let x = [0.0, if ranks.rank() + 1 == ranks.size() { f32::NAN } else { 1.0 }];
    let mut finder = DistributedFinder::serial();
    let found = finder.find(ranks, Share::from(Circles::new(&x, &[0.0; 2], 0.5)));
    let Err(DistributedError::Body { rank, id, .. }) = found else { panic!("a NaN was taken") };
    assert_eq!((rank, id), (ranks.size() - 1, u64::from(2 * ranks.size() - 1)));
}

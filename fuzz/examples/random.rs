//! `cargo run --release -p jostle-fuzz --example random -- [SECONDS] [SEED] [TARGET...]` runs every target, or those
//! named, on bytes that look random, for so long each, where libFuzzer is not at hand. It names a failure by its seed,
//! and keeps it in `fuzz/artifacts`.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::time::{Duration, Instant};

use jostle_fuzz::TARGETS;

/// The finaliser of SplitMix64.
fn mix(i: u64) -> u64 {
    let mut z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Makes up to 2,047 bytes, of which a part are small.
fn bytes(seed: u64) -> Vec<u8> {
    let (length, small) = (mix(seed) % 2_048, mix(seed ^ 1 << 60) % 4);
    let byte = |i: u64| {
        let random = mix(seed ^ (i + 1) << 32);
        if (random >> 8) % 4 < small { (random % 8) as u8 } else { random as u8 }
    };
    (0..length).map(byte).collect()
}

fn main() {
    let (targets, numbers): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|arg| arg.parse::<u64>().is_err());
    let mut args = numbers.iter().map(|arg| arg.parse::<u64>().expect("seconds and a seed"));
    let (seconds, first) = (args.next().unwrap_or(10), args.next().unwrap_or(0));
    for (name, target) in TARGETS.iter().filter(|(name, _)| targets.is_empty() || targets.iter().any(|it| it == name)) {
        let (start, mut seed) = (Instant::now(), first << 40);
        while start.elapsed() < Duration::from_secs(seconds) {
            let bytes = bytes(seed);
            if catch_unwind(|| target(&bytes)).is_err() {
                let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts").join(name);
                fs::create_dir_all(&folder)
                    .and_then(|()| fs::write(folder.join(format!("{seed:x}")), &bytes))
                    .expect("disk");
                println!("{name}: seed {seed:#x} fails");
                break;
            }
            seed += 1;
        }
        println!("{name}: {} inputs in {:.0} s", seed - (first << 40), start.elapsed().as_secs_f64());
    }
}

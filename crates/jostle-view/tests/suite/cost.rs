//! What viewers cost, against the bars that `docs/measurements/others.md` records:
//! `cargo test --release -p jostle-cli -p jostle-view --test suite cost -- --ignored --nocapture --test-threads 1`.

use std::fs;
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use jostle::{Circles, PairFinder};
use jostle_view::{Section, Sections, Viewer};

use crate::browser::Browser;
use crate::client::{Client, until};
use crate::program::{Running, start};

/// Returns the milliseconds of a frame, by stage and for the rest of the step, and those of the encoding of the frame
/// before.
fn times(frame: &[u8]) -> ([f32; 5], f32) {
    let time = |stage: usize| f32::from_le_bytes(frame[40 + 4 * stage..][..4].try_into().unwrap());
    (std::array::from_fn(time), time(5))
}

fn rate(frame: &[u8]) -> f32 {
    f32::from_le_bytes(frame[76..80].try_into().unwrap())
}

fn median(mut values: Vec<f32>) -> f32 {
    values.sort_by(f32::total_cmp);
    values[values.len() / 2]
}

/// Times frames without an encoding, which a viewer sees who seldom takes one, and frames of a viewer who takes all, in
/// turns. Returns the milliseconds of each and of an encoding, by medians, and the frames a second.
fn with_and_without(client: &mut Client, rounds: usize) -> [f32; 4] {
    let (mut without, mut with, mut encoding, mut frames) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        // Takes frames that were on their way.
        (0..3).for_each(|_| _ = client.frame());
        for _ in 0..8 {
            thread::sleep(Duration::from_millis(150));
            without.push(times(&client.frame().0).0.iter().sum());
        }
        (0..3).for_each(|_| _ = client.frame());
        for _ in 0..90 {
            let frame = client.frame().0;
            let (stages, encode) = times(&frame);
            with.push(stages.iter().sum::<f32>() + encode);
            encoding.push(encode);
            frames.push(rate(&frame));
        }
    }
    [median(without), median(with), median(encoding), median(frames)]
}

#[test]
#[ignore = "measures a release build"]
fn a_viewer_makes_frames_little_longer() {
    let (_running, address) = start(&["--agents", "100000"]);
    let mut client = Client::attach(address);
    for wanted in ["", " pairs", " contacts order boxes 0 clusters leaves"] {
        client.say(&format!("want{wanted}"));
        let [without, with, encoding, frames] = with_and_without(&mut client, 6);
        println!(
            "100k agents, {frames:.0} frames a second, places{wanted}: {without:.2} ms a frame without a viewer, {with:.2} with one \
             ({:.3} times), {encoding:.2} of it the encoding",
            with / without
        );
        assert!(!wanted.is_empty() || with < 1.15 * without, "more than 15 % longer");
    }
    let Some(mut page) = Browser::open(&format!("http://{address}/")) else { return };
    until("the page shows them", || page.figure(0) == "100,000");
    client.say("want");
    let [_, with, _, frames] = with_and_without(&mut client, 3);
    println!("and beside Chromium on the same cores, drawn by software: {with:.2} ms, {frames:.0} frames a second");
}

/// Returns a line of the status of a process, in MB.
fn memory(running: &Running, what: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{}/status", running.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1e3
}

/// Returns the most memory that a process holds during an action.
fn peak(running: &Running, act: impl FnOnce()) -> f64 {
    fs::write(format!("/proc/{}/clear_refs", running.id()), "5").unwrap();
    act();
    memory(running, "VmHWM")
}

#[test]
#[ignore = "measures a release build"]
fn the_server_holds_little() {
    let (running, address) = start(&["--agents", "500000"]);
    thread::sleep(Duration::from_secs(3));
    let alone = peak(&running, || thread::sleep(Duration::from_secs(3)));
    let mut client = Client::attach(address);
    for (wanted, most) in [("", 64.0), (" contacts pairs order boxes 0 boxes 1 leaves clusters threads", f64::INFINITY)]
    {
        client.say(&format!("want{wanted}"));
        let (mut bytes, start) = (0, Instant::now());
        let held = peak(&running, || {
            while start.elapsed() < Duration::from_secs(4) {
                bytes = client.frame().0.len();
            }
        });
        let megabytes = bytes as f64 / 1e6;
        println!(
            "500k agents, frames of {megabytes:.2} MB with places{wanted}: {alone:.0} MB alone, {:.1} more",
            held - alone
        );
        assert!(held - alone < most, "more than {most} MB beside the simulation");
    }
}

#[test]
#[ignore = "measures a release build"]
fn half_a_million_are_shown_in_a_browser_without_a_graphics_card() {
    let (_running, address) = start(&["--agents", "500000"]);
    let Some(mut page) = Browser::open(&format!("http://{address}/")) else { return };
    until("the page shows them", || page.figure(0) == "500,000");
    // Each frame is drawn once. Nothing else is drawn while nobody touches the page.
    page.value(
        "(window.drawn = 0, window.clear = WebGL2RenderingContext.prototype.clear, \
         WebGL2RenderingContext.prototype.clear = function (bits) { drawn++; clear.call(this, bits); })",
    );
    for colour in ["touching", "contacts", "radius", "speed", "rank"] {
        page.value(&format!("document.getElementById('colour').value = '{colour}'"));
        page.value("document.getElementById('colour').dispatchEvent(new Event('change'))");
        thread::sleep(Duration::from_secs(2));
        let (start, before) = (Instant::now(), page.value("drawn").parse::<f64>().unwrap());
        thread::sleep(Duration::from_secs(5));
        let drawn = (page.value("drawn").parse::<f64>().unwrap() - before) / start.elapsed().as_secs_f64();
        println!(
            "500k agents by {colour}, 1000 x 700: {drawn:.1} frames a second drawn, of {} simulated",
            page.figure(3)
        );
        assert!(colour != "touching" || drawn >= 10.0, "fewer than 10 frames a second");
    }
}

#[test]
#[ignore = "measures a release build"]
fn a_viewer_that_nobody_looks_at_costs_next_to_nothing() {
    let mut viewer = Viewer::start(([127, 0, 0, 1], 0).into()).unwrap();
    for n in [1000, 100_000] {
        let side = f64::from(n).sqrt() as usize;
        let (x, y): (Vec<_>, Vec<_>) = (0..n as usize).map(|id| ((id % side) as f32, (id / side) as f32)).unzip();
        let view = Circles::new(&x, &y, 0.55);
        let mut finder = PairFinder::new();
        let start = Instant::now();
        let searches = 5_000_000 / n;
        (0..searches).for_each(|_| _ = black_box(finder.find(view).unwrap()));
        let search = start.elapsed() / searches;
        let found = finder.find(view).unwrap();
        let start = Instant::now();
        (0..1_000_000).for_each(|_| black_box(&mut viewer).frame(black_box(view), &found));
        let frame = start.elapsed() / 1000;
        let part = 1e-3 * frame.as_secs_f64() / search.as_secs_f64();
        println!(
            "{n} circles: a search takes {search:?}, {frame:?} go to a thousand calls of a Viewer: {:.4} %",
            100.0 * part
        );
        assert!(part < 0.01, "more than 1 %");
    }
}

/// Checks, before anything is measured, that frames have the sections that are asked for.
#[test]
fn frames_hold_what_is_measured() {
    let (running, address) = start(&["--agents", "2000"]);
    assert!(memory(&running, "VmRSS") > 0.0);
    let mut client = Client::attach(address);
    client.say("want contacts pairs order boxes 0 leaves clusters threads");
    until("all is sent", || Sections::of(&client.frame().0).count() == 9);
    let frame = client.frame().0;
    assert!(Sections::of(&frame).any(|(kind, _)| kind == Section::Threads));
    let (stages, encode) = times(&frame);
    assert!(stages.iter().sum::<f32>() > 0.0 && encode > 0.0);
}

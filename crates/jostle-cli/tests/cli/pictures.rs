//! Pictures: their size and their colours.

use std::collections::HashMap;
use std::fs;
use std::io::Cursor;
use std::path::Path;

use crate::program::Folder;

const BACKGROUND: [u8; 3] = [13, 17, 23];

/// Returns width, height, and the channels of all pixels.
fn image(png: Vec<u8>) -> (u32, u32, Vec<u8>) {
    let mut decoder = png::Decoder::new(Cursor::new(png));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    (info.width, info.height, bytes)
}

/// Returns width, height, and how many pixels have each colour.
fn pixels(png: Vec<u8>) -> (u32, u32, HashMap<[u8; 3], usize>) {
    let (width, height, bytes) = image(png);
    let mut colors = HashMap::new();
    bytes.chunks(3).for_each(|rgb| *colors.entry([rgb[0], rgb[1], rgb[2]]).or_insert(0) += 1);
    (width, height, colors)
}

/// The channels of free bodies, which are blue, and of touching bodies, which are orange: blue and red.
const FREE: usize = 2;
const TOUCHING: usize = 0;

const LINE: [u8; 3] = [147, 90, 124];
const TEXT: [u8; 3] = [230, 237, 243];

/// Returns whether any pixel has more of this channel than of the others.
fn has(colors: &HashMap<[u8; 3], usize>, channel: usize) -> bool {
    colors.keys().any(|rgb| (0..3).all(|other| other == channel || rgb[channel] > rgb[other].saturating_add(40)))
}

#[test]
fn free_bodies_are_blue_and_overlapping_ones_orange() {
    let folder = Folder::new();
    folder.write("in.csv", "x,y,r\n0,0,1\n1,0,1\n10,5,1\n");
    folder.succeed("pairs in.csv --png all.png --size 200");
    folder.succeed("pairs in.csv --png left.png --window -2,-2,2,2 --size 100");
    folder.succeed("pairs in.csv --png right.png --window 8,3,12,7 --size 100 --cells");
    let [all, left, right] = ["all.png", "left.png", "right.png"].map(|name| pixels(folder.read(name)));
    assert_eq!((all.0, all.1), (200, 118));
    assert_eq!((left.0, left.1), (100, 100));
    let seen = [&all.2, &left.2, &right.2].map(|colors| (has(colors, TOUCHING), has(colors, FREE)));
    assert_eq!(seen, [(true, true), (true, false), (false, true)]);
    assert!(all.2[&BACKGROUND] > 200 * 118 / 2);
    // The only box ends at the only body in sight, with a line above the body and one at its right.
    assert!(right.2.contains_key(&LINE) && !left.2.contains_key(&LINE));
}

/// Returns width, height, and the pixels of each picture.
fn pictures(gif: Vec<u8>) -> (u16, u16, Vec<Vec<u8>>) {
    let mut decoder = gif::DecodeOptions::new().read_info(Cursor::new(gif)).unwrap();
    let (width, height) = (decoder.width(), decoder.height());
    let mut pictures = Vec::new();
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        pictures.push(frame.buffer.to_vec());
    }
    (width, height, pictures)
}

#[test]
fn an_animation_shows_the_start_and_every_nth_frame() {
    let folder = Folder::new();
    for (frames, every, count) in [(7, "--every 1", 8), (7, "--every 3", 3), (9, "", 3), (1, "", 1), (304, "", 61)] {
        folder.succeed(&format!("simulate --agents 50 --frames {frames} --size 90 {every} --gif out.gif"));
        let (width, height, pictures) = pictures(folder.read("out.gif"));
        assert_eq!((width, height, pictures.len()), (90, 90, count), "{frames} frames {every}");
        assert!(pictures.windows(2).all(|two| two[0] != two[1]), "the agents move");
    }
    // The number of contacts gets shorter, and the pictures keep their height.
    folder.succeed("simulate --agents 2000 --frames 8 --every 1 --size 270 --gif out.gif");
    folder.succeed("simulate --agents 200 --frames 7 --size 90 --png out.png");
    let (width, height, colors) = pixels(folder.read("out.png"));
    assert_eq!((width, height), (90, 90));
    assert!(has(&colors, FREE) && has(&colors, TOUCHING));
    assert_eq!(folder.names(), ["out.gif", "out.png"]);
}

#[test]
fn figures_and_a_legend_stand_above_a_simulation() {
    let folder = Folder::new();
    for (dim, figures) in [(2, 32), (3, 32)] {
        folder.succeed(&format!(
            "simulate --agents 300 --dim {dim} --frames 9 --size 400 --every 9 --gif out.gif --png out.png"
        ));
        let (width, height, colors) = pixels(folder.read("out.png"));
        assert_eq!((width, height), (400, 400 + figures));
        assert!(colors[&TEXT] > 300, "{dim}D");
        let (_, _, pictures) = pictures(folder.read("out.gif"));
        let [first, last] = [0, 1].map(|at: usize| pictures[at][..400 * figures as usize].to_vec());
        assert_ne!(first, last, "another frame, another number");
    }
}

#[test]
fn an_animation_is_small_and_its_agents_are_seen_to_move() {
    let folder = Folder::new();
    // The scenes with the largest files, and the scene in which agents are farthest apart. The defaults make 76
    // pictures.
    for scene in ["dense --dim 2", "uniform --dim 3", "clustered --dim 2"] {
        folder.succeed(&format!("simulate --scene {scene} --frames 12 --gif out.gif"));
        let file = folder.read("out.gif");
        let (bytes, (width, _, pictures)) = (file.len(), pictures(file));
        assert_eq!((width, pictures.len()), (480, 4));
        assert!(bytes / 4 * 76 < 5_000_000, "{scene}: {bytes} bytes in 4 pictures");
        for two in pictures.windows(2) {
            let bodies = two[0].iter().filter(|pixel| **pixel != 0).count();
            let changed = two[0].iter().zip(&two[1]).filter(|(before, after)| before != after).count();
            assert!(4 * changed > bodies, "{scene}: {changed} of {bodies} pixels change");
        }
    }
}

#[test]
fn the_picture_in_the_readme_is_made_by_the_command_below_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let command = readme.lines().find_map(|line| line.strip_prefix("Made by `jostle simulate ")?.strip_suffix("`."));
    let folder = Folder::new();
    folder.succeed(&format!("simulate {}", command.unwrap()));
    let [made, shown] = [folder.read("simulate.png"), fs::read(root.join("docs/simulate.png")).unwrap()];
    assert!(image(made) == image(shown), "docs/simulate.png is to be made again");
}

#[test]
fn a_window_is_what_is_drawn() {
    let folder = Folder::new();
    let mut seen: Vec<Vec<Vec<u8>>> = Vec::new();
    for window in ["", "--window world", "--window 5,5,35,35", "--window 20,20,50,50"] {
        folder.succeed(&format!("simulate --agents 5000 --frames 4 {window} --gif out.gif"));
        let (_, _, pictures) = pictures(folder.read("out.gif"));
        assert!(!seen.contains(&pictures), "{window}");
        seen.push(pictures);
    }
    let run = "simulate --agents 500 --frames 1 --dim 3 --size 200 --png out.png --window";
    let spheres = ["world", "0,0,14,14", "0,0,0,14,14,7", "0,0,7,14,14,14", "-9,-9,-9,-8,-8,-8"].map(|window| {
        folder.succeed(&format!("{run} {window}"));
        folder.read("out.png")
    });
    assert!((1..5).all(|at| !spheres[..at].contains(&spheres[at])));
    let (_, _, colors) = pixels(spheres[4].clone());
    // The legend has both colours, in squares of 7 x 7 pixels, and blue in three more steps.
    assert_eq!(colors[&[230, 159, 0]], 49, "no sphere is outside the world");
    let message = folder.refuse("simulate --window 0,0,0,1,1,1 --png out.png");
    assert!(message.contains("circles have no third axis"), "{message}");
    folder.write("in.csv", "x,y,r\n0,0,1\n");
    assert!(folder.refuse("pairs in.csv --window 0,0,0,1,1,1 --png new.png").contains("no third axis"));
}

#[test]
fn spheres_in_front_hide_those_behind_and_are_lighter_and_larger() {
    let folder = Folder::new();
    // Three spheres in a row to the right, each farther away; a fourth below the first.
    folder.write("in.csv", "x,y,z,r\n0,0,0,1\n3,0,-4,1\n6,0,-8,1\n0,0,-2.5,1\n");
    folder.succeed("pairs in.csv --png out.png --window -2,-2,-8,8,2,0 --size 400");
    let mut decoder = png::Decoder::new(Cursor::new(folder.read("out.png")));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let width = reader.next_frame(&mut bytes).unwrap().width as usize;
    let blue = |x: usize, y: usize| bytes[3 * (y * width + x) + 2];
    // Runs of pixels of bodies in the row through the middle: how wide they are, and how light at most.
    let row: Vec<_> = (0..width).map(|x| blue(x, 80)).collect();
    let runs: Vec<_> = row.split(|&pixel| pixel <= BACKGROUND[2]).filter(|run| run.len() > 5).collect();
    assert_eq!(runs.len(), 3, "{row:?}");
    assert!(runs.windows(2).all(|two| two[0].len() > two[1].len() && two[0].iter().max() > two[1].iter().max()));
}

#[test]
fn a_window_that_cannot_be_drawn_is_refused_before_any_work() {
    let folder = Folder::new();
    folder.write("in.csv", "x,y,r\n0,0,1\n1,0,1\n");
    let message = folder.refuse("pairs in.csv -o out.csv --png out.png --window 0,0,0,1,1,1");
    assert!(message.contains("--window: circles have no third axis"), "{message}");
    for window in ["0,0,1e-30,1e-30", "0,0,1e30,1e30"] {
        for output in ["--png out.png", "--gif out.gif"] {
            let run = folder.run(&format!("simulate --agents 20 --coverage {output} --window {window}"));
            assert_eq!(run.code, Some(2));
            assert!(!run.stdout.contains("frames"), "{}", run.stdout);
            assert!(run.stderr.starts_with("error: --window and --size "), "{}", run.stderr);
        }
    }
    assert_eq!(folder.names(), ["in.csv"]);
}

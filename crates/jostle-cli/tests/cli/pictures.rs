//! Pictures: their size and their colours.

use std::collections::HashMap;
use std::io::Cursor;

use crate::program::Folder;

const BACKGROUND: [u8; 3] = [13, 17, 23];

/// Width, height, and how many pixels have each colour.
fn pixels(png: Vec<u8>) -> (u32, u32, HashMap<[u8; 3], usize>) {
    let mut decoder = png::Decoder::new(Cursor::new(png));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    let mut colors = HashMap::new();
    bytes.chunks(3).for_each(|rgb| *colors.entry([rgb[0], rgb[1], rgb[2]]).or_insert(0) += 1);
    (info.width, info.height, colors)
}

/// Whether any pixel is rather of this channel than of the others.
fn has(colors: &HashMap<[u8; 3], usize>, channel: usize) -> bool {
    colors.keys().any(|rgb| (0..3).all(|other| other == channel || rgb[channel] > rgb[other].saturating_add(40)))
}

#[test]
fn free_bodies_are_green_and_overlapping_ones_red() {
    let folder = Folder::new();
    folder.write("in.csv", "x,y,r\n0,0,1\n1,0,1\n10,5,1\n");
    folder.succeed("pairs in.csv --png all.png --size 200");
    folder.succeed("pairs in.csv --png left.png --window -2,-2,2,2 --size 100");
    folder.succeed("pairs in.csv --png right.png --window 8,3,12,7 --size 100 --cells");
    let [all, left, right] = ["all.png", "left.png", "right.png"].map(|name| pixels(folder.read(name)));
    assert_eq!((all.0, all.1), (200, 118));
    assert_eq!((left.0, left.1), (100, 100));
    let seen = [&all.2, &left.2, &right.2].map(|colors| (has(colors, 0), has(colors, 1)));
    assert_eq!(seen, [(true, true), (true, false), (false, true)]);
    assert!(all.2[&BACKGROUND] > 200 * 118 / 2);
    // The only box ends at the only body in sight: a line above it and one at its right.
    assert!(has(&right.2, 2) && !has(&left.2, 2));
}

/// Width, height, and the pixels of each picture.
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
        folder.succeed(&format!("simulate --agents 50 --frames {frames} --size 120 {every} --gif out.gif"));
        let (width, height, pictures) = pictures(folder.read("out.gif"));
        assert_eq!((width, height, pictures.len()), (120, 120, count), "{frames} frames {every}");
        assert!(pictures.windows(2).all(|two| two[0] != two[1]), "the agents move");
    }
    folder.succeed("simulate --agents 200 --frames 7 --size 120 --png out.png");
    let (width, height, colors) = pixels(folder.read("out.png"));
    assert_eq!((width, height), (120, 120));
    assert!(has(&colors, 0) && has(&colors, 1));
    assert_eq!(folder.names(), ["out.gif", "out.png"]);
}

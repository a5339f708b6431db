//! The pictures of README, made anew by `cargo test -p jostle-cli -p jostle-view --test suite pictures -- --ignored`.

use std::fmt::Write as _;

use crate::browser::Browser;
use crate::client::until;
use crate::program::{Folder, start};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pictures");

/// Name, width and height, the arguments of the program, what the page is asked for, and keys.
type Picture<'a> = (&'a str, [u32; 2], &'a [&'a str], &'a str, &'a str);

const SMALL: [u32; 2] = [280, 210];

#[test]
#[ignore = "writes into docs/pictures"]
fn the_pictures_of_readme_are_made() {
    let folder = Folder::new("ball", &[("ball.csv", &ball(260))]);
    let file = folder.path("ball.csv");
    let lands = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/lands.csv");
    let pictures: [Picture<'_>; 9] = [
        ("view-pairs", SMALL, &["--agents", "120", "--scene", "dense"], "pairs", ""),
        ("view-curve", SMALL, &["--agents", "160"], "order&colour=rank", ""),
        ("view-boxes", SMALL, &["--agents", "300"], "boxes&colour=leaf", ""),
        ("view-clusters", SMALL, &["--agents", "240"], "colour=cluster", ""),
        ("view-quadtree", SMALL, &["--agents", "200", "--engine", "dynamic-quadtree"], "cells", ""),
        ("view-grids", SMALL, &["--agents", "300", "--scene", "powerlaw", "--engine", "grid-hierarchy"], "cells", ""),
        ("view-spheres", SMALL, &[&file], "boxes&level=1&colour=contacts", "ddddsss"),
        ("view-rectangles", SMALL, &[lands], "", ""),
        ("view-lanes", [580, 240], &["--agents", "200000"], "colour=rank", "t"),
    ];
    let mut browser = None;
    for (name, size, arguments, asked, keys) in pictures {
        // The page shows one frame; the next one comes long after the picture.
        let (_running, address) = start(&[arguments, &["--rate", "0.001"]].concat());
        let url = format!("http://{address}/#{asked}");
        let Some(page) = browser.take().or_else(|| Browser::open("about:blank")) else { return };
        let page = browser.insert(page);
        let [width, height] = size;
        let size = format!(r#"{{"width":{width},"height":{height},"deviceScaleFactor":1,"mobile":false}}"#);
        page.call("Emulation.setDeviceMetricsOverride", &size);
        page.call("Page.navigate", r#"{"url":"about:blank"}"#);
        page.call("Page.navigate", &format!(r#"{{"url":"{url}"}}"#));
        until("the frame is seen", || {
            page.value("document.querySelectorAll('#figures dd')[1]?.textContent.length > 0") == "true"
                && page.text_of("notice").is_empty()
        });
        keys.chars().for_each(|key| page.key(&key.to_string()));
        if keys.contains('t') {
            until("a search is recorded", || page.text_of("lanewords").contains(" tasks in "));
        }
        page.value("document.getElementById('fold').hidden = true");
        until("it is drawn", || page.colours() > 5);
        let answer = page.call("Page.captureScreenshot", r#"{"format":"png","optimizeForSpeed":false}"#);
        let picture = answer.split_once(r#""data":""#).and_then(|(_, rest)| rest.split_once('"')).unwrap().0;
        std::fs::write(format!("{FOLDER}/{name}.png"), smaller(&from_base64(picture))).unwrap();
    }
}

/// Places spheres on a ball, by the golden angle.
fn ball(n: u32) -> String {
    (0..n).fold("x,y,z,r\n".to_owned(), |mut file, id| {
        let (turn, z) = (2.399_963 * f64::from(id), 1.0 - 2.0 * (f64::from(id) + 0.5) / f64::from(n));
        let (out, r) = ((1.0 - z * z).sqrt(), 0.08 + 0.06 * turn.sin());
        writeln!(file, "{},{},{z},{r}", out * turn.cos(), out * turn.sin()).unwrap();
        file
    })
}

/// Returns much the same picture in fewer bytes, with five bits for each colour. Nobody sees the difference.
fn smaller(picture: &[u8]) -> Vec<u8> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(picture)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    pixels.iter_mut().for_each(|part| *part = *part & !7 | *part >> 5);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, info.width, info.height);
    encoder.set_color(info.color_type);
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
    bytes
}

fn from_base64(text: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for digit in text.chars().filter_map(|c| DIGITS.find(c)) {
        (bits, count) = (bits << 6 | digit as u32, count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

//! The page draws small scenes, of which every disc is known.

use crate::browser::Browser;
use crate::client::until;
use crate::program::{Folder, start};

/// Counts the spots of at least nine pixels in other colours than the background, the blue pixels and the orange
/// pixels.
const SPOTS: &str = "(() => { const back = pixels[0], seen = new Uint8Array(pixels.length); let spots = 0; \
    const other = (at) => { const p = pixels[at]; \
        return [0, 8, 16].some((byte) => Math.abs((p >> byte & 255) - (back >> byte & 255)) > 40); }; \
    for (let first = 0; first < pixels.length; first++) { if (seen[first] || !other(first)) continue; \
        const open = [first]; seen[first] = 1; let size = 0; \
        while (open.length) { const at = open.pop(); size++; \
            for (const next of [at - 1, at + 1, at - width, at + width]) \
                if (next >= 0 && next < pixels.length && !seen[next] && other(next)) { seen[next] = 1; open.push(next); } } \
        if (size >= 9) spots++; } \
    const count = (is) => pixels.reduce((sum, p, at) => sum + (other(at) && is(p & 255, p >> 16 & 255)), 0); \
    return [spots, count((r, b) => b > r), count((r, b) => r > b)].join(' '); })()";

/// The size of the page's canvas in tests, and the part of it beside the panel.
const SIZE: [u32; 2] = [1000, 700];
const ROOM: [f64; 2] = [738.0, 700.0];

fn spots(page: &mut Browser) -> [f64; 3] {
    let told = page.pixels(SIZE, SPOTS);
    let counts: Vec<_> = told.split(' ').map(|count| count.parse().unwrap()).collect();
    counts.try_into().unwrap()
}

fn is_near(count: f64, truth: f64) -> bool {
    (count - truth).abs() <= 0.06 * truth
}

/// Places the pointer over a point of a world that reaches from 0 to `world` on both axes.
fn point_at(page: &mut Browser, world: f64, [x, y]: [f64; 2]) -> f64 {
    let scale = 0.96 * (ROOM[0] / world).min(ROOM[1] / world);
    let at = [ROOM[0] / 2.0 + (x - world / 2.0) * scale, ROOM[1] / 2.0 - (y - world / 2.0) * scale];
    page.mouse("mouseMoved", at.map(|x| x as i32), 0);
    scale
}

#[test]
fn small_scenes_are_drawn_to_the_last_disc_and_box() {
    // Five free discs, each a spot of its own, and two that touch, in a world from 0 to 100.
    let discs = [[5.0, 5.0, 5.0], [92.0, 8.0, 8.0], [10.0, 90.0, 10.0], [96.0, 96.0, 4.0], [50.0, 20.0, 6.0]];
    let touching = [[45.0, 60.0, 9.0], [60.0, 60.0, 8.0]];
    let rows =
        discs.iter().chain(&touching).fold("x,y,r\n".to_owned(), |rows, [x, y, r]| rows + &format!("{x},{y},{r}\n"));
    // Four boxes, of which two touch, and a box within one of these. Their columns have names that `jostle pairs` does
    // not know.
    let boxes = "a,b,c,d\n0,0,20,30\n60,70,100,100\n70,20,90,60\n80,50,100,72\n72,30,80,40\n";
    let folder = Folder::new("small", &[("discs.csv", &rows), ("boxes.csv", boxes)]);

    let (_running, address) = start(&[&folder.path("discs.csv")]);
    let Some(mut page) = Browser::open(&format!("http://{address}/")) else { return };
    until("discs are seen", || page.figure(0) == "7" && page.figure(1) == "1");
    let [number, blue, orange] = spots(&mut page);
    assert_eq!(number, 6.0, "five alone, and two that are one spot");
    let scale = point_at(&mut page, 100.0, [50.0, 20.0]);
    let area =
        |discs: &[[f64; 3]]| discs.iter().map(|disc| std::f64::consts::PI * (disc[2] * scale).powi(2)).sum::<f64>();
    assert!(is_near(blue, area(&discs)), "{blue} of {}", area(&discs));
    // The overlap of the two discs: the lens between two circles, 15 apart.
    let lens = {
        let [d, r, s] = [15.0_f64, 9.0, 8.0];
        let wedge = |r: f64, s: f64| r * r * ((d * d + r * r - s * s) / (2.0 * d * r)).acos();
        let kite = ((-d + r + s) * (d + r - s) * (d - r + s) * (d + r + s)).sqrt() / 2.0;
        (wedge(r, s) + wedge(s, r) - kite) * scale * scale
    };
    assert!(is_near(orange, area(&touching) - lens), "{orange} of {}", area(&touching) - lens);
    until("the disc under the pointer is told", || {
        page.text_of("answer").starts_with("circle 4: radius 6, 0 contacts")
    });
    point_at(&mut page, 100.0, [62.0, 58.0]);
    until("and the next one", || page.text_of("answer").starts_with("circle 6: radius 8, 1 contact,"));
    // From far away, the smaller discs are drawn as points.
    (0..8).for_each(|_| page.key("-"));
    until("all are drawn from far off", || spots(&mut page)[0] == 6.0);
    page.key("f");

    let (_running, address) = start(&[&folder.path("boxes.csv"), "--boxes", "--columns", "a,b,c,d"]);
    page.call("Page.navigate", &format!(r#"{{"url":"http://{address}/#boxes&pairs"}}"#));
    until("boxes are seen", || page.figure(0) == "5" && page.figure(1) == "3");
    // The outline of the leaf goes around all boxes. Without it, boxes that touch are one spot.
    page.key("b");
    page.key("p");
    until("each is drawn", || spots(&mut page)[0] == 2.0);
    let [_, blue, orange] = spots(&mut page);
    assert!(is_near(blue, 20.0 * 30.0 * scale * scale), "{blue}");
    // 40 by 30, 20 by 40 and 20 by 22, less the areas that two of the boxes share.
    let area = 1200.0 + 800.0 + 440.0 - 20.0 * 2.0 - 10.0 * 10.0;
    assert!(is_near(orange, area * scale * scale), "{orange}");
    point_at(&mut page, 100.0, [76.0, 35.0]);
    until("the boxes under the pointer are told", || {
        page.text_of("answer").starts_with("box 2: 20 by 40, 2 contacts, and 1 more here")
    });
    page.key("2");
    point_at(&mut page, 100.0, [40.0, 10.0]);
    until("the nearest is told", || page.text_of("answer").starts_with("the 5 nearest boxes, from "));
    for colour in ["contacts", "radius", "speed", "rank", "leaf", "thread", "cluster"] {
        page.key("c");
        assert_eq!(page.value("document.getElementById('colour').value"), colour);
        until(colour, || spots(&mut page)[0] == 2.0);
    }
    assert!(page.complaints.is_empty(), "{:#?}", page.complaints);
}

//! A small font: letters, digits and what stands between digits.

/// Width of a character in pixels, the space after it included.
pub(super) const ADVANCE: usize = 6;

/// Height of a character in pixels. The last two rows are for parts that hang below the line.
pub(super) const HEIGHT: usize = 9;

/// The characters of a line, and the rows of their pixels, [`ADVANCE`] columns a character.
#[rustfmt::skip]
const SHEETS: [(&str, [&str; HEIGHT]); 3] = [
    (
        "abcdefghijklm",
        [
            "..... #.... ..... ....# ..... ..##. ..... #.... ..#.. ...#. #.... .##.. .....",
            "..... #.... ..... ....# ..... .#... ..... #.... ..... ..... #.... ..#.. .....",
            ".###. ####. .#### .#### .###. ####. .#### ####. .##.. ..##. #..#. ..#.. ##.#.",
            "....# #...# #.... #...# #...# .#... #...# #...# ..#.. ...#. #.#.. ..#.. #.#.#",
            ".#### #...# #.... #...# ##### .#... #...# #...# ..#.. ...#. ##... ..#.. #.#.#",
            "#...# #...# #.... #...# #.... .#... #...# #...# ..#.. ...#. #.#.. ..#.. #.#.#",
            ".#### ####. .#### .#### .#### .#... .#### #...# .###. ...#. #..#. .###. #.#.#",
            "..... ..... ..... ..... ..... ..... ....# ..... ..... ...#. ..... ..... .....",
            "..... ..... ..... ..... ..... ..... .###. ..... ..... .##.. ..... ..... .....",
        ],
    ),
    (
        "nopqrstuvwxyz",
        [
            "..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....",
            "..... ..... ..... ..... ..... ..... .#... ..... ..... ..... ..... ..... .....",
            "####. .###. ####. .#### #.##. .#### ####. #...# #...# #...# #...# #...# #####",
            "#...# #...# #...# #...# ##..# #.... .#... #...# #...# #.#.# .#.#. #...# ...#.",
            "#...# #...# #...# #...# #.... .###. .#... #...# #...# #.#.# ..#.. #...# ..#..",
            "#...# #...# #...# #...# #.... ....# .#... #...# .#.#. #.#.# .#.#. #...# .#...",
            "#...# .###. ####. .#### #.... ####. ..##. .#### ..#.. .#.#. #...# .#### #####",
            "..... ..... #.... ....# ..... ..... ..... ..... ..... ..... ..... ....# .....",
            "..... ..... #.... ....# ..... ..... ..... ..... ..... ..... ..... .###. .....",
        ],
    ),
    (
        "0123456789,.-",
        [
            ".###. ..#.. .###. .###. ...#. ##### ..##. ##### .###. .###. ..... ..... .....",
            "#...# .##.. #...# #...# ..##. #.... .#... ....# #...# #...# ..... ..... .....",
            "#..## ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...# ..... ..... .....",
            "#.#.# ..#.. ..##. ..##. #..#. ....# ####. ..#.. .###. .#### ..... ..... .....",
            "##..# ..#.. .#... ....# ##### ....# #...# .#... #...# ....# ..... ..... .###.",
            "#...# ..#.. #.... #...# ...#. #...# #...# .#... #...# ...#. ..#.. ..... .....",
            ".###. .###. ##### .###. ...#. .###. .###. .#... .###. .##.. ..#.. ..#.. .....",
            "..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .#... ..... .....",
            "..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....",
        ],
    ),
];

/// The pixels of a character, as columns and rows from its upper left corner. A character that the font lacks is a
/// space.
pub(super) fn glyph(char: char) -> impl Iterator<Item = (usize, usize)> {
    let found = SHEETS.iter().find_map(|(chars, rows)| Some((chars.find(char)?, rows)));
    found.into_iter().flat_map(|(at, rows)| {
        (0..HEIGHT).flat_map(move |y| {
            let row = rows[y].as_bytes().iter().skip(at * ADVANCE).take(ADVANCE);
            row.enumerate().filter(|(_, pixel)| **pixel == b'#').map(move |(x, _)| (x, y))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{ADVANCE, HEIGHT, SHEETS, glyph};

    #[test]
    fn each_character_has_pixels_of_its_own() {
        let mut glyphs = Vec::new();
        for (chars, rows) in SHEETS {
            assert!(rows.iter().all(|row| row.len() == chars.len() * ADVANCE - 1), "{chars}");
            for char in chars.chars() {
                let pixels: Vec<_> = glyph(char).collect();
                assert!(pixels.iter().all(|&(x, y)| x + 1 < ADVANCE && y < HEIGHT), "{char}");
                assert!(!pixels.is_empty() && !glyphs.contains(&pixels), "{char}");
                glyphs.push(pixels);
            }
        }
        assert_eq!(glyph(' ').count(), 0);
    }
}

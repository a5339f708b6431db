//! Ghosts a rank over bodies a rank, as SVG: both axes are logarithmic, and the surface law is a line.

use core::fmt::Write;

const SIZE: [f64; 2] = [720.0, 460.0];
/// Left, top, right and bottom.
const MARGIN: [f64; 4] = [70.0, 30.0, 170.0, 50.0];
/// Powers of ten.
const X: [f64; 2] = [4.0, 7.0];
const Y: [f64; 2] = [2.0, 6.0];
/// By number of ranks: colours that most eyes tell apart.
const COLORS: [(f64, &str); 3] = [(64.0, "#1f78b4"), (256.0, "#33a02c"), (1024.0, "#e31a1c")];

fn place(bodies: f64, ghosts: f64) -> [f64; 2] {
    let fraction = |value: f64, [low, high]: [f64; 2]| (value.log10() - low) / (high - low);
    let [width, height] = [SIZE[0] - MARGIN[0] - MARGIN[2], SIZE[1] - MARGIN[1] - MARGIN[3]];
    [MARGIN[0] + width * fraction(bodies, X), SIZE[1] - MARGIN[3] - height * fraction(ghosts, Y)]
}

fn line(svg: &mut String, [a, b]: [[f64; 2]; 2], style: &str) {
    let _ = writeln!(svg, r#"<line x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}" {style}/>"#, a[0], a[1], b[0], b[1]);
}

fn text(svg: &mut String, [x, y]: [f64; 2], anchor: &str, text: &str) {
    let _ = writeln!(svg, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#);
}

fn axes(svg: &mut String) {
    for power in X[0] as i32..=X[1] as i32 {
        let [top, bottom] = [Y[1], Y[0]].map(|y| place(10_f64.powi(power), 10_f64.powf(y)));
        line(svg, [top, bottom], r##"stroke="#ddd""##);
        text(svg, [bottom[0], bottom[1] + 18.0], "middle", &format!("10^{power}"));
    }
    for power in Y[0] as i32..=Y[1] as i32 {
        let [left, right] = X.map(|x| place(10_f64.powf(x), 10_f64.powi(power)));
        line(svg, [left, right], r##"stroke="#ddd""##);
        text(svg, [left[0] - 8.0, left[1] + 4.0], "end", &format!("10^{power}"));
    }
    text(svg, [f64::midpoint(MARGIN[0], SIZE[0] - MARGIN[2]), SIZE[1] - 12.0], "middle", "bodies a rank");
    text(svg, [MARGIN[0], 18.0], "middle", "ghosts a rank");
}

/// Draws lines of values as `mpi_model count` prints them: the mean over ranks, and a bar up to the greatest.
pub(crate) fn of_lines(lines: &str) -> String {
    let rows: Vec<Vec<f64>> = lines
        .lines()
        .map(|line| line.split(',').map_while(|value| value.parse().ok()).collect())
        .filter(|row: &Vec<f64>| row.len() >= 5)
        .collect();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        SIZE[0], SIZE[1]
    );
    axes(&mut svg);
    for (dimensions, dashes) in [(2.0, "6 4"), (3.0, "2 3")] {
        // The law, through the mean of all in that dimension.
        let power = 1.0 - 1.0 / dimensions;
        let of_law: Vec<f64> =
            rows.iter().filter(|row| row[0] == dimensions).map(|row| row[3].ln() - power * row[2].ln()).collect();
        if of_law.is_empty() {
            continue;
        }
        let factor = (of_law.iter().sum::<f64>() / of_law.len() as f64).exp();
        let law = X.map(|x| place(10_f64.powf(x), factor * 10_f64.powf(x * power)));
        line(&mut svg, law, &format!(r##"stroke="#888" stroke-dasharray="{dashes}""##));
        let name = if dimensions == 2.0 { "n^(1/2), 2D" } else { "n^(2/3), 3D" };
        text(&mut svg, [law[1][0] + 8.0, law[1][1] + 4.0], "start", name);
    }
    for row in &rows {
        let color = COLORS.iter().find(|(ranks, _)| *ranks == row[1]).map_or("#000", |(_, color)| color);
        let [mean, greatest] = [row[3], row[4]].map(|ghosts| place(row[2], ghosts.max(1.0)));
        line(&mut svg, [mean, greatest], &format!(r#"stroke="{color}""#));
        let [x, y] = mean;
        let _ = if row[0] == 2.0 {
            writeln!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="5" fill="{color}"/>"#)
        } else {
            writeln!(svg, r#"<rect x="{:.1}" y="{:.1}" width="9" height="9" fill="{color}"/>"#, x - 4.5, y - 4.5)
        };
    }
    for (number, (ranks, color)) in (0..).zip(COLORS) {
        let at = [SIZE[0] - MARGIN[2] + 20.0, SIZE[1] - MARGIN[3] - 20.0 * f64::from(number)];
        let _ = writeln!(svg, r#"<circle cx="{:.1}" cy="{:.1}" r="5" fill="{color}"/>"#, at[0], at[1] - 4.0);
        text(&mut svg, [at[0] + 12.0, at[1]], "start", &format!("{ranks} ranks"));
    }
    svg.push_str("</svg>\n");
    svg
}

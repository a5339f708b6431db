//! Lines over a logarithmic number of bodies, drawn as SVG and PNG.

use std::error::Error;
use std::ops::Range;
use std::path::Path;
use std::sync::Once;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

/// A line: a name and points, x ascending.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

/// A chart of lines; both axes are logarithmic.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) x: &'static str,
    pub(crate) y: &'static str,
    pub(crate) lines: Vec<Line>,
}

/// Width and height in pixels.
const SIZE: (u32, u32) = (960, 600);

/// Part of the width, beyond the last point, that is left to the legend.
const LEGEND: f64 = 0.35;

/// Name under which the font is known to the library.
const FONT: &str = "sans-serif";

/// Colours that are told apart by most eyes, after the qualitative scheme of P. Tol and ColorBrewer's Paired.
const COLORS: [RGBColor; 13] = [
    RGBColor(31, 120, 180),
    RGBColor(227, 26, 28),
    RGBColor(51, 160, 44),
    RGBColor(255, 127, 0),
    RGBColor(106, 61, 154),
    RGBColor(177, 89, 40),
    RGBColor(166, 206, 227),
    RGBColor(251, 154, 153),
    RGBColor(178, 223, 138),
    RGBColor(253, 191, 111),
    RGBColor(202, 178, 214),
    RGBColor(85, 85, 85),
    RGBColor(0, 0, 0),
];

impl Chart {
    /// An empty chart.
    pub(crate) fn new(title: impl Into<String>, x: &'static str, y: &'static str) -> Self {
        Self { title: title.into(), x, y, lines: Vec::new() }
    }

    /// True when there is no point to draw.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| line.points.is_empty())
    }

    /// Adds a point to the line of that name.
    pub(crate) fn add(&mut self, name: &str, x: f64, y: f64) {
        match self.lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push((x, y)),
            None => self.lines.push(Line { name: name.to_owned(), points: vec![(x, y)] }),
        }
    }

    pub(crate) fn svg(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        self.draw(&SVGBackend::new(path, SIZE).into_drawing_area())
    }

    pub(crate) fn png(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        self.draw(&BitMapBackend::new(path, SIZE).into_drawing_area())
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), Box<dyn Error>>
    where
        B::ErrorType: 'static,
    {
        load_font();
        area.fill(&WHITE)?;
        let (xs, ys) = (self.range(|point| point.0), self.range(|point| point.1));
        let xs = xs.start..xs.end * (xs.end / xs.start).powf(LEGEND);
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, (FONT, 20))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(64)
            .build_cartesian_2d(xs.log_scale(), ys.log_scale())?;
        chart.configure_mesh().x_desc(self.x).y_desc(self.y).light_line_style(BLACK.mix(0.06)).draw()?;
        for (line, color) in self.lines.iter().zip(COLORS.iter().cycle()) {
            let series = LineSeries::new(line.points.iter().copied(), color.stroke_width(2)).point_size(3);
            let legend = move |(x, y)| PathElement::new(vec![(x, y), (x + 16, y)], color.stroke_width(2));
            chart.draw_series(series)?.label(&line.name).legend(legend);
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()?;
        Ok(area.present()?)
    }

    /// Returns the least and the greatest value, with a little room on either side.
    fn range(&self, value: impl Fn(&(f64, f64)) -> f64) -> Range<f64> {
        let values = self.lines.iter().flat_map(|line| &line.points).map(value);
        let (low, high) = values.fold((f64::MAX, f64::MIN_POSITIVE), |(low, high), v| (low.min(v), high.max(v)));
        low * 0.9..high * 1.1
    }
}

/// Makes the font known, once.
fn load_font() {
    static LOADED: Once = Once::new();
    LOADED.call_once(|| {
        // If the font cannot be read, drawing the first text shows it.
        let _ = register_font(FONT, FontStyle::Normal, dejavu::sans::regular());
    });
}

#[cfg(test)]
mod tests {
    use super::Chart;

    #[test]
    fn both_files_are_drawn() {
        let mut chart = Chart::new("a title", "bodies", "ms");
        assert!(chart.is_empty());
        for (x, y) in [(1e3, 0.5), (1e4, 4.0)] {
            chart.add("a", x, y);
            chart.add("b", x, 2.0 * y);
        }
        let folder = std::env::temp_dir().join(format!("jostle-bench-plot-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (svg, png) = (folder.join("a.svg"), folder.join("a.png"));
        chart.svg(&svg).unwrap();
        chart.png(&png).unwrap();
        assert!(std::fs::read_to_string(&svg).unwrap().contains("a title"));
        assert!(std::fs::read(&png).unwrap().starts_with(b"\x89PNG"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}

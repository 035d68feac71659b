//! Lines over logarithmic or linear axes, as SVG.
//!
//! The palette is that of Okabe and Ito, which colour-blind readers can distinguish. Dashes mark the paper's lines independently
//! of colour. Points that were not measured are hollow.

use maud::{Markup, html};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 52.0;
const COLOURS: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f",
];

/// One line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    /// Its name in the legend.
    pub(crate) name: String,
    /// The colour; related lines share one.
    pub(crate) colour: usize,
    /// Whether the numbers are the paper's; such lines are dashed.
    pub(crate) published: bool,
    /// Its points: x, y, and whether the point was measured.
    pub(crate) points: Vec<(f64, f64, bool)>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Axis {
    /// The title.
    pub(crate) title: String,
    /// Whether the scale is logarithmic.
    pub(crate) logarithmic: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Plot {
    /// A text alternative for screen readers.
    pub(crate) description: String,
    /// The horizontal axis.
    pub(crate) x: Axis,
    /// The vertical axis.
    pub(crate) y: Axis,
    /// The lines.
    pub(crate) series: Vec<Series>,
}

/// Maps values to positions.
struct Scale {
    logarithmic: bool,
    min: f64,
    max: f64,
    from: f64,
    to: f64,
}

impl Scale {
    fn new(axis: &Axis, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let usable = |value: &f64| value.is_finite() && (!axis.logarithmic || *value > 0.0);
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(usable) {
            min = min.min(value);
            max = max.max(value);
        }
        if min > max {
            (min, max) = (1.0, 10.0);
        }
        if axis.logarithmic {
            (min, max) = (
                10f64.powf(min.log10().floor()),
                10f64.powf(max.log10().ceil()),
            );
            if min >= max {
                max = min * 10.0;
            }
        } else {
            min = min.min(0.0);
            max = if max > min { max * 1.05 } else { min + 1.0 };
        }
        Self {
            logarithmic: axis.logarithmic,
            min,
            max,
            from,
            to,
        }
    }

    fn position(&self, value: f64) -> f64 {
        let part = if self.logarithmic {
            (value / self.min).log10() / (self.max / self.min).log10()
        } else {
            (value - self.min) / (self.max - self.min)
        };
        self.from + part * (self.to - self.from)
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        if self.logarithmic {
            let decades = (self.max / self.min).log10().round();
            let step = (decades / 8.0).ceil().max(1.0);
            let first = self.min.log10().round();
            let mut ticks = Vec::new();
            let mut decade = first;
            while decade <= first + decades + 0.5 {
                let value = 10f64.powf(decade);
                ticks.push((self.position(value), power(decade)));
                decade += step;
            }
            return ticks;
        }
        let raw_step = (self.max - self.min) / 6.0;
        let base = 10f64.powf(raw_step.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * base)
            .find(|step| *step >= raw_step)
            .unwrap_or(raw_step);
        let mut ticks = Vec::new();
        let mut value = (self.min / step).ceil() * step;
        while value <= self.max {
            ticks.push((
                self.position(value),
                format!("{}", (value / step).round() * step),
            ));
            value += step;
        }
        ticks
    }
}

fn power(decade: f64) -> String {
    if (-3.0..=3.0).contains(&decade) {
        return format!("{}", 10f64.powf(decade));
    }
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let small = |digit: char| match digit.to_digit(10) {
        Some(digit) => DIGITS[digit as usize % 10],
        None => '⁻',
    };
    format!(
        "10{}",
        format!("{decade}").chars().map(small).collect::<String>()
    )
}

impl Plot {
    pub(super) fn render(&self) -> Markup {
        let all = || self.series.iter().flat_map(|series| &series.points);
        let x_scale = Scale::new(&self.x, all().map(|p| p.0), LEFT, WIDTH - RIGHT);
        let y_scale = Scale::new(&self.y, all().map(|p| p.1), HEIGHT - BOTTOM, TOP);
        let (middle_x, middle_y) = ((LEFT + WIDTH - RIGHT) / 2.0, (TOP + HEIGHT - BOTTOM) / 2.0);
        html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(self.description) {
                @for (y, label) in y_scale.ticks() {
                    line .grid x1=(LEFT) x2=(WIDTH - RIGHT) y1=(px(y)) y2=(px(y)) {}
                    text .soft x=(LEFT - 8.0) y=(px(y + 4.0)) text-anchor="end" { (label) }
                }
                @for (x, label) in x_scale.ticks() {
                    line .grid x1=(px(x)) x2=(px(x)) y1=(TOP) y2=(HEIGHT - BOTTOM) {}
                    text .soft x=(px(x)) y=(HEIGHT - BOTTOM + 18.0) text-anchor="middle" { (label) }
                }
                rect .frame x=(LEFT) y=(TOP) width=(WIDTH - RIGHT - LEFT) height=(HEIGHT - BOTTOM - TOP) {}
                text x=(middle_x) y=(HEIGHT - 10.0) text-anchor="middle" { (self.x.title) }
                text x=(-middle_y) y="16" transform="rotate(-90)" text-anchor="middle" { (self.y.title) }
                @for (index, series) in self.series.iter().enumerate() {
                    (line(series, &x_scale, &y_scale))
                    (legend(series, index))
                }
            }
        }
    }
}

fn line(series: &Series, x_scale: &Scale, y_scale: &Scale) -> Markup {
    let colour = COLOURS[series.colour % COLOURS.len()];
    let drawable = |&&(x, y, _): &&(f64, f64, bool)| {
        let fits =
            |value: f64, scale: &Scale| value.is_finite() && (!scale.logarithmic || value > 0.0);
        fits(x, x_scale) && fits(y, y_scale)
    };
    let points: Vec<(f64, f64, bool)> = series
        .points
        .iter()
        .filter(drawable)
        .map(|&(x, y, measured)| (x_scale.position(x), y_scale.position(y), measured))
        .collect();
    let path: Vec<String> = points
        .iter()
        .map(|(x, y, _)| format!("{},{}", px(*x), px(*y)))
        .collect();
    html! {
        polyline points=(path.join(" ")) fill="none" stroke=(colour) stroke-width="2" stroke-dasharray=[series.published.then_some("6 4")] {}
        @for (x, y, measured) in points {
            circle cx=(px(x)) cy=(px(y)) r="3.5" stroke=(colour) stroke-width="1.5" fill=(if measured { colour } else { "none" }) {}
        }
    }
}

fn legend(series: &Series, index: usize) -> Markup {
    let colour = COLOURS[series.colour % COLOURS.len()];
    let (x, y) = (WIDTH - RIGHT + 14.0, TOP + 14.0 + 20.0 * index as f64);
    html! {
        line x1=(x) x2=(x + 26.0) y1=(y - 4.0) y2=(y - 4.0) stroke=(colour) stroke-width="2" stroke-dasharray=[series.published.then_some("6 4")] {}
        text x=(x + 32.0) y=(y) { (series.name) }
    }
}

/// A coordinate with enough digits for a screen.
fn px(position: f64) -> String {
    format!("{position:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(logarithmic: bool, values: &[f64]) -> Scale {
        let axis = Axis {
            title: String::new(),
            logarithmic,
        };
        Scale::new(&axis, values.iter().copied(), 0.0, 100.0)
    }

    #[test]
    fn decades_are_at_equal_distances() {
        let scale = scale(true, &[1.0, 30.0, 900.0]);
        let positions: Vec<f64> = [1.0, 10.0, 100.0, 1000.0]
            .map(|value| scale.position(value))
            .to_vec();
        assert!((positions[1] - 100.0 / 3.0).abs() < 1e-9 && (positions[3] - 100.0).abs() < 1e-9);
        assert_eq!(scale.ticks().len(), 4);
    }

    #[test]
    fn ticks_are_finite_without_usable_values() {
        for logarithmic in [false, true] {
            for values in [&[][..], &[0.0], &[f64::NAN, -1.0], &[5.0]] {
                let scale = scale(logarithmic, values);
                assert!(
                    scale
                        .ticks()
                        .iter()
                        .all(|(position, _)| position.is_finite()),
                    "{values:?}"
                );
            }
        }
    }

    #[test]
    fn names_are_escaped() {
        let plot = Plot {
            description: "\"><script>".into(),
            series: vec![Series {
                name: "</text><script>".into(),
                points: vec![(1.0, 2.0, true)],
                ..Series::default()
            }],
            ..Plot::default()
        };
        assert!(!plot.render().into_string().contains("<script>"));
    }

    #[test]
    fn large_powers_use_superscripts() {
        assert_eq!(power(-2.0), "0.01");
        assert_eq!(power(5.0), "10⁵");
        assert_eq!(power(-12.0), "10⁻¹²");
    }
}

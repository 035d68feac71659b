//! Bar charts of counts over ranges, and the same data as a table.

use super::numbers;
use super::table::{Column, Field, folded, table};
use super::text_width::lines;
use maud::{Markup, html};

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 260.0;
const RIGHT: f64 = 18.0;
/// Room for the counts and the axis name; more if the counts are long.
const LEFT: f64 = 56.0;
const DIGIT: f64 = 7.2;
const BELOW: f64 = 44.0;
/// Room above the bars for the mark.
const TOP: f64 = 26.0;
/// The font size of an axis name on a phone, the distance of two lines of it, and the most lines.
const FONT: f64 = 16.0;
const LINE: f64 = 16.0;
const MAX_LINES: usize = 3;
/// The height of a bar whose count is suppressed.
const STUB: f64 = 14.0;

/// A count of values between two bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bar {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// `None` if the count is suppressed, because it is about too few participants.
    pub(crate) count: Option<u64>,
}

/// A bar chart.
pub(crate) struct Bars<'a> {
    pub(crate) bars: &'a [Bar],
    /// The title of the drawing.
    pub(crate) title: &'a str,
    /// The names of the two axes: what is measured and what is counted.
    pub(crate) axes: [&'a str; 2],
    /// The singular noun for what is counted.
    pub(crate) noun: &'a str,
    /// A labelled line at a number.
    pub(crate) mark: Option<(f64, String)>,
    /// The colour of a bar.
    pub(crate) fill: &'a dyn Fn(&Bar) -> String,
}

impl Bars<'_> {
    /// The drawing. `id` distinguishes several drawings on one page.
    pub(crate) fn drawing(&self, label: &str, id: &str) -> Markup {
        let first = self.bars.first().map_or(0.0, |bar| bar.from);
        let last = self.bars.last().map_or(1.0, |bar| bar.to);
        // A mark may lie beyond the bars.
        let mark = self.mark.as_ref().map(|(value, _)| *value);
        let from = mark.map_or(first, |value| first.min(value));
        let to = mark.map_or(last, |value| last.max(value));
        let span = (to - from).max(f64::MIN_POSITIVE);
        let max_count = self.bars.iter().filter_map(|bar| bar.count).max();
        let max_count = max_count.unwrap_or(1).max(1) as f64;
        let counts: Vec<f64> = numbers::ticks(0.0, max_count, 4)
            .into_iter()
            .filter(|tick| tick.fract() == 0.0)
            .collect();
        let digits = counts.iter().map(|&count| numbers::short(count).len());
        let left = LEFT.max(30.0 + DIGIT * digits.max().unwrap_or_default() as f64);
        let x = |value: f64| left + (WIDTH - left - RIGHT) * ((value - from) / span);
        let top = counts.last().copied().unwrap_or(1.0).max(max_count);
        let floor = HEIGHT - BELOW;
        let y = |count: f64| floor - (floor - TOP) * count / top;
        let ticks: Vec<f64> = numbers::ticks(from, to, 6)
            .into_iter()
            .filter(|tick| (from..=to).contains(tick))
            .collect();
        let decimals = self.decimals();
        let tick_decimals = decimals_apart(ticks.windows(2).map(|pair| [pair[0], pair[1]]));
        let below = lines(self.axes[0], (WIDTH - left) / FONT, MAX_LINES);
        let height = HEIGHT + LINE * below.len().saturating_sub(1) as f64;
        html! {
            div class="scroll" tabindex="0" role="region" aria-label=(label) {
                svg viewBox=(format!("0 0 {WIDTH} {height}")) width=(WIDTH) height=(height) role="img" aria-labelledby=(format!("{id}-title")) {
                    title id=(format!("{id}-title")) { (self.title) ": the table below has the same numbers" }
                    g class="axis" {
                        @for &count in &counts {
                            path d=(format!("M{left} {:.1}H{:.1}", y(count), WIDTH - RIGHT)) class="grid" {}
                            text x=(left - 8.0) y=(format!("{:.1}", y(count))) text-anchor="end" dominant-baseline="central" { (numbers::short(count)) }
                        }
                        @for &tick in &ticks {
                            text x=(format!("{:.1}", x(tick))) y=(floor + 18.0) text-anchor="middle" { (numbers::aligned(tick, tick_decimals)) }
                        }
                        @for (number, line) in below.iter().enumerate() {
                            text x=(format!("{:.1}", (left + WIDTH) / 2.0)) y=(HEIGHT - 6.0 + LINE * number as f64) text-anchor="middle" { (line) }
                        }
                        text transform=(format!("translate(12 {:.1}) rotate(-90)", f64::midpoint(TOP, floor))) text-anchor="middle" { (self.axes[1]) }
                    }
                    @for bar in self.bars {
                        @let wide = x(bar.to) - x(bar.from);
                        @let height = bar.count.map_or(STUB, |count| floor - y(count as f64));
                        rect class=(if bar.count.is_some() { "bar" } else { "bar suppressed" })
                            x=(format!("{:.2}", x(bar.from) + 0.75)) y=(format!("{:.2}", floor - height))
                            width=(format!("{:.2}", (wide - 1.5).max(1.0))) height=(format!("{height:.2}"))
                            fill=[bar.count.map(|_| (self.fill)(bar))] {
                            title { (bar.label(decimals)) ": " (self.counted(bar)) }
                        }
                    }
                    @if let Some((value, words)) = &self.mark {
                        path class="mean" d=(format!("M{:.1} {}V{floor}", x(*value), TOP - 8.0)) {}
                        text class="mean" x=(format!("{:.1}", x(*value).clamp(left + 40.0, WIDTH - 50.0))) y=(TOP - 12.0) text-anchor="middle" { (words) }
                    }
                }
            }
        }
    }

    /// The same data as a table that opens on a click.
    pub(crate) fn as_table(&self, label: &str) -> Markup {
        let decimals = self.decimals();
        let row = |bar: &Bar| {
            let count = match bar.count {
                Some(count) => Field::number(numbers::count(count), count as f64),
                None => Field::words("suppressed"),
            };
            vec![Field::words(bar.label(decimals)), count]
        };
        let rows: Vec<Vec<Field>> = self.bars.iter().map(row).collect();
        let columns = [Column::Words(self.axes[0]), Column::Numbers(self.axes[1])];
        folded(
            &format!("{label} as a table"),
            &table(label, &columns, &rows),
        )
    }

    /// The decimals with which all bounds are different, if few digits are not enough.
    fn decimals(&self) -> Option<usize> {
        decimals_apart(self.bars.iter().map(|bar| [bar.from, bar.to]))
    }

    fn counted(&self, bar: &Bar) -> String {
        match bar.count {
            Some(count) => crate::units::counted(count, self.noun),
            None => "suppressed".into(),
        }
    }
}

/// The decimals with which the two numbers of each pair are different, if few digits are not enough.
fn decimals_apart(pairs: impl Iterator<Item = [f64; 2]> + Clone) -> Option<usize> {
    let are_short = |[from, to]: [f64; 2]| numbers::short(from) != numbers::short(to);
    if pairs.clone().all(are_short) {
        return None;
    }
    let steps = pairs.map(|[from, to]| to - from);
    numbers::decimals_of_step(steps.fold(f64::INFINITY, f64::min))
}

impl Bar {
    /// The range of the bar, with this number of decimals or with few digits.
    pub(crate) fn label(&self, decimals: Option<usize>) -> String {
        let whole = self.from.fract().abs() == 0.5 && self.to.fract().abs() == 0.5;
        let (from, to) = if whole {
            (self.from + 0.5, self.to - 0.5)
        } else {
            (self.from, self.to)
        };
        if from == to {
            return numbers::short(from);
        }
        let [from, to] = [from, to].map(|bound| numbers::aligned(bound, decimals));
        format!("{from} to {to}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_a_narrow_axis_differ() {
        let edges: Vec<f64> = (0..=10).map(|at| 0.0112 + 0.0002 * f64::from(at)).collect();
        let bars: Vec<Bar> = edges
            .windows(2)
            .map(|edges| Bar {
                from: edges[0],
                to: edges[1],
                count: Some(3),
            })
            .collect();
        let drawn = Bars {
            bars: &bars,
            title: "narrow",
            axes: ["difference", "permutations"],
            noun: "permutation",
            mark: None,
            fill: &|_| "black".into(),
        };
        let text = drawn.drawing("narrow", "id").into_string();
        let below = format!("y=\"{}\" text-anchor=\"middle\">", HEIGHT - BELOW + 18.0);
        let ticks = text.split(&below).skip(1);
        let ticks: Vec<&str> = ticks.filter_map(|it| it.split('<').next()).collect();
        let different: std::collections::HashSet<_> = ticks.iter().collect();
        assert!(ticks.len() >= 4, "{ticks:?}");
        assert_eq!(different.len(), ticks.len(), "{ticks:?}");
    }
}

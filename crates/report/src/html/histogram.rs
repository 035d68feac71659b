//! How the numbers are spread.

use super::matrix::{Quantity, range};
use super::numbers;
use super::scale::{Scale, hex};
use super::table::{Column, Field, folded, table};
use super::view::View;
use maud::{Markup, html};

/// How many numbers fall between two bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bin {
    from: f64,
    to: f64,
    count: usize,
}

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 260.0;
const RIGHT: f64 = 18.0;
const LEFT: f64 = 56.0;
const BELOW: f64 = 44.0;
/// Room above the bars for the mean.
const TOP: f64 = 26.0;

/// The numbers that describe a spread.
pub(crate) struct Spread {
    pub(crate) mean: f64,
    pub(crate) deviation: Option<f64>,
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) greatest: f64,
    /// The decimals that mean, deviation and median have in common.
    pub(crate) decimals: Option<usize>,
}

impl Spread {
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let (least, greatest) = range(values.iter().copied())?;
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values
            .iter()
            .map(|value| (value - mean) * (value - mean))
            .sum();
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let middle = |at: usize| sorted.get(at).copied().unwrap_or(mean);
        let median = if sorted.len().is_multiple_of(2) {
            middle(sorted.len() / 2 - 1) / 2.0 + middle(sorted.len() / 2) / 2.0
        } else {
            middle(sorted.len() / 2)
        };
        Some(Self {
            mean,
            deviation: (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
            median,
            least,
            greatest,
            decimals: numbers::spread_decimals([least, greatest].into_iter()),
        })
    }
}

/// Bins of a round width, about one and a half times the square root of the count, 20 at most. Whole numbers get bins of whole width.
pub(crate) fn bins(values: &[f64]) -> Vec<Bin> {
    let Some((least, greatest)) = range(values.iter().copied()) else {
        return Vec::new();
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 5 and 20
    let wanted = (1.5 * (values.len() as f64).sqrt()).ceil().clamp(5.0, 20.0) as usize;
    let whole = values.iter().all(|value| value.fract() == 0.0) && greatest - least < 1e15;
    let bounds: Vec<f64> = if whole {
        let width = ((greatest - least + 1.0) / wanted as f64).ceil().max(1.0);
        // Half a step off, so that no whole number lies on a bound.
        let count = ((greatest - least + 1.0) / width).ceil();
        (0_u32..)
            .map(f64::from)
            .take_while(|&at| at <= count)
            .map(|at| least - 0.5 + at * width)
            .collect()
    } else {
        numbers::ticks(least, greatest, wanted)
    };
    let mut bins: Vec<Bin> = bounds
        .windows(2)
        .filter_map(|pair| match pair {
            &[from, to] => Some(Bin { from, to, count: 0 }),
            _ => None,
        })
        .collect();
    if bins.is_empty() {
        bins.push(Bin {
            from: least,
            to: greatest,
            count: 0,
        });
    }
    for value in values {
        let at = bins
            .partition_point(|bin| bin.to <= *value)
            .min(bins.len() - 1);
        bins[at].count += 1;
    }
    bins
}

/// The figure with its table.
pub(crate) fn figure(view: &View, quantity: Quantity<'_>, scale: &Scale, id: &str) -> Markup {
    // In the mean over stimuli these are the numbers that the heat map shows, and not those of single stimuli: they are
    // narrower, and so is their scale.
    let values = match view.mean && !quantity.is_bit() {
        true => view.drawn(),
        false => view.values.clone(),
    };
    let Some(spread) = Spread::of(&values) else {
        return html! {};
    };
    let pairs = match view.mean {
        true => format!(
            "{} of participants, each averaged over the stimuli",
            numbers::counted(values.len(), "pair")
        ),
        false => numbers::counted(values.len(), "pair"),
    };
    let counted = match view.mean {
        true => "pairs of participants (means)",
        false => "pairs",
    };
    let words = if quantity.is_bit() {
        let within = values.iter().filter(|&&value| value == 1.0).count();
        format!(
            "{} of {} {} ({} %).",
            numbers::count(within as u64),
            numbers::counted(values.len(), "pair"),
            quantity.threshold.of_some(within),
            numbers::fixed(spread.mean * 100.0, 1)
        )
    } else {
        let shown = |number: f64| numbers::aligned(number, spread.decimals);
        let deviation = spread.deviation.map_or_else(String::new, |deviation| {
            format!(", standard deviation {}", shown(deviation))
        });
        format!(
            "{pairs}: mean {}{deviation}, median {}, from {} to {}.",
            shown(spread.mean),
            shown(spread.median),
            numbers::short(spread.least),
            numbers::short(spread.greatest)
        )
    };
    html! {
        figure class="histogram" {
            h3 { "Distribution" }
            p { (words) }
            @if !quantity.is_bit() {
                @let bins = bins(&values);
                (drawing(&bins, &spread, [quantity.name, counted], scale, id))
                (as_table(&bins, [quantity.name, counted]))
            }
        }
    }
}

fn drawing(
    bins: &[Bin],
    spread: &Spread,
    [name, counted]: [&str; 2],
    scale: &Scale,
    id: &str,
) -> Markup {
    let from = bins.first().map_or(0.0, |bin| bin.from);
    let to = bins.last().map_or(1.0, |bin| bin.to);
    let span = (to - from).max(f64::MIN_POSITIVE);
    let x = |value: f64| LEFT + (WIDTH - LEFT - RIGHT) * ((value - from) / span);
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(1).max(1);
    let counts: Vec<f64> = numbers::ticks(0.0, most as f64, 4)
        .into_iter()
        .filter(|tick| tick.fract() == 0.0)
        .collect();
    let top = counts.last().copied().unwrap_or(1.0).max(most as f64);
    let floor = HEIGHT - BELOW;
    let y = |count: f64| floor - (floor - TOP) * count / top;
    let ticks: Vec<f64> = numbers::ticks(from, to, 6)
        .into_iter()
        .filter(|tick| (from..=to).contains(tick))
        .collect();
    html! {
        div class="scroll" tabindex="0" role="region" aria-label="Distribution" {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) width=(WIDTH) height=(HEIGHT) role="img" aria-labelledby=(format!("{id}-title")) {
                title id=(format!("{id}-title")) { "Histogram of " (name) ": the table below has the same numbers" }
                g class="axis" {
                    @for &count in &counts {
                        path d=(format!("M{LEFT} {:.1}H{:.1}", y(count), WIDTH - RIGHT)) class="grid" {}
                        text x=(LEFT - 8.0) y=(format!("{:.1}", y(count))) text-anchor="end" dominant-baseline="central" { (numbers::short(count)) }
                    }
                    @for &tick in &ticks {
                        text x=(format!("{:.1}", x(tick))) y=(floor + 18.0) text-anchor="middle" { (numbers::short(tick)) }
                    }
                    text x=(format!("{:.1}", (LEFT + WIDTH) / 2.0)) y=(HEIGHT - 6.0) text-anchor="middle" { (name) }
                    text transform=(format!("translate(12 {:.1}) rotate(-90)", f64::midpoint(TOP, floor))) text-anchor="middle" { (counted) }
                }
                @for bin in bins {
                    @let wide = x(bin.to) - x(bin.from);
                    rect class="bar" x=(format!("{:.2}", x(bin.from) + 0.75)) y=(format!("{:.2}", y(bin.count as f64)))
                        width=(format!("{:.2}", (wide - 1.5).max(1.0))) height=(format!("{:.2}", floor - y(bin.count as f64)))
                        fill=(hex(scale.color(f64::midpoint(bin.from, bin.to)))) {
                        title { (bin.in_words()) ": " (numbers::counted(bin.count, "pair")) }
                    }
                }
                path class="mean" d=(format!("M{:.1} {}V{floor}", x(spread.mean), TOP - 8.0)) {}
                text class="mean" x=(format!("{:.1}", x(spread.mean).clamp(LEFT + 40.0, WIDTH - 50.0))) y=(TOP - 12.0) text-anchor="middle" { "mean " (numbers::aligned(spread.mean, spread.decimals)) }
            }
        }
    }
}

fn as_table(bins: &[Bin], [name, counted]: [&str; 2]) -> Markup {
    let rows: Vec<Vec<Field>> = bins
        .iter()
        .map(|bin| {
            vec![
                Field::words(bin.in_words()),
                Field::number(numbers::count(bin.count as u64), bin.count as f64),
            ]
        })
        .collect();
    let columns = [Column::Words(name), Column::Numbers(counted)];
    folded(
        "Distribution as a table",
        &table("Distribution", &columns, &rows),
    )
}

impl Bin {
    fn in_words(self) -> String {
        let whole = self.from.fract().abs() == 0.5 && self.to.fract().abs() == 0.5;
        let (from, to) = if whole {
            (self.from + 0.5, self.to - 0.5)
        } else {
            (self.from, self.to)
        };
        if from == to {
            return numbers::short(from);
        }
        format!("{} to {}", numbers::short(from), numbers::short(to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_in_one_bin() {
        let values: Vec<f64> = (0..97).map(|at| f64::from(at) * 0.01).collect();
        let found = bins(&values);
        assert_eq!(found.iter().map(|bin| bin.count).sum::<usize>(), 97);
        for value in &values {
            let inside = |bin: &&Bin| bin.from <= *value + 1e-12 && *value <= bin.to + 1e-12;
            assert!(found.iter().any(|bin| inside(&bin)));
        }
    }

    #[test]
    fn whole_numbers_have_their_own_bins() {
        let found = bins(&[3.0, 4.0, 4.0, 6.0]);
        let shown: Vec<(String, usize)> = found
            .iter()
            .map(|bin| (bin.in_words(), bin.count))
            .collect();
        let expected =
            [("3", 1), ("4", 2), ("5", 0), ("6", 1)].map(|(name, count)| (name.to_string(), count));
        assert_eq!(shown, expected);
    }

    #[test]
    fn unusual_ranges_are_binned() {
        for values in [
            &[0.5][..],
            &[0.5; 7],
            &[-1e30, 1e30],
            &[1e-300, 2e-300],
            &[0.1, 0.1 + 1e-17],
        ] {
            let found = bins(values);
            assert_eq!(
                found.iter().map(|bin| bin.count).sum::<usize>(),
                values.len(),
                "{values:?}"
            );
            assert!(found.len() <= 200);
        }
        assert!(bins(&[]).is_empty());
    }

    #[test]
    fn the_standard_deviation_matches_known_values() {
        let spread = Spread::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((spread.mean, spread.median), (5.0, 4.5));
        assert!((spread.deviation.unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert!(Spread::of(&[1.0]).unwrap().deviation.is_none());
        assert!(Spread::of(&[]).is_none());
    }
}

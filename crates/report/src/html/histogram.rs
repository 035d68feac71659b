//! The distribution of the numbers.

use super::bars::{Bar, Bars};
use super::matrix::range;
use super::numbers;
use super::scale::{Scale, hex};
use super::view::View;
use maud::{Markup, html};

/// Summary statistics of a distribution.
pub(crate) struct Spread {
    /// `None` if it says nothing.
    pub(crate) mean: Option<f64>,
    pub(crate) deviation: Option<f64>,
    pub(crate) median: Option<f64>,
    pub(crate) smallest: f64,
    pub(crate) largest: f64,
    /// The decimals shared by mean, deviation and median.
    pub(crate) decimals: Option<usize>,
}

impl Spread {
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let (smallest, largest) = range(values.iter().copied())?;
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
            mean: Some(mean),
            deviation: (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
            median: Some(median),
            smallest,
            largest,
            decimals: numbers::spread_decimals([smallest, largest].into_iter()),
        })
    }

    /// The smallest and the largest number as text.
    pub(crate) fn ends(&self) -> [String; 2] {
        let ends = [self.smallest, self.largest];
        let whole = ends.iter().all(|end| end.fract() == 0.0);
        ends.map(|end| match whole {
            true => numbers::short(end),
            false => numbers::aligned(end, self.decimals),
        })
    }

    /// The same without mean and median.
    pub(crate) fn without_mean(self) -> Self {
        Self {
            mean: None,
            median: None,
            ..self
        }
    }
}

/// Bins of a round width. Their number is about one and a half times the square root of the count, 20 at most. Integers
/// get bins of integer width.
pub(crate) fn bins(values: &[f64]) -> Vec<Bar> {
    let Some((smallest, largest)) = range(values.iter().copied()) else {
        return Vec::new();
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 5 and 20
    let wanted = (1.5 * (values.len() as f64).sqrt()).ceil().clamp(5.0, 20.0) as usize;
    let whole = values.iter().all(|value| value.fract() == 0.0) && largest - smallest < 1e15;
    let bounds: Vec<f64> = if whole {
        let width = ((largest - smallest + 1.0) / wanted as f64).ceil().max(1.0);
        // Offset by half a step, so that no integer lies on a bound.
        let count = ((largest - smallest + 1.0) / width).ceil();
        (0_u32..)
            .map(f64::from)
            .take_while(|&at| at <= count)
            .map(|at| smallest - 0.5 + at * width)
            .collect()
    } else {
        numbers::ticks(smallest, largest, wanted)
    };
    let mut bins: Vec<Bar> = bounds
        .windows(2)
        .filter_map(|pair| match pair {
            &[from, to] => Some(Bar {
                from,
                to,
                count: Some(0),
            }),
            _ => None,
        })
        .collect();
    if bins.is_empty() {
        bins.push(Bar {
            from: smallest,
            to: largest,
            count: Some(0),
        });
    }
    for value in values {
        let at = bins
            .partition_point(|bin| bin.to <= *value)
            .min(bins.len() - 1);
        bins[at].count = bins[at].count.map(|count| count + 1);
    }
    bins
}

/// The figure with its table.
pub(crate) fn figure(view: &View<'_>, scale: &Scale, id: &str) -> Markup {
    let measure = view.measure;
    // In the mean over stimuli, use the numbers that the heat map shows, not those of single stimuli. Their range is
    // narrower, and so is their scale.
    let values = match view.mean && !measure.is_bit() {
        true => view.drawn(),
        false => view.values.clone(),
    };
    let Some(spread) = view.spread_of(&values) else {
        return html! {};
    };
    let noun = view.noun();
    let pairs = match view.mean {
        true => format!(
            "{} of participants, each averaged over the stimuli",
            numbers::counted(values.len(), noun)
        ),
        false => numbers::counted(values.len(), noun),
    };
    let counted = match view.mean {
        true => "pairs of participants (means)",
        false if view.counts_both_orders() => "ordered pairs",
        false => "pairs",
    };
    let words = if measure.is_bit() {
        let within = values.iter().filter(|&&value| value == 1.0).count();
        format!(
            "{} of {} {} ({} %).",
            numbers::count(within as u64),
            numbers::counted(values.len(), noun),
            measure.threshold.verb_for(within),
            numbers::fixed(spread.mean.unwrap_or_default() * 100.0, 1)
        )
    } else if values.len() == 1 {
        let value = measure.with_unit(numbers::short(spread.smallest));
        format!("{pairs}: {value}.{}", without_number(view.undefined))
    } else {
        let shown = |number: f64| measure.with_unit(numbers::aligned(number, spread.decimals));
        let [smallest, largest] = spread.ends().map(|end| measure.with_unit(end));
        let mean = spread.mean.map_or_else(
            || "no mean, because the two orders of a pair differ in sign".into(),
            |mean| format!("mean {}", shown(mean)),
        );
        let part = |name: &str, number: Option<f64>| {
            number.map_or_else(String::new, |number| format!(", {name} {}", shown(number)))
        };
        let deviation = part("standard deviation", spread.deviation);
        let median = part("median", spread.median);
        format!(
            "{pairs}: {mean}{deviation}{median}, from {smallest} to {largest}.{}",
            without_number(view.undefined)
        )
    };
    html! {
        figure class="histogram" {
            h3 { "Distribution" }
            p { (words) }
            @if !measure.is_bit() {
                @let label = measure.label();
                @let bars = Bars {
                    bars: &bins(&values),
                    title: &format!("Histogram of {}", measure.name),
                    axes: [&label, counted],
                    noun: view.noun(),
                    mark: spread.mean.map(|mean| (mean, format!("mean {}", numbers::aligned(mean, spread.decimals)))),
                    fill: &|bar| hex(scale.color(f64::midpoint(bar.from, bar.to))),
                };
                (bars.drawing("Distribution", id))
                (bars.as_table("Distribution"))
            }
        }
    }
}

/// The number of pairs without a number, in words; empty if there are none.
fn without_number(pairs: usize) -> String {
    match pairs {
        0 => String::new(),
        1 => " For 1 more pair it is undefined.".into(),
        pairs => format!(
            " For {} more pairs it is undefined.",
            numbers::count(pairs as u64)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_in_one_bin() {
        let values: Vec<f64> = (0..97).map(|at| f64::from(at) * 0.01).collect();
        let found = bins(&values);
        assert_eq!(found.iter().filter_map(|bin| bin.count).sum::<u64>(), 97);
        for value in &values {
            let inside = |bin: &&Bar| bin.from <= *value + 1e-12 && *value <= bin.to + 1e-12;
            assert!(found.iter().any(|bin| inside(&bin)));
        }
    }

    #[test]
    fn whole_numbers_have_their_own_bins() {
        let found = bins(&[3.0, 4.0, 4.0, 6.0]);
        let shown: Vec<(String, u64)> = found
            .iter()
            .filter_map(|bin| Some((bin.label(None), bin.count?)))
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
                found.iter().filter_map(|bin| bin.count).sum::<u64>(),
                values.len() as u64,
                "{values:?}"
            );
            assert!(found.len() <= 200);
        }
        assert!(bins(&[]).is_empty());
    }

    #[test]
    fn the_standard_deviation_matches_known_values() {
        let spread = Spread::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((spread.mean, spread.median), (Some(5.0), Some(4.5)));
        assert!((spread.deviation.unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert!(Spread::of(&[1.0]).unwrap().deviation.is_none());
        assert!(Spread::of(&[]).is_none());
    }
}

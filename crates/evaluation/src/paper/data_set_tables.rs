//! The tables about data sets.

use super::extrapolate;
use super::measurements::Measurement;
use super::published::DATA_SETS;
use super::schedule::ENGINES;
use super::tables::{Size, Table, of_key, published};
use crate::mean_and_deviation;
use serde_json::json;

/// Sampled comparisons, each in its own session.
pub(super) fn sample(measurements: &[Measurement], sizes: &[Size]) -> Table {
    let mut rows = Vec::new();
    for size in sizes {
        let paper = DATA_SETS.iter().find(|data| data.name == size.name);
        let [paper_cells, paper_cells_deviation] = published(paper.map(|data| data.cells));
        for engine in ENGINES {
            let sample = measurements
                .iter()
                .find_map(|measurement| match measurement {
                    Measurement::Sample {
                        data,
                        engine: e,
                        seconds,
                        ..
                    } if data == size.name && *e == engine => Some(seconds),
                    _ => None,
                });
            let (source, count, mean, deviation) = match sample {
                Some(seconds) => {
                    let (mean, deviation) = mean_and_deviation(seconds);
                    ("measured", seconds.len(), mean, Some(deviation))
                }
                None => match extrapolate::seconds(measurements, engine, size.cells.mean) {
                    Some(mean) => ("extrapolated", 0, mean, None),
                    None => continue,
                },
            };
            let seconds = paper.and_then(|data| of_key(engine, &data.seconds));
            let [paper_mean, paper_deviation] = published(seconds);
            rows.push(vec![
                json!(size.name),
                json!(size.comparisons),
                json!(size.cells.mean),
                json!(size.cells.deviation),
                json!(engine.name()),
                json!(source),
                json!(count),
                json!(mean),
                json!(deviation),
                paper_cells.clone(),
                paper_cells_deviation.clone(),
                paper_mean,
                paper_deviation,
            ]);
        }
    }
    Table {
        name: "datasets",
        title: "Seconds per comparison in cohorts with the lengths of the paper's data sets; a sample of the pairs, each in its own session",
        columns: &[
            "data",
            "all_comparisons",
            "cells",
            "cells_deviation",
            "engine",
            "source",
            "comparisons",
            "seconds",
            "deviation",
            "paper_cells",
            "paper_cells_deviation",
            "paper_seconds",
            "paper_deviation",
        ],
        rows,
    }
}

/// All comparisons in one session.
pub(super) fn full(measurements: &[Measurement]) -> Table {
    let rows = measurements
        .iter()
        .filter_map(|measurement| match measurement {
            Measurement::Full {
                data,
                engine,
                comparisons,
                cells,
                seconds,
                bytes,
            } => {
                let paper = DATA_SETS.iter().find(|set| set.name == *data);
                // The paper's mean per comparison with a key of 2048 bits, times the comparisons of this run.
                let paper_days =
                    paper.map(|set| set.seconds[2].mean * *comparisons as f64 / 86_400.0);
                Some(vec![
                    json!(data),
                    json!(engine.name()),
                    json!(if paper.is_some_and(|set| set.comparisons > *comparisons) {
                        "measured, in part"
                    } else {
                        "measured"
                    }),
                    json!(comparisons),
                    json!(cells),
                    json!(seconds),
                    json!((bytes[0] + bytes[1]) as f64 / 1e6),
                    json!(paper.map(|set| set.comparisons)),
                    json!(paper_days),
                ])
            }
            _ => None,
        });
    Table {
        name: "full_datasets",
        title: "All comparisons of a data set in one session",
        columns: &[
            "data",
            "engine",
            "source",
            "comparisons",
            "cells",
            "seconds",
            "megabytes",
            "paper_comparisons",
            "paper_days_at_2048",
        ],
        rows: rows.collect(),
    }
}

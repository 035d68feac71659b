//! One self-contained page from a result file, or only its heat map as SVG or PNG.
//!
//! | file | part |
//! |---|---|
//! | `measure`, `view`, `matrix` | which measure of which pairs is shown, as a matrix |
//! | `clustering`, `mds`, `eigen` | the order of rows and columns, and the map |
//! | `scale`, `picture`, `heat_map`, `histogram`, `bars`, `scatter` | the figures |
//! | `letters`, `scanpaths`, `scarf`, `transitions`, `pairs` | figures of this side's own scanpaths |
//! | `summary` | the top of the page, as a fragment for another page |
//! | `neighbours`, `summaries`, `answers`, `table` | the tables: every figure has one with the same content |
//! | `numbers`, `cut`, `text_width` | number formatting, and ids cut to fit |
//! | `figures`, `page`, `page.css`, `page.js`, `encoded`, `image` | the page around them |
//!
//! The page loads nothing: a content security policy forbids it, and allows only the page's own script, by its hash.
//! Ids are escaped wherever they appear, and the page contains no character that is unprintable by
//! [`veilpath_metrics::text`].

mod answers;
mod bars;
mod clustering;
pub(crate) mod cut;
mod eigen;
pub(crate) mod encoded;
mod figures;
mod heat_map;
mod histogram;
mod image;
mod letters;
mod matrix;
mod mds;
mod measure;
mod neighbours;
pub(crate) mod numbers;
mod page;
mod pairs;
mod picture;
mod scale;
mod scanpaths;
mod scarf;
mod scatter;
mod summaries;
mod summary;
mod table;
mod text_width;
mod transitions;
mod view;

pub use image::{Image, ImageError, MAX_IMAGE_BYTES};
pub use measure::NoSuchMeasure;
pub use page::STYLE;
pub use pairs::{MAX_SHOWN_PAIRS, OwnPair, Recurrence};
pub use scanpaths::OwnCohort;
pub use view::NotInFile;

use crate::ResultFile;
use heat_map::HeatMap;
use maud::html;
use scale::Scale;
use std::io::{self, Write};
use veilpath_metrics::text::printable_lines;
use veilpath_protocol::Outcome;
use view::{View, Views};

/// The options of a report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// The name of the result file.
    pub source: &'a str,
    /// The stimuli to show; all if empty.
    pub stimuli: &'a [String],
    /// The measures to show; all if empty.
    pub measures: &'a [String],
    /// The user's own cohort, to be drawn.
    pub own: Option<OwnCohort<'a>>,
    /// The heading of the page.
    pub title: Option<&'a str>,
    /// The names of the two cohorts; `None` uses those in the file.
    pub names: Option<&'a [String; 2]>,
}

/// A report, ready to write.
pub struct Report<'a> {
    file: &'a ResultFile,
    options: Options<'a>,
    names: [String; 2],
    views: Views<'a>,
    /// One for each measure.
    scales: Vec<Scales>,
}

/// The colour scales of one measure. Stimuli share a scale so that they can be compared. Means spread less and have
/// their own.
struct Scales {
    stimuli: Scale,
    mean: Scale,
}

/// Why there is no heat map to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no heat map to draw: {0}")]
pub struct NoHeatMap(&'static str);

impl<'a> Report<'a> {
    /// Sorts the file's pairs into views.
    pub fn new(file: &'a ResultFile, options: Options<'a>) -> Result<Self, NotInFile> {
        let views = Views::of(file, options.stimuli, options.measures)?;
        let scales = views.measures.iter().enumerate();
        let scales = scales.map(|(index, &measure)| {
            let of_measure = || {
                views
                    .views
                    .iter()
                    .filter(move |view| view.measure_index == index)
            };
            let ranges = of_measure()
                .filter(|view| !view.mean)
                .filter_map(View::range)
                .flat_map(|(smallest, largest)| [smallest, largest]);
            let mean = of_measure().find(|view| view.mean);
            Scales {
                stimuli: Scale::new(measure, matrix::range(ranges)),
                mean: Scale::new(measure, mean.and_then(View::range)),
            }
        });
        let scales = scales.collect();
        let of_file = || match file.outcome() {
            Some(outcome) => outcome.names.clone(),
            None => Outcome::UNNAMED.map(String::from),
        };
        Ok(Self {
            file,
            options,
            names: options.names.cloned().unwrap_or_else(of_file),
            views,
            scales,
        })
    }

    fn scale_of(&self, view: &View<'_>) -> &Scale {
        let scales = &self.scales[view.measure_index];
        if view.mean {
            &scales.mean
        } else {
            &scales.stimuli
        }
    }

    /// The title of a view, including its measure if there are several.
    fn heading(&self, view: &View<'_>) -> String {
        match self.views.measures.len() {
            0 | 1 => view.title.clone(),
            _ => format!("{}: {}", view.measure.name, view.title),
        }
    }

    /// Writes the page.
    pub fn write_html(&self, out: &mut dyn Write) -> io::Result<()> {
        let page = page::page(self)?;
        out.write_all(printable_lines(&page.into_string()).as_bytes())?;
        out.flush()
    }

    /// Writes a short summary as an HTML fragment: the headline numbers, group answers, who learned what, and the first
    /// heat map. It contains no script, and its styles are inline.
    pub fn write_summary(&self, out: &mut dyn Write) -> io::Result<()> {
        let summary = summary::summary(self)?.into_string();
        out.write_all(printable_lines(&summary).as_bytes())?;
        out.flush()
    }

    /// Checks that there is a heat map for [`Self::write_svg`] and [`Self::write_png`].
    pub fn has_heat_map(&self) -> Result<(), NoHeatMap> {
        self.first_heat_map().map(|_| ())
    }

    /// Writes the first heat map (of the mean over stimuli, if there are several) with labels, dendrograms and scale.
    pub fn write_svg(&self, out: &mut dyn Write) -> io::Result<()> {
        let (view, map) = self.first_heat_map().map_err(io::Error::other)?;
        let drawing = map.svg("heat-map", &crate::table::printable(&self.heading(view)))?;
        // The text is black and some viewers are dark, so draw a white background.
        let text = html! { (drawing) }.into_string();
        let text = text.replacen(
            "<defs>",
            "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/><defs>",
            1,
        );
        let text = printable_lines(&text);
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{text}")?;
        out.flush()
    }

    /// Writes the tiles of the first heat map, without text.
    pub fn write_png(&self, out: &mut dyn Write) -> io::Result<()> {
        let (_, map) = self.first_heat_map().map_err(io::Error::other)?;
        map.write_png(out)?;
        out.flush()
    }

    fn first_heat_map(&self) -> Result<(&View<'a>, HeatMap<'_>), NoHeatMap> {
        let view = self
            .views
            .views
            .first()
            .ok_or(NoHeatMap("the file has no results for individual pairs"))?;
        let no_map = NoHeatMap(figures::no_heat_map(view));
        let matrix = view.matrix.as_ref().ok_or(no_map)?;
        Ok((
            view,
            HeatMap::new(matrix, view.measure, self.scale_of(view), &self.names),
        ))
    }
}

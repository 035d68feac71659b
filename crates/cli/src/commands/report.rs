//! `veilpath report`: makes an HTML page with figures from a result file.

use crate::destination::Destination;
use crate::failure::Failure;
use crate::inputs::{self, is_stdout};
use crate::messages;
use crate::notes;
use crate::output;
use clap::Args;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use veilpath::report::{Aspect, DrawingOptions, DrawnCohort, PairOptions, ReportOptions};
use veilpath::{Contents, Event, Grid, check_distinct_outputs, report};

const EXAMPLES: &str = "\
Examples:
  veilpath compare a.csv b.csv --metric scanmatch -o scores.json
  veilpath report scores.json -o report.html
  veilpath report scores.json -o named.html --title Reading --names Clinic,University
  veilpath report scores.json -o own.html --cohort a.csv
  veilpath report scores.json -o pair.html --cohort a.csv --pair expert-1 expert-2
  veilpath report scores.json -o scene.html --stimulus scene-1 --svg heatmap.svg --png heatmap.png

The page is one file that needs no network. A JSON result file contains everything; a CSV file contains only the numbers of the \
pairs, and the page says what is missing. With --cohort the page shows what your own participants looked at: do not share such a \
page.";

/// The arguments of `report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReportArgs {
    /// A JSON or CSV result file from compare, host or join (- for standard input)
    result: PathBuf,

    /// Write the page to this file [default: standard output, unless it is a terminal]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The heading of the page
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Names of the two cohorts, instead of those in the result file
    #[arg(long, value_name = "FIRST,SECOND", value_parser = output::names)]
    names: Option<[String; 2]>,

    /// Show only this stimulus; may be repeated
    #[arg(long, value_name = "NAME")]
    stimulus: Vec<String>,

    /// Show only this measure, such as det; may be repeated [default: all; similarity instead of score if there are both]
    #[arg(long, value_name = "NAME")]
    measure: Vec<String>,

    /// Also draw the scanpaths of your own cohort, from this file
    #[arg(long, value_name = "FILE")]
    cohort: Option<PathBuf>,

    /// The grid of the cohort's letters, if the file does not declare it
    #[arg(long, value_name = "COLUMNSxROWS", requires = "cohort")]
    grid: Option<Grid>,

    /// The aspect ratio of the stimuli, as in 16:9 [default: from the cohort file]
    #[arg(long, value_name = "WIDTH:HEIGHT", requires = "cohort")]
    aspect: Option<Aspect>,

    /// Draw the scanpaths over a picture of the stimulus (PNG or JPEG); may be repeated
    #[arg(long, value_name = "STIMULUS=FILE", requires = "cohort", value_parser = image)]
    image: Vec<StimulusImage>,

    /// Show how the scanpaths of two participants, given by their ids, are aligned and where they recur; may be repeated
    #[arg(long, num_args = 2, value_names = ["FIRST", "SECOND"], requires = "cohort")]
    pair: Vec<String>,

    /// The cohort of the second participant of --pair, if it is a different one
    #[arg(long, value_name = "FILE", requires = "pair")]
    second_cohort: Option<PathBuf>,

    /// In recurrence plots, letters recur if their grid cells are at most this far apart [default: the metric's radius, else equal letters]
    #[arg(long, value_name = "CELLS", requires = "pair", value_parser = radius)]
    radius: Option<f64>,

    /// Also write the heat map as SVG, with ids, dendrograms and scale (- for standard output, with a file for -o)
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Also write the heat map as PNG: only its coloured squares, without text (- as for --svg)
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,

    /// Replace files even if they are not pages or pictures
    #[arg(long)]
    force: bool,
}

/// `STIMULUS=FILE`.
type StimulusImage = (Option<String>, PathBuf);

/// Reads the result file, and writes the page and the heat maps.
pub(crate) fn run(args: &ReportArgs) -> Result<(), Failure> {
    let images = args.image.iter().map(|(_, path)| path.as_path());
    let cohort = args.cohort.as_deref();
    let inputs: Vec<&Path> = [args.result.as_path()]
        .into_iter()
        .chain(cohort)
        .chain(args.second_cohort.as_deref())
        .chain(images)
        .collect();
    args.check_stdout()?;
    let outputs = [&args.output, &args.svg, &args.png].into_iter().flatten();
    check_distinct_outputs(&outputs.map(PathBuf::as_path).collect::<Vec<_>>())?;
    inputs::check_single_stdin(&inputs)?;

    let notes = |event: Event| notes::print(&event);
    let result = match inputs::is_dash(&args.result) {
        true => report::read_result_from("standard input", std::io::stdin().lock())?,
        false => report::read_result(&args.result)?,
    };
    let drawn = match cohort {
        None => None,
        Some(path) => {
            let input = inputs::open(path)?;
            let drawn = DrawnCohort::read(input, &args.drawing_options(), &notes)?;
            let second = args.second_cohort.as_deref().map(inputs::open);
            Some(drawn.with_pairs(second.transpose()?, &result, &args.pair_options())?)
        }
    };
    let options = ReportOptions {
        source: args.source(),
        stimuli: args.stimulus.clone(),
        measures: args.measure.clone(),
        title: args.title.clone(),
        names: args.names.clone(),
    };
    let page = report::report(&result, drawn.as_ref(), &options, &notes)?;
    if args.svg.is_some() || args.png.is_some() {
        page.has_heat_map()
            .map_err(|error| veilpath::Error::NoHeatMap {
                file: args.source(),
                error,
            })?;
    }
    let prepare = |contents: Contents, path: Option<&Path>| {
        Destination::prepare(contents, path, &inputs, args.force)
    };
    let destination = prepare(Contents::Page, args.output.as_deref())?;
    if let (Destination::File(file), Some(path)) = (&destination, &args.output)
        && !file.is_direct()
    {
        check_extension(path)?;
    }
    let picture = |contents: Contents, path: &Option<PathBuf>| {
        let path = path.as_deref();
        path.map(|path| prepare(contents, Some(path))).transpose()
    };
    let svg = picture(Contents::Svg, &args.svg)?;
    let png = picture(Contents::Png, &args.png)?;
    if let Some(destination) = svg {
        destination.write(|out| page.write_svg(out))?;
    }
    if let Some(destination) = png {
        destination.write(|out| page.write_png(out))?;
        messages::note(
            "the PNG contains only the tiles; ids and scale are in the SVG and on the page",
        );
    }
    destination.write(|out| page.write_html(out))?;
    for (name, path) in [
        ("report", &args.output),
        ("heat map", &args.svg),
        ("heat map", &args.png),
    ] {
        if let Some(path) = path.as_deref().filter(|path| !is_stdout(path)) {
            messages::info(&format!("{name}: {}\n", path.display()));
        }
    }
    Ok(())
}

impl ReportArgs {
    /// Refuses two outputs on standard output, and a terminal for a picture or, without `-o -`, for the page.
    fn check_stdout(&self) -> Result<(), Failure> {
        let is_printed = |path: &Option<PathBuf>| path.as_deref().is_some_and(is_stdout);
        let page = self.output.is_none() || is_printed(&self.output);
        let printed = [page, is_printed(&self.svg), is_printed(&self.png)];
        if printed.iter().filter(|is_printed| **is_printed).count() > 1 {
            return Err(Failure::input(
                "-: only one of the outputs can be standard output\n  name files for the others; without -o, the page is printed",
            ));
        }
        if is_printed(&self.png) && std::io::stdout().is_terminal() {
            return Err(Failure::input(
                "-: a terminal cannot show a PNG picture\n  name a file, or redirect standard output",
            ));
        }
        if self.output.is_none() && std::io::stdout().is_terminal() {
            return Err(Failure::input(
                "a terminal cannot show a web page\n  name a file, as in -o report.html, or redirect standard output; -o - prints the page here",
            ));
        }
        Ok(())
    }

    fn source(&self) -> String {
        if inputs::is_dash(&self.result) {
            return "standard input".into();
        }
        let name = self.result.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    fn drawing_options(&self) -> DrawingOptions {
        DrawingOptions {
            grid: self.grid,
            aspect: self.aspect,
            images: self.image.clone(),
        }
    }

    fn pair_options(&self) -> PairOptions {
        let pairs = self.pair.chunks(2).filter_map(|pair| match pair {
            [first, second] => Some([first.clone(), second.clone()]),
            _ => None,
        });
        PairOptions {
            pairs: pairs.collect(),
            stimuli: self.stimulus.clone(),
            radius: self.radius,
        }
    }
}

/// Refuses extensions other than those of HTML, because the wrong program would open the page.
fn check_extension(path: &Path) -> Result<(), Failure> {
    let extension = path.extension().unwrap_or_default();
    if ["html", "htm"]
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known))
    {
        return Ok(());
    }
    Err(Failure::input(format!(
        "{}: a report is a web page\n  choose a name that ends in .html; a browser opens the page, and prints it as PDF",
        path.display()
    )))
}

/// Parses a distance in grid cells.
fn radius(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(radius) if radius.is_finite() && radius >= 0.0 => Ok(radius),
        _ => Err("expected a number of grid cells, 0 or more".into()),
    }
}

/// Parses `STIMULUS=FILE`, or just a file for scanpaths without stimuli.
fn image(text: &str) -> Result<StimulusImage, String> {
    let (stimulus, path) = match text.split_once('=') {
        Some((stimulus, path)) => (Some(stimulus.to_string()), path),
        None => (None, text),
    };
    match path {
        "-" => Err(inputs::NOT_STANDARD.into()),
        path => Ok((stimulus, path.into())),
    }
}

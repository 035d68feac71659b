//! `veilpath report`: one page with figures from a result file.

use crate::failure::Failure;
use crate::inputs;
use crate::messages;
use crate::notes;
use crate::output::{self, Destination};
use clap::Args;
use std::path::{Path, PathBuf};
use veilpath::report::{Aspect, OwnOptions, OwnScanpaths, ReportOptions};
use veilpath::{Event, Grid, OutputFile, refuse_same_output, report};

const EXAMPLES: &str = "\
Examples:
  veilpath compare a.csv b.csv --metric scanmatch -o scores.json
  veilpath report scores.json -o report.html
  veilpath report scores.json -o named.html --title Reading --names Clinic,University
  veilpath report scores.json -o own.html --cohort a.csv
  veilpath report scores.json -o scene.html --stimulus scene-1 --svg heatmap.svg --png heatmap.png

The page is one file that needs no network. A result file in JSON has everything; one in CSV has the numbers of the pairs \
only, and the page says what is missing. With --cohort the page shows what your own participants looked at: do not give \
that one to anybody else.";

/// The arguments of `report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReportArgs {
    /// The result file that compare, host or join wrote, JSON or CSV (- for standard input)
    result: PathBuf,

    /// Write the page to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The heading of the page
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// What to call the two cohorts, in place of the names in the result file
    #[arg(long, value_name = "FIRST,SECOND", value_parser = output::names)]
    names: Option<[String; 2]>,

    /// Show these stimuli only; may be given several times
    #[arg(long, value_name = "NAME")]
    stimulus: Vec<String>,

    /// Draw the scanpaths of this cohort, your own
    #[arg(long, value_name = "FILE")]
    cohort: Option<PathBuf>,

    /// The grid whose cells are the cohort's letters, where the file does not say
    #[arg(long, value_name = "COLUMNSxROWS", requires = "cohort")]
    grid: Option<Grid>,

    /// The proportions of what was looked at, as in 16:9 [default: what the cohort file says]
    #[arg(long, value_name = "WIDTH:HEIGHT", requires = "cohort")]
    aspect: Option<Aspect>,

    /// Draw them over a picture of the stimulus (PNG or JPEG); may be given several times
    #[arg(long, value_name = "STIMULUS=FILE", requires = "cohort", value_parser = image)]
    image: Vec<StimulusImage>,

    /// Write the heat map by itself as SVG, with ids, dendrograms and scale
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Write the heat map by itself as PNG: its tiles, without words
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
}

/// `STIMULUS=FILE`.
type StimulusImage = (Option<String>, PathBuf);

/// Reads, draws, writes.
pub(crate) fn run(args: &ReportArgs) -> Result<(), Failure> {
    let images = args.image.iter().map(|(_, path)| path.as_path());
    let cohort = args.cohort.as_deref();
    let inputs: Vec<&Path> = [args.result.as_path()]
        .into_iter()
        .chain(cohort)
        .chain(images)
        .collect();
    let outputs = [&args.output, &args.svg, &args.png].into_iter().flatten();
    refuse_same_output(&outputs.map(PathBuf::as_path).collect::<Vec<_>>())?;
    inputs::refuse_two_stdin(&inputs)?;

    let notes = |event: Event| notes::print(&event);
    let result = match inputs::is_dash(&args.result) {
        true => report::read_result_from("standard input", std::io::stdin().lock())?,
        false => report::read_result(&args.result)?,
    };
    let own = match cohort {
        None => None,
        Some(path) => Some(OwnScanpaths::read(
            inputs::open(path)?,
            &args.own_options(),
            &notes,
        )?),
    };
    let options = ReportOptions {
        source: args.source(),
        stimuli: args.stimulus.clone(),
        title: args.title.clone(),
        names: args.names.clone(),
    };
    let page = report::report(&result, own.as_ref(), &options, &notes)?;
    if args.svg.is_some() || args.png.is_some() {
        page.has_heat_map()
            .map_err(|error| veilpath::Error::NoHeatMap {
                file: args.source(),
                error,
            })?;
    }
    let destination = Destination::prepare(args.output.as_deref(), &inputs)?;
    let create = |path: &Option<PathBuf>| {
        path.as_deref()
            .map(|path| OutputFile::create(path, &inputs))
            .transpose()
    };
    let (svg, png) = (create(&args.svg)?, create(&args.png)?);
    if let Some(file) = svg {
        file.write(|out| page.write_svg(out))?;
    }
    if let Some(file) = png {
        file.write(|out| page.write_png(out))?;
        messages::note("the PNG has the tiles only; ids and scale are in the SVG and on the page");
    }
    destination.write(|out| page.write_html(out))
}

impl ReportArgs {
    fn source(&self) -> String {
        if inputs::is_dash(&self.result) {
            return "standard input".into();
        }
        let name = self.result.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    fn own_options(&self) -> OwnOptions {
        OwnOptions {
            grid: self.grid,
            aspect: self.aspect,
            images: self.image.clone(),
        }
    }
}

/// `STIMULUS=FILE`, or a file by itself for scanpaths without stimuli.
fn image(text: &str) -> Result<StimulusImage, String> {
    Ok(match text.split_once('=') {
        Some((stimulus, path)) => (Some(stimulus.to_string()), path.into()),
        None => (None, text.into()),
    })
}

//! `veilpath report`: one page with figures from a result file.

use crate::dash;
use crate::failure::Failure;
use crate::inputs;
use crate::new_file::{NewFile, same_place};
use crate::output::Destination;
use crate::{messages, notes};
use clap::Args;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use veilpath_encode::RawCohort;
use veilpath_metrics::{Cohort, Grid};
use veilpath_report::ResultFile;
use veilpath_report::html::{Image, MAX_IMAGE_BYTES, Options, Own, Report};

const EXAMPLES: &str = "\
Examples:
  veilpath compare a.csv b.csv --metric scanmatch -o scores.json
  veilpath report scores.json -o report.html
  veilpath report scores.json -o own.html --cohort a.csv
  veilpath report scores.json -o scene.html --stimulus scene-1 --svg heatmap.svg --png heatmap.png

The page is one file that needs no network. A result file in JSON has everything; one in CSV has the scores alone, and the \
page says what is missing. With --cohort the page shows what your own participants looked at: do not hand that one on.";

/// The arguments of `report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReportArgs {
    /// The result file that compare, host or join wrote (JSON or CSV)
    result: PathBuf,

    /// Write the page to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Show these stimuli alone; may be given several times
    #[arg(long, value_name = "NAME")]
    stimulus: Vec<String>,

    /// Draw the scanpaths of this cohort, your own
    #[arg(long, value_name = "FILE")]
    cohort: Option<PathBuf>,

    /// The grid whose cells are the cohort's letters, where the file does not say
    #[arg(long, value_name = "COLUMNSxROWS", requires = "cohort")]
    grid: Option<Grid>,

    /// Draw them over a picture of the stimulus (PNG or JPEG); may be given several times
    #[arg(long, value_name = "STIMULUS=FILE", requires = "cohort")]
    image: Vec<String>,

    /// Write the heat map alone as SVG, with ids, dendrograms and scale
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Write the heat map alone as PNG: its cells, without words
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
}

/// Reads, draws, writes.
pub(crate) fn run(args: &ReportArgs) -> Result<(), Failure> {
    let images = image_paths(&args.image);
    let mut inputs: Vec<&Path> = vec![&args.result];
    inputs.extend(args.cohort.as_deref());
    inputs.extend(images.iter().map(|(_, path)| *path));
    refuse_one_place(&[&args.output, &args.svg, &args.png])?;

    let result = read(&args.result)?;
    let own = match &args.cohort {
        None => None,
        Some(path) => Some(OwnFiles::open(path, args.grid, &images)?),
    };
    let source = args
        .result
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let options = Options {
        source: &source,
        stimuli: &args.stimulus,
        own: own.as_ref().map(OwnFiles::own),
    };
    let report = Report::new(&result, options).map_err(|error| {
        let known: Vec<&str> = result.stimuli.iter().take(10).map(String::as_str).collect();
        let more = match result.stimuli.len() - known.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Failure::input(format!(
            "{}: {error}\n  it has these: {}",
            args.result.display(),
            if known.is_empty() {
                "none".into()
            } else {
                format!("{known:?}{more}")
            }
        ))
    })?;
    if args.svg.is_some() || args.png.is_some() {
        let missing = |error| Failure::input(format!("{}: {error}", args.result.display()));
        report.has_heat_map().map_err(missing)?;
    }
    let page = Destination::prepare(args.output.as_deref(), &inputs)?;
    let create = |path: &Option<PathBuf>| {
        path.as_deref()
            .map(|path| NewFile::create(path, &inputs))
            .transpose()
    };
    let (svg, png) = (create(&args.svg)?, create(&args.png)?);
    if let Some(file) = svg {
        file.write(|out| report.write_svg(out))?;
    }
    if let Some(file) = png {
        file.write(|out| report.write_png(out))?;
    }
    page.write(|out| report.write_html(out))?;
    if !messages::is_quiet() {
        say_notes(args, &result, own.as_ref());
    }
    Ok(())
}

fn read(path: &Path) -> Result<ResultFile, Failure> {
    dash::refuse_as_input(path)?;
    let refuse = |problem: String| Failure::input(format!("{}: {problem}", path.display()));
    if path.is_dir() {
        return Err(refuse("this is a folder; name a result file in it".into()));
    }
    let file = File::open(path).map_err(|error| refuse(format!("cannot be opened: {error}")))?;
    ResultFile::read(file).map_err(|error| refuse(error.to_string()))
}

/// `STIMULUS=FILE`, or a file alone for scanpaths without stimuli.
fn image_paths(arguments: &[String]) -> Vec<(Option<&str>, &Path)> {
    arguments
        .iter()
        .map(|argument| match argument.split_once('=') {
            Some((stimulus, path)) => (Some(stimulus), Path::new(path)),
            None => (None, Path::new(argument.as_str())),
        })
        .collect()
}

/// What the pictures of one's own scanpaths are made from.
struct OwnFiles {
    path: PathBuf,
    raw: RawCohort,
    cohort: Cohort,
    grid: Grid,
    images: Vec<(Option<String>, Image)>,
}

impl OwnFiles {
    fn open(
        path: &Path,
        asked: Option<Grid>,
        images: &[(Option<&str>, &Path)],
    ) -> Result<Self, Failure> {
        let raw = inputs::cohort(path)?;
        let cohort = veilpath::cohort_of(&raw, &|event| notes::print(&event))?;
        let refuse = |problem: String| Err(Failure::input(problem));
        let grid = match (raw.declared_grid(), asked) {
            (Some(declared), Some(asked)) if declared != asked => {
                return refuse(format!(
                    "--grid {asked}: {} was encoded on a grid of {declared}",
                    path.display()
                ));
            }
            (declared, asked) => match declared.or(asked) {
                Some(grid) => grid,
                None => {
                    return refuse(format!(
                        "{}: the file does not say which grid its letters are cells of\n  \
                         name it, as in --grid 7x7; areas of interest cannot be drawn",
                        path.display()
                    ));
                }
            },
        };
        let letters = cohort
            .entries
            .iter()
            .flat_map(|entry| entry.scanpath.letters());
        let last = letters.max().copied().unwrap_or_default();
        if u32::from(last) >= grid.cells() {
            return refuse(format!(
                "{}: it has letters beyond the {} cells of a grid of {grid}",
                path.display(),
                grid.cells()
            ));
        }
        let mut loaded = Vec::with_capacity(images.len());
        for (stimulus, image) in images {
            let known = |entry: &veilpath_metrics::Entry| entry.stimulus.as_deref() == *stimulus;
            if !cohort.entries.iter().any(known) {
                return refuse(format!(
                    "--image {}: no scanpath of {} has this stimulus\n  it is written STIMULUS=FILE, with the stimulus as in the cohort file",
                    stimulus.unwrap_or_default(),
                    path.display()
                ));
            }
            loaded.push((stimulus.map(str::to_string), load_image(image)?));
        }
        Ok(Self {
            path: path.to_path_buf(),
            raw,
            cohort,
            grid,
            images: loaded,
        })
    }

    fn own(&self) -> Own<'_> {
        Own {
            cohort: &self.cohort,
            grid: self.grid,
            images: &self.images,
        }
    }
}

fn load_image(path: &Path) -> Result<Image, Failure> {
    let refuse = |problem: String| Failure::input(format!("{}: {problem}", path.display()));
    let file = File::open(path).map_err(|error| refuse(format!("cannot be opened: {error}")))?;
    let mut bytes = Vec::new();
    // One more than allowed, so that too large a file is told from one that just fits.
    file.take(MAX_IMAGE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| refuse(format!("cannot be read: {error}")))?;
    Image::new(bytes).map_err(|error| refuse(error.to_string()))
}

fn refuse_one_place(paths: &[&Option<PathBuf>]) -> Result<(), Failure> {
    let named: Vec<&PathBuf> = paths.iter().filter_map(|path| path.as_ref()).collect();
    for (at, path) in named.iter().enumerate() {
        if named.iter().take(at).any(|other| same_place(other, path)) {
            return Err(Failure::input(format!(
                "{}: two of the results would go to this file\n  give each its own",
                path.display()
            )));
        }
    }
    Ok(())
}

fn say_notes(args: &ReportArgs, result: &ResultFile, own: Option<&OwnFiles>) {
    if result.spec.is_none() {
        messages::note(&format!(
            "{}: without the plan, the cost and what was revealed, which this file does not hold; `-o scores.json` of compare keeps them",
            args.result.display()
        ));
    }
    if let Some(own) = own {
        let known = |id: &String| result.a.contains(id) || result.b.contains(id);
        if !own
            .cohort
            .entries
            .iter()
            .any(|entry| known(&entry.participant))
        {
            messages::note(&format!(
                "{}: no participant of this cohort is in the result file",
                own.path.display()
            ));
        }
        messages::note("the page shows your own scanpaths; do not hand it to the other side");
    }
    if args.png.is_some() {
        messages::note("the PNG has the cells alone; ids and scale are in the SVG and on the page");
    }
}

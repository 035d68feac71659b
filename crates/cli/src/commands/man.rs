//! `veilpath man`: man pages from the same definitions as the help texts.

use crate::args::Cli;
use crate::failure::Failure;
use crate::output::to_stdout;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use std::path::PathBuf;
use veilpath::OutputFile;

const EXAMPLES: &str = "\
Examples:
  veilpath man > veilpath.1
  veilpath man --folder man1";

/// The arguments of `man`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManArgs {
    /// Write one page per command to this folder, which is created if necessary
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

/// Prints the main page, or writes all pages.
pub(crate) fn run(args: &ManArgs) -> Result<(), Failure> {
    let mut command = Cli::command();
    command.build();
    let Some(folder) = &args.folder else {
        return to_stdout(|out| Man::new(command).render(out));
    };
    std::fs::create_dir_all(folder).map_err(|source| veilpath::Error::Write {
        path: folder.clone(),
        source,
    })?;
    let pages = command
        .get_subcommands()
        .map(|sub| (format!("veilpath-{}.1", sub.get_name()), sub.clone()))
        .collect::<Vec<(String, Command)>>();
    for (name, page) in pages.into_iter().chain([("veilpath.1".into(), command)]) {
        let file = OutputFile::create(&folder.join(name), &[])?;
        file.write(|out| Man::new(page).render(out))?;
    }
    Ok(())
}

//! `veilpath ui`: the whole workflow in a browser.

use crate::destination::Destination;
use crate::failure::Failure;
use crate::{inputs, messages};
use clap::Args;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use veilpath_ui::{Server, ServerOptions};

const EXAMPLES: &str = "\
Examples:
  veilpath ui
  veilpath ui recordings
  veilpath ui --no-browser --port 7080

The page is for this machine only: the server listens on 127.0.0.1, and answers only requests with the token in the printed address. \
Nothing is loaded from elsewhere. Press Ctrl-C to end the program. It also ends some time after you close the page, unless it is \
computing.";

/// The arguments of `ui`.
#[derive(Debug, Default, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UiArgs {
    /// A folder whose files can be opened on the page, without dropping them there
    #[arg(value_name = "FOLDER", value_parser = inputs::named_place())]
    folder: Option<PathBuf>,

    /// The port on 127.0.0.1; 0 lets the system choose
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,

    /// Only print the address; do not open a browser
    #[arg(long)]
    no_browser: bool,

    /// The identity file [default: identity.pem in Veilpath's state folder]
    #[arg(long, value_name = "FILE", value_parser = inputs::named_place())]
    identity: Option<PathBuf>,
}

/// Serves the page until it is closed.
pub(crate) fn run(args: &UiArgs) -> Result<(), Failure> {
    super::disable_core_dumps();
    let failed = |error: veilpath_ui::ServerError| Failure::input(error.to_string());
    let server = Server::bind(ServerOptions {
        port: args.port,
        folder: args.folder.clone(),
        identity: args.identity.clone(),
        ..ServerOptions::default()
    })
    .map_err(failed)?;
    let url = server.url();
    let printed = Destination::Stdout.write(|out| {
        writeln!(out, "{url}")?;
        out.flush()
    });
    // A closed output is not an error: after a launch from a desktop, nobody reads it.
    match printed {
        Err(Failure::BrokenPipe) | Ok(()) => {}
        Err(failure) => return Err(failure),
    }
    if !args.no_browser && !open(&server.launch_url()) {
        messages::note("no browser could be opened: open the address above yourself");
    }
    messages::info("press Ctrl-C or close the page to end\n");
    server.run().map_err(failed)
}

/// Opens the user's browser.
fn open(url: &str) -> bool {
    let mut command = if cfg!(target_os = "windows") {
        let mut command = Command::new("rundll32");
        command.args(["url.dll,FileProtocolHandler", url]);
        command
    } else if cfg!(target_os = "macos") {
        let mut command = Command::new("open");
        command.arg(url);
        command
    } else {
        let mut command = Command::new("xdg-open");
        command.arg(url);
        command
    };
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    match quiet.spawn() {
        Err(_) => false,
        Ok(mut opener) => {
            // The opener exits at once or with the browser. A thread reaps it.
            std::thread::spawn(move || opener.wait());
            true
        }
    }
}

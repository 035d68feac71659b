//! Veilpath in a browser, on the user's own machine.
//!
//! [`Server`] serves one page on the loopback network, where users drop files, see them encoded, and compare them on
//! this machine or with a partner. It is a front end of the crate `veilpath`, which does the work.
//!
//! | file | part |
//! |---|---|
//! | `guard` | which requests are allowed: token, cookie, `Host`, `Origin`, headers of every response |
//! | `routes`, `assets` | the routes, and the files of the page |
//! | `workspace`, `files` | what the user has given so far |
//! | `forms`, `commands` | form fields as options, and as the command that does the same |
//! | `cohorts`, `picture` | encoding, and the points of a picture |
//! | `comparison`, `results` | a comparison on this machine, and its report |
//! | `partner`, `proposal`, `session`, `qr` | a comparison with another institution |
//! | `hub` | events for all open pages, and when the server stops |
//! | `problem` | errors as the page shows them |

mod assets;
mod cohorts;
mod commands;
mod comparison;
mod files;
mod forms;
mod guard;
mod hub;
mod partner;
mod picture;
mod problem;
mod proposal;
mod qr;
mod results;
mod routes;
mod session;
mod workspace;

use guard::Guard;
use hub::Hub;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use workspace::{Workspace, lock};

/// The options of the server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The port on the loopback network; 0 lets the system choose.
    pub port: u16,
    /// The folder whose files can be opened without dropping them; `None` for none.
    pub folder: Option<PathBuf>,
    /// The identity file; `None` for the user's default.
    pub identity: Option<PathBuf>,
    /// How long the server waits for its first page, and after the last one was closed.
    pub idle_timeouts: IdleTimeouts,
}

/// How long a server without a page and without a job waits before it stops.
#[derive(Clone, Copy, Debug)]
pub struct IdleTimeouts {
    /// For the first page.
    pub first: Duration,
    /// After the last page was closed. A page is also closed for a moment while it is reloaded.
    pub after: Duration,
    /// The same if the user has provided files: a tab may be closed by mistake, or by a browser that saves memory.
    pub with_files: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            port: 0,
            folder: None,
            identity: None,
            idle_timeouts: IdleTimeouts {
                first: Duration::from_secs(600),
                after: Duration::from_secs(20),
                with_files: Duration::from_secs(15 * 60),
            },
        }
    }
}

/// Why the server could not run.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The server cannot listen on the address.
    #[error("cannot listen on 127.0.0.1, port {port}: {source}")]
    Listen {
        /// The port.
        port: u16,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The folder cannot be used.
    #[error("{path}: this folder cannot be opened: {source}", path = path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The server failed.
    #[error("the server failed: {0}")]
    Failed(std::io::Error),
    /// The operating system provided no random numbers.
    #[error("the operating system provides no random numbers for the token")]
    NoRandomness,
}

/// A listening server.
#[derive(Debug)]
pub struct Server {
    runtime: tokio::runtime::Runtime,
    listener: tokio::net::TcpListener,
    app: Arc<App>,
}

/// Everything that requests share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) guard: Guard,
    pub(crate) hub: Hub,
    pub(crate) workspace: std::sync::Mutex<Workspace>,
}

impl Server {
    /// Listens on the loopback network.
    pub fn bind(options: ServerOptions) -> Result<Self, ServerError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(ServerError::Failed)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let port = options.port;
        let failed = |source| ServerError::Listen { port, source };
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind(address))
            .map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let folder = options.folder.map(|path| {
            let found = std::fs::canonicalize(&path);
            found.map_err(|source| ServerError::Folder { path, source })
        });
        let app = Arc::new(App {
            guard: Guard::new(port)?,
            hub: Hub::new(options.idle_timeouts),
            workspace: std::sync::Mutex::new(Workspace::new(folder.transpose()?, options.identity)),
        });
        Ok(Self {
            runtime,
            listener,
            app,
        })
    }

    /// The address of the page, with the token that opens it.
    pub fn url(&self) -> String {
        self.app.guard.url()
    }

    /// The same address with a single-use token, for the program that opens the browser.
    pub fn launch_url(&self) -> String {
        self.app.guard.launch_url()
    }

    /// Answers requests until the page is closed and no job is running.
    pub fn run(self) -> Result<(), ServerError> {
        let Self {
            runtime,
            listener,
            app,
        } = self;
        let router = routes::router(&app);
        let result = runtime.block_on(async {
            let state = Arc::clone(&app);
            let stop = async move {
                let need = || lock(&state.workspace).need();
                state.hub.wait_until_done(need).await;
            };
            // Pages keep a connection open for events, so a graceful shutdown would wait for them.
            let served = runtime.spawn(async move { axum::serve(listener, router).await });
            let handle = served.abort_handle();
            runtime.spawn(async move {
                stop.await;
                handle.abort();
            });
            match served.await {
                Ok(served) => served,
                Err(error) if error.is_cancelled() => Ok(()),
                Err(error) => Err(std::io::Error::other(error)),
            }
        });
        // A comparison that still runs ends with the process.
        runtime.shutdown_background();
        lock(&app.workspace).stop();
        result.map_err(ServerError::Failed)
    }
}

//! A temporary folder for each test, and the command run in it.
#![allow(dead_code, clippy::print_stderr)] // every test file uses a part of this; tests print what they skip

pub(crate) mod console;
pub(crate) mod flood;
pub(crate) mod pair;
pub(crate) mod proxy;
pub(crate) mod screenshot;
pub(crate) mod sources;
pub(crate) mod webdriver;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A temporary folder that the command runs in.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file and returns its name.
    pub(crate) fn file<'a>(&self, name: &'a str, content: impl AsRef<[u8]>) -> &'a str {
        std::fs::write(self.path().join(name), content).unwrap();
        name
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// `veilpath` with these arguments and its state folder within the folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_veilpath"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env("VEILPATH_HOME", self.path().join("home"));
        command
    }

    /// Runs `veilpath` with these arguments.
    pub(crate) fn run(&self, arguments: &[&str]) -> RunOutput {
        let output = self.command(arguments).output().unwrap();
        RunOutput::from(arguments.join(" "), output)
    }
}

/// The exit code and output of a run.
pub(crate) struct RunOutput {
    pub(crate) call: String,
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl RunOutput {
    pub(crate) fn from(call: String, output: Output) -> Self {
        Self {
            call,
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The output of a run that must succeed.
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, 0, "veilpath {}\n{}", self.call, self.stderr);
        self.stdout
    }

    /// The error message of a run that must fail with a usage or file error.
    pub(crate) fn refused(self) -> String {
        assert_eq!(
            self.code, 2,
            "veilpath {}\n{}{}",
            self.call, self.stdout, self.stderr
        );
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self.stderr
    }

    pub(crate) fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.ok()).unwrap()
    }
}

/// The workspace's root, two folders above this crate.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap().to_path_buf()
}

/// A file or folder of third-party data next to the workspace. If it is missing, returns `None` and prints a message.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let shared =
        std::env::var_os("VEILPATH_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    let found = shared.join(path);
    if found.exists() {
        return Some(found);
    }
    eprintln!("skipped: {path} is not on this machine");
    None
}

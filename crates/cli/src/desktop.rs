//! Detects that somebody started the program by clicking on it, so that a page is more useful than help on arguments.
//!
//! Terminals, pipes, services, cron and remote shells do not count.

use std::ffi::OsString;
use std::io::IsTerminal;

/// Whether the program was started from a desktop, without arguments.
pub(crate) fn is_desktop_launch() -> bool {
    std::env::args_os().count() == 1 && is_desktop(&LaunchContext::of_process())
}

/// What a process can find out about how it was started.
struct LaunchContext<'a> {
    /// Whether standard input, output or error is a terminal.
    has_terminal: bool,
    /// Whether no other process shares the console; Windows only.
    owns_console: bool,
    process: u32,
    variable: &'a dyn Fn(&str) -> Option<OsString>,
}

impl LaunchContext<'_> {
    fn of_process() -> Self {
        Self {
            has_terminal: std::io::stdin().is_terminal()
                || std::io::stdout().is_terminal()
                || std::io::stderr().is_terminal(),
            owns_console: owns_console(),
            process: std::process::id(),
            variable: &|name| std::env::var_os(name),
        }
    }

    fn has_any(&self, names: &[&str]) -> bool {
        let is_set = |name: &&str| (self.variable)(name).is_some_and(|value| !value.is_empty());
        names.iter().any(is_set)
    }

    /// Whether a launcher set the variables for another process, from which this one inherited them.
    fn is_inherited(&self) -> bool {
        let launched = (self.variable)("GIO_LAUNCHED_DESKTOP_FILE_PID");
        launched.is_some_and(|id| id.to_str() != Some(&self.process.to_string()))
    }
}

fn is_desktop(context: &LaunchContext<'_>) -> bool {
    if context.has_any(&["SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"]) {
        return false;
    }
    if cfg!(windows) {
        return context.owns_console;
    }
    let launched: &[&str] = match cfg!(target_os = "macos") {
        true => &["__CFBundleIdentifier"],
        // Set by desktop launchers. A user's service may have a display, but not these variables.
        false => &[
            "GIO_LAUNCHED_DESKTOP_FILE",
            "DESKTOP_STARTUP_ID",
            "XDG_ACTIVATION_TOKEN",
        ],
    };
    let has_display = cfg!(target_os = "macos") || context.has_any(&["DISPLAY", "WAYLAND_DISPLAY"]);
    !context.has_terminal && has_display && context.has_any(launched) && !context.is_inherited()
}

#[cfg(windows)]
use crate::windows_console::owns_console;

#[cfg(not(windows))]
fn owns_console() -> bool {
    false
}

#[cfg(test)]
#[cfg(all(unix, not(target_os = "macos")))]
mod tests {
    use super::*;

    fn desktop(has_terminal: bool, variables: &[&str]) -> bool {
        let variables: Vec<String> = variables.iter().map(ToString::to_string).collect();
        is_desktop(&LaunchContext {
            has_terminal,
            owns_console: false,
            process: 7,
            variable: &|name| {
                let mut pairs = variables
                    .iter()
                    .map(|it| it.split_once('=').unwrap_or((it, "x")));
                pairs.find(|(set, _)| *set == name).map(|it| it.1.into())
            },
        })
    }

    #[test]
    fn a_launcher_counts_as_a_desktop() {
        for launcher in ["GIO_LAUNCHED_DESKTOP_FILE", "XDG_ACTIVATION_TOKEN"] {
            assert!(desktop(false, &["DISPLAY", launcher]));
            assert!(desktop(false, &["WAYLAND_DISPLAY", launcher]));
            let own = "GIO_LAUNCHED_DESKTOP_FILE_PID=7";
            assert!(desktop(false, &["DISPLAY", launcher, own]));
        }
    }

    #[test]
    fn terminals_services_cron_and_ssh_do_not_count_as_a_desktop() {
        let launcher = "GIO_LAUNCHED_DESKTOP_FILE";
        assert!(!desktop(true, &["DISPLAY", launcher]), "a terminal");
        assert!(!desktop(false, &[]), "cron");
        assert!(
            !desktop(false, &["INVOCATION_ID", "JOURNAL_STREAM"]),
            "a service"
        );
        assert!(
            !desktop(false, &["DISPLAY", "INVOCATION_ID"]),
            "a user's service"
        );
        assert!(
            !desktop(false, &["DISPLAY", launcher, "SSH_CONNECTION"]),
            "ssh"
        );
        assert!(!desktop(false, &[launcher]), "no display");
        let other = "GIO_LAUNCHED_DESKTOP_FILE_PID=6";
        assert!(
            !desktop(false, &["DISPLAY", launcher, other]),
            "a script of a program that was launched"
        );
    }
}

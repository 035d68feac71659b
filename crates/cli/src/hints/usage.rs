//! Advice about options that belong to another command.

use crate::args::Cli;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error};

/// Says which command has an unknown option, instead of suggesting one with a similar name.
pub(crate) fn explain(mut error: Error) -> Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let owners = owners(option);
    if !owners.is_empty() {
        let advice = format!("{option} is an option of {}", in_words(&owners));
        error.remove(ContextKind::SuggestedArg);
        // It would show the option with the similar name.
        error.remove(ContextKind::Usage);
        let advice = ContextValue::StyledStrs(vec![advice.into()]);
        error.insert(ContextKind::Suggested, advice);
    }
    error
}

/// A list such as "a, b and c".
fn in_words(names: &[String]) -> String {
    match names {
        [names @ .., last] if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        _ => names.concat(),
    }
}

/// The commands that have this option.
fn owners(option: &str) -> Vec<String> {
    let Some(name) = option.strip_prefix("--") else {
        return Vec::new();
    };
    let cli = Cli::command();
    let commands = cli.get_subcommands().filter(|it| !it.is_hide_set());
    let owners = commands.filter(|it| it.get_arguments().any(|it| it.get_long() == Some(name)));
    owners
        .map(|it| format!("`veilpath {}`", it.get_name()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn an_option_of_another_command_names_that_command() {
        let text = |call: &str| {
            let error = Cli::try_parse_from(call.split(' ')).unwrap_err();
            explain(error).to_string()
        };
        let bin = text("veilpath compare a.csv b.csv --bin 50");
        assert!(
            bin.contains("--bin is an option of `veilpath encode`"),
            "{bin}"
        );
        assert!(!bin.contains("--line"), "{bin}");
        let of_sessions = "`veilpath host` and `veilpath join`";
        let of_workers =
            "`veilpath host`, `veilpath join`, `veilpath coordinator` and `veilpath worker`";
        for (option, commands) in [
            ("--reveal-to", of_sessions),
            ("--limit-per-scanpath", of_sessions),
            ("--estimate", of_sessions),
            ("--memory", of_workers),
        ] {
            let several = text(&format!("veilpath compare a.csv b.csv {option} 5"));
            let advice = format!("{option} is an option of {commands}");
            assert!(several.contains(&advice), "{several}");
            assert!(!several.contains("a similar argument") && !several.contains("-- --"));
        }
        let misspelt = text("veilpath compare a.csv b.csv --metrik dtw");
        assert!(misspelt.contains("--metric"), "{misspelt}");
    }
}

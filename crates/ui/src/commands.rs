//! The command lines that do the same as the page.

use crate::cohorts::NAMES;
use crate::files::StoredFile;
use crate::workspace::Workspace;
use serde_json::{Value, json};
use veilpath::{FileKind, NamedPlan};

/// The commands of every step.
pub(crate) fn all(workspace: &Workspace) -> Value {
    let encode: Vec<String> = (0..2).filter_map(|side| encode(workspace, side)).collect();
    let mut compare = Vec::new();
    let [first, second] = cohort_names(workspace);
    let sides = match workspace.compare.is_split(workspace) {
        true => {
            let seed = workspace.compare.seed();
            compare.push(format!(
                "veilpath split {} --seed {seed} --first half-a.csv --second half-b.csv",
                quoted(&first)
            ));
            ["half-a.csv".to_string(), "half-b.csv".to_string()]
        }
        false => [first, second],
    };
    let plan = flags(&workspace.plan, false);
    let names = workspace.compare.names(workspace);
    let named = |a: usize, b: usize| match names.iter().any(|name| name.contains(',')) {
        true => String::new(),
        false => format!(" --names {}", quoted(&format!("{},{}", names[a], names[b]))),
    };
    let [a, b] = sides.map(|name| quoted(&name));
    let groups = groups(workspace);
    let line = |a: &str, b: &str, names: String, output: &str| {
        format!("veilpath compare {a} {b}{plan}{names} -o {output}")
    };
    compare.push(line(&a, &b, named(0, 1), "scores.json"));
    if workspace.compare.sites {
        compare.push(line(&a, &a, named(0, 0), "within-a.json"));
        compare.push(line(&b, &b, named(1, 1), "within-b.json"));
        compare.push(format!(
            "veilpath stats scores.json within-a.json within-b.json{groups}"
        ));
    } else {
        compare.push(format!("veilpath stats scores.json{groups}"));
    }
    compare.push("veilpath report scores.json -o report.html".into());
    json!({
        "encode": encode,
        "compare": compare,
        "partner": partner(workspace),
    })
}

/// The flags that tell `stats` where to find the groups of participants.
fn groups(workspace: &Workspace) -> String {
    let has_groups = |side: usize| {
        let cohort = workspace.cohorts[side].as_ref();
        cohort.map(|it| it.cohort.has_groups())
    };
    let [first, second] = cohort_names(workspace).map(|name| quoted(&name));
    match (has_groups(0), has_groups(1)) {
        (Some(true), None) => format!(" --groups {first}"),
        (Some(true), Some(true)) => format!(" --groups {first} --second-groups {second}"),
        _ => String::new(),
    }
}

fn cohort_names(workspace: &Workspace) -> [String; 2] {
    [0, 1].map(|side| {
        let mut files = workspace.files.iter();
        let file = files.find(|file| file.side == side && file.kind == FileKind::Cohort);
        file.map_or_else(|| NAMES[side].to_string(), |file| file.name.clone())
    })
}

fn encode(workspace: &Workspace, side: usize) -> Option<String> {
    let is_gaze = |file: &&StoredFile| matches!(file.kind, FileKind::Gaze(_) | FileKind::Unknown);
    let files = workspace.files.iter().filter(|file| file.side == side);
    let names: Vec<String> = files.filter(is_gaze).map(|it| quoted(&it.name)).collect();
    if names.is_empty() {
        return None;
    }
    let mut line = format!("veilpath encode {}", names.join(" "));
    let mut add = |flag: &str, value: &str| {
        if !value.trim().is_empty() {
            line.push_str(&format!(" {flag} {}", quoted(value.trim())));
        }
    };
    let read = &workspace.read;
    add("--input-format", &read.format);
    add("--screen", &read.screen);
    add("--screen-cm", &read.screen_cm);
    add("--distance", &read.distance);
    add("--units", &read.units);
    add("--time-unit", &read.time_unit);
    add("--rate", &read.rate);
    add("--eye", &read.eye);
    add("--rows", &read.rows);
    add("--events", &read.events);
    add("--participant", &read.participant);
    add("--stimulus", &read.stimulus);
    add("--name-pattern", &read.name_pattern);
    let columns = read.columns.iter().filter(|(_, theirs)| !theirs.is_empty());
    let columns: Vec<String> = columns.map(|(ours, it)| format!("{ours}={it}")).collect();
    add("--columns", &columns.join(","));
    let letters = &workspace.letters.visible();
    match letters.placing.as_str() {
        "areas" => add("--aoi", "areas.csv"),
        "column" => {}
        _ => add("--grid", &letters.grid),
    }
    if letters.outside != "drop" {
        add("--outside", &letters.outside);
    }
    add("--bin", &letters.bin);
    if letters.detect != "runs" {
        add("--detect", &letters.detect);
    }
    add("--velocity", &compact(&letters.velocity));
    add("--dispersion", &compact(&letters.dispersion));
    add("--min-duration", &letters.min_duration);
    add("--min-dwell", &letters.min_dwell);
    add("--max-gap", &letters.max_gap);
    add("--max-repeats", &letters.max_repeats);
    for (flag, is_set) in [
        (" --flip-y", read.flip_y),
        (" --aoi-column", letters.placing == "column"),
        (" --drop-empty", letters.drop_empty),
        (" --keep-fixations", letters.keep_fixations),
    ] {
        if is_set {
            line.push_str(flag);
        }
    }
    Some(format!("{line} -o {}", NAMES[side]))
}

fn partner(workspace: &Workspace) -> Vec<String> {
    let form = &workspace.partner;
    let [cohort, _] = cohort_names(workspace);
    let peer = match form.peer.trim() {
        "" => "PARTNER-FINGERPRINT",
        peer => peer,
    };
    let address = match (form.meeting_address(), form.via_relay) {
        ("", true) => "RELAY-ADDRESS:7071",
        ("", false) => "HOST-ADDRESS:7070",
        (address, _) => address,
    };
    let address = quoted(address);
    let mut line = match (form.role.as_str(), form.via_relay) {
        ("join", true) => format!("veilpath join --relay {address} --wait 600"),
        ("join", false) => format!("veilpath join {address} --wait 600"),
        (_, true) => format!("veilpath host --relay {address}"),
        (_, false) => format!("veilpath host --listen {address}"),
    };
    let (peer, cohort) = (quoted(peer), quoted(&cohort));
    line.push_str(&format!(" --peer {peer} --cohort {cohort}"));
    line.push_str(&flags(&form.plan, true));
    let is_named = [&form.name, &form.peer_name].map(|name| !name.trim().is_empty());
    let names = form.names();
    if is_named.contains(&true) && !names.iter().any(|name| name.contains(',')) {
        line.push_str(&format!(" --names {}", quoted(&names.join(","))));
    }
    if form.pseudonyms {
        line.push_str(" --pseudonyms");
    }
    for (flag, value) in [
        ("--limit-per-scanpath", form.limit.trim()),
        ("--minimum-group", form.minimum_group.trim()),
    ] {
        if !value.is_empty() {
            line.push_str(&format!(" {flag} {}", quoted(value)));
        }
    }
    let identity = workspace.identity.as_ref().map(|path| {
        let path = path.display().to_string();
        format!(" --identity {}", quoted(&path))
    });
    let identity = identity.unwrap_or_default();
    vec![
        format!("veilpath identity{identity}"),
        format!("{line}{identity} -o scores.json"),
    ]
}

/// The flags of a plan.
fn flags(plan: &NamedPlan, with_partner: bool) -> String {
    let default = match with_partner {
        true => "auto",
        false => "plain",
    };
    let mut line = format!(" --metric {}", plan.metric);
    let mut add = |flag: &str, value: &str| line.push_str(&format!(" {flag} {}", quoted(value)));
    for (name, number) in &plan.parameters {
        let flag = match name.as_str() {
            "reward" => "--match".to_string(),
            name => format!("--{name}"),
        };
        add(&flag, &number.to_string());
    }
    if let Some(substitution) = &plan.substitution {
        add("--substitution", substitution);
    }
    if plan.positions != "letters" {
        add("--positions", &plan.positions);
    }
    if plan.engine != default {
        add("--engine", &plan.engine);
    }
    if plan.pairs != "same-stimulus" {
        add("--pairs", &plan.pairs);
    }
    if plan.reveal != "score" {
        add("--reveal", &plan.reveal);
    }
    if with_partner && plan.reveal_to != "both" {
        add("--reveal-to", &plan.reveal_to);
    }
    if let Some(length) = plan.pad_to {
        add("--pad-to", &length.to_string());
    }
    if plan.wrap {
        line.push_str(" --wrap");
    }
    line
}

/// A length without the space before its unit.
fn compact(length: &str) -> String {
    length.chars().filter(|c| !c.is_whitespace()).collect()
}

/// A word, quoted for a shell if necessary.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/:=,+-@%".contains(c);
    let word = match word.starts_with('-') && word.parse::<f64>().is_err() {
        true => format!("./{word}"),
        false => word.to_string(),
    };
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, expected) in [
            ("a.csv", "a.csv"),
            ("my file.csv", "'my file.csv'"),
            ("it's", r"'it'\''s'"),
            ("-rf", "./-rf"),
            ("-0.5", "-0.5"),
            ("$(rm)", "'$(rm)'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}

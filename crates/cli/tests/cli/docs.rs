//! The console blocks of the documents run and print what is shown, and links lead to files and headings.

// Clippy lints helpers outside `#[test]` functions like product code.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;
use crate::common::console;

use common::root;
use console::{DocumentRunner, Step, matches, steps};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[test]
fn every_command_in_the_documents_prints_what_they_show() {
    let documents: Vec<(PathBuf, Vec<Step>)> = guides()
        .into_iter()
        .map(|document| (document.clone(), steps(&read(&document))))
        .collect();
    // Each document has its own folder.
    let problems: Vec<String> = std::thread::scope(|scope| {
        let run = |(document, steps): &(PathBuf, Vec<Step>)| {
            let problems = DocumentRunner::new().run(steps).into_iter();
            let here = document.display();
            problems
                .map(|problem| format!("{here}:{problem}"))
                .collect::<Vec<_>>()
        };
        let threads: Vec<_> = documents
            .iter()
            .map(|document| scope.spawn(move || run(document)))
            .collect();
        let result = threads.into_iter().map(|thread| thread.join().unwrap());
        result.flatten().collect()
    });
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let commands: usize = documents.iter().map(|(_, steps)| steps.len()).sum();
    assert!(commands > 100, "only {commands} commands were found");
}

/// The answer of the tutorial's private test equals that of the same test in the clear with the same coins.
#[test]
fn the_tutorial_on_groups_repeats_its_test_in_the_clear() {
    let mut runner = DocumentRunner::new();
    let tutorial = read(&root().join("docs/tutorial-groups.md"));
    let problems = runner.run(&steps(&tutorial));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let answers = |who: &str, name: &str| {
        let outcome: serde_json::Value = serde_json::from_str(&runner.file(who, name)).unwrap();
        assert_eq!(outcome["results"], serde_json::json!([]), "{who} {name}");
        outcome["answers"].clone()
    };
    let test = answers("clinic", "test.json");
    assert_eq!(test[0]["coins"].as_str().unwrap().len(), 64);
    assert_eq!(test, answers("university", "test.json"));
    assert_eq!(test, answers("clinic", "check.json"));
    assert_eq!(
        answers("clinic", "groups.json"),
        answers("university", "groups.json")
    );
}

#[test]
fn links_resolve_to_files_and_headings() {
    let mut documents = guides();
    let others = [
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "SECURITY.md",
        "testdata/formats/README.md",
    ];
    documents.extend(others.map(|name| root().join(name)));
    let mut links = 0;
    for document in &documents {
        for link in links_in(&read(document)) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => document.clone(),
                file => document.parent().unwrap().join(file),
            };
            let here = document.display();
            assert!(target.exists(), "{here}: ({link}) leads nowhere");
            if !heading.is_empty() {
                let known = headings_in(&read(&target));
                assert!(
                    known.contains(heading),
                    "{here}: ({link}) is not one of the headings {known:?}"
                );
            }
            links += 1;
        }
    }
    assert!(links > 20, "only {links} links were found");
}

#[test]
fn the_wire_format_has_the_present_version() {
    let text = read(&root().join("docs/wire-format.md"));
    let version = veilpath_session::limits::PROTOCOL_VERSION;
    let sentence = format!("`PROTOCOL_VERSION` (`limits`), now {version}.");
    assert!(text.contains(&sentence), "{sentence}");
}

/// The documents whose commands are run.
fn guides() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    assert!(!found.is_empty());
    found.push(root().join("README.md"));
    found.push(root().join("testdata/demo/README.md"));
    found.sort();
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .replace("\r\n", "\n")
}

#[test]
fn shown_output_must_match_exactly() {
    assert!(matches(&["a", "…", "d"], &["a", "b", "c", "d"]));
    assert!(matches(&["a", "…", "d"], &["a", "d"]));
    assert!(matches(&["…"], &[]));
    for shown in [&["a"][..], &["…", "a"], &["a", "b", "c"], &[]] {
        assert!(!matches(shown, &["a", "b"]), "{shown:?}");
    }
    for (shown, real, same) in [
        ("a … c", "a b c", true),
        ("a … c", "a c", false),
        ("… s", "12 s", true),
        ("in … s; … bytes", "in 1 s; 2 bytes", true),
        ("in … s; … bytes", "in 1 s; 2 bits", false),
        ("…a", "ab", false),
    ] {
        assert_eq!(matches(&[shown], &[real]), same, "{shown} {real}");
    }
    let fingerprints = ["0a", "ff"].map(|byte| vec![byte.repeat(2); 16].join("-"));
    let [one, other] =
        fingerprints.map(|fingerprint| format!("it is {fingerprint}, and nothing else"));
    assert!(matches(&[&one], &[&other]));
    assert!(!matches(&[&one], &["it is 0a0a-0a0a, and nothing else"]));
    let failing = |document: &str| {
        let steps = steps(document);
        assert!(!steps.is_empty());
        !DocumentRunner::new().run(&steps).is_empty()
    };
    for (commands, fails) in [
        ("$ veilpath encode nothing.csv", true),
        (
            "$ veilpath encode nothing.csv\nerror: nothing.csv: …",
            false,
        ),
        ("$ veilpath encode nothing.csv\nerror: it was read", true),
        ("$ veilpath --version\n1", true),
        ("$ veilpath --version\nerror: …", true),
        ("$ veilpath --version\nveilpath …", false),
        ("$ rm everything", true),
        ("clinic$ veilpath --version \\\n  --help", false),
        // The two sides differ; the document shows the error for only one of them.
        (
            "a$ veilpath identity\nb$ veilpath identity\n\
             a$ veilpath synth random --seed 1 -o x.csv\nb$ veilpath synth random --seed 2 -o x.csv\n\
             a$ veilpath host --listen 0.0.0.0:7070 --peer B-FINGERPRINT --cohort x.csv\n\
             b$ veilpath join a.example:7070 --peer A-FINGERPRINT --cohort x.csv --pairs all\n\
             error: the two sides differ:\n…",
            true,
        ),
    ] {
        let document = format!("```console\n{commands}\n```\n");
        assert_eq!(failing(&document), fails, "{commands}");
    }
}

/// Lines outside of code blocks.
fn prose(document: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    document.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !fence && !in_code
    })
}

/// The targets of `[text](target)`.
fn links_in(document: &str) -> Vec<String> {
    prose(document)
        .flat_map(|line| line.split("](").skip(1))
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.to_string())
        .collect()
}

/// The anchors of headings: lower case, spaces as hyphens, no punctuation, and a number for repeated ones.
fn headings_in(document: &str) -> BTreeSet<String> {
    let mut uses: BTreeMap<String, u32> = BTreeMap::new();
    prose(document)
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            let anchor: String = line
                .trim_start_matches('#')
                .trim()
                .to_lowercase()
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect();
            let used = uses.entry(anchor.clone()).or_default();
            *used += 1;
            match *used {
                1 => anchor,
                again => format!("{anchor}-{}", again - 1),
            }
        })
        .collect()
}

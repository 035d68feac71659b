//! The book in `docs/`: its chapters and its links.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)] // a test may fail, and prints what it skips

use crate::common;

use common::root;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

fn read(path: &str) -> String {
    let path = root().join(path);
    let text = std::fs::read_to_string(&path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.replace("\r\n", "\n")
}

/// The names of all chapters.
fn chapters() -> BTreeSet<String> {
    let files = std::fs::read_dir(root().join("docs")).unwrap();
    files
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".md") && name != "SUMMARY.md")
        .collect()
}

/// The targets of `[text](target)`.
fn links(text: &str) -> Vec<&str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once(')')?.0))
        .collect()
}

#[test]
fn the_summary_names_every_chapter_once() {
    let summary = read("docs/SUMMARY.md");
    let named = links(&summary);
    let once: BTreeSet<String> = named.iter().map(|name| name.to_string()).collect();
    assert_eq!(named.len(), once.len(), "a chapter is named twice");
    assert_eq!(
        once,
        chapters(),
        "docs/SUMMARY.md and the files in docs/ differ"
    );
}

/// The built book contains only what is in docs/.
#[test]
fn links_of_chapters_stay_in_the_book() {
    for name in chapters() {
        let text = read(&format!("docs/{name}"));
        for link in links(&text) {
            assert!(
                !link.starts_with("../") && !link.starts_with('/'),
                "docs/{name}: ({link}) leads out of the book"
            );
        }
    }
}

/// `.ci/run` builds the book and names its folder.
#[test]
fn every_link_in_the_built_book_resolves() {
    let Some(folder) = std::env::var_os("VEILPATH_BOOK").map(PathBuf::from) else {
        eprintln!("skipped: VEILPATH_BOOK names no built book (`mdbook build docs`)");
        return;
    };
    let pages: BTreeMap<PathBuf, String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "html"))
        .map(|path| (path.clone(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    let built = |name: &String| pages.contains_key(&folder.join(name.replace(".md", ".html")));
    assert!(chapters().iter().all(built), "a chapter has no page");
    let mut followed = 0;
    for (page, text) in &pages {
        // The 404 page has its own base address; the print page combines all others.
        if page.ends_with("404.html") || page.ends_with("print.html") {
            continue;
        }
        for target in attributes(text) {
            if target.contains("://") || target.starts_with("data:") || target.is_empty() {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            let here = page.display();
            assert!(path.exists(), "{here}: {target} leads nowhere");
            if let (Some(other), false) = (pages.get(&path), anchor.is_empty()) {
                let id = format!("id=\"{anchor}\"");
                assert!(other.contains(&id), "{here}: {target} names no heading");
            }
            followed += 1;
        }
    }
    assert!(followed > 500, "only {followed} links were found");
}

/// The values of `href` and `src`.
fn attributes(page: &str) -> impl Iterator<Item = &str> {
    ["href=\"", "src=\""].into_iter().flat_map(|name| {
        page.split(name)
            .skip(1)
            .filter_map(|rest| Some(rest.split_once('"')?.0))
    })
}

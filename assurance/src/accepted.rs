//! Accepted findings, each with its reason: `accepted.txt`.

use crate::findings::Finding;
use std::fs;
use std::path::Path;

/// One reason to accept findings.
pub struct Rule {
    /// What an attacker would need to exploit it.
    pub class: Class,
    /// The file of the innermost call within the product, or `*`.
    file: String,
    /// The text of that line of the file, or `*`.
    text: String,
    /// Part of the path of a file of another crate that must be above, or `-` if there must be none.
    above: String,
}

/// What a dependence reveals.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Nothing: the value is public, though it was computed from a secret.
    Public,
    /// Something, to an attacker who shares the caches of this machine.
    Local,
}

impl Rule {
    pub fn read(path: &Path) -> Vec<Self> {
        let text = fs::read_to_string(path).expect("accepted.txt is there");
        let rules = text
            .lines()
            .filter(|line| !line.trim_start().starts_with('#') && !line.trim().is_empty());
        rules.map(Self::parse).collect()
    }

    fn parse(line: &str) -> Self {
        let fields: Vec<&str> = line.split(" ; ").map(str::trim).collect();
        let [class, file, text, above, reason] = fields[..] else {
            panic!("a rule has five fields: {line}");
        };
        assert!(!reason.is_empty(), "a rule has a reason: {line}");
        Self {
            class: match class {
                "public" => Class::Public,
                "local" => Class::Local,
                other => panic!("no such class: {other}"),
            },
            file: file.into(),
            text: text.into(),
            above: above.into(),
        }
    }

    /// Whether this rule covers the finding.
    pub fn covers(&self, finding: &Finding, root: &Path) -> bool {
        let place = finding
            .frames
            .iter()
            .position(|frame| frame.product_file().is_some());
        let Some(place) = place else {
            return false;
        };
        let (inner, frame) = (&finding.frames[..place], &finding.frames[place]);
        let foreign = || inner.iter().filter(|frame| !frame.is_standard());
        let above = match self.above.as_str() {
            "-" => foreign().next().is_none(),
            part => foreign().any(|frame| frame.file.contains(part)),
        };
        let file = frame.product_file().unwrap_or_default();
        above
            && (self.file == "*" || self.file == file)
            && (self.text == "*" || line_of(&root.join(file), frame.line).contains(&self.text))
    }

    /// How it is shown if no finding needs it any more.
    pub fn place(&self) -> String {
        format!("{}: {}", self.file, self.text)
    }
}

fn line_of(file: &Path, line: usize) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let found = line.checked_sub(1).and_then(|at| text.lines().nth(at));
    found.unwrap_or_default().to_string()
}

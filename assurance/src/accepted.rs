//! Accepted findings, each with its reason: `accepted.txt`.

use crate::findings::{Finding, Frame};
use std::fs;
use std::path::Path;

/// One reason to accept findings.
pub struct Rule {
    /// The attacker that could exploit it.
    pub class: Class,
    /// The file of the innermost call within the product, or `*`.
    file: String,
    /// Whether the rule also covers findings below a call in that file.
    below: bool,
    /// The text of that line of the file, or `*`.
    text: String,
    /// Part of the path of another crate's file that must be above it in the stack, or `-` if none may be.
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
        let below = file.strip_prefix("below ");
        assert!(below.is_none() || text != "*", "a call is named: {line}");
        Self {
            class: match class {
                "public" => Class::Public,
                "local" => Class::Local,
                other => panic!("no such class: {other}"),
            },
            file: below.unwrap_or(file).into(),
            below: below.is_some(),
            text: text.into(),
            above: above.into(),
        }
    }

    /// Whether this rule covers the finding.
    pub fn covers(&self, finding: &Finding, root: &Path) -> bool {
        let calls = finding.frames.iter().enumerate();
        let mut of_product = calls.filter_map(|(at, frame)| Some((at, frame.product_file()?)));
        if self.below {
            of_product.any(|(at, file)| self.covers_at(finding, at, file, root))
        } else {
            let innermost = of_product.next();
            innermost.is_some_and(|(at, file)| self.covers_at(finding, at, file, root))
        }
    }

    fn covers_at(&self, finding: &Finding, at: usize, file: &str, root: &Path) -> bool {
        let (inner, frame) = (&finding.frames[..at], &finding.frames[at]);
        let is_dependency = |frame: &&Frame| !frame.is_standard() && frame.product_file().is_none();
        let mut dependencies = inner.iter().filter(is_dependency);
        let above = match self.above.as_str() {
            "-" => dependencies.next().is_none(),
            part => dependencies.any(|frame| frame.file.contains(part)),
        };
        above
            && (self.file == "*" || self.file == file)
            && (self.text == "*" || line_of(&root.join(file), frame.line).contains(&self.text))
    }

    /// How a rule without findings is printed.
    pub fn describe(&self) -> String {
        format!("{}: {}", self.file, self.text)
    }
}

fn line_of(file: &Path, line: usize) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let found = line.checked_sub(1).and_then(|at| text.lines().nth(at));
    found.unwrap_or_default().to_string()
}

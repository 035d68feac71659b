//! Parses valgrind's report.

/// One place in the program that depends on a secret, with the calls that led there, the innermost first.
pub struct Finding {
    pub kind: String,
    pub frames: Vec<Frame>,
}

/// A call: function, file, line.
pub struct Frame {
    pub function: String,
    pub file: String,
    pub line: usize,
}

impl Frame {
    /// The path from the root of the repository, if it is the product's own code.
    pub fn product_file(&self) -> Option<&str> {
        let start = self.file.find("/crates/")?;
        let rest = &self.file[start + 1..];
        rest.contains("/src/").then_some(rest)
    }

    /// Whether it belongs to the standard library or a crate in it, or to valgrind, which replaces parts of the C
    /// library.
    pub fn is_standard(&self) -> bool {
        self.file.contains("library/") || self.file.contains("/rust/deps/") || self.file.is_empty()
    }
}

/// All findings in valgrind's text.
pub fn parse(text: &str) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for line in text.lines() {
        // ==1234== then the message, or a call indented by three.
        let Some((_, message)) = line
            .strip_prefix("==")
            .and_then(|rest| rest.split_once("== "))
        else {
            continue;
        };
        match message.strip_prefix("   ") {
            None if message.starts_with("Conditional jump") || message.starts_with("Use of") => {
                findings.push(Finding {
                    kind: if message.starts_with("Use of") {
                        "address".into()
                    } else {
                        "branch".into()
                    },
                    frames: Vec::new(),
                });
            }
            None => {}
            Some(call) => {
                let call = call.trim_start();
                let frame = call
                    .strip_prefix("at 0x")
                    .or_else(|| call.strip_prefix("by 0x"))
                    .and_then(|call| call.split_once(": "));
                if let (Some((_, call)), Some(finding)) = (frame, findings.last_mut()) {
                    finding.frames.push(parse_frame(call));
                }
            }
        }
    }
    findings
}

/// `function (file:line)`, or `function (in object)`.
fn parse_frame(call: &str) -> Frame {
    let (function, location) = call.rsplit_once(" (").unwrap_or((call, ""));
    let location = location.trim_end_matches(')');
    let (file, line) = match location.rsplit_once(':') {
        Some((file, line)) if !location.starts_with("in ") => (file, line.parse().unwrap_or(0)),
        _ => ("", 0),
    };
    Frame {
        function: function.into(),
        file: file.into(),
        line,
    }
}

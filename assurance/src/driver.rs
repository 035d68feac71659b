//! Runs every case under valgrind and prints the results.

use crate::accepted::{Class, Rule};
use crate::cases;
use crate::findings::{self, Finding};
use std::path::Path;
use std::process::{Command, ExitCode, Output};

const VALGRIND: &[&str] = &[
    "--quiet",
    "--error-limit=no",
    "--num-callers=60",
    "--fullpath-after=",
];

pub fn run() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package is in the repository");
    let rules = Rule::read(&root.join("assurance/accepted.txt"));
    let mut used = vec![false; rules.len()];
    let names = String::from_utf8(valgrind(&[]).stdout).expect("names of cases");
    let prefix = std::env::var("VEILPATH_SECRETS").unwrap_or_default();
    let leaking: Vec<String> = cases()
        .into_iter()
        .filter(|case| case.leaks)
        .map(|case| case.name)
        .collect();
    let mut good = true;
    println!(
        "{:<40} {:>8} {:>8} {:>8}",
        "case", "findings", "public", "local"
    );
    let chosen = names.lines().filter(|name| name.starts_with(&prefix));
    let chosen: Vec<&str> = chosen.collect();
    if chosen.is_empty() {
        eprintln!("no case has a name that starts with '{prefix}' (VEILPATH_SECRETS)");
        return ExitCode::FAILURE;
    }
    for name in chosen {
        let output = valgrind(&[name]);
        let log = String::from_utf8_lossy(&output.stderr);
        let (mut open, mut public, mut local) = (Vec::new(), 0, 0);
        for finding in findings::parse(&log) {
            let rule = rules.iter().position(|rule| rule.covers(&finding, root));
            match rule.map(|rule| (rule, rules[rule].class)) {
                Some((rule, class)) => {
                    used[rule] = true;
                    match class {
                        Class::Public => public += 1,
                        Class::Local => local += 1,
                    }
                }
                None => open.push(finding),
            }
        }
        let must_leak = leaking.iter().any(|leaking| leaking == name);
        let verdict = match (output.status.success(), must_leak, open.is_empty()) {
            (false, ..) => "DID NOT RUN",
            (true, false, true) => "clean",
            (true, true, false) => "found, as it must be",
            (true, false, false) => "DEPENDS ON A SECRET",
            (true, true, true) => "NOT FOUND: the check does not work",
        };
        println!(
            "{name:<40} {:>8} {public:>8} {local:>8}  {verdict}",
            open.len()
        );
        good &= output.status.success() && must_leak != open.is_empty();
        if !must_leak {
            open.iter().for_each(print);
        }
        if !output.status.success() {
            eprintln!("{log}");
        }
    }
    for (rule, _) in rules.iter().zip(&used).filter(|(_, used)| !**used) {
        // Not a failure: compilers differ in which lines they merge.
        println!("accepted, but not found in this build: {}", rule.describe());
    }
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn valgrind(arguments: &[&str]) -> Output {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new("valgrind")
        .args(VALGRIND)
        .arg(program)
        .args(arguments)
        .output();
    output.expect("valgrind can be started")
}

fn print(finding: &Finding) {
    println!("    {}", finding.kind);
    for frame in finding.frames.iter().take(12) {
        // Names of closures and iterators are long and say little.
        let function: String = frame.function.chars().take(70).collect();
        println!("      {function}  {}:{}", frame.file, frame.line);
    }
}

use super::line::ChainedLine;
use super::*;
use crate::error::FileProblem;
use crate::{Identity, SessionError, StateDir};
use std::path::Path;
use veilpath_protocol::{RevealTo, Role};

struct Sides {
    host: Identity,
    join: Identity,
    files: [tempfile::TempDir; 2],
}

impl Sides {
    fn new() -> Self {
        Self {
            host: Identity::ephemeral().unwrap(),
            join: Identity::ephemeral().unwrap(),
            files: [0, 1].map(|_| tempfile::tempdir().unwrap()),
        }
    }

    fn disclosure(&self, number: u32) -> Disclosure {
        Disclosure {
            agreement: format!("{number:064x}"),
            plan: "ab".repeat(32),
            number,
            host: self.host.fingerprint(),
            join: self.join.fingerprint(),
            participants: [5, 6],
            scanpaths: [50, 60],
            pairs: 300,
            tile: None,
            engine: "auto".into(),
            metric: "levenshtein".into(),
            answer: "score".into(),
            to: RevealTo::Both,
        }
    }

    fn entry(&self, step: Step, number: u32) -> RecordEntry {
        let disclosure = self.disclosure(number);
        let host = disclosure.sign(step, Role::Host, &self.host).unwrap();
        let join = disclosure.sign(step, Role::Join, &self.join).unwrap();
        RecordEntry::Session(Box::new(SessionEntry {
            step,
            disclosure,
            host,
            join,
        }))
    }

    fn directory(&self, role: Role) -> StateDir {
        StateDir::at(self.files[usize::from(role == Role::Join)].path())
    }

    /// Both sides have signed a step.
    fn sign(&self, step: Step, number: u32) {
        let entry = self.entry(step, number);
        for (role, identity) in [(Role::Host, &self.host), (Role::Join, &self.join)] {
            let file = RecordFile::of(Some(&self.directory(role)));
            file.append(entry.clone(), identity).unwrap();
        }
    }

    /// Two sessions, of which the second did not finish.
    fn with_sessions() -> Self {
        let sides = Self::new();
        sides.sign(Step::Intent, 1);
        sides.sign(Step::Completion, 1);
        sides.sign(Step::Intent, 2);
        sides
    }

    fn text(&self, role: Role) -> String {
        std::fs::read_to_string(self.directory(role).record()).unwrap()
    }
}

fn read(text: &str) -> SignedRecord {
    SignedRecord::parse(Path::new("record"), text, None)
}

fn problem(text: &str) -> Option<(u64, RecordProblem)> {
    read(text).problem
}

fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_record_is_read_back() {
    let sides = Sides::with_sessions();
    let record = read(&sides.text(Role::Host)).require_intact().unwrap();
    assert_eq!(record.owners(), [sides.host.fingerprint()]);
    let steps: Vec<&str> = record
        .lines
        .iter()
        .map(|line| match &line.entry {
            RecordEntry::Session(entry) => entry.step.name(),
            RecordEntry::Withdrawal(_) => "withdrawal",
        })
        .collect();
    assert_eq!(steps, ["intent", "completion", "intent"]);
    assert_eq!(record.lines[0].role(), Some(Role::Host));
    assert_eq!(record.lines[0].partner(), Some(sides.join.fingerprint()));
    assert!(record.lines[0].time().is_some());
}

#[test]
fn a_step_is_entered_once_and_its_signature_is_used_again() {
    let sides = Sides::with_sessions();
    let before = sides.text(Role::Host);
    let file = RecordFile::of(Some(&sides.directory(Role::Host)));
    file.append(sides.entry(Step::Intent, 2), &sides.host)
        .unwrap();
    assert_eq!(sides.text(Role::Host), before);
    let disclosure = sides.disclosure(2);
    let signed = file.own_signature(Step::Intent, &disclosure, Role::Host, &sides.host);
    assert!(before.contains(&signed.unwrap().signature));
    let new = file.own_signature(Step::Completion, &disclosure, Role::Host, &sides.host);
    assert!(!before.contains(&new.unwrap().signature));
}

/// Changes every byte of every line. Only the line break at the end of the last line can be removed without changing a
/// line.
#[test]
fn every_changed_byte_is_detected_in_its_line() {
    let sides = Sides::with_sessions();
    let text = sides.text(Role::Host);
    let mut line = 1;
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        let is_end = bytes[at] == b'\n';
        bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
        let changed = String::from_utf8(bytes).unwrap();
        // Each check verifies signatures; a part of the positions is enough.
        if at % 7 == 0 || is_end {
            let found = problem(&changed).map(|(line, _)| line);
            assert_eq!(found, Some(line), "byte {at}");
        }
        line += u64::from(is_end);
    }
}

#[test]
fn the_first_line_that_was_removed_or_reordered_is_named() {
    let sides = Sides::with_sessions();
    let text = sides.text(Role::Host);
    let lines: Vec<&str> = text.lines().collect();
    let [a, b, c] = lines[..] else { unreachable!() };
    for (lines, expected) in [
        (vec![a, b, c], None),
        (vec![b, c], Some((1, RecordProblem::Removed { found: 2 }))),
        (vec![a, c], Some((2, RecordProblem::Removed { found: 3 }))),
        (vec![b, a, c], Some((1, RecordProblem::Moved { found: 2 }))),
        (vec![a, c, b], Some((2, RecordProblem::Moved { found: 3 }))),
        (
            vec![a, b, c, a],
            Some((4, RecordProblem::Repeated { found: 1 })),
        ),
        (
            vec![a, a, b, c],
            Some((2, RecordProblem::Moved { found: 1 })),
        ),
        (vec![a, "", b], Some((2, RecordProblem::Changed))),
        // This shows only in the partner's record.
        (vec![a, b], None),
    ] {
        assert_eq!(problem(&joined(&lines)), expected);
    }
    let cut = &text[..text.len() - 10];
    assert_eq!(problem(cut), Some((3, RecordProblem::Incomplete)));
    assert_eq!(read(cut).lines.len(), 2);
}

/// The owner has its own key, but not the partner's.
#[test]
fn an_owner_cannot_forge_the_partners_signature() {
    let sides = Sides::new();
    let RecordEntry::Session(entry) = sides.entry(Step::Intent, 1) else {
        unreachable!()
    };
    let forged = |change: fn(&mut SessionEntry)| {
        let mut entry = entry.clone();
        change(&mut entry);
        let line = ChainedLine::after(None, RecordEntry::Session(entry), &sides.host).unwrap();
        problem(&joined(&[&line.to_text().unwrap()]))
    };
    assert_eq!(forged(|_| ()), None);
    let not_signed = |role| Some((1, RecordProblem::NotSigned(role)));
    assert_eq!(
        forged(|entry| entry.disclosure.pairs = 1),
        not_signed(Role::Host)
    );
    assert_eq!(
        forged(|entry| entry.step = Step::Completion),
        not_signed(Role::Host)
    );
    assert_eq!(
        forged(|entry| entry.join.time.replace_range(3..4, "0")),
        not_signed(Role::Join)
    );
    assert_eq!(
        forged(|entry| entry.join = entry.host.clone()),
        not_signed(Role::Join)
    );
}

/// A line that was replaced by another one signed by its owner, and a line of somebody else's record.
#[test]
fn replaced_lines_are_detected() {
    let sides = Sides::with_sessions();
    let text = sides.text(Role::Host);
    let lines: Vec<&str> = text.lines().collect();
    let other = ChainedLine::after(
        Some((1, lines[0])),
        sides.entry(Step::Intent, 7),
        &sides.host,
    );
    let other = other.unwrap().to_text().unwrap();
    assert_eq!(
        problem(&joined(&[lines[0], &other, lines[2]])),
        Some((3, RecordProblem::Unchained))
    );
    let another = Identity::ephemeral().unwrap();
    let line = ChainedLine::after(None, sides.entry(Step::Intent, 1), &another).unwrap();
    let foreign = Some((1, RecordProblem::OtherOwner(another.fingerprint())));
    assert_eq!(problem(&joined(&[&line.to_text().unwrap()])), foreign);
    let expected = Some(sides.join.fingerprint());
    let record = SignedRecord::parse(Path::new("record"), &text, expected);
    let owner = sides.host.fingerprint();
    assert_eq!(record.problem, Some((1, RecordProblem::OtherOwner(owner))));
}

#[test]
fn a_truncated_line_is_replaced_and_a_changed_one_is_an_error() {
    let sides = Sides::with_sessions();
    let path = sides.directory(Role::Host).record();
    let text = sides.text(Role::Host);
    let file = RecordFile::of(Some(&sides.directory(Role::Host)));
    std::fs::write(&path, &text[..text.len() - 10]).unwrap();
    file.append(sides.entry(Step::Intent, 2), &sides.host)
        .unwrap();
    assert_eq!(
        read(&sides.text(Role::Host))
            .require_intact()
            .unwrap()
            .lines
            .len(),
        3
    );
    std::fs::write(&path, text.replace("\"line\":3", "\"line\":4")).unwrap();
    let error = file.append(sides.entry(Step::Intent, 3), &sides.host);
    assert!(matches!(
        error,
        Err(SessionError::File {
            problem: FileProblem::BrokenRecord { line: 3, .. },
            ..
        })
    ));
}

/// Wherever the record is broken, and even for a step that is already in it: a resumed session must not disclose more.
#[test]
fn a_record_broken_in_the_middle_is_not_extended() {
    let sides = Sides::with_sessions();
    let path = sides.directory(Role::Host).record();
    let text = sides.text(Role::Host);
    let lines: Vec<&str> = text.lines().collect();
    let [a, b, c] = lines[..] else { unreachable!() };
    let changed = |line: &str| line.replacen("\"pairs\":300", "\"pairs\":301", 1);
    let (first, last) = (changed(a), changed(c));
    let replaced = ChainedLine::after(Some((1, a)), sides.entry(Step::Intent, 7), &sides.host);
    let replaced = replaced.unwrap().to_text().unwrap();
    let file = RecordFile::of(Some(&sides.directory(Role::Host)));
    for broken in [
        [first.as_str(), b, c].as_slice(),
        &[b, c],
        &[a, c],
        &[b, a, c],
        &[a, c, b],
        &[a, a, b, c],
        &[a, b, c, a],
        &[a, replaced.as_str(), c],
        &[a, "", c],
        &[a, b, last.as_str()],
    ] {
        let broken = joined(broken);
        let (line, problem) = problem(&broken).unwrap();
        std::fs::write(&path, &broken).unwrap();
        for number in [2, 3] {
            let error = file.append(sides.entry(Step::Intent, number), &sides.host);
            let Err(SessionError::File {
                problem:
                    FileProblem::BrokenRecord {
                        line: at,
                        problem: found,
                    },
                ..
            }) = error
            else {
                unreachable!("{error:?}")
            };
            assert_eq!((at, found), (line, problem));
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), broken);
    }
}

#[test]
fn a_truncated_tail_shows_in_the_partners_record() {
    let sides = Sides::with_sessions();
    let [ours, theirs] = [Role::Host, Role::Join].map(|role| read(&sides.text(role)));
    let complete = RecordComparison::new(&ours, &theirs);
    assert!(complete.is_complete() && complete.common == 3);
    assert!(!complete.has_same_owner && RecordComparison::new(&ours, &ours).has_same_owner);
    let text = sides.text(Role::Host);
    let lines: Vec<&str> = text.lines().collect();
    for kept in 0..3 {
        let cut = read(&joined(&lines[..kept])).require_intact().unwrap();
        let found = RecordComparison::new(&cut, &theirs);
        let missing: Vec<u64> = found.missing_in_ours.iter().map(|it| it.number).collect();
        let expected: Vec<u64> = (kept as u64 + 1..=3).collect();
        assert_eq!((found.common, missing), (kept as u64, expected));
        assert!(found.missing_in_theirs.is_empty());
        let found = RecordComparison::new(&theirs, &cut);
        assert_eq!(found.missing_in_theirs.len(), 3 - kept);
    }
    // Sessions with other partners are ignored.
    let other = Sides {
        host: sides.host.clone(),
        ..Sides::with_sessions()
    };
    other.sign(Step::Intent, 9);
    let entry = other.entry(Step::Intent, 9);
    let file = RecordFile::of(Some(&sides.directory(Role::Host)));
    file.append(entry, &sides.host).unwrap();
    let ours = read(&sides.text(Role::Host));
    assert_eq!(ours.lines.len(), 4);
    assert!(RecordComparison::new(&ours, &theirs).is_complete());
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_or_change_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let sides = Sides::with_sessions();
    let path = sides.directory(Role::Host).record();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let file = RecordFile::of(Some(&sides.directory(Role::Host)));
    let entry = sides.entry(Step::Completion, 2);
    assert!(file.append(entry, &sides.host).is_err());
}

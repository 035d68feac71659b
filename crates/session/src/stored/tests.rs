use super::*;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric, PairScore};
use veilpath_protocol::{Answer, Engine, PairRule, Reveal, Spec, Value, compare_locally};

const ID: [u8; 32] = [7; 32];

fn cohort(rows: &[(&str, &str, &str)]) -> Cohort {
    let alphabet = Alphabet::letters(52).unwrap();
    let entries = rows.iter().map(|(participant, stimulus, text)| Entry {
        participant: participant.to_string(),
        group: None,
        stimulus: Some(stimulus.to_string()),
        scanpath: alphabet.parse(text).unwrap(),
        fixations: None,
    });
    Cohort {
        alphabet,
        encoding: Encoding::default(),
        screen: None,
        entries: entries.collect(),
    }
}

/// A complete outcome, and the description of it.
fn described() -> (Outcome, Description) {
    let a = cohort(&[
        ("P1", "cows", "ABC"),
        ("P2", "boat", "A"),
        ("P3", "cows", "BB"),
    ]);
    let b = cohort(&[
        ("Q1", "cows", "AB"),
        ("Q2", "cows", "CC"),
        ("Q3", "boat", "AD"),
    ]);
    let (metric, rule) = (Metric::Levenshtein, PairRule::SameStimulus);
    let spec = Spec::new(Engine::Plain, metric, rule, &a, &b).unwrap();
    let outcome = compare_locally(spec, &a, &b, &()).unwrap();
    let pairs: Vec<(usize, usize)> = outcome.results.iter().map(|it| (it.a, it.b)).collect();
    let without = Outcome {
        results: Results::new(outcome.spec.measures()),
        ..outcome.clone()
    };
    let peer = "1".repeat(64).parse().unwrap();
    let description = Description::new(&ID, peer, Role::Join, &pairs, without, None);
    (outcome, description)
}

/// A state folder with a journal of the first answers, and that journal.
fn stored(folder: &Path, answers: usize) -> (StateDir, Outcome, Journal) {
    let state_dir = StateDir::at(folder);
    let (outcome, description) = described();
    let pairs = outcome.results.len();
    let mut journal = Journal::open(&state_dir.journals(), ID, pairs, Reveal::Score).unwrap();
    journal.create().unwrap();
    for (number, pair) in outcome.results.iter().take(answers).enumerate() {
        let number_of = |value: Value| value.number();
        let score = PairScore::new(
            number_of(pair.values[0]).unwrap(),
            number_of(pair.values[1]),
        );
        journal.store(number, Answer::Score(score)).unwrap();
    }
    journal.describe(|_| description.to_bytes()).unwrap();
    (state_dir, outcome, journal)
}

#[test]
fn results_are_read_without_the_peer_or_any_write() {
    let folder = tempfile::tempdir().unwrap();
    let (state_dir, outcome, journal) = stored(folder.path(), 5);
    drop(journal);
    let files = || {
        let entries = std::fs::read_dir(state_dir.journals()).unwrap();
        let mut files: Vec<(PathBuf, Vec<u8>)> = entries
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect();
        files.sort();
        files
    };
    let before = files();
    assert_eq!(before.len(), 2);
    let listed = state_dir.comparisons().unwrap().entries;
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].pairs, listed[0].answered), (5, Some(5)));
    assert_eq!(listed[0].role, Role::Join);
    let read = state_dir.stored_outcome(&listed[0].id[..4]).unwrap();
    assert_eq!(read.results, outcome.results);
    assert_eq!(
        (&read.a, &read.b, &read.spec),
        (&outcome.a, &outcome.b, &outcome.spec)
    );
    assert!(!read.is_incomplete());
    assert_eq!(files(), before);
}

#[test]
fn an_interrupted_comparison_is_incomplete() {
    let folder = tempfile::tempdir().unwrap();
    let (state_dir, outcome, journal) = stored(folder.path(), 2);
    drop(journal);
    let listed = state_dir.comparisons().unwrap().entries;
    assert_eq!((listed[0].pairs, listed[0].answered), (5, Some(2)));
    let read = state_dir.stored_outcome(&listed[0].id).unwrap();
    assert!(read.is_incomplete());
    assert_eq!((read.pairs, read.results.len()), (5, 2));
    assert!(read.results.iter().eq(outcome.results.iter().take(2)));
}

fn problem(read: Result<Outcome, SessionError>) -> FileProblem {
    match read.unwrap_err() {
        SessionError::File { problem, .. } => problem,
        other => panic!("{other}"),
    }
}

#[test]
fn unreadable_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (state_dir, _, journal) = stored(folder.path(), 0);
    let listed = state_dir.comparisons().unwrap().entries;
    assert_eq!(listed[0].answered, None);
    let id = listed[0].id.clone();
    assert!(matches!(
        problem(state_dir.stored_outcome(&id)),
        FileProblem::Locked
    ));
    drop(journal);
    assert!(matches!(
        problem(state_dir.stored_outcome(&id)),
        FileProblem::NoResults
    ));
    for unknown in ["", "ff"] {
        let problem = problem(state_dir.stored_outcome(unknown));
        assert!(
            matches!(problem, FileProblem::NoSuchComparison),
            "{problem}"
        );
    }
    let path = state_dir.journals().join(&id).with_extension(EXTENSION);
    std::fs::copy(
        &path,
        path.with_file_name(format!("{}.{EXTENSION}", id.replace('7', "f"))),
    )
    .unwrap();
    std::fs::write(&path, "{}").unwrap();
    let corrupted = problem(state_dir.stored_outcome(&id));
    assert!(matches!(corrupted, FileProblem::CorruptedComparison));
    // The other one is still listed.
    let listed = state_dir.comparisons().unwrap();
    assert_eq!((listed.entries.len(), listed.unreadable.len()), (1, 1));
}

#[test]
fn inconsistent_descriptions_are_refused() {
    let valid = String::from_utf8(described().1.to_bytes().unwrap()).unwrap();
    assert!(Description::from_bytes(valid.as_bytes()).is_some());
    let schema = r#"{"measure":"score","unit":1,"shifts":[],"bits":[],"numbers":{"kind":"stimulus-means","stimuli":[]}}"#;
    serde_json::from_str::<AnswerSchema>(schema).unwrap();
    let with_schema = format!("\"schema\":{schema}");
    for (part, other) in [
        ("\"version\":4", "\"version\":3"),
        // An answer about pairs has no numbers after them.
        ("\"schema\":null", &with_schema),
        ("\"pairs\":[[0,0,2]", "\"pairs\":[[9,0,2]"),
        ("\"pairs\":[[0,0,2]", "\"pairs\":[[0,2,2]"),
        ("\"pairs\":[[0,0,2]", "\"pairs\":[[0,0,1]"),
        ("\"pairs\":[[0,0,2]", "\"pairs\":[[0,4294967295,4294967295]"),
        ("\"peer\":\"11", "\"peer\":\"x1"),
        ("\"journal\":\"07", "\"journal\":\"x7"),
        ("\"host\":false", "\"host\":false,\"more\":1"),
    ] {
        assert!(valid.contains(part), "{part} in {valid}");
        let changed = valid.replacen(part, other, 1);
        assert!(
            Description::from_bytes(changed.as_bytes()).is_none(),
            "{other}"
        );
    }
}

use super::*;
use veilpath_channel::memory_pair;
use veilpath_metrics::{Cohort, Distance, Grid, Metric, Notation, Substitution, Table};
use veilpath_protocol::{Engine, PairRule, RevealTo};

fn spec(metric: Metric, encoding: &[(&str, &str)]) -> Spec {
    let cohort = Cohort {
        alphabet: Alphabet::letters(4).unwrap(),
        encoding: Encoding(
            encoding
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .collect(),
        ),
        screen: None,
        entries: Vec::new(),
    };
    Spec::new(Engine::Plain, metric, PairRule::All, &cohort, &cohort).unwrap()
}

fn terms(spec: &Spec) -> Terms {
    Terms::new(spec, None, &Roster::default(), "0".repeat(64)).unwrap()
}

fn costs(insert: f64, substitution: Substitution) -> Metric {
    Metric::NeedlemanWunsch {
        substitution,
        insert,
        delete: 0.0,
        scale: None,
    }
}

fn differences_of(a: &Spec, b: &Spec) -> Vec<(String, String, String)> {
    let differences = terms(a).differences(&terms(b));
    let mirrored = terms(b).differences(&terms(a));
    assert_eq!(differences.len(), mirrored.len());
    differences
        .into_iter()
        .map(|d| (d.field, d.ours, d.theirs))
        .collect()
}

fn row(field: &str, ours: &str, theirs: &str) -> (String, String, String) {
    (field.into(), ours.into(), theirs.into())
}

#[test]
fn every_parameter_of_a_plan_is_compared_and_reported() {
    let unit = || Substitution::Unit { mismatch: 1.0 };
    let base = spec(costs(1.0, unit()), &[]);
    assert_eq!(differences_of(&base, &base.clone()), []);
    assert_eq!(differences_of(&base, &spec(costs(1.0, unit()), &[])), []);
    assert_eq!(
        differences_of(&base, &spec(costs(1.5, unit()), &[])),
        [row("metric.insert", "1", "1.5")]
    );
    assert_eq!(
        differences_of(&base, &spec(costs(-0.0, unit()), &[]))[0],
        row("metric.insert", "1", "0")
    );
    assert_eq!(
        differences_of(&base, &spec(Metric::Levenshtein, &[])),
        [row("metric.name", "needleman-wunsch", "levenshtein")]
    );
    let mut other = base.clone();
    other.reveal_to = RevealTo::Host;
    other.pair_rule = PairRule::SameStimulus;
    other.alphabet = Alphabet::letters(5).unwrap();
    assert_eq!(
        differences_of(&base, &other),
        [
            row("alphabet", "letters 4", "letters 5"),
            row("pair-rule", "all", "same-stimulus"),
            row("reveal-to", "both", "host"),
        ]
    );
}

/// Users who disagree on a threshold did not set the scale that follows from it.
#[test]
fn a_scale_is_reported_only_if_nothing_else_explains_it() {
    let scanmatch = |threshold: f64, scale: Option<f64>| {
        let metric = Metric::ScanMatch {
            grid: Grid::new(2, 2).unwrap(),
            wrap: false,
            threshold,
            gap: 0.0,
            scale,
        };
        spec(metric, &[])
    };
    assert_eq!(
        differences_of(&scanmatch(1.0, None), &scanmatch(1.25, None)),
        [row("metric.threshold", "1", "1.25")]
    );
    assert_eq!(
        differences_of(&scanmatch(1.0, Some(7.0)), &scanmatch(1.0, Some(8.0))),
        [row("metric.scale", "7", "8")]
    );
}

#[test]
fn what_is_revealed_is_agreed_on_and_reported() {
    let score = spec(Metric::Levenshtein, &[]);
    let asking = |reveal: &str, pad_to| {
        let mut spec = score.clone();
        spec.reveal = reveal.parse().unwrap();
        spec.pad_to = pad_to;
        spec
    };
    assert_eq!(
        differences_of(&score, &asking("threshold:3", None)),
        [row("reveal", "score", "threshold:3")]
    );
    assert_eq!(
        differences_of(
            &asking("threshold:3", Some(40)),
            &asking("threshold:3.5", Some(41))
        ),
        [
            row("pad-to", "40", "41"),
            row("reveal", "threshold:3", "threshold:3.5"),
        ]
    );
    assert_eq!(
        differences_of(&score, &asking("score", Some(40))),
        [row("pad-to", "(not given)", "40")]
    );
    assert_eq!(
        differences_of(&asking("threshold:3", None), &asking("threshold:3.0", None)),
        []
    );
}

#[test]
fn tables_are_compared_by_content_and_grids_by_wrapping() {
    let table = |last: f64| Substitution::Table {
        table: Table::new(2, vec![0.0, 1.0, 1.0, last]).unwrap(),
    };
    let differences = differences_of(
        &spec(costs(1.0, table(0.0)), &[]),
        &spec(costs(1.0, table(0.5)), &[]),
    );
    assert_eq!(differences.len(), 1);
    assert_eq!(differences[0].0, "metric.substitution.table.sha256");
    let grid = |wrap| {
        let grid = Grid::new(2, 2).unwrap().with_wrap(wrap);
        Substitution::on_grid(grid, Distance::Manhattan)
    };
    assert_eq!(
        differences_of(
            &spec(costs(1.0, grid(false)), &[]),
            &spec(costs(1.0, grid(true)), &[])
        ),
        [row("metric.substitution.wrap", "false", "true")]
    );
}

#[test]
fn encodings_conflict_only_if_both_sides_declare_one() {
    let plain = |encoding: &[(&str, &str)]| spec(Metric::Levenshtein, encoding);
    assert_eq!(differences_of(&plain(&[]), &plain(&[("grid", "7x7")])), []);
    assert_eq!(
        differences_of(
            &plain(&[("grid", "5x5"), ("bin", "50 ms")]),
            &plain(&[("grid", "7x7")])
        ),
        [
            row("encoding.bin", "50 ms", "(not given)"),
            row("encoding.grid", "5x5", "7x7")
        ]
    );
}

#[test]
fn another_version_and_another_program_are_distinguished() {
    let alphabet = AlphabetInfo {
        named: None,
        declared: None,
        read_as: Alphabet::letters(52).unwrap(),
        grid: Grid::new(7, 7),
    };
    let hello = Hello::new(&alphabet, Duration::from_secs(5));
    assert_eq!(hello.alphabet().unwrap(), alphabet);
    let against = |bytes: &[u8]| {
        let (mut here, mut there) = memory_pair();
        there.send(bytes).unwrap();
        there.flush().unwrap();
        exchange_versions(&mut here).unwrap_err()
    };
    let error = against(b"VEILPATH\xff\x00");
    let expected = format!("protocol version: {PROTOCOL_VERSION} here, 255 there");
    assert!(error.to_string().contains(&expected), "{error}");
    let error = against(b"HTTP/1.1 200 OK");
    assert!(matches!(error, SessionError::NotVeilpath), "{error}");
}

/// This code reads and writes the example messages in control.md.
#[test]
fn documented_messages_match_the_code() {
    let chapter = include_str!("../control.md");
    let example = |after: &str| -> &str {
        let (_, rest) = chapter
            .split_once(after)
            .unwrap_or_else(|| panic!("{after}"));
        let json = rest.split('`').find(|part| part.starts_with(['{', '[']));
        json.unwrap_or_default()
    };
    let hello: Hello = serde_json::from_str(example("**1, Hello.**")).unwrap();
    let same: Value = serde_json::from_str(example("**1, Hello.**")).unwrap();
    assert_eq!(serde_json::to_value(&hello).unwrap(), same);
    assert!(hello.alphabet().is_ok());

    let mut plan = spec(Metric::Levenshtein, &[("grid", "7x7")]);
    plan.alphabet = Alphabet::letters(49).unwrap();
    (plan.engine, plan.pair_rule) = (Engine::Garbled, PairRule::SameStimulus);
    let fields: BTreeMap<String, String> = serde_json::from_str(example("For instance")).unwrap();
    let terms = terms(&plan);
    assert_eq!(terms.fields, fields);
    let written = serde_json::to_value(&terms).unwrap();
    let (_, table) = chapter.split_once("**2, Terms.**").unwrap();
    let (table, _) = table.split_once("For instance").unwrap();
    for name in written.as_object().unwrap().keys() {
        assert!(table.contains(&format!("`{name}`")), "{name}");
    }

    use crate::roster::Row;
    let row = |json: &str| {
        let row: Row = serde_json::from_str(json).unwrap();
        let same: Value = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_value(&row).unwrap(), same);
    };
    let list = example("**3, Roster.**").replace(", …", "");
    row(list.trim_matches(['[', ']']));
    row(example("With pseudonyms"));
    serde_json::from_str::<crate::session::Ready>(example("**4, Ready.**")).unwrap();
    serde_json::from_str::<crate::link::Measured>(example("**7, Probe, and 8, Measured.**"))
        .unwrap();
    serde_json::from_str::<crate::engine_decision::EngineOffer>(example("**9, Engine.**")).unwrap();
    serde_json::from_str::<crate::run::Finished>(example("**6, Finished.**")).unwrap();
    serde_json::from_str::<crate::signed_record::SentSignature>(example("**10, Intent.**"))
        .unwrap();
    serde_json::from_str::<crate::groups::GroupTerms>(example("**11, Groups.**")).unwrap();
    serde_json::from_str::<crate::groups::CoinsPart>(example("**12, Coins.**")).unwrap();
    serde_json::from_str::<control::Decline>(example("instead of its next message")).unwrap();
    serde_json::from_str::<control::Wait>(example("send tag 14")).unwrap();
}

#[test]
fn the_masks_of_the_engine_paillier_are_agreed_on() {
    let options = veilpath_protocol::PaillierOptions::DEFAULT;
    let mut papers = spec(costs(1.0, Substitution::Index), &[]);
    papers.engine = Engine::Paillier(options);
    let mut hardened = papers.clone();
    hardened.engine = Engine::Paillier(options.with_hardening(true));
    let differences = differences_of(&papers, &hardened);
    assert_eq!(differences.len(), 1);
    assert!(differences[0].0.contains("hardened"), "{differences:?}");
}

/// A peer that names a smaller alphabet would learn from the refusal which letters this side has.
#[test]
fn only_whole_notations_can_be_named() {
    let info = |named: Option<Alphabet>| AlphabetInfo {
        named,
        declared: None,
        read_as: Alphabet::letters(52).unwrap(),
        grid: None,
    };
    let received = |named| Hello::new(&info(named), Duration::from_secs(60)).alphabet();
    assert!(received(None).is_ok());
    assert!(received(Some(Alphabet::full(Notation::Letters))).is_ok());
    let probe = received(Some(Alphabet::letters(20).unwrap()));
    assert!(matches!(
        probe,
        Err(SessionError::Misbehaved(Misbehaviour::InvalidAlphabet))
    ));
}

/// A joining side without encoding settings adopts those of the host, and writes them to its result file.
#[test]
fn encoding_settings_must_fit_a_result_file() {
    let checked = |name: &str, value: &str| {
        let spec = spec(Metric::Levenshtein, &[(name, value)]);
        terms(&spec).check()
    };
    let long = "x".repeat(1025);
    for (name, value) in [("grid", long.as_str()), (&long, "1"), ("grid", "\u{1b}c")] {
        let error = checked(name, value).unwrap_err();
        let found = matches!(
            error,
            SessionError::Misbehaved(Misbehaviour::InvalidEncoding)
        );
        assert!(found, "{error}");
    }
    assert!(checked("grid", &long[1..]).is_ok());
    let mut many = terms(&spec(Metric::Levenshtein, &[]));
    many.encoding = (0..1025)
        .map(|at| (at.to_string(), String::new()))
        .collect();
    assert!(many.check().is_err());
}

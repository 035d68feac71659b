use super::*;
use std::path::Path;
use veilpath_protocol::PaillierOptions;
use veilpath_session::POLICY_EXAMPLE;

fn plans() -> Vec<DocumentPlan> {
    let mut plans = Vec::new();
    let paillier = Engine::Paillier(PaillierOptions::DEFAULT);
    for engine in [
        EngineChoice::Auto,
        Engine::Garbled.into(),
        Engine::Shares.into(),
        paillier.into(),
        Engine::Plain.into(),
    ] {
        for metric in MetricName::ALL {
            for (reveal, pad_to) in [
                ("score", None),
                ("threshold:3", Some(50)),
                ("mean", None),
                ("mean:overall", None),
                ("groups", Some(50)),
                ("test:groups", None),
                ("groups,published", None),
                ("test:groups,99,published", None),
                ("test:sites,99", None),
                ("nearest:5", None),
                ("nearest:5,rate", None),
                ("histogram:20", None),
            ] {
                plans.push(DocumentPlan {
                    partners: vec!["0".repeat(64).parse().unwrap()],
                    engine,
                    metric,
                    reveal: reveal.parse().unwrap(),
                    reveal_to: RevealTo::Host,
                    pad_to,
                    pseudonyms: pad_to.is_some(),
                    limit: ScanpathLimit::Default,
                });
            }
        }
    }
    plans
}

/// Any plan fits on two pages, and none claims anonymity.
#[test]
fn a_document_is_two_pages_and_claims_no_anonymity() {
    let policy = Policy::parse(Path::new("policy.toml"), POLICY_EXAMPLE).unwrap();
    for plan in plans() {
        let mut text = Vec::new();
        policy_document(&policy, &plan)
            .write_markdown(&mut text)
            .unwrap();
        let text = String::from_utf8(text).unwrap();
        let words = text.split_whitespace().count();
        assert!((500..1000).contains(&words), "{words} words");
        assert_eq!(text.matches("anonym").count(), 1, "{text}");
        assert!(text.contains("does not make data anonymous"));
        assert!(text.contains("Example University Hospital"));
        let published = plan.reveal.to_string().ends_with(",published");
        for message in [
            "each tells the other the group of every single participant",
            "the group of a participant is personal data",
            "the group that its participant belongs to",
        ] {
            assert_eq!(text.contains(message), published, "{message}");
        }
        assert!(!published || !text.contains("nor who belongs"));
        let engine = plan.engine.representative();
        let protects = Engine::proven(engine.name()).is_some();
        assert_eq!(
            text.contains("neither sees a scanpath of the other"),
            protects
        );
    }
}

/// Nearest groups of single scanpaths are about single people. All other group answers cover at least the minimum.
#[test]
fn only_group_answers_are_described_as_about_several_people() {
    let policy = Policy::parse(Path::new("policy.toml"), POLICY_EXAMPLE).unwrap();
    for plan in plans() {
        let mut text = Vec::new();
        policy_document(&policy, &plan)
            .write_markdown(&mut text)
            .unwrap();
        let text = String::from_utf8(text).unwrap();
        let reveal = plan.reveal.to_string();
        let about_scanpaths = reveal == "nearest:5";
        let about_groups = plan.reveal.group_question().is_some();
        let counted = !about_groups || !plan.engine.representative().opens_outputs_by_halves();
        for (message, expected) in [
            (
                "an answer is about at least 5 participants of each institution",
                about_groups && !about_scanpaths,
            ),
            (
                "no result about you alone",
                about_groups && !about_scanpaths,
            ),
            (
                "about single scanpaths of the institution that hosts the session, and about at least 5 participants of the other",
                about_scanpaths,
            ),
            ("information about a single person", about_scanpaths),
            ("recordings that resemble yours", about_scanpaths),
            (
                "sees the names and sizes of the other one's groups",
                about_scanpaths,
            ),
            (
                "both see the names and sizes of the groups",
                ["groups", "test:groups", "nearest:5,rate"].contains(&reveal.as_str()),
            ),
            (
                "every scanpath is compared at most",
                counted || about_scanpaths,
            ),
            ("information about single people", !about_groups),
        ] {
            assert_eq!(text.contains(message), expected, "{reveal}: {message}");
        }
    }
}

/// The document names the limit that applies: `plain` has no default, and a user may choose to have none.
#[test]
fn the_limit_on_comparisons_is_the_one_of_the_plan() {
    let limited = POLICY_EXAMPLE;
    let unlimited = limited.replace("comparisons_per_scanpath = 200\n", "");
    let half = "compared at most half as often as an attack needs";
    let none = "compared without any limit on how often";
    let lower = "and less often if the default limit is lower";
    let garbled = Engine::Garbled;
    for (policy, engine, limit, expected) in [
        (
            unlimited.as_str(),
            garbled,
            ScanpathLimit::Default,
            half.to_string(),
        ),
        (&unlimited, garbled, ScanpathLimit::Unlimited, none.into()),
        (
            &unlimited,
            garbled,
            ScanpathLimit::DefaultUpTo(7),
            format!("at most 7 times, {lower}"),
        ),
        (
            &unlimited,
            garbled,
            ScanpathLimit::Count(9),
            "at most 9 times;".into(),
        ),
        (
            &unlimited,
            Engine::Plain,
            ScanpathLimit::Default,
            none.into(),
        ),
        (
            &unlimited,
            Engine::Plain,
            ScanpathLimit::DefaultUpTo(7),
            "at most 7 times;".into(),
        ),
        (
            limited,
            garbled,
            ScanpathLimit::Default,
            format!("at most 200 times, {lower}"),
        ),
        (
            limited,
            garbled,
            ScanpathLimit::DefaultUpTo(7),
            format!("at most 7 times, {lower}"),
        ),
        (
            limited,
            Engine::Plain,
            ScanpathLimit::Default,
            "at most 200 times;".into(),
        ),
    ] {
        let policy = Policy::parse(Path::new("policy.toml"), policy).unwrap();
        let plan = DocumentPlan {
            partners: vec!["0".repeat(64).parse().unwrap()],
            engine: engine.into(),
            metric: MetricName::Levenshtein,
            reveal: "score".parse().unwrap(),
            reveal_to: RevealTo::Both,
            pad_to: None,
            pseudonyms: false,
            limit,
        };
        let mut text = Vec::new();
        let document = policy_document(&policy, &plan);
        document.write_markdown(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap().replace('\n', ";");
        assert!(text.contains(&expected), "{engine:?}, {limit:?}: {text}");
    }
}

use super::*;
use std::time::{Duration, UNIX_EPOCH};
use veilpath_protocol::Engine;

const PARTNER: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn valid() -> String {
    format!(
        "expires = 2027-06-30\nmetrics = [\n  \"levenshtein\",\n]\nanswers = [\"mean\", \"threshold\"]\n\
         comparisons_per_scanpath = 40\n\n[[partners]]\nname = \"Clinic\"\nfingerprint = \"{PARTNER}\"\n"
    )
}

fn parsed(text: &str) -> Result<Policy, PolicyError> {
    parse::parse(Path::new("policy.toml"), text)
}

fn request(partners: &[Fingerprint]) -> PolicyRequest<'_> {
    PolicyRequest {
        partners,
        engine: EngineChoice::Auto,
        metric: "levenshtein",
        reveal: "threshold:3".parse().unwrap(),
        limit: ScanpathLimit::Default,
        // 16 November 2026.
        time: UNIX_EPOCH + Duration::from_secs(1_794_830_400),
    }
}

#[test]
fn the_example_is_a_policy() {
    let policy = parsed(POLICY_EXAMPLE).unwrap();
    assert_eq!(policy.expires(), "2027-06-30");
    assert_eq!(policy.minimum_group(), DEFAULT_MINIMUM_GROUP);
    assert_eq!(policy.answers_per_partner(), DEFAULT_ANSWERS_PER_PARTNER);
    assert_eq!(policy.comparisons_per_scanpath(), Some(200));
    assert_eq!(policy.partners().len(), 1);
    assert!(policy.texts().purpose.is_some());
}

#[test]
fn answer_kind_names_match_those_of_plans() {
    for (text, kind) in [
        ("score", AnswerKind::Score),
        ("threshold:1.5", AnswerKind::Threshold),
        ("mean:overall", AnswerKind::Mean),
        ("test:sites", AnswerKind::TestSites),
        ("test:groups", AnswerKind::TestGroups),
        ("test:groups,99", AnswerKind::TestGroups),
        ("groups", AnswerKind::Groups),
        ("groups,published", AnswerKind::PublishedGroups),
        ("test:groups,published", AnswerKind::PublishedTestGroups),
        ("test:groups,99,published", AnswerKind::PublishedTestGroups),
        ("nearest:5,rate", AnswerKind::Nearest),
        ("histogram:10", AnswerKind::Histogram),
    ] {
        assert_eq!(AnswerKind::of(text.parse().unwrap()), kind, "{text}");
        assert!(text.starts_with(kind.name().split(',').next().unwrap()));
    }
}

#[test]
fn a_plan_within_the_policy_is_allowed() {
    let policy = parsed(&valid()).unwrap();
    let partner = [PARTNER.parse().unwrap()];
    policy.check(&request(&partner)).unwrap();
    let at_most = PolicyRequest {
        limit: ScanpathLimit::Count(40),
        // The last second of the last day.
        time: UNIX_EPOCH + Duration::from_secs(1_814_399_999),
        ..request(&partner)
    };
    policy.check(&at_most).unwrap();
    assert_eq!(
        policy.limit(ScanpathLimit::Default),
        ScanpathLimit::DefaultUpTo(40)
    );
    policy.check_comparisons(40).unwrap();
    assert!(policy.check_comparisons(41).is_err());
}

#[test]
fn every_refusal_names_the_line_that_forbids_it() {
    let policy = parsed(&valid()).unwrap();
    let partner = [PARTNER.parse().unwrap()];
    let other = [PARTNER.replace('0', "f").parse().unwrap()];
    let base = request(&partner);
    for (request, line, key) in [
        (
            PolicyRequest {
                time: UNIX_EPOCH + Duration::from_secs(1_814_400_000),
                ..base.clone()
            },
            1,
            "expires",
        ),
        (
            PolicyRequest {
                metric: "scanmatch",
                ..base.clone()
            },
            2,
            "metrics",
        ),
        (
            PolicyRequest {
                reveal: Reveal::Score,
                ..base.clone()
            },
            5,
            "answers",
        ),
        (
            PolicyRequest {
                limit: ScanpathLimit::Count(41),
                ..base.clone()
            },
            6,
            "comparisons_per_scanpath",
        ),
        (
            PolicyRequest {
                limit: ScanpathLimit::Unlimited,
                ..base.clone()
            },
            6,
            "comparisons_per_scanpath",
        ),
        (request(&other), 8, "partners"),
    ] {
        let refusal = policy.check(&request).unwrap_err();
        let found: Vec<(usize, &str)> = refusal
            .forbidden
            .iter()
            .map(|it| (it.line.unwrap(), it.rule.key()))
            .collect();
        assert_eq!(found, [(line, key)], "{refusal}");
        let text = refusal.to_string();
        assert!(
            text.contains(&format!("policy.toml, line {line}, {key}")),
            "{text}"
        );
    }
    let everything = PolicyRequest {
        partners: &other,
        engine: Engine::Plain.into(),
        metric: "scanmatch",
        reveal: Reveal::Score,
        limit: ScanpathLimit::Unlimited,
        time: UNIX_EPOCH + Duration::from_secs(2_000_000_000),
    };
    assert_eq!(policy.check(&everything).unwrap_err().forbidden.len(), 6);
}

#[test]
fn refusals_of_group_answers_name_the_line_they_rest_on() {
    let keys = "minimum_group = 6\nanswers_per_partner = 3\n";
    let policy = parsed(&format!("{keys}{}", valid())).unwrap();
    let small = |minimum| DisclosureRefusal::SmallPart {
        participants: 2,
        minimum,
    };
    let budget = DisclosureRefusal::Budget {
        answers: 3,
        counts_as: 1,
        budget: 3,
    };
    let line = |policy: &Policy, refusal: &DisclosureRefusal| {
        let refused = policy.check_refused_disclosure(refusal).err()?;
        Some((refused.forbidden[0].line?, refused.forbidden[0].rule.key()))
    };
    let differencing = |minimum| DisclosureRefusal::Differencing {
        participants: 1,
        minimum,
    };
    let nearest = |minimum| DisclosureRefusal::FewNearest {
        nearest: 3,
        minimum,
    };
    let few = |minimum| DisclosureRefusal::NearestOfFew {
        nearest: 7,
        needed: 11,
        minimum,
    };
    for refusal in [small(6), differencing(6), nearest(6), few(6)] {
        assert_eq!(line(&policy, &refusal), Some((1, "minimum_group")));
        let message = policy
            .check_refused_disclosure(&refusal)
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("policy.toml, line 1, minimum_group"),
            "{message}"
        );
    }
    assert_eq!(line(&policy, &budget), Some((2, "answers_per_partner")));
    // The partner's minimum, a default, or no number of the policy.
    for refusal in [small(8), differencing(8), nearest(8), few(8)] {
        assert_eq!(line(&policy, &refusal), None);
    }
    let withdrawn = DisclosureRefusal::Withdrawn { participants: 1 };
    assert_eq!(line(&policy, &withdrawn), None);
    let without = parsed(&valid()).unwrap();
    assert_eq!(line(&without, &small(5)), None);
    assert_eq!(line(&without, &budget), None);
}

/// Without the key, only the proven engines are allowed.
#[test]
fn engines_that_reveal_more_must_be_named() {
    let partner = [PARTNER.parse().unwrap()];
    let paillier = Engine::Paillier(veilpath_protocol::PaillierOptions::DEFAULT);
    let engines = [
        EngineChoice::Auto,
        Engine::Garbled.into(),
        Engine::Shares.into(),
        paillier.into(),
        Engine::Plain.into(),
    ];
    for (key, allowed) in [
        ("", [true, true, true, false, false]),
        (
            "engines = [\"garbled\"]\n",
            [false, true, false, false, false],
        ),
        (
            "engines = [\"plain\", \"shares\", \"garbled\"]\n",
            [true, true, true, false, true],
        ),
    ] {
        let policy = parsed(&format!("{key}{}", valid())).unwrap();
        for (engine, allowed) in engines.into_iter().zip(allowed) {
            let request = PolicyRequest {
                engine,
                ..request(&partner)
            };
            match policy.check(&request) {
                Ok(()) => assert!(allowed, "{engine:?}"),
                Err(refusal) => {
                    assert!(!allowed, "{engine:?}");
                    assert_eq!(refusal.forbidden[0].rule.key(), "engines");
                    let line = (!key.is_empty()).then_some(1);
                    assert_eq!(refusal.forbidden[0].line, line);
                }
            }
        }
    }
}

#[test]
fn problems_are_reported_with_line_and_key() {
    let valid = valid();
    for (old, new, line, key) in [
        ("2027-06-30", "\"soon\"", Some(1), "expires"),
        ("2027-06-30", "2027-06-30T10:00:00Z", Some(1), "expires"),
        ("expires", "expiry", Some(1), "expiry"),
        ("expires = 2027-06-30\n", "", None, "expires"),
        ("\"levenshtein\"", "\"levenstein\"", Some(3), "metrics"),
        ("\"levenshtein\"", "7", Some(3), "metrics"),
        ("\"mean\"", "\"means\"", Some(5), "answers"),
        ("[\"mean\", \"threshold\"]", "[]", Some(5), "answers"),
        ("[\"mean\", \"threshold\"]", "\"mean\"", Some(5), "answers"),
        ("= 40", "= 40\nengines = [\"fast\"]", Some(7), "engines"),
        ("= 40", "= 0", Some(6), "comparisons_per_scanpath"),
        ("= 40", "= -1", Some(6), "comparisons_per_scanpath"),
        ("= 40", "= 4.5", Some(6), "comparisons_per_scanpath"),
        (
            "comparisons_per_scanpath = 40",
            "minimum_group = 2",
            Some(6),
            "minimum_group",
        ),
        ("name = \"Clinic\"\n", "", Some(8), "partners.name"),
        ("name = \"Clinic\"", "name = 3", Some(9), "partners.name"),
        (
            "name = \"Clinic\"",
            "name = \"a\\u001bb\"",
            Some(9),
            "partners.name",
        ),
        ("name", "title", Some(9), "partners.title"),
        ("0123", "xyz", Some(10), "partners.fingerprint"),
    ] {
        let text = valid.replacen(old, new, 1);
        assert_ne!(text, valid);
        let error = parsed(&text).unwrap_err();
        assert_eq!(
            (error.line, error.key.as_deref()),
            (line, Some(key)),
            "{error}"
        );
    }
    let error = parsed(&valid.replacen("= 40", "= ", 1)).unwrap_err();
    assert_eq!(error.line, Some(6), "{error}");
    assert!(matches!(error.problem, PolicyProblem::Syntax(_)));
    let (_, partner) = valid.split_once("\n\n").unwrap();
    let error = parsed(&format!("{valid}{partner}")).unwrap_err();
    assert!(matches!(error.problem, PolicyProblem::Repeated), "{error}");
    assert_eq!(error.line, Some(13), "{error}");
    assert!(matches!(
        Policy::read(Path::new("/nonexistent/policy.toml"))
            .unwrap_err()
            .problem,
        PolicyProblem::Io(_)
    ));
}

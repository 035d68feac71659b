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
        paillier.into(),
        Engine::Plain.into(),
    ] {
        for metric in MetricName::ALL {
            for (reveal, pad_to) in [
                ("score", None),
                ("threshold:3", Some(50)),
                ("mean", None),
                ("groups", Some(50)),
                ("test:groups", None),
                ("groups,published", None),
                ("test:groups,99,published", None),
                ("test:sites,99", None),
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

/// Two pages, whatever the plan; nothing is said to be anonymous.
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
        for said in [
            "each tells the other the group of every single participant",
            "the group of a participant is personal data",
            "the group of our study that you are in",
        ] {
            assert_eq!(text.contains(said), published, "{said}");
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

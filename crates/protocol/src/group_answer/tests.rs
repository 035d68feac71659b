use super::*;
use crate::ScanpathId;

fn rate() -> NearestRate {
    NearestRate {
        measure: "score".into(),
        k: 5,
        correct: 7,
        scanpaths: 10,
        chance: 0.5,
        interval: None,
        p_value: None,
        permutations: None,
        seed: None,
        groups: vec!["expert".into(), "novice".into()],
        confusion: vec![vec![4, 1], vec![2, 3]],
    }
}

#[test]
fn a_rate_matches_its_confusion_matrix() {
    assert_eq!(rate().check(), Ok(()));
    let wrong = [
        NearestRate {
            correct: 8,
            ..rate()
        },
        NearestRate {
            scanpaths: 11,
            ..rate()
        },
        NearestRate {
            confusion: vec![vec![u64::MAX, u64::MAX], vec![2, 3]],
            ..rate()
        },
        NearestRate {
            confusion: Vec::new(),
            correct: 11,
            ..rate()
        },
    ];
    for rate in wrong {
        assert_eq!(rate.check(), Err(GroupAnswerError::Counts));
    }
    let inconsistent = NearestRate {
        confusion: vec![vec![10]],
        ..rate()
    };
    assert!(matches!(
        inconsistent.check(),
        Err(GroupAnswerError::Shape { .. })
    ));
}

#[test]
fn bins_have_ascending_edges() {
    let bins = |edges: &[f64], counts: usize| Bins {
        edges: edges.to_vec(),
        counts: vec![Some(1); counts],
    };
    assert_eq!(bins(&[0.0, 0.5, 1.0], 2).check(), Ok(()));
    for wrong in [
        bins(&[], 0),
        bins(&[0.0], 0),
        bins(&[0.0, 1.0], 2),
        bins(&[0.0, 0.0], 1),
        bins(&[0.0, f64::INFINITY], 1),
    ] {
        assert_eq!(wrong.check(), Err(GroupAnswerError::Bins));
    }
}

#[test]
fn ends_of_an_interval_are_in_order() {
    let interval = |level: f64, low: f64, high: f64| Interval {
        level,
        low,
        high,
        resamples: 1000,
        seed: None,
    };
    assert_eq!(interval(0.95, -1.0, 1.0).check(), Ok(()));
    assert_eq!(
        interval(0.95, 1.0, 0.0).check(),
        Err(GroupAnswerError::Interval)
    );
    assert!(interval(95.0, 0.0, 1.0).check().is_err());
    assert!(interval(0.95, f64::NAN, 1.0).check().is_err());
}

#[test]
fn a_majority_is_one_of_the_groups() {
    let labels = |majority: &str| NearestLabels {
        measure: "score".into(),
        k: 5,
        groups: vec!["expert".into()],
        labels: vec![NearestLabel {
            scanpath: ScanpathId {
                participant: "P1".into(),
                stimulus: None,
            },
            majority: majority.into(),
            group: None,
        }],
    };
    assert_eq!(labels("expert").check(), Ok(()));
    assert_eq!(
        labels("novice").check(),
        Err(GroupAnswerError::UnknownGroup)
    );
}

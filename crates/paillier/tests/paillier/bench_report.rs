//! All measurements form one record that can be written as JSON.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::time::Duration;

use veilpath_paillier::bench::{BenchOptions, Operation, run};
use veilpath_paillier::{Kernel, KeySize};

#[test]
fn every_operation_has_a_row() {
    let options = BenchOptions {
        sizes: vec![KeySize::Bits512],
        time: Duration::from_millis(1),
        ..BenchOptions::default()
    };
    let mut reported = 0;
    let report = run(&options, |_| reported += 1).unwrap();
    let rows = Kernel::all_available().len() * Operation::ALL.len();
    assert_eq!((report.measurements.len(), reported), (rows, rows));
    let json = serde_json::to_value(&report).unwrap();
    let row = &json["measurements"][0];
    assert_eq!(row["bits"], 512);
    assert_eq!(row["operation"], "encrypt-key-holder");
    assert!(row["operations_per_second"].as_f64().unwrap() > 0.0);
    let operations: Vec<_> = json["measurements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["operation"].as_str().unwrap())
        .collect();
    for name in [
        "scalar-mul-64",
        "scalar-mul-128",
        "scalar-mul-full",
        "rerandomize",
        "decrypt",
        "add",
        "encrypt-other-side",
    ] {
        assert!(operations.contains(&name), "{name}");
    }
}

//! `veilpath bench network` runs real sides, over limited and delayed connections.

use crate::common::{Folder, RunOutput};

fn run(call: &str) -> RunOutput {
    Folder::new().run(&call.split(' ').collect::<Vec<_>>())
}

#[test]
fn every_engine_is_measured_over_every_connection() {
    let call = "bench network --scanpaths 3 --length 8 --paillier-scanpaths 1 --paillier-length 3 --key-bits 512 \
                --allow-weak-key --rate loopback,50 --round-trip 0,10 --format json";
    let json = run(call).json();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 12);
    for row in rows {
        let paillier = row["engine"] == "paillier 512";
        let (comparisons, cells) = if paillier { (1, 9) } else { (9, 576) };
        assert_eq!(row["comparisons"], comparisons, "{row}");
        assert_eq!(row["cells"], cells, "{row}");
        let seconds = row["seconds"].as_f64().unwrap();
        // The agreement and the answers each wait for a round trip.
        let trips = row["round_trip_ms"].as_f64().unwrap() / 1000.0;
        assert!(seconds > 3.0 * trips, "{row}");
        let bits = 8.0 * f64::from(cells) * row["join_bytes_per_cell"].as_f64().unwrap();
        if row["megabits_per_second"] == 50 {
            // A burst may exceed the rate.
            assert!(seconds > bits / 50e6 - 0.05, "{row}");
            let limiter = match json["relay_reason"].is_null() {
                true => "tc",
                false => "relay",
            };
            assert_eq!(row["limited_by"], limiter, "{row}");
        } else {
            assert!(row["limited_by"].is_null(), "{row}");
        }
        if cfg!(target_os = "linux") {
            for side in ["host", "join"] {
                assert!(row[format!("{side}_cpu_seconds")].as_f64().unwrap() >= 0.0);
                assert!(row[format!("{side}_memory_megabytes")].as_f64().unwrap() > 1.0);
            }
        }
    }
    let traffic = |engine: &str| {
        let row = rows.iter().find(|row| row["engine"] == engine).unwrap();
        row["host_bytes_per_cell"].as_f64().unwrap()
    };
    assert!(traffic("paillier 512") > traffic("garbled"));
}

#[test]
fn formats_have_the_same_rows() {
    let call = "bench network --engine shares,garbled --scanpaths 2 --length 5 --rate loopback --round-trip 0";
    let csv = run(&format!("{call} --format csv")).ok();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with(
        "engine,tree_levels,megabits_per_second,limited_by,round_trip_ms,comparisons,cells"
    ));
    assert!(lines[1].starts_with("shares,4,,,0,4,100,"), "{csv}");
    assert!(lines[2].starts_with("garbled,,,,0,4,100,"), "{csv}");
    let table = run(call).ok();
    assert_eq!(table.matches("loopback").count(), 2, "{table}");
}

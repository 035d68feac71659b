//! Comparisons on this machine, as the page starts and cancels them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test's helpers may fail the test

use crate::http::Running;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};
use veilpath_ui::ServerOptions;

fn state(server: &Running) -> Value {
    serde_json::from_str(&server.state()).unwrap()
}

/// Waits until nothing is computed any more.
fn wait_until_idle(server: &Running) -> Value {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let state = state(server);
        if state["job"]["running"] == false {
            return state;
        }
        assert!(Instant::now() < deadline, "the comparison goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A cohort of participants with long scanpaths.
fn cohort(participants: usize, length: usize) -> String {
    let mut table = String::from("participant,stimulus,scanpath\n");
    for participant in 0..participants {
        let letter =
            |at: usize| char::from(b'A' + u8::try_from((at * at + participant) % 26).unwrap());
        let letters: String = (0..length).map(letter).collect();
        table.push_str(&format!("p{participant},s,{letters}\n"));
    }
    table
}

#[test]
fn a_comparison_is_cancelled_and_an_earlier_result_stays() {
    let server = Running::start(ServerOptions::default());
    let drop_file = |table: &str| {
        let answer = server.send(
            "POST /api/files?name=c.csv",
            &server.own(),
            table.as_bytes(),
        );
        assert_eq!(answer.status, 200, "{}", answer.body);
        serde_json::from_str::<Value>(&answer.body).unwrap()["id"].to_string()
    };
    let ask = |request: &str| server.send(request, &server.own(), b"").status;
    // Nothing to cancel.
    assert_eq!(ask("DELETE /api/compare"), 200);
    let small = drop_file(&cohort(4, 10));
    assert_eq!(ask("POST /api/compare"), 200);
    let first = wait_until_idle(&server)["result"]["id"].clone();
    assert!(first.is_u64(), "{first}");

    assert_eq!(ask(&format!("DELETE /api/files/{small}")), 200);
    drop_file(&cohort(300, 2000));
    let plan =
        "{\"plan\": {\"metric\": \"needleman-wunsch\", \"engine\": \"plain\"}, \"compare\": {}}";
    assert_eq!(server.json("POST /api/plan", plan).status, 200);
    assert_eq!(ask("POST /api/compare"), 200);
    assert_eq!(state(&server)["job"]["running"], true);
    assert_eq!(ask("DELETE /api/compare"), 200);
    let state = wait_until_idle(&server);
    assert_eq!(state["job"]["problem"], Value::Null);
    assert_eq!(state["result"]["id"], first);
    server.stop();
}

/// The two eyes of a BIDS recording are in separate files, and taking both would mix them.
#[test]
fn one_eye_of_a_dropped_recording_is_read() {
    let server = Running::start(ServerOptions::default());
    let metadata = r#"{"SamplingFrequency": 50, "Columns": ["x_coordinate", "y_coordinate"],
        "ScreenResolution": [800, 600]}"#;
    let gaze = "100\t100\n".repeat(20);
    for (end, content) in [("json", metadata), ("tsv", gaze.as_str())] {
        for eye in ["eye1", "eye2"] {
            let file = format!("sub-01_task-a_recording-{eye}_physio.{end}");
            let request = format!("POST /api/files?name={file}");
            let answer = server.send(&request, &server.own(), content.as_bytes());
            assert_eq!(answer.status, 200, "{}", answer.body);
        }
    }
    let state = state(&server);
    assert_eq!(state["cohorts"][0]["scanpaths"], 1, "{}", state["problem"]);
    server.stop();
}

#[test]
fn the_shown_command_uses_the_address_of_the_form() {
    let server = Running::start(ServerOptions::default());
    for (role, via_relay, expected) in [
        ("host", false, "veilpath host --listen 0.0.0.0:7070 "),
        ("host", true, "veilpath host --relay relay.example:7071 "),
        ("join", false, "veilpath join clinic.example:7070 "),
        ("join", true, "veilpath join --relay relay.example:7071 "),
    ] {
        let form = format!(
            "{{\"role\": \"{role}\", \"via_relay\": {via_relay}, \"relay\": \"relay.example:7071\", \"address\": \"clinic.example:7070\"}}"
        );
        assert_eq!(server.json("POST /api/partner", &form).status, 200);
        let commands = state(&server)["commands"]["partner"].to_string();
        assert!(commands.contains(expected), "{commands}");
    }
    server.stop();
}

/// With two participants, each half has one, and there is nothing to compare within a half.
#[test]
fn two_participants_have_statistics_without_a_test_of_cohorts() {
    let server = Running::start(ServerOptions::default());
    let table = cohort(2, 10);
    let path = "POST /api/files?name=c.csv";
    assert_eq!(
        server.send(path, &server.own(), table.as_bytes()).status,
        200
    );
    assert_eq!(
        server.send("POST /api/compare", &server.own(), b"").status,
        200
    );
    let result = wait_until_idle(&server)["result"].clone();
    assert!(result["statistics"].is_string(), "{result}");
    let notes = result["notes"].to_string();
    assert!(notes.contains("at least two participants"), "{notes}");
    assert!(!notes.contains("within-a"), "{notes}");
    server.stop();
}

/// This side's limits are checked before anybody connects.
#[test]
fn a_plan_beyond_the_limits_is_reported_before_connecting() {
    let server = Running::start(ServerOptions::default());
    let limits = |participants: usize, reveal: &str| -> Value {
        for file in state(&server)["files"].as_array().unwrap() {
            let path = format!("DELETE /api/files/{}", file["id"]);
            assert_eq!(server.send(&path, &server.own(), b"").status, 200);
        }
        let table = cohort(participants, 20);
        let path = "POST /api/files?name=c.csv";
        assert_eq!(
            server.send(path, &server.own(), table.as_bytes()).status,
            200
        );
        let form = format!("{{\"plan\": {{\"reveal\": \"{reveal}\"}}}}");
        assert_eq!(server.json("POST /api/partner", &form).status, 200);
        let answer = server.send("GET /api/policy", &server.own(), b"");
        serde_json::from_str::<Value>(&answer.body).unwrap()["limits"].clone()
    };
    // A newcomer's first plan is not refused.
    assert_eq!(state(&server)["partner"]["plan"]["reveal"], "mean");
    let fits = |participants, reveal| limits(participants, reveal)["fits"].clone();
    assert_eq!(fits(12, "mean"), true);
    assert_eq!(fits(12, "score"), false);
    assert_eq!(fits(3, "mean"), false);
    assert_eq!(fits(3, "score"), true);
    let others = |participants, reveal| limits(participants, reveal)["others"].clone();
    assert_eq!(limits(12, "test:groups")["kind"], "no-groups");
    // Which answers fit instead depends on the recordings.
    assert_eq!(others(12, "mean"), Value::Null);
    assert_eq!(others(12, "score")[0], "mean");
    // Scores would reveal more about each person than the refused answer.
    assert_eq!(others(3, "mean"), serde_json::json!([]));
    server.stop();
}

/// The majority among fewer scanpaths than the minimum is refused, so more neighbours are offered.
#[test]
fn the_number_of_neighbours_follows_the_minimum() {
    let server = Running::start(ServerOptions::default());
    let mut table = String::from("participant,group,stimulus,scanpath\n");
    for person in 0..16 {
        let group = ["a", "b"][person % 2];
        table.push_str(&format!("p{person},{group},s,ABCDEFGHIJ\n"));
    }
    let path = "POST /api/files?name=c.csv";
    let added = server.send(path, &server.own(), table.as_bytes());
    assert_eq!(added.status, 200, "{}", added.body);
    let limits = |reveal: &str, minimum: &str| -> Value {
        let form =
            serde_json::json!({"plan": {"reveal": reveal}, "minimum_group": minimum}).to_string();
        assert_eq!(server.json("POST /api/partner", &form).status, 200);
        let answer = server.send("GET /api/policy", &server.own(), b"");
        serde_json::from_str::<Value>(&answer.body).unwrap()["limits"].clone()
    };
    assert_eq!(limits("nearest:5,rate", "")["fits"], true);
    let refused = limits("nearest:5,rate", "6");
    assert_eq!(refused["few_nearest"], 5);
    let others = refused["others"].to_string();
    assert!(others.contains("\"nearest:6,rate\""), "{others}");
    assert_eq!(limits("nearest:6,rate", "6")["fits"], true);
    let others = limits("score", "6")["others"].to_string();
    assert!(!others.contains("nearest:5"), "{others}");
    server.stop();
}

/// A folder may contain other files than recordings. A file that cannot be one is refused at once, and a table that may be one
/// can be left out.
#[test]
fn files_that_are_not_recordings_are_skipped() {
    let server = Running::start(ServerOptions::default());
    let drop_file = |name: &str, text: &str| {
        let path = format!("POST /api/files?name={name}&more=true");
        server.send(&path, &server.own(), text.as_bytes())
    };
    let gaze = "participant,x,y,duration\np,1,2,300\nq,5,6,300\n";
    let gaze = drop_file("gaze.csv", gaze);
    assert!(gaze.body.contains("\"kind\":\"gaze\""), "{}", gaze.body);
    for (name, text) in [
        ("participants.tsv", "participant_id\tage\nsub-1\t30\n"),
        ("report.pdf", "%PDF-1.7 x"),
        ("analysis.py", "print(1)"),
    ] {
        assert_eq!(drop_file(name, text).status, 422, "{name}");
    }
    let table = drop_file("table.csv", "alpha,beta,gamma\n1.5,2.5,x\n");
    let table: Value = serde_json::from_str(&table.body).unwrap();
    assert_eq!(table["kind"], "unknown");
    let end = format!(
        "{{\"read\": {{\"screen\": \"100x100\"}}, \"leave_out\": [{}]}}",
        table["id"]
    );
    assert_eq!(server.json("POST /api/options", &end).status, 200);
    let state = state(&server);
    assert_eq!(state["files"].as_array().unwrap().len(), 1);
    assert_eq!(state["problem"], Value::Null);
    assert_eq!(state["cohorts"][0]["participants"], 2);
    server.stop();
}

/// Every layout in `testdata/formats` is read as it is, or with the one setting that the error names.
#[test]
fn a_file_of_every_format_is_read_or_explained() {
    let server = Running::start(ServerOptions::default());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/formats");
    let mut read = 0;
    let mut refused = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() || name == "README.md" {
            continue;
        }
        let content = std::fs::read(&path).unwrap();
        let dropped = server.send(
            &format!("POST /api/files?name={name}"),
            &server.own(),
            &content,
        );
        if dropped.status == 422 {
            refused.push(name.to_string());
            continue;
        }
        assert_eq!(dropped.status, 200, "{name}: {}", dropped.body);
        let mut now = state(&server);
        let asked = now["problem"]["fields"].to_string();
        if asked.contains("\"screen\"") {
            let options = "{\"read\": {\"screen\": \"1920x1080\"}}";
            assert_eq!(server.json("POST /api/options", options).status, 200);
            now = state(&server);
        }
        match now["problem"].is_null() {
            true => {
                assert!(
                    now["cohorts"][0]["summary"]["rows_used"].as_u64() > Some(0),
                    "{name}"
                );
                assert!(now["stimuli"][0]["points"].as_u64() > Some(0), "{name}");
                read += 1;
            }
            false => {
                assert!(now["problem"]["advice"] != "", "{name}: {}", now["problem"]);
                refused.push(name.to_string());
            }
        }
        let id = now["files"][0]["id"].clone();
        let removed = server.send(&format!("DELETE /api/files/{id}"), &server.own(), b"");
        assert_eq!(removed.status, 200);
    }
    assert_eq!(refused, ["salient360-raw.csv"]);
    assert!(read >= 20, "{read}");
    server.stop();
}

/// The result of an earlier comparison is not mistaken for that of another.
#[test]
fn results_have_numbers() {
    let server = Running::start(ServerOptions::default());
    let ask = |request: &str| server.send(request, &server.own(), b"").status;
    let table = cohort(4, 10);
    let path = "POST /api/files?name=c.csv";
    assert_eq!(
        server.send(path, &server.own(), table.as_bytes()).status,
        200
    );
    assert_eq!(ask("POST /api/compare"), 200);
    let id = wait_until_idle(&server)["result"]["id"].as_u64().unwrap();
    assert_eq!(ask(&format!("GET /api/exports/{id}/csv")), 200);
    assert_eq!(ask(&format!("GET /report/{id}/plain")), 200);
    for path in [
        "/api/exports/0/csv",
        "/report/0/plain",
        "/api/exports/x/csv",
    ] {
        assert!([400, 422].contains(&ask(&format!("GET {path}"))), "{path}");
    }
    // A result cannot be compared, and the error says so.
    let json = server.send(&format!("GET /api/exports/{id}/json"), &server.own(), b"");
    let dropped = server.send(
        "POST /api/files?name=scores.json",
        &server.own(),
        json.body.as_bytes(),
    );
    assert_eq!(dropped.status, 422);
    assert!(
        dropped.body.contains("result of a comparison"),
        "{}",
        dropped.body
    );
    server.stop();
}

/// Areas drawn on recordings do not prevent the use of a cohort file once the recordings are removed.
#[test]
fn drawn_areas_do_not_affect_cohort_files() {
    let server = Running::start(ServerOptions::default());
    let options = r#"{"letters": {"placing": "areas", "areas": [{"name": "area 1", "stimulus": null, "shape": "rectangle", "corners": [[0.1, 0.1], [0.5, 0.5]]}]}}"#;
    assert_eq!(server.json("POST /api/options", options).status, 200);
    let path = "POST /api/files?name=cohort.csv&more=false";
    let answer = server.send(path, &server.own(), cohort(3, 4).as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.body);
    let now = state(&server);
    assert!(now["problem"].is_null(), "{}", now["problem"]);
    assert_eq!(now["cohorts"][0]["scanpaths"], 3, "{}", now["cohorts"]);
    server.stop();
}

#[test]
fn an_invitation_in_the_folder_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("identity.pem");
    let server = Running::start(ServerOptions {
        folder: Some(folder.path().into()),
        identity: Some(key.clone()),
        ..ServerOptions::default()
    });
    let host = Running::start(ServerOptions {
        identity: Some(folder.path().join("host.pem")),
        ..ServerOptions::default()
    });
    let form = "{\"address\": \"clinic.example:7070\", \"name\": \"Clinic\"}";
    for (server, name) in [(&host, "a.invitation"), (&server, "own.invitation")] {
        assert_eq!(server.json("POST /api/partner", form).status, 200);
        let invitation = server.send("GET /api/invitation", &server.own(), b"");
        assert_eq!(invitation.status, 200, "{}", invitation.body);
        std::fs::write(folder.path().join(name), &invitation.body).unwrap();
    }
    host.stop();
    let own = server.json("POST /api/folder", "{\"name\": \"own.invitation\"}");
    assert!(
        own.body.contains("this is your own invitation"),
        "{}",
        own.body
    );
    let opened = server.json("POST /api/folder", "{\"name\": \"a.invitation\"}");
    assert_eq!(opened.status, 200, "{}", opened.body);
    let now = state(&server);
    assert_eq!(now["partner"]["role"], "join");
    assert_eq!(now["partner"]["peer_name"], "Clinic");
    assert_eq!(now["files"], serde_json::json!([]));
    // The command uses the same names and the same identity.
    let command = now["commands"]["partner"][1].as_str().unwrap();
    assert!(command.contains(" --names Clinic,Clinic "), "{command}");
    assert!(command.contains(key.to_str().unwrap()), "{command}");
    server.stop();
}

/// Text typed as a fingerprint stays one word of the command.
#[test]
fn a_command_quotes_what_was_typed() {
    let server = Running::start(ServerOptions::default());
    let form = "{\"peer\": \"$(rm x); y\"}";
    assert_eq!(server.json("POST /api/partner", form).status, 200);
    let commands = state(&server)["commands"]["partner"].to_string();
    assert!(commands.contains("--peer '$(rm x); y' "), "{commands}");
    server.stop();
}

/// A table that cannot be read yet has column names to choose from, but never its data.
#[test]
fn columns_are_known_before_a_table_can_be_read() {
    let server = Running::start(ServerOptions::default());
    for (name, text) in [
        ("a.csv", "who;left;top\nanna;1.5;2.5\n"),
        ("b.csv", "3.5;4.5;7\n1;2;3\n"),
    ] {
        let path = format!("POST /api/files?name={name}");
        assert_eq!(
            server.send(&path, &server.own(), text.as_bytes()).status,
            200
        );
    }
    let now = state(&server);
    assert!(now["problem"].is_object(), "{now}");
    assert_eq!(now["headers"], serde_json::json!(["who", "left", "top"]));
    server.stop();
}

/// A result or a problem of other settings is not mistaken for one of the current settings.
#[test]
fn results_and_problems_of_other_settings_are_known() {
    let server = Running::start(ServerOptions::default());
    let ask = |request: &str| server.send(request, &server.own(), b"").status;
    let plan = |metric: &str| {
        let plan = format!(
            "{{\"plan\": {{\"metric\": \"{metric}\", \"engine\": \"plain\"}}, \"compare\": {{}}}}"
        );
        assert_eq!(server.json("POST /api/plan", &plan).status, 200);
    };
    let table = cohort(4, 10);
    let path = "POST /api/files?name=c.csv";
    assert_eq!(
        server.send(path, &server.own(), table.as_bytes()).status,
        200
    );
    let outdated = || state(&server)["result"]["outdated"].clone();
    plan("levenshtein");
    assert_eq!(ask("POST /api/compare"), 200);
    wait_until_idle(&server);
    assert_eq!(outdated(), false);
    plan("sequence-score");
    assert_eq!(outdated(), true);
    plan("levenshtein");
    assert_eq!(outdated(), false, "as it was");
    // Without fixations.
    plan("multimatch");
    assert_eq!(ask("POST /api/compare"), 200);
    assert!(wait_until_idle(&server)["job"]["problem"].is_object());
    plan("levenshtein");
    let now = state(&server);
    assert!(now["job"]["problem"].is_null(), "{}", now["job"]);
    let id = now["files"][0]["id"].clone();
    assert_eq!(ask(&format!("DELETE /api/files/{id}")), 200);
    assert_eq!(outdated(), true);
    server.stop();
}

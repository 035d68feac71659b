//! What an invitation or an answer changes on the page.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test's helpers may fail the test

use crate::http::Running;
use serde_json::{Value, json};
use veilpath_ui::ServerOptions;

/// A server with an identity of its own.
fn institution(folder: &tempfile::TempDir, name: &str) -> Running {
    Running::start(ServerOptions {
        identity: Some(folder.path().join(name)),
        ..ServerOptions::default()
    })
}

fn partner(server: &Running) -> Value {
    let state: Value = serde_json::from_str(&server.state()).unwrap();
    state["partner"].clone()
}

fn set(server: &Running, form: &Value) {
    let answer = server.json("POST /api/partner", &form.to_string());
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// Opens the invitation or the answer of one server on another.
fn open(from: &Running, to: &Running) {
    let file = from.send("GET /api/invitation", &from.own(), b"");
    assert_eq!(file.status, 200, "{}", file.body);
    let path = "POST /api/files?name=partner.invitation";
    let opened = to.send(path, &to.own(), file.body.as_bytes());
    assert_eq!(opened.status, 200, "{}", opened.body);
}

#[test]
fn an_answer_without_a_name_keeps_the_one_that_was_typed() {
    let folder = tempfile::tempdir().unwrap();
    let host = institution(&folder, "host.pem");
    let [join, other] = ["join.pem", "other.pem"].map(|name| institution(&folder, name));
    set(&host, &json!({"name": "Clinic", "peer_name": "University"}));
    for server in [&join, &other] {
        set(server, &json!({"role": "join"}));
    }
    open(&join, &host);
    let form = partner(&host);
    assert_eq!(form["peer_name"], "University");
    assert_ne!(form["peer"], "");
    open(&join, &host);
    assert_eq!(partner(&host)["peer_name"], "University");
    set(&join, &json!({"role": "join", "name": "Institute"}));
    open(&join, &host);
    assert_eq!(partner(&host)["peer_name"], "Institute");
    // The name is not kept for another partner.
    open(&other, &host);
    assert_eq!(partner(&host)["peer_name"], "");
    let state: Value = serde_json::from_str(&host.state()).unwrap();
    let command = state["commands"]["partner"][1].as_str().unwrap();
    let names = "--names 'Clinic,the partner'";
    assert!(command.contains(names), "{command}");
    for server in [host, join, other] {
        server.stop();
    }
}

#[test]
fn an_answer_does_not_leave_the_address_of_another_host() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["first.pem", "second.pem"].map(|name| institution(&folder, name));
    set(&first, &json!({"address": "clinic.example:7070"}));
    open(&first, &second);
    let form = partner(&second);
    assert_eq!(form["role"], "join");
    assert_eq!(form["address"], "clinic.example:7070");
    set(&first, &json!({"role": "join"}));
    open(&first, &second);
    let form = partner(&second);
    assert_eq!(form["role"], "host");
    assert_eq!(form["address"], "");
    for server in [first, second] {
        server.stop();
    }
}

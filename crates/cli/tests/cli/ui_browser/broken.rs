//! Failures: files that are too large, programs that end, partners that disappear or sleep.

use super::Institution;
use super::partner::introduced_with;
use serde_json::json;
use std::net::TcpListener;
use std::time::{Duration, Instant};

#[test]
fn large_files_are_refused_and_quitting_asks_first() {
    let Some(mut user) = Institution::start() else {
        return;
    };
    let browser = &user.browser;
    let large = user.folder.path().join("large.csv");
    let file = std::fs::File::create(&large).unwrap();
    // A sparse file takes no space on disk.
    file.set_len((512 << 20) + 1).unwrap();
    browser.type_into("#files", &large.display().to_string());
    browser.wait_for(
        "document.getElementById('alert').textContent.includes('large.csv is larger than 512 MiB')",
    );
    browser.click("#example");
    browser.wait_for("document.querySelectorAll('.files tbody tr').length === 1");
    browser.click("#quit");
    browser.answer(false);
    assert_eq!(user.state()["files"].as_array().unwrap().len(), 1);
    browser.click("#quit");
    browser.answer(true);
    browser.wait_for("document.querySelector('main').textContent.includes('Veilpath has ended')");
    let deadline = Instant::now() + Duration::from_secs(20);
    while user.server.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "the program keeps running");
        std::thread::sleep(Duration::from_millis(50));
    }
    // The user ended the program, so the page shows no error, and no controls.
    let shown = browser.run(
        "return [document.getElementById('alert').textContent, document.querySelector('nav').checkVisibility()]",
    );
    assert_eq!(shown, json!(["", false]));
    user.save("ended");
}

/// Two institutions that are computing, with enough scanpaths that it takes a while.
fn computing() -> Option<(Institution, Institution)> {
    let cohort = |side: &Institution, name: &str| {
        let seed = name.len();
        let call =
            format!("synth random --count 24 --length 100 --letters 49 --seed {seed} -o many.csv");
        side.folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
        side.folder.path().join("many.csv")
    };
    // Use the same port after an interruption, as on a real machine.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr();
    let (host, join) = introduced_with(cohort, &port.unwrap().to_string())?;
    for side in [&host, &join] {
        side.browser.click("#connect");
    }
    for side in [&host, &join] {
        side.browser
            .wait_for("document.querySelector('#start:enabled')");
        side.browser.click("#start");
    }
    for side in [&host, &join] {
        side.wait_until("it computes", |state| {
            state["session"]["progress"]["done"].as_f64() > Some(0.0)
        });
    }
    Some((host, join))
}

fn finished(host: &Institution, join: &Institution) {
    for side in [host, join] {
        side.browser.wait_for("document.getElementById('result')");
    }
    let [ours, theirs] = [host, join].map(|side| side.export("partner_result", "csv"));
    assert_eq!(ours, theirs, "both sides have the same result");
}

/// The joining side's program is killed while it computes. The host reports it; with the same recordings, both continue.
#[test]
#[ignore = "takes a minute; .ci/full runs it"]
fn a_killed_program_is_started_again_and_the_session_resumed() {
    let Some((host, mut join)) = computing() else {
        return;
    };
    join.crash_and_restart();
    host.browser
        .wait_for("document.querySelector('#session .problem')");
    let words = host.browser.texts("#session .problem").concat();
    assert!(words.contains("What was computed is kept"), "{words}");
    host.fits("partner-killed");
    // A new program knows nothing: it gets the same recordings and the same invitation.
    join.drop_files(&[join.folder.path().join("many.csv")]);
    let invitation = join.folder.path().join("partner.invitation");
    join.browser
        .type_into("#files", &invitation.display().to_string());
    join.browser.wait_for("document.getElementById('connect')");
    // With the default minimum, this would be another plan.
    join.browser.click("#suggested-minimum button");
    join.browser
        .wait_for("!document.getElementById('suggested-minimum')");
    host.browser.click("#resume");
    join.browser.click("#connect");
    join.browser
        .wait_for("document.querySelector('#start:enabled')");
    join.browser.click("#start");
    finished(&host, &join);
}

/// A laptop goes to sleep: its program is suspended for longer than the other side waits, and then continues.
#[test]
#[ignore = "takes two minutes; .ci/full runs it"]
fn a_sleeping_laptop_is_reported_and_the_session_resumed() {
    let Some((host, join)) = computing() else {
        return;
    };
    signal(&join, "STOP");
    // The host waits for a minute.
    std::thread::sleep(Duration::from_secs(30));
    let failed = "document.querySelector('#session .problem')?.textContent.includes('a laptop went to sleep')";
    host.browser.wait_for(failed);
    signal(&join, "CONT");
    join.browser.wait_for(failed);
    for side in [&host, &join] {
        side.browser.click("#resume");
    }
    finished(&host, &join);
}

fn signal(side: &Institution, name: &str) {
    let id = side.server.id().to_string();
    let mut kill = std::process::Command::new("kill");
    let sent = kill.args([&format!("-{name}"), &id]).status();
    assert!(sent.unwrap().success());
}

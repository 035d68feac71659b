//! Two institutions that meet at a relay.

use super::Institution;
use super::partner::{prepare, send_invitation};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

#[test]
#[ignore = "starts two browsers; .ci/full runs it"]
fn two_institutions_meet_at_a_relay() {
    let Some((host, join)) = Institution::start().zip(Institution::start()) else {
        return;
    };
    // Two groups at each institution.
    for call in [
        "synth lifelike --groups patients=8,controls=8 --stimuli 2 --seed 7 -o all.csv",
        "split all.csv --seed 1 --first clinic.csv --second university.csv",
    ] {
        host.folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
    }
    prepare(&host, host.folder.path().join("clinic.csv"), "Clinic");
    prepare(
        &join,
        host.folder.path().join("university.csv"),
        "University",
    );
    let relay = Relay::start(&host);
    host.browser.click("#via-relay");
    host.set("relay", &relay.address);
    host.set("minimum-group", "3");
    host.set("partner-reveal", "groups");
    send_invitation(&host, &join);
    // The meeting place came with the invitation.
    let form = join.state()["partner"].clone();
    assert_eq!(form["via_relay"], true, "{form}");
    assert_eq!(form["relay"], relay.address.as_str());
    join.set("minimum-group", "3");
    send_invitation(&join, &host);
    host.fits("partner-relay");
    for side in [&host, &join] {
        side.browser.click("#connect");
    }
    for side in [&host, &join] {
        side.browser.wait_for("document.getElementById('start')");
        side.browser.click("#start");
    }
    for side in [&host, &join] {
        side.browser.wait_for("document.getElementById('result')");
    }
    let csv = [&host, &join].map(|side| side.export("partner_result", "csv"));
    assert_eq!(csv[0], csv[1], "both sides have the same result");
    // The result has means for pairs of groups, and nothing about pairs of participants.
    assert!(
        csv[0].contains("patients") && !csv[0].contains("p01"),
        "{}",
        csv[0]
    );
    host.fits("partner-groups");
    host.no_complaints();
    join.no_complaints();
}

/// `veilpath relay` on a free port.
struct Relay {
    process: std::process::Child,
    address: String,
}

impl Relay {
    fn start(side: &Institution) -> Self {
        let mut command = side.folder.command(&["relay", "--listen", "127.0.0.1:0"]);
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let message = |line: String| Some(line.split_once("listening on ")?.1.to_string());
        let address = lines.find_map(|line| message(line.unwrap())).unwrap();
        let port = address.trim().rsplit(':').next().unwrap();
        let port: String = port.chars().take_while(char::is_ascii_digit).collect();
        // A full pipe would block the relay.
        std::thread::spawn(move || lines.count());
        Self {
            process,
            address: format!("127.0.0.1:{port}"),
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

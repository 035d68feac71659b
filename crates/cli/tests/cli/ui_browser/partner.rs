//! Two institutions, two programs, two browsers.

use super::Institution;
use crate::common::root;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Takes one side up to the button that connects, as a user would.
pub(super) fn prepare(side: &Institution, cohort: PathBuf, name: &str) {
    side.drop_files(&[cohort]);
    identify(side, name);
}

/// Shows the fingerprint of a side that has recordings, and enters its name.
pub(super) fn identify(side: &Institution, name: &str) {
    side.step("partner");
    side.browser
        .wait_for("document.getElementById('show-identity')");
    side.browser.click("#show-identity");
    side.browser
        .wait_for("document.getElementById('own-fingerprint')");
    assert_eq!(side.browser.texts("#identity .words-list li").len(), 16);
    side.set("own-name", name);
}

/// Saves the invitation or the answer of a side, and returns its text.
fn save_invitation(side: &Institution) -> String {
    let folder = side.folder.path().join("downloads");
    std::fs::create_dir_all(&folder).unwrap();
    let behaviour = json!({"behavior": "allow", "downloadPath": folder});
    side.browser
        .devtools("Page.setDownloadBehavior", &behaviour);
    let role = side.state()["partner"]["role"].clone();
    let name = match role == "host" {
        true => "veilpath.invitation",
        false => "veilpath-answer.invitation",
    };
    side.browser.click("#save-invitation");
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let saved = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        if !saved.is_empty() {
            std::fs::remove_file(folder.join(name)).unwrap();
            return saved;
        }
        assert!(Instant::now() < deadline, "{name} is not saved");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Sends one side's invitation or answer to the other, as a file.
pub(super) fn send_invitation(from: &Institution, to: &Institution) {
    let invitation = save_invitation(from);
    assert_eq!(invitation, from.get("/api/invitation"));
    assert!(!invitation.contains("PRIVATE"), "{invitation}");
    to.folder.file("partner.invitation", invitation);
    let file = to.folder.path().join("partner.invitation");
    to.browser
        .type_into("#invitation-file", &file.display().to_string());
    let fingerprint = from.browser.texts("#own-fingerprint").concat();
    to.browser.wait_for(&format!(
        "document.getElementById('peer')?.value === {fingerprint:?}"
    ));
    to.browser
        .wait_for("document.querySelectorAll('#who .words-list li').length === 16");
    // Both screens show the same words.
    assert_eq!(
        to.browser.texts("#who .words-list li"),
        from.browser.texts("#identity .words-list li")
    );
}

/// Two sides that have exchanged invitations, with the host's plan for a mean.
pub(super) fn introduced() -> Option<(Institution, Institution)> {
    let demo = |_: &Institution, name: &str| {
        let file = match name {
            "Clinic" => "clinic.csv",
            _ => "university.csv",
        };
        root().join("testdata/demo").join(file)
    };
    introduced_with(demo, "127.0.0.1:0")
}

/// The same with other cohorts and another address.
pub(super) fn introduced_with(
    cohort: impl Fn(&Institution, &str) -> PathBuf,
    listen: &str,
) -> Option<(Institution, Institution)> {
    let (host, join) = Institution::start().zip(Institution::start())?;
    for (side, name) in [(&host, "Clinic"), (&join, "University")] {
        prepare(side, cohort(side, name), name);
    }
    host.set("listen", listen);
    // The placeholder is the value that applies if the field is empty.
    let default = "return document.getElementById('minimum-group').placeholder";
    assert_eq!(host.browser.run(default), "5");
    host.set("minimum-group", "3");
    // An invitation needs an address with a port, and the page says so.
    host.set("address", "clinic.example");
    host.browser.click("#save-invitation");
    host.browser
        .wait_for("document.querySelector('#alert .problem')");
    host.browser
        .wait_for("document.querySelector('.field.wrong #address[aria-invalid]')");
    let words = host.browser.texts("#alert .problem").concat();
    assert!(words.contains("in “Address for the partner”"), "{words}");
    host.set("address", &listen.replace(":0", ":7070"));
    host.browser
        .wait_for("!document.querySelector('.field.wrong')");
    a_plan_over_the_limit_is_changed_by_one_click(&host);
    send_invitation(&host, &join);
    // The plan came with the invitation.
    let plan = |side: &Institution| side.state()["partner"]["plan"].clone();
    assert_eq!(plan(&join), plan(&host));
    // So did a smaller minimum, which only this side's user can allow.
    let form = join.state()["partner"].clone();
    assert_eq!(
        (&form["role"], &form["minimum_group"]),
        (&json!("join"), &json!(""))
    );
    join.browser.click("#suggested-minimum button");
    join.browser
        .wait_for("!document.getElementById('suggested-minimum')");
    assert_eq!(join.state()["partner"]["minimum_group"], "3");
    send_invitation(&join, &host);
    Some((host, join))
}

/// Scores of more participants than the limit allows would be refused. The page says so before anybody connects.
fn a_plan_over_the_limit_is_changed_by_one_click(host: &Institution) {
    let revealed = || host.state()["partner"]["plan"]["reveal"].clone();
    assert_eq!(revealed(), "mean", "the default");
    host.set("limit", "1");
    host.set("partner-reveal", "score");
    host.browser
        .wait_for("document.querySelector('#limits')?.textContent.includes('would be refused')");
    host.browser.click("#limits #reveal-mean");
    host.browser
        .wait_for("document.getElementById('partner-reveal').value === 'mean'");
    host.browser.wait_for("!document.getElementById('limits')");
    assert_eq!(revealed(), "mean");
    host.set("limit", "");
}

pub(super) fn connect(host: &Institution, join: &Institution) {
    host.browser.click("#connect");
    host.browser.wait_for(
        "document.querySelector('#session p')?.textContent.includes('Listening on 127.0.0.1:')",
    );
    // The operating system has chosen a port.
    let address = host.state()["session"]["address"]
        .as_str()
        .unwrap()
        .to_string();
    assert!(!address.ends_with(":0"), "{address}");
    join.set("address", &address);
    join.browser.click("#connect");
}

/// A state that the page requested before a change may arrive after it. The next change must not be based on it.
#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn a_late_state_does_not_undo_a_change() {
    let Some(user) = Institution::start() else {
        return;
    };
    prepare(&user, root().join("testdata/demo/clinic.csv"), "Clinic");
    user.browser.run(
        "const send = window.fetch;
         window.fetch = async (path, options) => {
           const answer = await send(path, options);
           if (path === '/api/state') await new Promise((end) => setTimeout(end, 600));
           return answer;
         };
         const enter = (id, value) => {
           const input = document.getElementById(id);
           input.value = value;
           input.dispatchEvent(new Event('change'));
         };
         enter('own-name', 'Hospital');
         setTimeout(() => enter('peer-name', 'Institute'), 200);
         setTimeout(() => enter('address', 'clinic.example:7070'), 900)",
    );
    user.wait_until("the last change arrives", |state| {
        state["partner"]["address"] == "clinic.example:7070"
    });
    let form = user.state()["partner"].clone();
    assert_eq!(
        (&form["name"], &form["peer_name"]),
        (&json!("Hospital"), &json!("Institute"))
    );
    user.browser
        .wait_for("document.getElementById('peer-name').value === 'Institute'");
    user.no_complaints();
}

#[test]
fn two_institutions_compare_in_two_browsers() {
    let Some((host, join)) = introduced() else {
        return;
    };
    allow(&host, &join);
    host.fits("partner-plan");
    connect(&host, &join);
    // A reopened page also shows the policy.
    host.browser.run("location.reload()");
    for side in [&host, &join] {
        side.browser
            .wait_for("document.querySelector('#start:enabled')");
        let shown = side.browser.texts("#session").concat();
        for text in [
            "You will learn",
            "will learn",
            "one mean for each stimulus",
            "Estimate",
            "Policy",
        ] {
            assert!(shown.contains(text), "{text}: {shown}");
        }
    }
    let policy = |side: &Institution| side.browser.texts("#agreed-policy").concat();
    assert_eq!(policy(&host), "allows this plan until 2099-12-31.");
    assert_eq!(policy(&join), "none; this institution sets no rules.");
    assert_eq!(
        join.browser.texts("#shown-ids"),
        ["The partner (Clinic) will see your participant ids and stimulus names."]
    );
    let title = join.browser.run("return document.title");
    assert_eq!(title, "The partner is ready – Veilpath");
    // Both see the same plan, and nothing has been computed.
    assert_eq!(
        host.browser.texts("#session dd:not([id])"),
        join.browser.texts("#session dd:not([id])")
    );
    assert!(host.state()["partner_result"].is_null());
    host.fits("partner-agreed");

    let started = Instant::now();
    host.browser.click("#start");
    host.browser.wait_for(
        "document.querySelector('#session h2')?.textContent === 'Waiting for the partner to start'",
    );
    assert_eq!(host.browser.texts("#progress"), [] as [String; 0]);
    // The page is closed and opened again while the other side has not started yet.
    host.browser.open_url("about:blank");
    host.browser.open_url(&host.address);
    // It shows the session.
    host.browser
        .wait_for("document.getElementById('not-started')");
    assert_eq!(badge(&host), ["waiting"]);
    assert_eq!(badge(&join), ["ready to start"]);
    // The measured time does not include this wait.
    let wait = Duration::from_secs(3);
    std::thread::sleep(wait);
    join.browser.click("#start");
    for side in [&host, &join] {
        side.browser.wait_for("document.getElementById('result')");
    }
    let without_wait = started.elapsed() - wait;
    let csv = [&host, &join].map(|side| side.export("partner_result", "csv"));
    assert_eq!(csv[0], csv[1], "both sides have the same result");
    assert!(
        csv[0].starts_with("answer,") && csv[0].lines().count() == 3,
        "{}",
        csv[0]
    );
    for side in [&host, &join] {
        side.browser.wait_for("document.getElementById('record')");
        assert_eq!(badge(side), ["finished"]);
        let record = side.get("/api/record.csv");
        assert!(
            record.contains("intent") && record.contains("completion"),
            "{record}"
        );
    }
    host.fits("partner-result");
    let cost: Value = serde_json::from_str(&host.export("partner_result", "json")).unwrap();
    let seconds = cost["cost"]["seconds"].as_f64().unwrap();
    assert!(
        seconds < without_wait.as_secs_f64(),
        "{seconds} s, {without_wait:?}"
    );
    // A comparison on this machine does not replace the result.
    host.step("compare");
    host.browser.click("#compare");
    host.browser.wait_for("document.getElementById('result')");
    host.step("partner");
    host.browser.wait_for("document.getElementById('result')");
    assert_eq!(host.export("partner_result", "csv"), csv[0]);
    assert_ne!(host.export("result", "csv"), csv[0]);
    host.no_complaints();
    join.no_complaints();
}

/// The badge of the partner step.
pub(super) fn badge(side: &Institution) -> Vec<String> {
    side.browser.texts("#to-partner .badge")
}

/// Gives the host a policy that allows its plan.
fn allow(host: &Institution, join: &Institution) {
    let fingerprint = join.browser.texts("#own-fingerprint").concat();
    let policy = format!(
        "expires = 2099-12-31\nmetrics = [\"levenshtein\"]\nanswers = [\"mean\"]\nminimum_group = 3\n\
         [[partners]]\nname = \"University\"\nfingerprint = \"{fingerprint}\"\n"
    );
    host.folder.file("home/policy.toml", policy);
}

#[test]
#[ignore = "takes half a minute; .ci/full runs it"]
fn sessions_are_refused_paused_and_resumed_with_messages() {
    let Some((host, join)) = introduced() else {
        return;
    };
    // Different plans: both sides get a message.
    join.set("partner-metric", "scanmatch");
    connect(&host, &join);
    for side in [&host, &join] {
        side.browser
            .wait_for("document.querySelector('#session .problem')");
        let words = side.browser.texts("#session .problem").concat();
        assert!(words.contains("different plans"), "{words}");
        // The two plans are side by side.
        let row = side.browser.texts("#session .problem tbody tr > *");
        assert_eq!(row[0], "Metric");
        assert!(row.contains(&"ScanMatch".to_string()), "{row:?}");
        assert_eq!(side.state()["session"]["can_resume"], Value::Bool(false));
    }
    host.fits("partner-refused");
    join.set("partner-metric", "levenshtein");
    connect(&host, &join);
    for side in [&host, &join] {
        side.browser.wait_for("document.getElementById('start')");
    }
    // One side starts and pauses; the other side loses its connection.
    host.browser.click("#start");
    host.browser
        .wait_for("document.getElementById('stop')?.textContent === 'Pause'");
    host.browser.click("#stop");
    host.browser
        .wait_for("document.querySelector('#session .problem')?.textContent.startsWith('Paused.')");
    join.browser
        .wait_for("document.querySelector('#session .problem')");
    let words = join.browser.texts("#session .problem").concat();
    assert!(
        words.contains("ended the session") || words.contains("lost"),
        "{words}"
    );
    host.fits("partner-paused");
    // Again: the side that had started resumes, and the other side reads the plan again.
    host.browser.click("#resume");
    host.browser.wait_for(
        "document.querySelector('#session p')?.textContent.includes('Listening on 127.0.0.1:')",
    );
    let address = host.state()["session"]["address"]
        .as_str()
        .unwrap()
        .to_string();
    join.set("address", &address);
    join.browser.click("#connect");
    join.browser.wait_for("document.getElementById('start')");
    join.browser.click("#start");
    for side in [&host, &join] {
        side.browser.wait_for("document.getElementById('result')");
    }
    assert_eq!(
        host.export("partner_result", "csv"),
        join.export("partner_result", "csv")
    );
    host.no_complaints();
    join.no_complaints();
}

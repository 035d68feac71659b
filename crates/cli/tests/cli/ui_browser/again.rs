//! A second session, and the form between two sessions.

use super::Institution;
use super::partner::{badge, connect, identify, introduced};
use crate::common::root;
use serde_json::json;

/// Waits until a heading of the session is in the upper half of the window.
fn sees(side: &Institution, heading: &str) {
    side.browser.wait_for(&format!(
        "document.querySelector('#session h2')?.textContent === {heading:?}"
    ));
    side.browser.wait_for(
        "(({ top }) => top >= 0 && top < innerHeight / 2)(document.getElementById('session').getBoundingClientRect())",
    );
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn a_second_session_is_in_view_and_not_mistaken_for_the_first() {
    let Some((host, join)) = introduced() else {
        return;
    };
    let sides = [&host, &join];
    connect(&host, &join);
    for side in sides {
        sees(side, "Both sides agree on this plan");
        side.browser
            .wait_for("document.querySelector('#start:enabled')");
        side.browser.click("#start");
    }
    for side in sides {
        sees(side, "Finished");
        side.browser.wait_for("document.getElementById('result')");
        // The next session starts from the end of a long page.
        side.browser.click("#again");
        side.browser.wait_for("document.getElementById('connect')");
        assert_eq!(badge(side), [] as [String; 0]);
        assert_eq!(
            side.browser.texts("#result h2"),
            ["Result of the last session"]
        );
    }
    join.browser
        .run("document.getElementById('pseudonyms').click()");
    join.wait_until("ids are hidden", |state| {
        state["partner"]["pseudonyms"] == true
    });
    connect(&host, &join);
    for side in sides {
        sees(side, "Both sides agree on this plan");
        // Nothing of the first session is left to be mistaken for the second.
        let hidden = "return [document.getElementById('result'), document.getElementById('report').checkVisibility()]";
        assert_eq!(side.browser.run(hidden), json!([null, false]));
    }
    let will_see = |side: &Institution| side.browser.texts("#shown-ids").concat();
    assert_eq!(
        will_see(&host),
        "The partner (University) will see your participant ids and stimulus names."
    );
    assert_eq!(
        will_see(&join),
        "The partner (Clinic) will see pseudonyms and hashes instead of your participant ids and stimulus names."
    );
    for side in sides {
        side.browser
            .run("scrollTo(0, document.documentElement.scrollHeight)");
    }
    host.browser.run("document.getElementById('stop').click()");
    for side in sides {
        sees(side, "Stopped");
        assert_eq!(badge(side), ["stopped"]);
        side.browser.wait_for("document.getElementById('result')");
        // The page opens at the session, and says what happened.
        side.browser.open_url("about:blank");
        side.browser.open_url(&side.address);
        sees(side, "Stopped");
        assert_eq!(badge(side), ["stopped"]);
        side.no_complaints();
    }
}

/// The address that one role needs is not that of the other.
#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn each_role_keeps_its_own_address() {
    let Some(user) = Institution::start() else {
        return;
    };
    let browser = &user.browser;
    user.drop_files(&[root().join("testdata/demo/clinic.csv")]);
    identify(&user, "");
    for (role, before, address) in [
        ("join", "", "clinic.example:7070"),
        ("host", "", "university.example:7070"),
        ("join", "clinic.example:7070", ""),
        ("host", "university.example:7070", ""),
    ] {
        browser.click(&format!("#role-{role}"));
        user.wait_until("the role", |state| state["partner"]["role"] == role);
        browser.wait_for(&format!(
            "document.getElementById('address')?.value === {before:?}"
        ));
        if !address.is_empty() {
            user.set("address", address);
        }
    }
    // Without a fingerprint, the program does not wait for anybody; the page names and marks the field.
    browser.click("#connect");
    browser.wait_for("document.querySelector('.field.wrong #peer')");
    let words = browser.texts("#alert .problem").concat();
    assert!(words.contains("“The partner’s fingerprint”"), "{words}");
    assert_eq!(user.state()["session"]["phase"], "idle");
    user.no_complaints();
}

//! The steps of a session as text.

use super::engine::{self, duration};
use super::{groups, limit};
use crate::failure::Failure;
use crate::hints::exceeded_hint;
use crate::messages;
use veilpath::units;
use veilpath::{
    AgreementSummary, CompletedSession, Engine, Link, Peer, PeerEvent, Reveal, RevealTo,
    SessionEvent,
};

/// A step that is not about one peer.
pub(super) fn session(event: &SessionEvent) {
    match event {
        SessionEvent::Listening {
            address,
            fingerprint,
        } => messages::info(&format!(
            "listening on {address}; this side's fingerprint is\n  {fingerprint}\n"
        )),
        SessionEvent::Connecting {
            address,
            relay,
            fingerprint,
        } => {
            let relay = if *relay { "the relay " } else { "" };
            messages::info(&format!(
                "connecting to {relay}{address}; this side's fingerprint is\n  {fingerprint}\n"
            ));
        }
        SessionEvent::Rejected {
            reason,
            by_other_side: true,
        } => messages::note(&format!(
            "a connection was closed by the other side ({reason})"
        )),
        SessionEvent::Rejected { reason, .. } => {
            messages::note(&format!(
                "an unauthenticated connection was rejected ({reason})"
            ));
        }
        _ => {}
    }
}

/// A step of the session with a peer, with its name if there are several.
pub(super) fn peer(peer: &Peer, name: Option<&str>, event: &PeerEvent) {
    match event {
        PeerEvent::Connected => match name {
            None => messages::info(&format!("connected to\n  {}\n", peer.fingerprint)),
            Some(_) => info(name, "connected"),
        },
        PeerEvent::Queued { ahead } => match name {
            None => info(
                name,
                &format!("the host is busy; partners ahead of this side: {ahead}"),
            ),
            Some(_) => info(name, &format!("waiting; partners ahead of it: {ahead}")),
        },
        PeerEvent::Agreed(summary) => agreed(name, summary),
        PeerEvent::Failed(error) => note(name, &Failure::from(&**error).to_string()),
        PeerEvent::Declined(reason) => {
            note(name, &format!("another connection was declined: {reason}"));
        }
        _ => {}
    }
}

/// A session that has finished.
pub(super) fn finished(name: Option<&str>, completed: &CompletedSession, summary: &str) {
    info(name, summary);
    let learns_pairs = completed.outcome.spec.reveal.group_question().is_none();
    if completed.restarted_pairs > 0 {
        let consequence = match completed.outcome.spec.engine.opens_outputs_by_halves() {
            true => "this reveals nothing new",
            false => "every start counts as a comparison",
        };
        note(
            name,
            &format!(
                "{} had to be started more than once, at most {} times each, because a session was interrupted; with this engine {consequence}",
                units::counted(completed.restarted_pairs, "pair"),
                completed.max_starts
            ),
        );
    }
    if learns_pairs && completed.max_agreements > 1 {
        note(
            name,
            &format!(
                "a scanpath of this side is now part of {} agreements with this partner (other metrics, thresholds or cohorts); together their results reveal more than each does (see “Limits” in docs/sessions.md)",
                completed.max_agreements
            ),
        );
    }
    if let Some(problem) = &completed.journal_failure {
        note(
            name,
            &format!("the results are complete, but the journal is not: {problem}"),
        );
    }
}

/// What happens to a session that this side's user interrupts.
fn interruption(engine: Engine) -> &'static str {
    match engine.opens_outputs_by_halves() {
        true => "Ctrl-C interrupts the session; the same two commands continue it",
        false => {
            "Ctrl-C interrupts the session; the same two commands start its unfinished pairs again, and each start counts as a comparison"
        }
    }
}

/// The limits on the answer, a line for each: those of a group answer, and comparisons per scanpath if they count.
fn bounds(summary: &AgreementSummary) -> String {
    let of_answer = summary.groups.as_ref();
    let of_answer = of_answer.map(|it| groups::limit(it, summary.reveal));
    let counts = !summary.engine.engine.opens_outputs_by_halves() || summary.limit.after > 0;
    match (of_answer, counts) {
        // Nobody learns anything about single scanpaths, so comparisons do not count.
        (Some(answer), false) => format!("groups: {answer}"),
        (Some(answer), true) => {
            format!("groups: {answer}\nlimit: {}", limit::text(&summary.limit))
        }
        (None, _) => format!("limit: {}", limit::text(&summary.limit)),
    }
}

fn agreed(name: Option<&str>, summary: &AgreementSummary) {
    let estimate = &summary.estimate;
    let known = match summary.from_journal {
        0 => String::new(),
        known => format!(
            " ({} of them from an earlier run)",
            units::grouped(known as u64)
        ),
    };
    let tile = summary.tile.as_ref().map_or_else(String::new, |plan| {
        let pairs = units::grouped(plan.pairs);
        format!("\ntile: {} of a plan with {pairs} pairs", plan.tile)
    });
    let pairs = match summary.tiles {
        None => counted(summary.pairs, "pair"),
        Some(plan) => format!(
            "{} in {}",
            units::counted(plan.pairs, "pair"),
            units::counted(plan.tile_count.into(), "tile")
        ),
    };
    let to = match summary.reveal_to {
        RevealTo::Both => "",
        RevealTo::Host => ", only to the host",
        RevealTo::Join => ", only to the joining side",
    };
    let lengths = match summary.pad_to {
        None => "both sides know the lengths".into(),
        Some(length) => format!("every scanpath looks {length} letters long"),
    };
    let scanpaths = match summary.engine.engine {
        Engine::Plain => "; the host sees every scanpath of the joining side",
        _ => "",
    };
    let published = summary.reveal.group_question();
    let published = published.and_then(|question| question.describe_published());
    let published = published.map_or_else(String::new, |words| format!("; {words}"));
    let precision = summary.error_bound.map_or_else(String::new, |bound| {
        let bound = units::error_bound(bound);
        let near = match summary.reveal {
            Reveal::Score | Reveal::Group(_) => "",
            Reveal::Threshold(_) => {
                ", so a pair this close to the threshold may fall on the wrong side of it"
            }
        };
        format!("precision: scores are accurate to ±{bound}{near}\n")
    });
    let rounding = summary
        .fixation_rounding
        .as_ref()
        .map_or_else(String::new, |rounding| {
            format!("fixations: {}\n", units::fixation_rounding(rounding))
        });
    let mut engine = engine::line(&summary.engine);
    if summary.engine.engine == Engine::Shares {
        engine += GARBLED_ADVICE;
    }
    let cost = match summary.tiles {
        // Tiles are estimated when they are computed.
        Some(_) => String::new(),
        None => format!(
            "estimate: {}, {} to the host, {} to the joining side, {}, {}\n",
            units::counted(summary.cells, "matrix cell"),
            units::bytes(estimate.bytes_to_host),
            units::bytes(estimate.bytes_to_join),
            units::counted(estimate.rounds, "round"),
            duration(estimate.seconds),
        ),
    };
    info(
        name,
        &format!(
            "agreed: {} of the host, {} of the joining side, {pairs}{known}{tile}\n\
             revealed: {}{to}; {lengths}{scanpaths}{published}\n\
             {rounding}{precision}{engine}{}\n\
             {cost}connection: {}",
            counted(summary.host_scanpaths, "scanpath"),
            units::grouped(summary.join_scanpaths as u64),
            summary.answer_description,
            bounds(summary),
            connection(&summary.link),
        ),
    );
    if summary.stimuli_on_one_side {
        note(
            name,
            "only one side has stimuli, so every scanpath is compared with every scanpath of the other side (`veilpath encode --stimulus` sets them)",
        );
    }
    if summary.same_scanpaths {
        note(
            name,
            "both sides seem to use the same cohort: their ids, stimuli and lengths are the same",
        );
    }
    if summary.encoding_on_one_side {
        note(
            name,
            "only one side's file contains encoding settings; make sure that the partner used the same settings (`veilpath encode` writes them to the file)",
        );
    }
    if let Some(exceeded) = &summary.limit.exceeded {
        note(
            name,
            &format!(
                "without --estimate this side will decline: {exceeded}\n  {}",
                exceeded_hint(exceeded)
            ),
        );
    }
    if summary.estimate_only.is_none() && estimate.seconds >= LONG_SECONDS {
        info(name, interruption(summary.engine.engine));
    }
    let [host, join] = summary.unpaired;
    if host + join > 0 {
        note(
            name,
            &format!(
                "{} of the host and {join} of the joining side are not compared, because the other side does not have their stimulus",
                counted(host, "scanpath")
            ),
        );
    }
}

/// Sessions with at least this estimate mention that they can be interrupted.
const LONG_SECONDS: f64 = 10.0;

/// An advantage of garbled, shown when shares is used.
const GARBLED_ADVICE: &str =
    "  --engine garbled gives a partner that cheats fewer ways to change what is computed\n";

/// Prints lines about a peer, each with its name if there are several.
fn info(name: Option<&str>, text: &str) {
    let prefix = name.map(|name| format!("{name}: ")).unwrap_or_default();
    let lines = text.lines().map(|line| format!("{prefix}{line}\n"));
    messages::info(&lines.collect::<String>());
}

pub(super) fn note(name: Option<&str>, text: &str) {
    match name {
        None => messages::note(text),
        Some(name) => messages::note(&format!("{name}: {text}")),
    }
}

fn counted(count: usize, noun: &str) -> String {
    units::counted(count as u64, noun)
}

/// The highest rate that is shown, in bytes per second.
const MAX_SHOWN_RATE: u64 = 1_000_000_000;

/// The measured properties of the connection.
fn connection(link: &Link) -> String {
    let mut text = format!(
        "round trip {}",
        units::seconds(link.round_trip.as_secs_f64())
    );
    for (rate, to) in [
        (link.bytes_per_second_to_host, "the host"),
        (link.bytes_per_second_to_join, "the joining side"),
    ] {
        if let Some(rate) = rate {
            // Higher rates do not limit any comparison, and cannot be measured well.
            let rate = match rate > MAX_SHOWN_RATE {
                true => "more than 1 GB".into(),
                false => units::bytes(rate),
            };
            text += &format!(", {rate} per second to {to}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implausible_rates_are_not_shown() {
        let link = Link {
            round_trip: std::time::Duration::from_micros(47),
            bytes_per_second_to_host: Some(1 << 40),
            bytes_per_second_to_join: Some(12_500_000),
            ..Link::local()
        };
        let text = connection(&link);
        assert!(
            text.contains("47 µs") && text.contains("12.5 MB per second"),
            "{text}"
        );
        assert!(
            text.contains("more than 1 GB per second to the host"),
            "{text}"
        );
    }
}

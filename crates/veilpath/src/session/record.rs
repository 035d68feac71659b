//! The record of what was disclosed, as a table.

use super::records::SHORT_ID;
use std::io::{self, Write};
use veilpath_protocol::{RevealTo, Role};
use veilpath_report::csv;
use veilpath_session::{RecordEntry, RecordLine};

/// Writes lines of a record as CSV.
pub fn write_record(lines: &[RecordLine], out: &mut dyn Write) -> io::Result<()> {
    let rows = lines.iter().map(|line| {
        let partner = line.partner().map(|it| it.to_string()).unwrap_or_default();
        let time = line.time().unwrap_or_default().to_string();
        let number = line.number.to_string();
        match &line.entry {
            RecordEntry::Session(entry) => {
                let disclosed = &entry.disclosure;
                let role = line.role().unwrap_or(Role::Host);
                let [ours, theirs] = match role {
                    Role::Host => disclosed.participants,
                    Role::Join => [disclosed.participants[1], disclosed.participants[0]],
                };
                let comparison = disclosed.comparison_id(role).unwrap_or_default();
                [
                    number,
                    time,
                    entry.step.name().to_string(),
                    partner,
                    name(role).to_string(),
                    comparison.chars().take(SHORT_ID).collect(),
                    ours.to_string(),
                    theirs.to_string(),
                    disclosed.pairs.to_string(),
                    disclosed.metric.clone(),
                    disclosed.answer.clone(),
                    to(disclosed.to).to_string(),
                ]
            }
            RecordEntry::Withdrawal(entry) => {
                let mut row: [String; 12] = Default::default();
                row[0] = number;
                row[1] = time;
                row[2] = "withdrawal".into();
                row[3] = partner;
                row[6] = entry.participants.to_string();
                row
            }
        }
    });
    let columns = [
        "line",
        "time",
        "event",
        "peer",
        "role",
        "comparison",
        "participants",
        "peer_participants",
        "pairs",
        "metric",
        "answer",
        "to",
    ];
    csv::write_table(columns, rows, out)
}

fn name(role: Role) -> &'static str {
    match role {
        Role::Host => "host",
        Role::Join => "join",
    }
}

fn to(side: RevealTo) -> &'static str {
    match side {
        RevealTo::Both => "both",
        RevealTo::Host => name(Role::Host),
        RevealTo::Join => name(Role::Join),
    }
}

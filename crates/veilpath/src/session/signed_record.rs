//! The signed record, as a table.

use super::stored_sessions::{SHORT_ID, role_name};
use std::io::{self, Write};
use veilpath_protocol::{RevealTo, Role};
use veilpath_report::csv;
use veilpath_session::{RecordEntry, RecordLine};

/// Writes record lines as CSV.
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
                    role_name(role).to_string(),
                    comparison.chars().take(SHORT_ID).collect(),
                    ours.to_string(),
                    theirs.to_string(),
                    disclosed.pairs.to_string(),
                    disclosed.metric.clone(),
                    disclosed.answer.clone(),
                    recipient_name(disclosed.to).to_string(),
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

fn recipient_name(side: RevealTo) -> &'static str {
    match side {
        RevealTo::Both => "both",
        RevealTo::Host => role_name(Role::Host),
        RevealTo::Join => role_name(Role::Join),
    }
}

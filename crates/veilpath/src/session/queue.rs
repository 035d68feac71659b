//! Limits how often a joining side reports its position in the host's queue.

use std::time::{Duration, Instant};

/// The shortest time between two reports, so that a host that sends one number after another cannot flood a log.
const REPORT_INTERVAL: Duration = Duration::from_secs(5);

/// The last report.
#[derive(Debug, Default)]
pub(super) struct QueueReports(Option<(u64, Instant)>);

impl QueueReports {
    /// Whether to report this number of sessions ahead: the first one always, and changes at a limited rate.
    pub(super) fn is_due(&mut self, ahead: u64, now: Instant) -> bool {
        let due = self.0.is_none_or(|(last, time)| {
            last != ahead && now.saturating_duration_since(time) >= REPORT_INTERVAL
        });
        if due {
            self.0 = Some((ahead, now));
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternating_numbers_do_not_flood_a_log() {
        let start = Instant::now();
        let mut reports = QueueReports::default();
        let reported = (0..10_000_u64).filter(|&message| {
            let now = start + Duration::from_millis(message);
            reports.is_due(message % 2, now)
        });
        assert_eq!(reported.count(), 2);
        assert!(!reports.is_due(1, start + Duration::from_secs(60)));
        assert!(reports.is_due(0, start + Duration::from_secs(61)));
    }
}

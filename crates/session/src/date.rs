//! Dates: when a file was written or a record signed, and whether a policy or a worker key is still valid.

use std::time::{SystemTime, UNIX_EPOCH};

/// The wall clock, which may be wrong: only records, policies and worker keys use it.
pub fn now() -> SystemTime {
    SystemTime::now()
}

/// The date in UTC, as in 2026-11-16.
pub fn date(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut days = since.as_secs() / 86_400;
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

/// The date and the time in UTC, as in 2026-11-16T14:05:09Z.
pub fn date_and_time(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let second = since.as_secs() % 86_400;
    let (hours, minutes, seconds) = (second / 3600, second / 60 % 60, second % 60);
    format!("{}T{hours:02}:{minutes:02}:{seconds:02}Z", date(time))
}

/// Whether a text has the form of [`date_and_time`].
pub(crate) fn is_date_and_time(text: &str) -> bool {
    const PATTERN: &str = "0000-00-00T00:00:00Z";
    let matches = |(found, pattern): (u8, u8)| match pattern {
        b'0' => found.is_ascii_digit(),
        other => found == other,
    };
    text.len() == PATTERN.len() && text.bytes().zip(PATTERN.bytes()).all(matches)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn days_are_converted_to_dates() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_709_251_199, "2024-02-29"),
            (1_709_251_200, "2024-03-01"),
            (1_798_761_599, "2026-12-31"),
        ] {
            assert_eq!(date(UNIX_EPOCH + Duration::from_secs(seconds)), day);
        }
        let time = UNIX_EPOCH + Duration::from_secs(1_798_761_599);
        assert_eq!(date_and_time(time), "2026-12-31T23:59:59Z");
        assert!(is_date_and_time(&date_and_time(time)));
        for other in [
            "",
            "2026-12-31",
            "2026-12-31T23:59:59+",
            "2026-12-31T23:59:5٩",
        ] {
            assert!(!is_date_and_time(other), "{other}");
        }
    }
}

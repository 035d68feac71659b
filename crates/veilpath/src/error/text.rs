//! Parts of error messages.

use veilpath_protocol::RiskySetting;

/// What has another number of letters than the options give.
pub(super) fn letter_source(file: Option<&str>) -> String {
    file.map_or("their grid".into(), |file| {
        format!("the alphabet or grid of {file}")
    })
}

pub(super) fn listed(settings: &[RiskySetting]) -> String {
    let settings: Vec<String> = settings.iter().map(RiskySetting::to_string).collect();
    settings.join(" and ")
}

/// The first few numbers, and how many more there are.
pub(super) fn first_few(numbers: &[usize]) -> String {
    const SHOWN: usize = 5;
    let shown = numbers.iter().take(SHOWN);
    let shown: Vec<String> = shown.map(|number| format!("number {number}")).collect();
    match numbers.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

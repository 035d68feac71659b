//! The points of a picture, as the page's script draws them.
//!
//! ```text
//! length of the head (u32) | head (JSON, padded to 4 bytes) | x, y, duration of every point (f32, little endian)
//! ```

use serde_json::json;
use std::sync::Arc;
use veilpath::encode::{Trace, TracedRecording};

/// The points of all recordings of a stimulus. An empty name selects recordings without a stimulus.
#[allow(clippy::cast_possible_truncation)] // a picture needs no more than single precision
pub(crate) fn points(traces: &[Option<Arc<Trace>>; 2], stimulus: &str) -> Vec<u8> {
    let is_shown = |it: &&TracedRecording| it.stimulus.as_deref().unwrap_or_default() == stimulus;
    let sides = traces.iter().enumerate();
    let recordings = sides.flat_map(|(side, trace)| {
        let recordings = trace.iter().flat_map(|trace| &trace.recordings);
        recordings.filter(is_shown).map(move |it| (side, it))
    });
    let recordings: Vec<(usize, &TracedRecording)> = recordings.collect();
    let heads = recordings.iter().map(|(side, it)| {
        json!({
            "participant": it.participant,
            "side": side,
            "points": it.points.len(),
            "fixations": it.is_fixations,
        })
    });
    let aspect = recordings.iter().find_map(|(_, it)| it.space?.aspect());
    let head = json!({"recordings": heads.collect::<Vec<_>>(), "aspect": aspect});
    let mut head = head.to_string().into_bytes();
    head.resize(head.len().next_multiple_of(4), b' ');
    let mut bytes = Vec::new();
    bytes.extend(u32::try_from(head.len()).unwrap_or_default().to_le_bytes());
    bytes.extend(head);
    for point in recordings.iter().flat_map(|(_, it)| &it.points) {
        let duration = point.duration_ms.unwrap_or_default();
        for number in [point.x, point.y, duration] {
            bytes.extend((number as f32).to_le_bytes());
        }
    }
    bytes
}

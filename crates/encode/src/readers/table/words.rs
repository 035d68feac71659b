//! Words for eye movements.

use super::columns::normalised_name;

/// The meaning of a label for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LabelMeaning {
    Fixation,
    /// Another movement of the eye.
    Movement,
    /// A word that also has other uses.
    Vague,
}

/// The meaning of a word; `None` if it is unknown.
pub(crate) fn meaning(label: &str) -> Option<LabelMeaning> {
    match without_eye(label).as_str() {
        "fixation" | "fixations" | "fixate" | "fix" | "fixa" | "efix" | "visualintake"
        | "intake" => Some(LabelMeaning::Fixation),
        "saccade"
        | "saccades"
        | "sacc"
        | "sac"
        | "esacc"
        | "isac"
        | "microsaccade"
        | "pursuit"
        | "purs"
        | "smoothpursuit"
        | "sp"
        | "hpso"
        | "ihps"
        | "lpso"
        | "ilps"
        | "pso"
        | "glissade"
        | "postsaccadicoscillation"
        | "blink"
        | "blinks"
        | "blnk"
        | "blk"
        | "eblink"
        | "eyesnotfound"
        | "unknowneyemovement"
        | "vor" => Some(LabelMeaning::Movement),
        "unclassified" | "unknown" | "undefined" | "noise" | "gap" | "lost" | "missing"
        | "trackloss" | "artifact" | "artefact" | "drift" | "outlier" | "other" | "bl" => {
            Some(LabelMeaning::Vague)
        }
        _ => None,
    }
}

/// Whether a label says that the eye was not seen.
pub(crate) fn is_loss(label: &str) -> bool {
    matches!(
        without_eye(label).as_str(),
        "blink"
            | "blinks"
            | "blnk"
            | "blk"
            | "bl"
            | "eblink"
            | "eyesnotfound"
            | "lost"
            | "missing"
            | "trackloss"
    )
}

/// The normalised label without the eye that SMI and EyeLink add, as in `Fixation L`.
fn without_eye(label: &str) -> String {
    let label = label.trim();
    let event = match label.rsplit_once([' ', '_']) {
        Some((event, eye))
            if ["l", "r", "left", "right"].contains(&eye.to_ascii_lowercase().as_str()) =>
        {
            event
        }
        _ => label,
    };
    normalised_name(event)
}

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

/// Words for fixations. All words here are in English, German and French, as [`normalised_name`] writes them.
const FIXATIONS: &[&str] = &[
    "fixation",
    "fixations",
    "fixationen",
    "fixate",
    "fix",
    "fixa",
    "efix",
    "visualintake",
    "intake",
];

/// Words for other movements of the eye.
const MOVEMENTS: &[&str] = &[
    "saccade",
    "saccades",
    "sakkade",
    "sakkaden",
    "sacc",
    "sac",
    "sak",
    "esacc",
    "isac",
    "microsaccade",
    "microsaccades",
    "mikrosakkade",
    "mikrosakkaden",
    "pursuit",
    "pursuits",
    "purs",
    "smoothpursuit",
    "smoothpursuits",
    "folgebewegung",
    "glattefolgebewegung",
    "gleitendefolgebewegung",
    "langsamefolgebewegung",
    "poursuite",
    "poursuitelente",
    "poursuitelisse",
    "sp",
    "hpso",
    "ihps",
    "lpso",
    "ilps",
    "pso",
    "glissade",
    "glissades",
    "glissaden",
    "postsaccadicoscillation",
    "eyesnotfound",
    "unknowneyemovement",
    "vor",
];

/// Words for blinks, which are movements and losses.
const BLINKS: &[&str] = &[
    "blink",
    "blinks",
    "blnk",
    "blk",
    "eblink",
    "lidschlag",
    "lidschläge",
    "lidschlaege",
    "blinzeln",
    "clignement",
    "clignements",
    "clignementdesyeux",
];

/// Words for the loss of the eye, and for blinks, that also have other uses.
const LOSSES: &[&str] = &[
    "bl",
    "lost",
    "missing",
    "trackloss",
    "verloren",
    "fehlend",
    "perdu",
    "perdue",
    "perte",
];

/// Words for everything else. They also have other uses.
const OTHERS: &[&str] = &[
    "unclassified",
    "notclassified",
    "unknown",
    "undefined",
    "undef",
    "noise",
    "gap",
    "none",
    "noevent",
    "artifact",
    "artefact",
    "drift",
    "outlier",
    "other",
    "others",
    "invalid",
    "nichtklassifiziert",
    "unklassifiziert",
    "unbekannt",
    "undefiniert",
    "rauschen",
    "lücke",
    "luecke",
    "artefakt",
    "andere",
    "anderes",
    "sonstige",
    "sonstiges",
    "keine",
    "keines",
    "ungültig",
    "ungueltig",
    "nonclassé",
    "nonclasse",
    "nonclassifié",
    "nonclassifie",
    "inconnu",
    "inconnue",
    "indéfini",
    "indefini",
    "bruit",
    "artéfact",
    "autre",
    "autres",
    "aucun",
    "aucune",
    "invalide",
];

/// The meaning of a word; `None` if it is unknown.
pub(crate) fn meaning(label: &str) -> Option<LabelMeaning> {
    let word = without_eye(label);
    let is_in = |words: &[&str]| words.contains(&word.as_str());
    if is_in(FIXATIONS) {
        Some(LabelMeaning::Fixation)
    } else if is_in(MOVEMENTS) || is_in(BLINKS) {
        Some(LabelMeaning::Movement)
    } else if is_in(LOSSES) || is_in(OTHERS) {
        Some(LabelMeaning::Vague)
    } else {
        None
    }
}

/// Whether a label says that the eye was not seen.
pub(crate) fn is_loss(label: &str) -> bool {
    let word = without_eye(label);
    word == "eyesnotfound" || BLINKS.contains(&word.as_str()) || LOSSES.contains(&word.as_str())
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

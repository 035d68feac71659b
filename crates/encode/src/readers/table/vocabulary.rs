//! The words by which generic tables are understood, written as [`squeezed`](super::columns::squeezed) gives them.

use super::columns::Place;

/// Names of coordinates in pairs, so that `start_x` never meets `y`.
pub(super) const PLACES: [(&str, &str, Place); 24] = [
    ("x", "y", Place::Plain),
    ("fixationx", "fixationy", Place::Plain),
    ("fixx", "fixy", Place::Plain),
    ("currentfixx", "currentfixy", Place::Plain),
    ("fixationpointx", "fixationpointy", Place::Plain),
    ("meanx", "meany", Place::Plain),
    ("avgx", "avgy", Place::Plain),
    ("centerx", "centery", Place::Plain),
    ("startx", "starty", Place::Plain),
    ("gazex", "gazey", Place::Plain),
    ("gazepointx", "gazepointy", Place::Plain),
    ("xcoord", "ycoord", Place::Plain),
    ("xcoordinate", "ycoordinate", Place::Plain),
    ("xpos", "ypos", Place::Plain),
    ("posx", "posy", Place::Plain),
    ("xposition", "yposition", Place::Plain),
    ("positionx", "positiony", Place::Plain),
    ("locationx", "locationy", Place::Plain),
    ("porx", "pory", Place::Plain),
    ("normposx", "normposy", Place::PupilNorm),
    ("longitude", "latitude", Place::Globe),
    ("lon", "lat", Place::Globe),
    ("long", "lat", Place::Globe),
    ("gazelongitude", "gazelatitude", Place::Globe),
];

/// Our name for a column, other words for it in `--columns`, and what files call it.
pub(super) struct Kind {
    pub(super) ours: &'static [&'static str],
    pub(super) theirs: &'static [&'static str],
}

pub(super) const DURATION: Kind = Kind {
    ours: &["duration"],
    theirs: &[
        "duration",
        "dur",
        "fixationduration",
        "fixduration",
        "fixdur",
        "currentfixduration",
        "gazeeventduration",
    ],
};
pub(super) const START: Kind = Kind {
    ours: &["start", "onset", "time", "timestamp"],
    theirs: &[
        "onset",
        "start",
        "starttime",
        "starttimestamp",
        "timestart",
        "fixationstart",
        "currentfixstart",
        "tstart",
        "timestamp",
        "recordingtimestamp",
        "time",
        "t",
    ],
};
pub(super) const END: Kind = Kind {
    ours: &["end"],
    theirs: &[
        "end",
        "endtime",
        "endtimestamp",
        "timeend",
        "fixationend",
        "currentfixend",
        "tend",
        "offset",
    ],
};
pub(super) const PARTICIPANT: Kind = Kind {
    ours: &["participant", "subject"],
    theirs: &[
        "participant",
        "participantid",
        "participantname",
        "subject",
        "subjectid",
        "subjectname",
        "subj",
        "subjid",
        "sub",
        "observer",
        "observerid",
        "viewer",
        "user",
        "userid",
        "recordingsessionlabel",
    ],
};
pub(super) const STIMULUS: Kind = Kind {
    ours: &["stimulus", "image"],
    theirs: &[
        "stimulus",
        "stimulusid",
        "stimulusname",
        "stim",
        "image",
        "imageid",
        "imagename",
        "img",
        "picture",
        "scene",
        "video",
        "media",
        "medianame",
        "item",
        "itemid",
        "text",
        "textid",
        "page",
    ],
};
pub(super) const TRIAL: Kind = Kind {
    ours: &["trial"],
    theirs: &[
        "trial",
        "trialid",
        "trialindex",
        "trialnumber",
        "trialnum",
        "trialnr",
        "trialname",
    ],
};
pub(super) const AOI: Kind = Kind {
    ours: &["aoi"],
    theirs: &[
        "aoi",
        "aoiname",
        "aoilabel",
        "area",
        "areaofinterest",
        "roi",
        "roiname",
        "interestarea",
        "currentfixinterestarealabel",
    ],
};
pub(super) const CONFIDENCE: Kind = Kind {
    ours: &["confidence"],
    theirs: &["confidence", "conf"],
};

/// Words behind a name that are units and no part of it, as in `duration_ms`.
pub(super) const UNIT_WORDS: [&str; 17] = [
    "ms",
    "msec",
    "s",
    "sec",
    "us",
    "µs",
    "μs",
    "ns",
    "px",
    "pix",
    "pixel",
    "pixels",
    "deg",
    "degree",
    "degrees",
    "norm",
    "normalized",
];

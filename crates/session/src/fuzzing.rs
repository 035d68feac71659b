//! The decoders of everything that another side can send, and of a journal's records, for fuzzing. Not a part of the
//! interface.

use crate::agreement::{Hello, Terms};
use crate::control::{self, Decline, Tag};
use crate::frames::Parser;
use crate::journal::record::{Record, sealed};
use crate::roster::Row;
use crate::session::Ready;
use crate::work::Finished;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// How many decoders there are.
pub const DECODERS: u8 = 8;

/// Decodes; what is accepted must survive being written and read again. Tells whether it was accepted.
pub fn decode(decoder: u8, bytes: &[u8]) -> bool {
    match decoder % DECODERS {
        0 => {
            let mut data = Vec::new();
            Parser::default().feed(bytes, &mut data).is_ok()
        }
        1 => {
            let hello = again::<Hello>(Tag::Hello, bytes);
            hello.is_some_and(|hello| hello.letters().is_ok())
        }
        2 => {
            let terms = again::<Terms>(Tag::Terms, bytes);
            terms.is_some_and(|terms| terms.differences(&terms).is_empty() && terms.check().is_ok())
        }
        3 => again::<Vec<Row>>(Tag::Roster, bytes).is_some(),
        4 => again::<Ready>(Tag::Ready, bytes).is_some(),
        5 => again::<Finished>(Tag::Finished, bytes).is_some(),
        6 => again::<Decline>(Tag::Decline, bytes).is_some(),
        _ => record(bytes),
    }
}

/// A record whose checksum is right, whatever it says.
fn record(bytes: &[u8]) -> bool {
    let id = [7; 32];
    let content = bytes
        .first_chunk()
        .filter(|content| content.len() == bytes.len());
    let Some(record) = content.and_then(|content| Record::decode(&id, &sealed(&id, content)))
    else {
        return false;
    };
    let bytes = record.encode(&id);
    Record::decode(&id, &bytes).is_some_and(|again| again.encode(&id) == bytes)
}

fn again<T: Serialize + DeserializeOwned>(tag: Tag, bytes: &[u8]) -> Option<T> {
    let message: T = control::decode(tag, bytes).ok()?;
    let written = serde_json::to_vec(&message).ok()?;
    control::decode(tag, &written).ok()
}

//! Decoders of everything that a peer can send, and of the files in the state folder, for fuzzing. They need the
//! feature `fuzzing`, which no release build enables.
//!
//! | decoder | what it reads |
//! |---|---|
//! | 0 | frames |
//! | 1 to 6 | the JSON of `Hello`, `Terms`, rows of a roster, `Ready`, `Finished`, `Decline` |
//! | 7 | magic, version and `Hello`, as they are sent |
//! | 8 | tag, length and content of a message; a leading byte chooses the expected tag |
//! | 9 | messages of a roster; three leading bytes are the announced rows, letters and bytes of ids |
//! | 10 | statements about pairs, then halves and answers that are sent again; a leading byte is the number of pairs |
//! | 11 | an entry of a journal, without its checksum |
//! | 12 | packets; a leading byte is the length of each read |
//! | 13 | packets whose contents are given as a length of one byte and that many bytes: they must be received unchanged |
//! | 14 | a journal's entries without their checksums, in a whole file |
//! | 15 | a ledger |
//! | 16 | an identity file |
//! | 17 | a fingerprint, as a user types it |
//! | 18 | a host's `Terms`, and the Wait messages before it |
//! | 19 | the description of a stored comparison |
//! | 20 | probes of the connection, and what they showed |
//! | 21 | the JSON of `Engine` |
//! | 22 | the JSON of `Intent` |
//! | 23 | a signed record |
//! | 24 | a policy |
//! | 25 | a disclosure ledger |
//! | 26, 27 | the JSON of `Groups` and `Coins` |
//! | 28 | statements about a group answer; a leading byte is the number of pairs |
//! | 29 | what the numbers of an answer mean; eight leading bytes are the value of every number |
//! | 30 to 32 | the JSON of `Order`, `Tile` and `Refused` between a worker and its coordinator |
//! | 33 | journal entries that a worker sends to its coordinator, without their checksums |
//! | 34 | the content of `Labels`, for six scanpaths of five participants in two groups |
//! | 35 | what a coordinator answers: `EntriesStored`, `Refused` or `Decline`, with tag and length |
//! | 36 | the JSON of `Report` between a worker and its coordinator |
//! | 37 | a worker's certificate |
//! | 38 | a worker's greeting at a gateway, without its header |
//! | 39 | lines of a ledger's log |
//! | 40, 41 | a work order, and the plan of an agreement on tiles |
//! | 42 | how an answer is opened: `SharesStored`, then `Answer`; the bits of a leading byte are the role and who learns it |

use crate::agreement::{self, Hello, Terms};
use crate::control::{self, Decline, Tag};
use crate::counted_store::{AgreedPairs, Bookkeeping};
use crate::disclosure::WithdrawalWatch;
use crate::engine_decision::EngineOffer;
use crate::frames::Parser;
use crate::groups::{CoinsPart, GroupTerms};
use crate::journal::Journal;
use crate::journal::entry::{Entry as JournalEntry, with_checksum};
use crate::link;
use crate::resend::Resend;
use crate::resume::Resume;
use crate::roster::{AnnouncedRoster, Roster, Row};
use crate::run::Finished;
use crate::session::Ready;
use crate::signed_record::{SentSignature, SignedRecord};
use crate::stored::Description;
use crate::worker::{self, Order, Refusal, Report, TileState};
use crate::{AlphabetInfo, ChecksummedChannel, Fingerprint, Identity, Policy, disclosure, ledger};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;
use std::time::Duration;
use veilpath_channel::{Channel, ChannelError};
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric, Notation, Scanpath};
use veilpath_protocol::{Engine, PairRule, Reveal, Role, Spec};

/// How many decoders there are.
pub const DECODERS: u8 = 43;

/// Runs a decoder. Accepted input must survive a round trip. Returns whether it was accepted.
pub fn decode(decoder: u8, bytes: &[u8]) -> bool {
    match decoder % DECODERS {
        0 => {
            let mut data = Vec::new();
            Parser::default().feed(bytes, &mut data).is_ok()
        }
        1 => {
            let hello = round_trip::<Hello>(Tag::Hello, bytes);
            hello.is_some_and(|hello| hello.alphabet().is_ok())
        }
        2 => {
            let terms = round_trip::<Terms>(Tag::Terms, bytes);
            terms.is_some_and(|terms| terms.differences(&terms).is_empty() && terms.check().is_ok())
        }
        3 => round_trip::<Vec<Row>>(Tag::Roster, bytes).is_some(),
        4 => round_trip::<Ready>(Tag::Ready, bytes).is_some(),
        5 => round_trip::<Finished>(Tag::Finished, bytes).is_some(),
        6 => round_trip::<Decline>(Tag::Decline, bytes).is_some(),
        7 => opening(bytes),
        8 => {
            let Some((choice, message)) = bytes.split_first() else {
                return false;
            };
            let tag = Tag::ALL[usize::from(*choice) % Tag::ALL.len()];
            control::receive_bytes(&mut Script(message), tag).is_ok()
        }
        9 => {
            let [rows, letters, id_bytes, messages @ ..] = bytes else {
                return false;
            };
            let announced = AnnouncedRoster {
                scanpaths: (*rows).into(),
                letters: (*letters).into(),
                id_bytes: (*id_bytes).into(),
                pad_to: None,
            };
            let roster = Roster::receive(&mut Script(messages), &announced);
            roster.is_ok_and(|roster| roster.len() == usize::from(*rows))
        }
        10 => {
            let Some((pairs, message)) = bytes.split_first() else {
                return false;
            };
            resume(usize::from(*pairs), message)
        }
        11 => entry(bytes),
        12 => {
            let Some((piece, stream)) = bytes.split_first() else {
                return false;
            };
            let mut checksummed = ChecksummedChannel::new(Script(stream));
            let mut piece = vec![0; usize::from(*piece) + 1];
            let mut received = 0;
            while checksummed.receive(&mut piece).is_ok() {
                received += piece.len();
            }
            assert!(received <= stream.len(), "more came out than went in");
            received > 0
        }
        13 => packets(bytes),
        14 => journal(bytes, Reveal::Score) | journal(bytes, groups::MEAN),
        15 => ledger::is_ledger(bytes),
        16 => Identity::from_pem(bytes).is_some(),
        17 => {
            let text = std::str::from_utf8(bytes).ok();
            let read = text.and_then(|text| text.parse::<Fingerprint>().ok());
            read.is_some_and(|read| read.to_string().parse() == Ok(read))
        }
        18 => {
            let mut times = 0_usize;
            let terms: Result<Terms, _> =
                control::receive_after_wait(&mut Script(bytes), Tag::Terms, &mut |_| times += 1);
            terms.is_ok() && times <= bytes.len()
        }
        19 => {
            let written = Description::from_bytes(bytes).map(|it| it.to_bytes());
            written.is_some_and(|text| text.is_ok_and(|it| Description::from_bytes(&it).is_some()))
        }
        20 => link::answer_probes(&mut Script(bytes)).is_ok_and(|measured| measured.is_valid()),
        21 => round_trip::<EngineOffer>(Tag::Engine, bytes).is_some(),
        22 => round_trip::<SentSignature>(Tag::Intent, bytes).is_some(),
        24 => {
            let text = String::from_utf8_lossy(bytes);
            Policy::parse(Path::new("policy"), &text).is_ok()
        }
        25 => disclosure::is_ledger(bytes),
        26 => round_trip::<GroupTerms>(Tag::Groups, bytes).is_some_and(|it| groups::is_valid(&it)),
        27 => round_trip::<CoinsPart>(Tag::Coins, bytes).is_some(),
        28 => {
            let Some((pairs, message)) = bytes.split_first() else {
                return false;
            };
            groups::resume(usize::from(*pairs), message)
        }
        29 => groups::answer(bytes),
        30 => round_trip::<Order>(Tag::Order, bytes).is_some(),
        31 => round_trip::<TileState>(Tag::Tile, bytes).is_some(),
        32 => round_trip::<Refusal>(Tag::Refused, bytes).is_some(),
        33 => coordinator::entries(bytes),
        34 => groups::labels(bytes),
        35 => coordinator::answer(bytes),
        36 => round_trip::<Report>(Tag::Report, bytes).is_some(),
        37 => workers::certificate(bytes),
        38 => worker::is_greeting(bytes),
        39 => ledger::is_log(bytes),
        40 => workers::order(bytes),
        41 => workers::plan(bytes),
        42 => crate::groups::opening::exchange(bytes),
        _ => {
            let text = String::from_utf8_lossy(bytes);
            let record = SignedRecord::parse(Path::new("record"), &text, None);
            assert!(record.lines.len() <= text.lines().count());
            !record.lines.is_empty()
        }
    }
}

/// Data in packets is received unchanged, whatever the chunks.
fn packets(mut bytes: &[u8]) -> bool {
    let mut sent = Vec::new();
    let mut checksummed = ChecksummedChannel::new(Echo::default());
    while let Some((length, rest)) = bytes.split_first() {
        let (now, later) = rest.split_at(rest.len().min(usize::from(*length)));
        bytes = later;
        sent.extend_from_slice(now);
        if checksummed
            .send(now)
            .and_then(|()| checksummed.flush())
            .is_err()
        {
            return false;
        }
    }
    let mut received = vec![0; sent.len()];
    let complete = received
        .chunks_mut(7)
        .all(|piece| checksummed.receive(piece).is_ok());
    assert!(complete && received == sent, "packets lost something");
    !sent.is_empty()
}

/// What a joining side states about pairs, and what it sends again. This side has half of every other output, and has
/// sent some.
fn resume(count: usize, message: &[u8]) -> bool {
    with_storage(count, |agreed, cohort, bookkeeping| {
        let halves: Vec<usize> = (0..count).step_by(2).collect();
        let sent: Vec<usize> = (0..count).step_by(3).collect();
        let journal = &mut bookkeeping.journal;
        let prepared = journal
            .store_halves(&halves, &vec![5; halves.len()], 0)
            .and_then(|()| journal.mark_sent(&sent));
        let script = &mut Script(message);
        let Ok(plan) = prepared.and_then(|()| Resume::exchange(script, journal, agreed)) else {
            return false;
        };
        for pair in &plan.compare {
            assert!(!journal.is_sent(*pair), "a pair is compared again");
        }
        let mut resend = Resend {
            agreed: *agreed,
            agreement: &[0; 32],
            own: &[&cohort.entries[0].scanpath],
            peer_lengths: &vec![3; count],
            bookkeeping,
        };
        resend.run(&plan, script).is_ok()
    })
}

/// Calls `then` with the journal and account of a host for this many pairs of one scanpath.
fn with_storage(
    count: usize,
    then: impl FnOnce(&AgreedPairs<'_>, &Cohort, &mut Bookkeeping<'_>) -> bool,
) -> bool {
    let Ok(alphabet) = Alphabet::letters(4) else {
        return false;
    };
    let cohort = Cohort {
        alphabet,
        encoding: Encoding::default(),
        screen: None,
        entries: vec![Entry {
            participant: "P".into(),
            group: None,
            stimulus: None,
            scanpath: Scanpath::new(vec![1; 3]),
            fixations: None,
        }],
    };
    let (engine, metric) = (Engine::Garbled, Metric::Levenshtein);
    let Ok(spec) = Spec::new(engine, metric, PairRule::All, &cohort, &cohort) else {
        return false;
    };
    let mut journal = Journal::in_memory([0; 32], count, Reveal::Score);
    let pairs: Vec<(usize, usize)> = (0..count).map(|pair| (0, pair)).collect();
    let agreed = AgreedPairs {
        role: Role::Host,
        spec: &spec,
        pairs: &pairs,
        cells: &vec![9; count],
        scanpaths: 1,
    };
    let Ok(identity) = Identity::ephemeral() else {
        return false;
    };
    let file = ledger::LedgerFile::of(None, identity.fingerprint());
    let limits = crate::scanpath_limit::Limits {
        chosen: None,
        default: vec![u64::MAX],
        policy: None,
        assumed_letters: None,
        about_any: false,
        pad_to: None,
    };
    let opened = ledger::Account::open(
        file,
        ledger::Account::names(&identity, &cohort),
        (&[0; 32], None),
        &limits,
        &[0],
    );
    let Ok((mut account, _)) = opened else {
        return false;
    };
    let mut bookkeeping = Bookkeeping {
        journal: &mut journal,
        account: &mut account,
        withdrawals: &mut WithdrawalWatch::nobody(),
        failure: None,
    };
    then(&agreed, &cohort, &mut bookkeeping)
}

/// A file of entries with valid checksums. All complete entries are read, and nothing else.
fn journal(bytes: &[u8], reveal: Reveal) -> bool {
    let id = [7; 32];
    let mut file = b"VPJRNL2\n".to_vec();
    file.extend(id);
    let (contents, torn) = bytes.as_chunks();
    for content in contents {
        file.extend(with_checksum(&id, content));
    }
    file.extend(torn);
    let mut journal = Journal::in_memory(id, 9, reveal);
    // Reading from memory does not fail.
    let length = journal.read(&file[..]).ok().flatten();
    assert!(length.is_none_or(|length| length <= file.len() as u64));
    length.is_some() && (0..9).any(|pair| journal.is_answered(pair))
}

/// Returns what was sent.
#[derive(Default)]
struct Echo {
    sent: Vec<u8>,
    read: usize,
}

impl Channel for Echo {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.sent.extend_from_slice(bytes);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        let sent = self.sent.get(self.read..).unwrap_or_default();
        Script(sent).receive(buffer)?;
        self.read += buffer.len();
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        Ok(())
    }
}

fn opening(bytes: &[u8]) -> bool {
    let alphabet = AlphabetInfo {
        named: None,
        declared: None,
        read_as: Alphabet::full(Notation::Letters),
        grid: None,
    };
    let ours = Hello::new(&alphabet, Duration::from_secs(60));
    let mut script = Script(bytes);
    let theirs = agreement::exchange_versions(&mut script)
        .and_then(|()| agreement::exchange_hellos(&mut script, Role::Host, &ours));
    theirs.is_ok_and(|hello| hello.alphabet().is_ok())
}

/// A peer that sends these bytes, whatever it receives.
struct Script<'a>(&'a [u8]);

impl Channel for Script<'_> {
    fn send(&mut self, _: &[u8]) -> Result<(), ChannelError> {
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        let (now, later) = self
            .0
            .split_at_checked(buffer.len())
            .ok_or(ChannelError::Closed)?;
        buffer.copy_from_slice(now);
        self.0 = later;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        Ok(())
    }
}

/// An entry with a valid checksum, whatever its content.
fn entry(bytes: &[u8]) -> bool {
    let id = [7; 32];
    let content = bytes
        .first_chunk()
        .filter(|content| content.len() == bytes.len());
    let Some(entry) =
        content.and_then(|content| JournalEntry::decode(&id, &with_checksum(&id, content)))
    else {
        return false;
    };
    let bytes = entry.encode(&id);
    JournalEntry::decode(&id, &bytes).is_some_and(|again| again.encode(&id) == bytes)
}

fn round_trip<T: Serialize + DeserializeOwned>(tag: Tag, bytes: &[u8]) -> Option<T> {
    let message: T = control::decode(tag, bytes).ok()?;
    let written = serde_json::to_vec(&message).ok()?;
    control::decode(tag, &written).ok()
}

mod coordinator;
mod groups;
mod relay;
#[cfg(test)]
mod tests;
mod workers;

pub use relay::{relay, relay_greeting};

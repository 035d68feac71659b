//! A side that makes results impossible receives the same bytes as one that does not, because whether a result is
//! possible depends on the other side's letters.

use super::*;
use crate::{Misbehaviour, PairStore, Refused, RevealTo};
use std::sync::atomic::{AtomicBool, Ordering};
use veilpath_channel::{ChannelError, MemoryChannel};

/// Sends wrong halves for the outputs of the first portion, and records what arrives.
struct Cheating<'a> {
    channel: MemoryChannel,
    store: &'a AttackersStore,
    seen: Vec<u8>,
}

impl Channel for Cheating<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        let mask = match self.store.halves_follow.swap(false, Ordering::SeqCst) {
            true => 0xff,
            false => 0,
        };
        let bytes: Vec<u8> = bytes.iter().map(|byte| byte ^ mask).collect();
        self.channel.send(&bytes)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.channel.receive(buffer)?;
        self.seen.extend_from_slice(buffer);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.channel.flush()
    }
}

#[derive(Default)]
struct AttackersStore {
    /// Whether it has yet to cheat.
    cheats: AtomicBool,
    /// Whether the next message has halves that it changes.
    halves_follow: AtomicBool,
}

impl PairStore for AttackersStore {
    fn release(&self, _: &[usize]) -> Result<(), Refused> {
        let cheats = self.cheats.swap(false, Ordering::SeqCst);
        self.halves_follow.store(cheats, Ordering::SeqCst);
        Ok(())
    }
}

#[derive(Default)]
struct VictimsStore {
    rejected: Mutex<Vec<usize>>,
}

impl PairStore for VictimsStore {
    fn reject(&self, pair: usize) {
        self.rejected.lock().unwrap().push(pair);
    }
}

/// How a run ended for the victim and for the attacker, the pairs that the victim rejected, and what the attacker saw.
type Run = ([Result<Vec<Answer>, ProtocolError>; 2], Vec<usize>, Vec<u8>);

/// Results are for the victim alone.
fn run(attacker: Role, cheats: bool) -> Run {
    let (a, b) = (random_cohort(4, 20..40, 1), random_cohort(8, 20..40, 2));
    let mut spec = spec(&metrics()[0], &a, &b);
    spec.reveal_to = match attacker {
        Role::Host => RevealTo::Join,
        Role::Join => RevealTo::Host,
    };
    let pairs = pairs_of(spec.pair_rule, &a, &b);
    let (first, second) = (scanpaths(&a), scanpaths(&b));
    let side = |role: Role, store: &dyn PairStore, channel: &mut dyn Channel| {
        let (own, theirs) = match role {
            Role::Host => (&first, second.len()),
            Role::Join => (&second, first.len()),
        };
        let job = Job::new(&spec, role, own, theirs, &pairs).unwrap();
        let job = job.with_store(store);
        let rng = ChaCha20Rng::seed_from_u64;
        match role {
            Role::Host => host_with(&job, channel, &(), in_pieces(1), &mut rng(17)),
            Role::Join => join_with(&job, channel, &(), in_pieces(1), &mut rng(18)),
        }
    };
    let victims = VictimsStore::default();
    let attackers = AttackersStore {
        cheats: AtomicBool::new(cheats),
        ..AttackersStore::default()
    };
    let (mut victims_end, channel) = memory_pair();
    let mut attackers_end = Cheating {
        channel,
        store: &attackers,
        seen: Vec::new(),
    };
    let ends = std::thread::scope(|scope| {
        let victim = scope.spawn(|| side(attacker.other(), &victims, &mut victims_end));
        let ended = side(attacker, &attackers, &mut attackers_end);
        [victim.join().unwrap(), ended]
    });
    let rejected = victims.rejected.into_inner().unwrap();
    (ends, rejected, attackers_end.seen)
}

/// The attacker cheats in the first of several portions.
#[test]
fn impossible_results_do_not_change_what_the_other_side_gets() {
    for attacker in [Role::Host, Role::Join] {
        let ([victim, ended], rejected, honest) = run(attacker, false);
        let pairs = victim.unwrap().len();
        assert!(ended.is_ok() && rejected.is_empty(), "{attacker:?}");
        let ([victim, ended], rejected, cheating) = run(attacker, true);
        let impossible = Misbehaviour::ResultOutOfRange;
        assert_eq!(victim, Err(ProtocolError::PeerMisbehaved(impossible)));
        assert!(ended.is_ok(), "{attacker:?}: {ended:?}");
        assert!((1..pairs).contains(&rejected.len()), "{rejected:?}");
        assert!(honest == cheating, "{attacker:?}");
    }
}

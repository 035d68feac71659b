//! `paillier`: rows of encrypted costs are sent before anything is counted. A modified joining side keeps those of one session, and
//! wants them opened as results of another, about a scanpath with a larger limit.

use super::*;
use crate::HostKey;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use veilpath_channel::Channel;
use veilpath_metrics::{Encoding, Entry, Scanpath};
use veilpath_protocol::SecretKey;

/// Bytes of a ciphertext, and letters.
const CIPHERTEXT: usize = 128;
const LETTERS: usize = 26;

fn cohort(ids: &[String], letters: &[u16]) -> Cohort {
    let entry = |id: &String| Entry {
        participant: id.clone(),
        group: None,
        stimulus: None,
        scanpath: Scanpath::new(letters.to_vec()),
        fixations: None,
    };
    Cohort {
        alphabet: Alphabet::letters(26).unwrap(),
        encoding: Encoding::default(),
        screen: None,
        entries: ids.iter().map(entry).collect(),
    }
}

fn proposal(cohort: Cohort, limit_per_scanpath: ScanpathLimit, key: Option<HostKey>) -> Proposal {
    let options = PaillierOptions::new(KeySize::Bits512, true).unwrap();
    let metric = Metric::NeedlemanWunsch {
        substitution: Substitution::Index,
        insert: 20.0,
        delete: 20.0,
        scale: None,
    };
    let engine = Engine::Paillier(options);
    Proposal {
        auto_engine: false,
        spec: Spec::new(engine, metric, PairRule::All, &cohort, &cohort).unwrap(),
        cohort,
        pseudonyms: false,
        estimate_only: false,
        fresh: false,
        declared_letters: Some(26),
        disclosure: crate::DisclosureLimits::default(),
        limit_per_scanpath,
        memory: None,
        tile: None,
        tile_count: None,
        key,
    }
}

/// Runs an unmodified host with a default limit against `attack`, with this key or a new one. Returns how its session ended, and
/// what the attack got.
fn session<T: Send>(
    (host, files, key): (&Identity, &Path, &Option<HostKey>),
    attacker: &Identity,
    [of_host, of_join]: [Cohort; 2],
    attack: impl FnOnce(&mut dyn Channel) -> T + Send,
) -> (Result<(), SessionError>, T) {
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address().to_string();
    let letters = AlphabetInfo {
        named: None,
        declared: None,
        read_as: of_host.alphabet,
        grid: None,
    };
    std::thread::scope(|scope| {
        let hosted = scope.spawn(|| {
            let peer = attacker.fingerprint();
            let channel = listener.accept(host, peer, &TIMEOUTS, &mut |_| ())?;
            let (session, _) = Session::open(channel, Role::Host, host, peer, &letters, TIMEOUTS)?;
            let proposal = proposal(of_host, ScanpathLimit::Default, key.clone());
            let agreed = session.agree(proposal, Some(&StateDir::at(files)), &mut |_| ())?;
            agreed.run(&()).map(|_| ())
        });
        let peer = host.fingerprint();
        let channel = join(&address, attacker, peer, &TIMEOUTS).unwrap();
        let (session, _) =
            Session::open(channel, Role::Join, attacker, peer, &letters, TIMEOUTS).unwrap();
        let proposal = proposal(of_join, ScanpathLimit::Unlimited, None);
        let mut agreed = session.agree(proposal, None, &mut |_| ()).unwrap();
        let disclosure = agreed.disclosure();
        agreed.sign_intent(&disclosure).unwrap();
        let got = attack(&mut agreed.session.channel);
        drop(agreed);
        (hosted.join().unwrap(), got)
    })
}

/// Sends the lengths and receives the host's, and its key.
fn set_up(channel: &mut dyn Channel, own: &[u64]) {
    for length in own {
        channel.send(&length.to_le_bytes()).unwrap();
    }
    channel.flush().unwrap();
    // One length, and a modulus.
    channel.receive(&mut [0; 8 + 64]).unwrap();
}

fn request(channel: &mut dyn Channel, rows: u32, results: u32) {
    for number in [rows, 0, results] {
        channel.send(&number.to_le_bytes()).unwrap();
    }
}

/// Keeps the encrypted costs of a secret scanpath in one session, and asks for them as results in the next. Returns how the
/// host's second session ended, and the letters of the secret that it opened.
fn attack(key: Option<HostKey>) -> (Result<(), SessionError>, Option<Vec<u16>>) {
    let [host, attacker] = [0, 1].map(|_| Identity::ephemeral().unwrap());
    let files = tempfile::tempdir().unwrap();
    let victim = (&host, files.path(), &key);
    let other = vec![0; 200];
    let ids = |prefix: &str, count: usize| -> Vec<String> {
        (0..count).map(|at| format!("{prefix}{at}")).collect()
    };

    // One pair with the secret scanpath is within the limit.
    let cohorts = [
        cohort(&ids("X", 1), &secret()),
        cohort(&ids("J", 1), &other),
    ];
    let (_, rows) = session(victim, &attacker, cohorts, |channel| {
        set_up(channel, &[200]);
        request(channel, 20, 0);
        channel.flush().unwrap();
        let mut rows = vec![0; 20 * LETTERS * CIPHERTEXT];
        channel.receive(&mut rows).unwrap();
        rows
    });

    // So are twenty with a long one. The first ciphertext of a row is the cost of a letter against A.
    let cohorts = [cohort(&ids("Y", 1), &other), cohort(&ids("J", 20), &other)];
    let (hosted, opened) = session(victim, &attacker, cohorts, |channel| {
        set_up(channel, &[200; 20]);
        request(channel, 0, 20);
        for pair in 0..20 {
            channel.send(&(pair as u64).to_le_bytes()).unwrap();
            let first = pair * LETTERS * CIPHERTEXT;
            channel.send(&rows[first..first + CIPHERTEXT]).unwrap();
        }
        channel.flush().unwrap();
        let mut opened = [0; 8 * 20];
        channel.receive(&mut opened).map(|()| opened)
    });
    let letters = opened.ok().map(|opened| {
        let numbers = opened
            .chunks(8)
            .map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()));
        numbers.map(|cost| u16::try_from(cost).unwrap()).collect()
    });
    (hosted, letters)
}

fn secret() -> Vec<u16> {
    (0..20).map(|at| (at * 7 + 3) % 26).collect()
}

#[test]
fn numbers_of_another_session_are_not_opened() {
    let (hosted, opened) = attack(None);
    assert!(opened.is_none(), "numbers under an old key were opened");
    let rejected = matches!(&hosted, Err(SessionError::Protocol(error))
        if matches!(error, ProtocolError::PeerMisbehaved(_) | ProtocolError::CiphertextRejected(_)));
    assert!(rejected, "{hosted:?}");
}

/// What the attack reads from a host that uses a key twice, which only tests can.
#[test]
fn the_attack_reads_all_letters_if_a_key_is_used_twice() {
    let mut rng = ChaCha20Rng::seed_from_u64(1915);
    let key = SecretKey::generate(KeySize::Bits512, &mut rng).unwrap();
    let (_, opened) = attack(Some(HostKey::from(key)));
    assert_eq!(opened, Some(secret()));
}

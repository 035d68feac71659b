//! The key holder (the host; Alice in the paper). It has the secret key, encrypts its substitution costs, and returns
//! minima without knowing which cell they belong to.

use super::PaillierOptions;
use super::messages::{self, Header, receive_ciphertexts, split};
use super::parallel::{LANES, Randomness, chunk_length, into_chunks, on_all_cores};
use super::run_parameters::{MASK_WORDS, RunParameters, SHARED_RESULT, complete};
use super::tap::Tap;
use crate::engines::lengths::{own_lengths, receive_lengths, send_lengths};
use crate::{Job, JobError, Misbehaviour, Observer, Opened, ProtocolError};
use crypto_bigint::{BoxedUint, CtLt, CtSelect};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use veilpath_channel::Channel;
use veilpath_metrics::PairScore;
use veilpath_paillier::{Plaintext, PublicKey, SecretKey, system_rng};
use zeroize::Zeroizing;

/// The number of substitution costs that one core encrypts at a time.
const COSTS_PER_TASK: usize = 8 * LANES;
/// The number of substitution costs to encrypt before sending them.
const COSTS_PER_MESSAGE: usize = 64 * LANES;

/// Runs the key holder.
pub(crate) fn host(
    job: &Job<'_>,
    options: PaillierOptions,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
) -> Result<Vec<PairScore>, ProtocolError> {
    host_tapped(job, options, channel, observer, &())
}

/// Like [`host`], with a tap for audits.
pub(super) fn host_tapped(
    job: &Job<'_>,
    options: PaillierOptions,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
    tap: &dyn Tap,
) -> Result<Vec<PairScore>, ProtocolError> {
    let own = own_lengths(job)?;
    let theirs = receive_lengths(channel, job)?;
    send_lengths(channel, &own)?;
    let agreed = RunParameters::new(job, options, theirs)?;
    let mut pair_scores = agreed.known_scores(job, observer)?;
    if !agreed.pairs_with_cells.is_empty() {
        let key_holder = KeyHolder::setup(job, agreed, channel, observer, tap)?;
        key_holder.serve(channel, &mut pair_scores)?;
    }
    complete(job, pair_scores)
}

struct KeyHolder<'a> {
    job: &'a Job<'a>,
    agreed: RunParameters,
    observer: &'a dyn Observer,
    key: Arc<SecretKey>,
    randomness: Randomness,
    /// Whether a masked value was out of range. Only the end of the run may reveal it: whether a number that the matrix
    /// owner computed from encrypted costs is in range depends on this side's letters, and until the end the matrix
    /// owner can leave without having opened, or been charged for, a single pair.
    out_of_range: AtomicBool,
    tap: &'a dyn Tap,
}

impl<'a> KeyHolder<'a> {
    /// Setup i: the key holder generates (sk, pk), unless it was given a key, and sends pk.
    fn setup(
        job: &'a Job<'a>,
        agreed: RunParameters,
        channel: &mut dyn Channel,
        observer: &'a dyn Observer,
        tap: &'a dyn Tap,
    ) -> Result<Self, ProtocolError> {
        let size = agreed.key_size();
        let key = match &job.key {
            Some(key) if key.public_key().size() == size => Arc::clone(key),
            Some(key) => {
                return Err(ProtocolError::Job(JobError::KeySize {
                    bits: key.public_key().size().bits(),
                    agreed: size.bits(),
                }));
            }
            None => Arc::new(SecretKey::generate(size, &mut system_rng()?)?),
        };
        messages::send_key(channel, key.public_key())?;
        let costs = agreed.rows().saturating_mul(agreed.alphabet_size.into());
        let replies = agreed
            .candidate_sets
            .saturating_mul(agreed.reply_ciphertexts() as u64);
        let randomness = Randomness::for_key_holder(&key, replies.saturating_add(costs))?;
        Ok(Self {
            job,
            agreed,
            observer,
            key,
            randomness,
            out_of_range: AtomicBool::new(false),
            tap,
        })
    }

    fn public(&self) -> &PublicKey {
        self.key.public_key()
    }

    /// Answers requests until every comparison has its result. Fails if the peer requests more than the protocol
    /// allows.
    fn serve(
        &self,
        channel: &mut dyn Channel,
        pair_scores: &mut [Option<PairScore>],
    ) -> Result<(), ProtocolError> {
        let mut remaining = self.agreed.pairs_with_cells.len();
        let mut rows = Rows::new(&self.agreed, self.job);
        let mut sets = 0;
        while remaining > 0 {
            let header = Header::receive(channel, &self.agreed)?;
            let before = sets;
            sets += u64::from(header.sets);
            if sets > self.agreed.candidate_sets {
                return Err(ProtocolError::PeerMisbehaved(Misbehaviour::TooManyMinima));
            }
            let layout = &self.agreed.layout;
            let masked = layout.ciphertexts_for(header.sets as usize);
            let masked = receive_ciphertexts(channel, masked, self.agreed.key_size())?;
            self.tap
                .request(&self.agreed, &self.key, &masked, header.sets as usize)?;
            let results = self.receive_results(channel, header.results, pair_scores)?;
            remaining = remaining.saturating_sub(header.results as usize);
            for chunk in self.minima(&masked, header.sets as usize)? {
                channel.send(&chunk)?;
            }
            for raw in results {
                messages::send_u64(channel, raw.unsigned_abs())?;
            }
            self.substitution_costs(channel, &mut rows, header.rows)?;
            channel.flush()?;
            let cells = self.cells_of_sets(sets) - self.cells_of_sets(before);
            self.observer.cells(cells);
        }
        if self.out_of_range.load(Ordering::Relaxed) {
            return Err(Misbehaviour::MaskedValueOutOfRange.into());
        }
        Ok(())
    }

    /// Initialization i: the next rows of D, `D(i, j) = E(S(s_A[i], α[j]))` for all letters α of the alphabet. (The
    /// paper says that D has one row per letter of Bob's, but it must be one per letter of Alice's.)
    fn substitution_costs(
        &self,
        channel: &mut dyn Channel,
        rows: &mut Rows<'_>,
        count: u32,
    ) -> Result<(), ProtocolError> {
        let recurrence = &self.agreed.recurrence;
        let alphabet = || (0..self.agreed.alphabet_size).filter_map(|b| u16::try_from(b).ok());
        let mut left = count;
        while left > 0 {
            // Encrypts several rows at once if they are short, so that all cores have work.
            let rows_at_once = COSTS_PER_MESSAGE.div_ceil(self.agreed.alphabet_size as usize);
            let mut costs = Vec::new();
            for _ in 0..rows_at_once.min(left as usize) {
                let letter = rows
                    .next()
                    .ok_or(ProtocolError::PeerMisbehaved(Misbehaviour::TooManyRows))?;
                costs.extend(alphabet().map(|other| (letter, other)));
                left -= 1;
            }
            let work = into_chunks(costs, COSTS_PER_TASK);
            let encrypted = on_all_cores(self.observer, work, |pairs| {
                let cost = |&(a, b)| Plaintext::from(recurrence.substitution(a, b));
                self.encrypt(pairs.iter().map(cost).collect())
            })?;
            for chunk in encrypted {
                channel.send(&chunk)?;
                self.tap.substitutions(&chunk);
            }
        }
        Ok(())
    }

    /// Step 5: decrypts each set of masked values and encrypts its minimum, under fresh randomness.
    fn minima(&self, masked: &[u8], sets: usize) -> Result<Vec<Vec<u8>>, ProtocolError> {
        let layout = &self.agreed.layout;
        let groups: Vec<&[u8]> = masked
            .chunks(layout.ciphertexts * self.agreed.key_size().ciphertext_bytes())
            .collect();
        let mut left = sets;
        let at_a_time = chunk_length(sets, LANES * layout.cells) / layout.cells;
        let work: Vec<(Vec<&[u8]>, usize)> = into_chunks(groups, at_a_time)
            .into_iter()
            .map(|groups| {
                let cells = left.min(groups.len() * layout.cells);
                left -= cells;
                (groups, cells)
            })
            .collect();
        on_all_cores(self.observer, work, |(groups, cells)| {
            let (values, in_range) = open_groups(&self.agreed, &self.key, &groups)?;
            self.out_of_range.fetch_or(!in_range, Ordering::Relaxed);
            let sets = values.chunks(layout.width()).take(cells);
            self.encrypt(match &self.agreed.hardened {
                Some(parameters) => sets.flat_map(|set| parameters.reply(set)).collect(),
                None => sets
                    .map(|set| Plaintext::from_uint(&minimum(set)))
                    .collect(),
            })
        })
    }

    /// Final result: the key holder decrypts E(M(m, n)), once per comparison, and only accepts a value that scanpaths
    /// of these lengths can have. The comparison is charged before anything else is done or sent, because its result, or
    /// the fact that it was rejected, is the first thing that the matrix owner can learn about this side's letters. The
    /// result is stored in the same step, so that a key holder that is killed does not open, and charge, it again.
    /// Returns the results that the matrix owner gets.
    fn receive_results(
        &self,
        channel: &mut dyn Channel,
        count: u32,
        pair_scores: &mut [Option<PairScore>],
    ) -> Result<Vec<i64>, ProtocolError> {
        let mut pairs: Vec<usize> = Vec::new();
        let mut bytes = Vec::new();
        for _ in 0..count {
            let pair = messages::receive_u64(channel)?;
            let pair = usize::try_from(pair)
                .ok()
                .filter(|pair| pair_scores.get(*pair) == Some(&None) && !pairs.contains(pair))
                .ok_or(ProtocolError::PeerMisbehaved(Misbehaviour::PairNotPending))?;
            pairs.push(pair);
            bytes.extend(receive_ciphertexts(channel, 1, self.agreed.key_size())?);
        }
        if pairs.is_empty() {
            return Ok(Vec::new());
        }
        let encodings = split(&bytes, self.agreed.key_size());
        let ciphertexts = self.public().ciphertexts_from_bytes(&encodings)?;
        let values = self
            .key
            .decrypt_batch(&ciphertexts.iter().collect::<Vec<_>>())?;
        if !self.job.learns_pairs(self.job.role) {
            let shares: Vec<Opened> = values.iter().map(|it| self.share(it)).collect();
            self.job.store.start_opened(&pairs, &shares)?;
            for pair in pairs {
                pair_scores[pair] = Some(SHARED_RESULT);
            }
            return Ok(Vec::new());
        }
        let both = pairs.iter().zip(&values);
        let results: Vec<Result<(i64, PairScore), ProtocolError>> = both
            .map(|(&pair, value)| self.result(pair, value))
            .collect();
        let opened = results.iter().map(|result| match result {
            Ok((_, pair_score)) => Opened::Answer((*pair_score).into()),
            Err(_) => Opened::OutOfRange,
        });
        self.job
            .store
            .start_opened(&pairs, &opened.collect::<Vec<_>>())?;
        let results = results.into_iter().collect::<Result<Vec<_>, _>>()?;
        for (&pair, &(_, pair_score)) in pairs.iter().zip(&results) {
            pair_scores[pair] = Some(pair_score);
            self.observer.scored(pair, pair_score.into());
        }
        Ok(results.into_iter().map(|(raw, _)| raw).collect())
    }

    /// The result of a pair, and its score.
    fn result(&self, pair: usize, value: &Plaintext) -> Result<(i64, PairScore), ProtocolError> {
        let (rows, columns) = self.agreed.lengths(self.job, pair);
        let raw = value
            .to_i128()
            .and_then(|value| self.agreed.recurrence.raw(value, rows, columns))
            .ok_or(Misbehaviour::ResultOutOfRange)?;
        Ok((raw, self.agreed.read(self.job, pair, raw)?))
    }

    /// This side's share of a result that the matrix owner has masked. A number that is out of range is reported at the end.
    fn share(&self, value: &Plaintext) -> Opened {
        // The sum of a mask and a result has at most one bit more than a mask.
        let value = value.low_word(64 * MASK_WORDS as u32 + 1);
        self.out_of_range
            .fetch_or(value.is_none(), Ordering::Relaxed);
        let recurrence = &self.agreed.recurrence;
        Opened::Half(recurrence.raw_share(value.unwrap_or_default(), true))
    }

    fn encrypt(&self, plaintexts: Vec<Plaintext>) -> Result<Vec<u8>, ProtocolError> {
        encrypt(self.public(), &self.randomness, plaintexts)
    }

    /// The number of matrix cells for this many candidate sets, in proportion: the key holder cannot tell which of them fill cells.
    fn cells_of_sets(&self, sets: u64) -> u64 {
        let cells = u128::from(sets) * u128::from(self.agreed.cells);
        u64::try_from(cells / u128::from(self.agreed.candidate_sets.max(1))).unwrap_or(u64::MAX)
    }
}

/// The masked values of whole groups, ordered by cell and place, and whether all are in range.
pub(super) fn open_groups(
    agreed: &RunParameters,
    key: &SecretKey,
    groups: &[&[u8]],
) -> Result<(Vec<Zeroizing<BoxedUint>>, bool), ProtocolError> {
    let size = agreed.key_size();
    let encodings: Vec<&[u8]> = groups.iter().flat_map(|group| split(group, size)).collect();
    let ciphertexts = key.public_key().ciphertexts_from_bytes(&encodings)?;
    let opened = key.decrypt_batch(&ciphertexts.iter().collect::<Vec<_>>())?;
    let layout = &agreed.layout;
    let (mut values, mut in_range) = (Vec::new(), true);
    for (index, plaintext) in opened.iter().enumerate() {
        let (slots, fits) = layout.slots().unpack_low(plaintext);
        in_range &= fits;
        let used = layout.slot_entries(index % layout.ciphertexts).count();
        values.extend(slots.into_iter().take(used).map(Zeroizing::new));
    }
    Ok((values, in_range))
}

/// Encrypts numbers, each with fresh randomness, and returns their bytes.
pub(super) fn encrypt(
    public: &PublicKey,
    randomness: &Randomness,
    plaintexts: Vec<Plaintext>,
) -> Result<Vec<u8>, ProtocolError> {
    let randomizers = randomness.draw(plaintexts.len())?;
    let ciphertexts = public.encrypt_batch(&plaintexts.iter().collect::<Vec<_>>(), randomizers)?;
    let mut bytes = Vec::new();
    for ciphertext in &ciphertexts {
        bytes.extend(public.ciphertext_to_bytes(ciphertext)?);
    }
    Ok(bytes)
}

/// The minimum, in constant time.
fn minimum(candidates: &[Zeroizing<BoxedUint>]) -> Zeroizing<BoxedUint> {
    let mut candidates = candidates.iter();
    let mut minimum = candidates.next().cloned().unwrap_or_default();
    for candidate in candidates {
        let smaller = candidate.ct_lt(&minimum);
        minimum = Zeroizing::new(minimum.ct_select(candidate, smaller));
    }
    minimum
}

/// The key holder's letters in the order in which the matrix owner requests their costs.
struct Rows<'a> {
    letters: Box<dyn Iterator<Item = u16> + 'a>,
}

impl<'a> Rows<'a> {
    fn new(agreed: &'a RunParameters, job: &'a Job<'_>) -> Self {
        let scanpaths = agreed.host_scanpaths.iter().map(|&host| job.own[host]);
        Self {
            letters: Box::new(scanpaths.flat_map(|scanpath| scanpath.letters().iter().copied())),
        }
    }

    fn next(&mut self) -> Option<u16> {
        self.letters.next()
    }
}

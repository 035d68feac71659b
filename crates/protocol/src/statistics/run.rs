//! Computes shares of an answer from halves of pairs.

use super::answer_schema::mask;
use super::histogram::PairParticipants;
use super::linear::{sums_by_key, sums_by_published_labels};
use super::nearest::NearestQueries;
use super::permutation::Permutations;
use super::prepared::{PreparedGroupAnswer, side};
use super::{OwnLabels, SecretNumbers, SharesSide};
use crate::{GroupQuestion, ProtocolError, Role, TreeLevels};
use rand::CryptoRng;
use veilpath_channel::Channel;
use veilpath_metrics::Scanpath;
use veilpath_mpc::Kernel;
use veilpath_mpc::shares::{Party, SharesSession};
use veilpath_paillier::system_rng;
use veilpath_statistics::{CrossMatrix, CrossTest, LabelTest, PairMatrix};
use zeroize::Zeroizing;

impl PreparedGroupAnswer<'_> {
    /// Computes this side's shares of the answer's numbers, each modulo 2 to the power of its bits. `halves` has this
    /// side's halves of all pairs (see [`PairStore`](crate::PairStore)); 0 for a pair without matrix cells.
    pub fn run(
        &self,
        halves: &[u64],
        levels: TreeLevels,
        channel: &mut dyn Channel,
    ) -> Result<Zeroizing<Vec<u64>>, ProtocolError> {
        self.run_with(halves, levels, channel, &mut system_rng()?)
    }

    /// The session has offsets of its own, so guesses about those of the comparisons are useless to the other side.
    pub(super) fn run_with(
        &self,
        halves: &[u64],
        levels: TreeLevels,
        mut channel: &mut dyn Channel,
        rng: &mut impl CryptoRng,
    ) -> Result<Zeroizing<Vec<u64>>, ProtocolError> {
        if halves.len() != self.pairs.len() {
            return Err(ProtocolError::Internal("a pair has no half"));
        }
        let party = match self.job.role {
            Role::Host => Party::Host,
            Role::Join => Party::Join,
        };
        let (kernel, tree_levels) = (Kernel::best(), levels.of_transfers());
        let mut session = SharesSession::start(party, tree_levels, kernel, rng, &mut channel)?;
        let numbers = match self.number_bits {
            Some(bits) => session.additive_from_xor(halves, bits, &mut channel)?,
            None => Zeroizing::new(halves.to_vec()),
        };
        let is_host = self.job.role == Role::Host;
        let values = self.pairs.iter().zip(numbers.iter());
        let values = values.map(|(pair, number)| pair.share(*number, is_host));
        let values: SecretNumbers = Zeroizing::new(values.collect());
        let mut shares_side = SharesSide {
            role: self.job.role,
            session: &mut session,
            channel: &mut channel,
        };
        let shares = self.answer(&values, &mut shares_side)?;
        let mut shares = shares_side.without_low_bits(&shares, &self.schema().shifts)?;
        // A peer that makes both sides compute another function gets no more bits of it than the answer has.
        for (share, bits) in shares.iter_mut().zip(&self.schema().bits) {
            *share &= mask(*bits);
        }
        Ok(shares)
    }

    fn answer<C: Channel>(
        &self,
        values: &[u64],
        shares_side: &mut SharesSide<'_, C>,
    ) -> Result<SecretNumbers, ProtocolError> {
        Ok(match self.question {
            GroupQuestion::Mean { overall: true } => sums_by_key(values, &vec![0; values.len()], 1),
            GroupQuestion::Mean { overall: false } => {
                let count = self.layout.stimuli.len();
                sums_by_key(values, &self.layout.stimulus_of_pair, count)
            }
            GroupQuestion::Groups { .. } => {
                let matrix = self.matrix(values)?;
                if let Some(labels) = self.published_labels()? {
                    let counts = [0, 1].map(|side: usize| self.sizes[side].0.len());
                    return Ok(sums_by_published_labels(&matrix, labels, counts));
                }
                let [own, theirs] = [self.job.role, self.job.role.other()]
                    .map(|role| self.sizes[side(role)].0.len());
                let own = OwnLabels {
                    labels: &self.own_labels,
                    count: own,
                };
                shares_side.group_sums(&matrix, &own, theirs)?
            }
            GroupQuestion::TestSites { .. } => {
                let [host, join] = [0, 1].map(|side| self.layout.participants[side].len());
                let test = LabelTest::of_sites(host, join)?;
                let shares = self.pooled(&self.matrix(values)?)?;
                let shares = shares_side.test_of_sites(&test, &shares, &self.permutations())?;
                Zeroizing::new(vec![shares.statistic, shares.count])
            }
            GroupQuestion::TestGroups { .. } => {
                let (contrast, matrix) = (self.contrast()?, self.matrix(values)?);
                let permutations = self.permutations();
                let shares = match self.published_labels()? {
                    Some(labels) => {
                        let test = CrossTest::new(labels.map(<[usize]>::to_vec))?;
                        shares_side.test_of_published_groups(&test, &matrix, &permutations)?
                    }
                    None => {
                        let own = OwnLabels {
                            labels: &self.own_labels,
                            count: self.names.len(),
                        };
                        shares_side.test_of_groups(contrast, &matrix, &own, &permutations)?
                    }
                };
                Zeroizing::new(vec![shares.statistic, shares.count])
            }
            GroupQuestion::Nearest { k, rate_only } => {
                let majorities = self.majorities(values, k as usize, shares_side)?;
                let groups = self.names.len();
                match rate_only {
                    false => shares_side.numbers_of_labels(&majorities, groups)?,
                    true => {
                        let own = self.query_labels(k as usize)?;
                        let correct =
                            shares_side.correct_majorities(&majorities, own.as_deref(), groups)?;
                        Zeroizing::new(vec![correct])
                    }
                }
            }
            GroupQuestion::Histogram { .. } => {
                let (edges, minimum) = (self.compared_edges()?, self.minimum);
                let participants = self.participants_of_pairs();
                let shares = shares_side.histogram(
                    values,
                    &edges,
                    self.value_bits,
                    minimum,
                    &participants,
                )?;
                let mut all = Zeroizing::new(Vec::with_capacity(2 * shares.counts.len()));
                all.extend_from_slice(&shares.shown);
                all.extend_from_slice(&shares.counts);
                all
            }
        })
    }

    pub(super) fn participants_of_pairs(&self) -> PairParticipants {
        let [host, join] = &self.layout.participants;
        let pairs = self.job.pairs.iter();
        PairParticipants::of(pairs.map(|it| [host.of_scanpaths()[it.0], join.of_scanpaths()[it.1]]))
    }

    /// This side's shares of the scores of pairs of participants.
    fn matrix(&self, values: &[u64]) -> Result<CrossMatrix, ProtocolError> {
        let values: Vec<i64> = values.iter().map(|value| value.cast_signed()).collect();
        self.layout.sums_by_participants(&values)
    }

    /// The scores of pairs of participants within this side's site, in the clear.
    pub(super) fn own_scores(&self) -> Result<PairMatrix, ProtocolError> {
        let own = self.within.as_ref();
        let own = own.ok_or(ProtocolError::Internal("pairs within a site are missing"))?;
        let mut values = Vec::with_capacity(own.pairs.len());
        for (&(a, b), [start, slope]) in own.pairs.iter().zip(&own.linear) {
            let raw = self.raw(self.job.own[a], self.job.own[b])?;
            values.push(start.wrapping_add(slope.wrapping_mul(raw)));
        }
        Ok(own.by_participants.sums_wrapping(&values)?)
    }

    /// The raw result of two scanpaths; the adjusted result if lengths are hidden; the distance if the result is a
    /// rank.
    pub(super) fn raw(&self, a: &Scanpath, b: &Scanpath) -> Result<i64, ProtocolError> {
        let comparison = &self.job.comparison;
        let raw = comparison.raw(a, b)?;
        let raw = match self.job.pad_to {
            None => raw,
            Some(_) => comparison.model().adjusted(raw, a.len(), b.len()),
        };
        Ok(self.scoring.distance_of_rank(raw))
    }

    /// This side's shares for all pairs of participants of both sites; 0 for pairs within the other site.
    fn pooled(&self, between: &CrossMatrix) -> Result<PairMatrix, ProtocolError> {
        let own = self.own_scores()?;
        let peers = self.within.as_ref().map_or(0, |own| own.peers);
        let others = PairMatrix::new(peers, vec![0; peers * peers.saturating_sub(1) / 2])?;
        Ok(match self.job.role {
            Role::Host => PairMatrix::of_sites(&own, &others, between)?,
            Role::Join => PairMatrix::of_sites(&others, &own, between)?,
        })
    }

    fn permutations(&self) -> Permutations<'_> {
        Permutations {
            coins: &self.coins,
            count: self.question.permutations().unwrap_or(0).into(),
            tolerance: self.tolerance(),
            sum_bits: self.value_bits + (u64::BITS - self.terms.leading_zeros()) as usize,
            statistic_shift: self.statistic_shift(),
        }
    }

    /// The majority group of each query's nearest references. Queries with the same number of references are sorted
    /// together.
    fn majorities<C: Channel>(
        &self,
        values: &[u64],
        k: usize,
        shares_side: &mut SharesSide<'_, C>,
    ) -> Result<SecretNumbers, ProtocolError> {
        let queries = self.queries(k)?;
        let references = (self.job.role == Role::Join).then(|| self.labels_of_references());
        let mut sizes: Vec<usize> = queries.iter().map(Vec::len).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let mut majorities = Zeroizing::new(vec![0; queries.len()]);
        for size in sizes {
            let has_size = |query: &usize| queries[*query].len() == size;
            let indices: Vec<usize> = (0..queries.len()).filter(has_size).collect();
            let lists: Vec<Vec<usize>> = indices.iter().map(|at| queries[*at].clone()).collect();
            let batch = NearestQueries {
                k,
                groups: self.names.len(),
                value_bits: self.value_bits,
                tie_step: self.tie_step(),
                pairs: &lists,
                references: references.as_deref(),
            };
            let found = shares_side.majorities(values, &batch)?;
            for (index, majority) in indices.into_iter().zip(found.iter()) {
                majorities[index] = *majority;
            }
        }
        Ok(majorities)
    }

    /// The group of the joining side's scanpath, for each pair.
    pub(super) fn labels_of_references(&self) -> Vec<usize> {
        let participants = self.layout.participants[1].of_scanpaths();
        let pairs = self.job.pairs.iter();
        pairs
            .map(|(_, join)| self.own_labels[participants[*join]])
            .collect()
    }

    /// The group of each query, on the host.
    pub(super) fn query_labels(&self, k: usize) -> Result<Option<Vec<usize>>, ProtocolError> {
        if self.job.role == Role::Join {
            return Ok(None);
        }
        let participants = self.layout.participants[0].of_scanpaths();
        let label = |pairs: &Vec<usize>| self.own_labels[participants[self.job.pairs[pairs[0]].0]];
        Ok(Some(self.queries(k)?.iter().map(label).collect()))
    }
}

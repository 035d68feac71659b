//! A prepared answer to a question about groups: everything that is known before the computation.

use super::answer_schema::{AnswerSchema, NumberKind};
use super::layout::{
    GroupSizes, IndexedBy, OwnParticipantPairs, PairIndex, groups_of_participants,
};
use super::nearest::MAX_GROUPS;
use super::public_parameters::value_use;
use super::values::{PairShape, PairValue, ValueKind, Values};
use crate::engines::alignment::private_metric::PrivateMetric;
use crate::engines::lengths::lengths_of_pair;
use crate::outcome::joint_stimulus;
use crate::{Engine, GroupQuestion, Job, JobError, PairRule, ProtocolError, Role, ScanpathId};
use std::borrow::Cow;
use veilpath_statistics::{Coins, Contrast, LabelTest, PooledPairs};

/// The inputs of a question about groups, apart from the comparison.
#[derive(Clone, Debug)]
pub struct GroupInputs<'a> {
    /// The question.
    pub question: GroupQuestion,
    /// The engine that produces the halves of results.
    pub engine: Engine,
    /// The rule by which scanpaths are paired.
    pub rule: PairRule,
    /// The ids of the host's scanpaths and of the joining side's.
    pub ids: [&'a [ScanpathId]; 2],
    /// The group of each of this side's scanpaths.
    pub own_groups: Option<&'a [String]>,
    /// The group of each of the other side's scanpaths, once it has published them.
    pub peer_groups: Option<&'a [String]>,
    /// The groups of the host and of the joining side, if the question needs them.
    pub sizes: [GroupSizes; 2],
    /// Bins of a histogram with pairs of fewer participants of either side are not shown; nor is the smallest other count, if
    /// any bin is hidden. 0 if all are shown.
    pub minimum: u32,
    /// The seed of the permutations.
    pub coins: [u8; 32],
}

/// One side of an answer about groups, before the computation.
pub struct PreparedGroupAnswer<'a> {
    pub(super) job: &'a Job<'a>,
    pub(super) scoring: PrivateMetric,
    pub(super) question: GroupQuestion,
    pub(super) layout: PairIndex,
    pub(super) coins: Coins,
    pub(super) minimum: u64,
    pub(super) pairs: Vec<PairValue>,
    pub(super) shapes: Vec<PairShape>,
    /// For each pair, the value of raw result 0 and what each unit adds; for answers in the clear.
    pub(super) linear: Vec<[i64; 2]>,
    pub(super) within: Option<OwnPairValues>,
    /// The names of groups, sorted; a label is an index into them.
    pub(super) names: Vec<String>,
    /// The labels of this side's participants; empty if the question does not need them.
    pub(super) own_labels: Vec<usize>,
    /// The labels of the other side's participants, if they are published.
    pub(super) peer_labels: Option<Vec<usize>>,
    pub(super) sizes: [GroupSizes; 2],
    pub(super) contrast: Option<Contrast>,
    /// The largest number of values in a sum.
    pub(super) terms: u64,
    /// Bits of the numbers, if their halves are XOR shares; `None` if halves are additive shares of raw results modulo 2⁶⁴.
    pub(super) number_bits: Option<usize>,
    pub(super) value_bits: usize,
    /// The largest error of a value.
    pub(super) value_error: u64,
    pub(super) unit: f64,
    /// The size of one unit of the value of a pair of scanpaths.
    pub(super) value_unit: f64,
    schema: AnswerSchema,
}

/// The pairs of this side's own participants, and how raw results become their values.
pub(super) struct OwnPairValues {
    pub(super) pairs: Vec<(usize, usize)>,
    /// For each pair, the value of raw result 0 and what each unit adds.
    pub(super) linear: Vec<[i64; 2]>,
    pub(super) by_participants: PooledPairs,
    /// The number of participants of the other side.
    pub(super) peers: usize,
}

impl<'a> PreparedGroupAnswer<'a> {
    /// Plans a question, after checking that it has an answer. The job must have all pairs, and know the lengths of the
    /// other side's scanpaths.
    pub fn new(job: &'a Job<'a>, inputs: GroupInputs<'a>) -> Result<Self, ProtocolError> {
        let question = inputs.question;
        let scores_participants = question.scores_participants();
        let indexed_by = IndexedBy {
            participants: scores_participants,
            stimuli: matches!(question, GroupQuestion::Mean { overall: false }),
        };
        let layout = PairIndex::new(inputs.ids, job.pairs, indexed_by)?;
        let within = match question {
            GroupQuestion::TestSites { .. } => Some(OwnParticipantPairs::of_both(
                inputs.rule,
                inputs.ids,
                job.pairs,
                &layout.participants,
            )?),
            _ => None,
        };
        let names = names(question, &inputs.sizes)?;
        let contrast = contrast(question, &layout, &inputs.sizes)?;
        let uniform = uniform_count(&layout, within.as_ref());
        let divisor = |count: u32| match scores_participants && uniform.is_none() {
            true => count.max(1),
            false => 1,
        };
        let mut shapes = Vec::with_capacity(job.pairs.len());
        for (pair, scanpaths) in job.pairs.iter().enumerate() {
            let (rows, columns) = lengths_of_pair(job, pair)?;
            shapes.push(PairShape {
                rows,
                columns,
                divisor: divisor(layout.count_of_pair(*scanpaths)?),
            });
        }
        let own_shapes = match &within {
            Some(sites) => own_shapes(job, &sites[side(job.role)], &layout, divisor)?,
            None => Vec::new(),
        };
        // Each side knows only the lengths within its own site. Both bound them by the longest scanpath of any pair, so
        // that their plans agree.
        let longest = longest_shape(&shapes, within.is_some());
        let all: Vec<PairShape> = shapes.iter().copied().chain(longest).collect();
        let pairs_within = within.iter().flatten().map(|site| site.pairs.len());
        let terms = shapes.len() as u64 + pairs_within.sum::<usize>() as u64;
        let scoring = PrivateMetric::of(job);
        let has_xor_halves = inputs.engine.opens_outputs_by_halves();
        let kinds = [job.pad_to.is_some(), !has_xor_halves];
        let usage = value_use(question, job.pairs, terms);
        let mut values = Values::new(&job.comparison, &scoring, kinds, &all, usage)?;
        if question.orders_pairs() {
            values = values.into_similarities();
        }
        let pairs = shapes.iter().map(|shape| values.of_pair(shape));
        let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
        let linear = own_shapes.iter().map(|shape| values.linear(shape));
        let linear = linear.collect::<Result<Vec<_>, _>>()?;
        let labels = |role: Role, groups: &[String]| {
            let participants = &layout.participants[side(role)];
            let names = names_of_side(question, &names, role, &inputs);
            groups_of_participants(participants, groups, &names).ok_or(JobError::UnknownGroup)
        };
        let own_groups = inputs.own_groups.filter(|_| question.needs_groups());
        let own_labels = own_groups.map(|groups| labels(job.role, groups));
        let own_labels = own_labels.transpose()?.unwrap_or_default();
        let peer_groups = inputs.peer_groups.filter(|_| question.publishes_groups());
        let peer_labels = peer_groups.map(|groups| labels(job.role.other(), groups));
        let peer_labels = peer_labels.transpose()?;
        let per_participant = match (scores_participants, uniform) {
            (true, Some(count)) => 1.0 / f64::from(count.max(1)),
            _ => 1.0,
        };
        let unit = values.unit() * per_participant;
        let mut prepared = Self {
            scoring: scoring.clone(),
            question,
            coins: Coins::new(inputs.coins),
            minimum: inputs.minimum.into(),
            within: within.map(|sites| {
                let peers = layout.participants[side(job.role.other())].len();
                let [host, join] = sites;
                let own = match job.role {
                    Role::Host => host,
                    Role::Join => join,
                };
                OwnPairValues {
                    pairs: own.pairs,
                    linear,
                    by_participants: own.by_participants,
                    peers,
                }
            }),
            linear: shapes
                .iter()
                .map(|shape| values.linear(shape))
                .collect::<Result<_, _>>()?,
            pairs,
            shapes,
            names,
            own_labels,
            peer_labels,
            contrast,
            terms,
            number_bits: has_xor_halves.then_some(values.number_bits),
            value_bits: values.bits(),
            value_error: values.error,
            unit,
            value_unit: values.unit(),
            schema: AnswerSchema {
                measure: values.name().into(),
                unit,
                shifts: Vec::new(),
                bits: Vec::new(),
                kind: NumberKind::StimulusMeans {
                    stimuli: Vec::new(),
                },
            },
            sizes: inputs.sizes.clone(),
            layout,
            job,
        };
        prepared.schema.unit *= f64::from(prepared.statistic_shift()).exp2();
        prepared.schema.kind = prepared.number_kind(&inputs)?;
        prepared.schema.shifts = prepared.shifts()?;
        prepared.schema.bits = prepared.bits()?;
        Ok(prepared)
    }

    /// The labels of this side's participants, for tests that check what depends on them.
    #[cfg(feature = "watch")]
    pub fn own_labels(&self) -> &[usize] {
        &self.own_labels
    }

    /// The meaning of the opened numbers.
    pub fn schema(&self) -> &AnswerSchema {
        &self.schema
    }

    /// What the answer calls the value of a pair.
    pub(crate) fn value_kind(&self) -> ValueKind {
        ValueKind::of(self.job.comparison.metric(), self.job.pad_to.is_some())
    }

    fn number_kind(&self, inputs: &GroupInputs<'_>) -> Result<NumberKind, ProtocolError> {
        let sizes = |side: usize| -> Vec<(String, u32)> {
            let sizes = inputs.sizes[side].0.iter();
            sizes.map(|(name, size)| (name.clone(), *size)).collect()
        };
        let all = self.pairs.len() as u64;
        Ok(match self.question {
            GroupQuestion::Mean { overall: true } => NumberKind::StimulusMeans {
                stimuli: vec![(None, all)],
            },
            GroupQuestion::Mean { overall: false } => {
                let [host, join] = inputs.ids;
                let name = |&(a, b): &(usize, usize)| {
                    let name = joint_stimulus(&host[a], &join[b]);
                    (name.map(Cow::into_owned), 0)
                };
                let mut stimuli: Vec<(Option<String>, u64)> =
                    self.layout.stimuli.iter().map(name).collect();
                for &stimulus in &self.layout.stimulus_of_pair {
                    stimuli[stimulus].1 += 1;
                }
                NumberKind::StimulusMeans { stimuli }
            }
            GroupQuestion::Groups { .. } => NumberKind::GroupMeans {
                rows: sizes(0),
                columns: sizes(1),
            },
            GroupQuestion::TestSites { .. } | GroupQuestion::TestGroups { .. } => {
                let contrast = self.contrast()?;
                NumberKind::Test {
                    question: self.question,
                    groups: match self.question {
                        GroupQuestion::TestSites { .. } => vec!["host".into(), "join".into()],
                        _ => self.names.clone(),
                    },
                    pairs: [contrast.same(), contrast.different()],
                    coins: hex(&inputs.coins),
                    is_distance: self.unit < 0.0,
                }
            }
            GroupQuestion::Nearest { k, rate_only } => {
                let queries = self.queries(k as usize)?;
                match rate_only {
                    true => NumberKind::NearestRate {
                        k,
                        groups: sizes(0),
                        scanpaths: queries.len() as u64,
                    },
                    false => {
                        let scanpaths = queries.iter().map(|pairs| self.job.pairs[pairs[0]].0);
                        NumberKind::Nearest {
                            k,
                            groups: self.names.clone(),
                            scanpaths: scanpaths.map(|it| inputs.ids[0][it].clone()).collect(),
                        }
                    }
                }
            }
            GroupQuestion::Histogram { .. } => {
                #[allow(clippy::cast_precision_loss)] // only displayed
                let edge = |edge: &i64| *edge as f64 * self.unit;
                NumberKind::Histogram {
                    edges: self.edges()?.iter().map(edge).collect(),
                    pairs: all,
                    minimum: self.minimum,
                }
            }
        })
    }

    pub(super) fn contrast(&self) -> Result<Contrast, ProtocolError> {
        self.contrast
            .ok_or(ProtocolError::Internal("this question is not a test"))
    }

    /// The labels of the host's participants and of the joining side's, if they are published.
    pub(super) fn published_labels(&self) -> Result<Option<[&[usize]; 2]>, ProtocolError> {
        if !self.question.publishes_groups() {
            return Ok(None);
        }
        let theirs = self.peer_labels.as_deref();
        let theirs = theirs.ok_or(ProtocolError::Internal("published groups are missing"))?;
        Ok(Some(match self.job.role {
            Role::Host => [&self.own_labels, theirs],
            Role::Join => [theirs, &self.own_labels],
        }))
    }
}

/// The index of a side in arrays with the host first.
pub(super) fn side(role: Role) -> usize {
    match role {
        Role::Host => 0,
        Role::Join => 1,
    }
}

/// The names that labels index: those of both sides if their labels are compared.
fn names(question: GroupQuestion, sizes: &[GroupSizes; 2]) -> Result<Vec<String>, ProtocolError> {
    if !question.needs_groups() {
        return Ok(Vec::new());
    }
    let mut names: Vec<String> = match question {
        GroupQuestion::Nearest {
            rate_only: false, ..
        } => sizes[1].names(),
        _ => sizes.iter().flat_map(GroupSizes::names).collect(),
    };
    names.sort();
    names.dedup();
    match names.len() {
        1..=MAX_GROUPS => Ok(names),
        0 => Err(JobError::NoGroups.into()),
        _ => Err(JobError::TooManyGroups { limit: MAX_GROUPS }.into()),
    }
}

/// The names that the labels of a side index.
fn names_of_side(
    question: GroupQuestion,
    all: &[String],
    role: Role,
    inputs: &GroupInputs<'_>,
) -> Vec<String> {
    match question {
        GroupQuestion::Groups { .. } => inputs.sizes[side(role)].names(),
        // This question does not use them.
        GroupQuestion::Nearest {
            rate_only: false, ..
        } if role == Role::Host => inputs.sizes[0].names(),
        _ => all.to_vec(),
    }
}

/// Which means a test compares.
fn contrast(
    question: GroupQuestion,
    layout: &PairIndex,
    sizes: &[GroupSizes; 2],
) -> Result<Option<Contrast>, ProtocolError> {
    let [host, join] = [&layout.participants[0], &layout.participants[1]].map(|it| it.len());
    Ok(match question {
        GroupQuestion::TestSites { .. } => Some(LabelTest::of_sites(host, join)?.contrast()),
        GroupQuestion::TestGroups { .. } => {
            let same = sizes[0].0.iter().map(|(name, size)| {
                let others = sizes[1].0.get(name).copied().unwrap_or(0);
                u64::from(*size) * u64::from(others)
            });
            let same: u64 = same.sum();
            let all = host as u64 * join as u64;
            Some(Contrast::new(same, all.saturating_sub(same))?)
        }
        _ => None,
    })
}

/// The number of scanpath pairs per pair of participants, if it is the same for all.
fn uniform_count(layout: &PairIndex, within: Option<&[OwnParticipantPairs; 2]>) -> Option<u32> {
    let count = layout.uniform_count()?;
    let within = within.map_or(&[][..], |sites| &sites[..]);
    let mut counts = within
        .iter()
        .map(|site| site.by_participants.uniform_count());
    counts.all(|it| it == Some(count)).then_some(count)
}

/// The shapes of the pairs within this side's site.
fn own_shapes(
    job: &Job<'_>,
    site: &OwnParticipantPairs,
    layout: &PairIndex,
    divisor: impl Fn(u32) -> u32,
) -> Result<Vec<PairShape>, ProtocolError> {
    let participants = &layout.participants[side(job.role)];
    let length = |scanpath: usize| {
        let length = job.pad_to.unwrap_or(job.own[scanpath].len());
        u32::try_from(length).map_err(|_| JobError::ScanpathTooLong)
    };
    let shape = |&(a, b): &(usize, usize)| {
        let (first, second) = (participants.of(a)?, participants.of(b)?);
        Ok(PairShape {
            rows: length(a)?,
            columns: length(b)?,
            divisor: divisor(site.by_participants.count(first, second)),
        })
    };
    site.pairs.iter().map(shape).collect()
}

/// An upper bound on the shapes of pairs within a site.
fn longest_shape(shapes: &[PairShape], is_needed: bool) -> Option<PairShape> {
    let longest = shapes
        .iter()
        .map(|shape| shape.rows.max(shape.columns))
        .max();
    longest.filter(|_| is_needed).map(|longest| PairShape {
        rows: longest,
        columns: longest,
        divisor: 1,
    })
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

//! Group answers, over all sessions with a partner: who was in them, and how many more are allowed.
//!
//! A mean over a group says little about one participant, but two means that differ by one participant give that
//! participant's value. So this side remembers, for each partner, who was in which part of which answer, and refuses an answer
//! after which some combination of all answers would be about fewer than the minimum number of participants.
//!
//! **Atoms.** The unknowns are the scores of single scanpaths with the partner's, one *unit* for each participant and stimulus.
//! An answer has parts, and means are sums over parts. Units that were in the same parts of all answers have the
//! same coefficients in every combination of answers, up to a common factor. They form an atom. What a combination is about is
//! a union of atoms, so it is about at least the minimum number of participants if every atom has units of that many.
//! This assumes that the partner's scanpaths are real. A partner who makes scanpaths up can choose them so that the scores
//! of all lengths but one cancel out (`docs/security.md`). Hidden lengths do not prevent that: scores, and the groups of
//! the nearest, tell them.
//!
//! The partner chooses its own scanpaths. If only scanpaths of the same stimulus are compared, it can choose constant
//! ones, whose scores follow from the lengths, for all stimuli but one. What remains of an answer over all stimuli is
//! then about that one stimulus. So in this case every stimulus is a part of its own (within its group), whatever the
//! answer.
//!
//! Scores and thresholds of single pairs are not about groups, but a mean minus known scores is about the other
//! participants. So sessions about pairs are remembered, too. They split atoms, and are refused if that makes one too small.
//! This also holds for the participants whom they are about, if these were in a group answer: scores by one metric say
//! little about those by another, so a later mean without these participants would still be about them.
//!
//! Some answers weight every scanpath equally, others every participant, so that the weight of a scanpath depends on
//! how many its participant has. If a unit was in answers of both kinds, units with the same parts have the same
//! coefficients only if their participants have the same stimuli, so atoms are also split by stimuli. The same holds
//! within one answer that weights participants equally, if only scanpaths of the same stimulus are compared: the
//! partner can give its own groups different stimuli.
//!
//! If a scanpath is added or changed between two answers, their difference is about it. So atoms are also split by which
//! version of a unit's scanpaths each answer used. A unit can have several scanpaths, which different answers can combine
//! differently. So the same must hold for atoms of single scanpaths.
//!
//! **Encodings.** With other encoding settings, or another rounding of fixations, letters change where a fixation crosses
//! a boundary. A refusal that depended on how many have changed would tell about letters, so all scanpaths count as
//! changed. This would hide that a single recording was corrected in between, or that nearly equal settings change a
//! single one. So an answer about participants who were in answers with other settings only is refused unless this side's
//! user allows it, if one of the two answers is about groups. Settings that a cohort file does not declare are not seen.
//!
//! **Histograms.** A count is about a range of scores, and is suppressed if too few participants are in it. Two
//! histograms that differ in their ranges, metric or participants have counts whose differences are about few
//! participants, and so does a histogram minus known scores. So each participant is in at most one histogram per
//! partner, and neither scores nor nearest groups of those in a histogram are revealed.
//!
//! **Not sums.** The counts of a test and the votes of the nearest scanpaths are no sums over parts. Combinations of
//! several such numbers can be about fewer participants; only the budget bounds them.
//!
//! **Group sizes.** The other side sees them, together with the ids of those who take part, before it sees an answer
//! and even if it learns none. Two lists that differ by one participant reveal this participant's group. So sizes are
//! entered when they are sent. Their unknowns are the participants' groups, not scores, so they form atoms of their
//! own. They cost nothing.
//!
//! **Budget.** There is a budget per partner. An answer counts as often as it has numbers about the same
//! scanpath of this side, even if it is about the same participants with another metric. An agreement is charged once,
//! however often it is resumed.
//!
//! **Durability.** [`DisclosureLedger::check`] charges nothing. [`DisclosureLedger::charge`] checks again and writes, durably,
//! and must be called before the first message that opens anything.
//!
//! **Withdrawal.** A participant who withdraws must not be in later answers, about groups or pairs, nor in the rest of
//! one that has started. The difference between answers with and without this participant is about one person.
//! [`DisclosureLedger::withdraw`] allows this difference for this participant alone, and enters the withdrawal into the
//! record. A session checks before it announces a cohort, and again before each batch of pairs that it starts or opens; see
//! `withdrawals.rs`.
//!
//! The file contains authentication tags under this side's key, not ids.

mod atoms;
mod encodings;
mod file;
mod refusal;
mod request;
mod tag;
mod withdrawals;

pub use refusal::DisclosureRefusal;
pub use request::{AnswerRequest, GroupMember};
pub(crate) use tag::Tag;
pub(crate) use withdrawals::WithdrawalWatch;
pub use withdrawals::Withdrawn;

use crate::error::{Limit, SessionError};
use crate::identity::hex;
use crate::policy::{DEFAULT_ANSWERS_PER_PARTNER, DEFAULT_MINIMUM_GROUP};
use crate::signed_record::RecordFile;
use crate::{Fingerprint, Identity, StateDir};
use encodings::with_changed_encoding;
use file::{Answer, AnswerView, CountedScanpath, Disclosures, DisclosuresFile, Member};
use request::counts;

/// What each side allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisclosureLimits {
    /// The fewest participants that an answer may be about.
    pub minimum_group: u32,
    /// The most group answers for this partner.
    pub answers_per_partner: u32,
    /// Whether participants may be in answers with different encoding settings.
    pub allow_changed_encoding: bool,
}

/// An answer that is allowed, to be passed to [`DisclosureLedger::charge`].
#[derive(Clone, Debug)]
#[must_use]
pub struct Charge {
    answer: Answer,
    limits: DisclosureLimits,
    /// Answers for this partner, this one included.
    pub answers: u32,
    /// Whether the agreement was charged before, so that it is free.
    pub is_charged: bool,
}

/// What one partner has learned about groups of this side's participants.
#[derive(Clone, Debug)]
pub struct DisclosureLedger {
    file: DisclosuresFile,
    record: RecordFile,
    identity: Identity,
    partner: Fingerprint,
}

impl Charge {
    /// The tags of the participants whom the answer is about.
    fn participants(&self) -> impl Iterator<Item = Tag> {
        self.answer.cohort.iter().map(|member| member.participant)
    }
}

impl Default for DisclosureLimits {
    fn default() -> Self {
        Self {
            minimum_group: DEFAULT_MINIMUM_GROUP,
            answers_per_partner: DEFAULT_ANSWERS_PER_PARTNER,
            allow_changed_encoding: false,
        }
    }
}

impl DisclosureLimits {
    /// The limits under both sides' minimum sizes.
    pub fn new(ours: u32, theirs: u32, answers_per_partner: u32) -> Self {
        Self {
            minimum_group: ours.max(theirs),
            answers_per_partner,
            allow_changed_encoding: false,
        }
    }
}

impl DisclosureLedger {
    /// The ledger of a partner. Without a state folder nothing is remembered.
    pub fn open(state_dir: Option<&StateDir>, identity: &Identity, partner: Fingerprint) -> Self {
        let folder = state_dir.map(StateDir::disclosures);
        Self {
            file: DisclosuresFile::of(folder.as_deref(), partner),
            record: RecordFile::of(state_dir),
            identity: identity.clone(),
            partner,
        }
    }

    /// Checks whether an answer is allowed. Charges nothing.
    pub fn check(
        &self,
        answer: &AnswerRequest<'_>,
        members: &[GroupMember],
        limits: DisclosureLimits,
    ) -> Result<Charge, SessionError> {
        if let Some(nearest) = answer.nearest.filter(|&k| k < limits.minimum_group) {
            let minimum = limits.minimum_group;
            let refusal = DisclosureRefusal::FewNearest { nearest, minimum };
            return Err(Limit::from(refusal).into());
        }
        if let Some(nearest) = answer.nearest.filter(|_| answer.has_references) {
            let most = members
                .iter()
                .map(|it| it.most_references(answer.by_stimulus));
            let most = u32::try_from(most.max().unwrap_or(0)).unwrap_or(u32::MAX);
            let minimum = limits.minimum_group;
            let few = minimum.saturating_sub(1).saturating_mul(most);
            if nearest <= few {
                let needed = few.saturating_add(1);
                let refusal = DisclosureRefusal::NearestOfFew {
                    nearest,
                    needed,
                    minimum,
                };
                return Err(Limit::from(refusal).into());
            }
        }
        let answer = self.answer(answer, members).map_err(Limit::from)?;
        let disclosed = self.file.read()?;
        Ok(allow(&disclosed, answer, limits).map_err(Limit::from)?)
    }

    /// Durably charges an answer that was allowed. Call it before anything is opened.
    pub fn charge(&self, charge: Charge) -> Result<(), SessionError> {
        let Charge { answer, limits, .. } = charge;
        self.file.update(|disclosed| {
            // Another session may have been charged in the meantime.
            let charge = allow(disclosed, answer, limits).map_err(Limit::from)?;
            if !charge.is_charged {
                disclosed.push(charge.answer);
            }
            Ok(())
        })
    }

    /// The partner.
    pub(crate) fn partner(&self) -> Fingerprint {
        self.partner
    }

    /// The size of the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.file.bytes()
    }

    /// Group answers for this partner so far.
    pub fn answers(&self) -> Result<u32, SessionError> {
        Ok(self.file.read()?.cost())
    }

    /// The tag of a participant in the ledger.
    pub(crate) fn participant_tag(&self, id: &str) -> Tag {
        self.tag("participant", id.as_bytes())
    }

    fn tag(&self, purpose: &str, text: &[u8]) -> Tag {
        let parts: [&[u8]; 2] = [self.partner.bytes(), text];
        let purpose = format!("disclosure {purpose}");
        Tag::of(&self.identity.tag(&purpose, &parts))
    }

    /// An answer as the ledger stores it.
    fn answer(
        &self,
        request: &AnswerRequest<'_>,
        members: &[GroupMember],
    ) -> Result<Answer, DisclosureRefusal> {
        let parts = match file::Parts::of(request.kind, request.overall) {
            _ if request.names_scanpaths => file::Parts::Named,
            file::Parts::Groups if !request.by_group => file::Parts::Single,
            parts => parts,
        };
        if parts == file::Parts::Groups && members.iter().any(|it| it.group.is_none()) {
            return Err(DisclosureRefusal::NoGroups);
        }
        let weights = file::Weights::of(request.kind);
        let has_groups = parts == file::Parts::Groups;
        // A participant without letters is hidden by nobody and hides nobody.
        let members = members.iter().filter(|it| !it.stimuli.is_empty());
        let cohort = members.map(|member| self.member(member, has_groups));
        let mut cohort: Vec<Member> = cohort.collect();
        cohort.sort_unstable_by_key(|member| member.participant);
        Ok(Answer {
            agreement: hex(request.agreement),
            parts,
            weights,
            by_stimulus: request.by_stimulus,
            counts_as: request.counts_as,
            encoding: request.encoding.map(|it| self.tag("encoding", &it)),
            cohort,
        })
    }

    fn member(&self, member: &GroupMember, has_groups: bool) -> Member {
        let stimulus = |name: &String| self.tag("stimulus", name.as_bytes());
        let contents = member.contents.iter().chain(std::iter::repeat(&[0; 32]));
        let scanpaths = member.stimuli.iter().zip(contents);
        let scanpaths =
            scanpaths.map(|(name, content)| (stimulus(name), self.tag("content", content)));
        let scanpath = |((stimulus, content), count)| CountedScanpath {
            stimulus,
            content,
            count,
        };
        let group = member.group.as_ref().filter(|_| has_groups);
        Member {
            participant: self.participant_tag(&member.participant),
            group: group.map(|group| self.tag("group", group.as_bytes())),
            scanpaths: counts(scanpaths).into_iter().map(scanpath).collect(),
            scanpaths_per_stimulus: counts(
                member.stimuli.iter().chain(&member.empty).map(stimulus),
            ),
        }
    }
}

/// Checks whether an answer is allowed after those so far.
fn allow(
    disclosed: &Disclosures,
    answer: Answer,
    limits: DisclosureLimits,
) -> Result<Charge, DisclosureRefusal> {
    let so_far = disclosed.cost();
    // This also applies to an answer that was charged before: the rest of it has not been sent.
    let withdrawn = &disclosed.withdrawn;
    let in_answer = answer.cohort.iter();
    let in_answer = in_answer.filter(|it| withdrawn.contains(&it.participant));
    let participants = in_answer.count() as u64;
    if participants > 0 {
        return Err(DisclosureRefusal::Withdrawn { participants });
    }
    if disclosed.has(&answer.agreement) {
        return Ok(Charge {
            answer,
            limits,
            answers: so_far,
            is_charged: true,
        });
    }
    let minimum = limits.minimum_group;
    let too_few = |smallest: Option<u64>| smallest.filter(|&it| it < u64::from(minimum));
    let alone = [answer.view()];
    let all: Vec<AnswerView<'_>> = disclosed.answers().chain(alone).collect();
    let differencing = |participants| DisclosureRefusal::Differencing {
        participants,
        minimum,
    };
    if !limits.allow_changed_encoding {
        let participants = with_changed_encoding(disclosed, &answer);
        if participants > 0 {
            return Err(DisclosureRefusal::ChangedEncoding { participants });
        }
    }
    // What is known about single scanpaths can be subtracted from counts.
    let excluded: &[file::Parts] = match answer.parts {
        file::Parts::Ranges => &[file::Parts::Ranges, file::Parts::Pairs, file::Parts::Named],
        file::Parts::Pairs | file::Parts::Named => &[file::Parts::Ranges],
        _ => &[],
    };
    let participants =
        participants_in_earlier(disclosed, &answer, |it| excluded.contains(&it.parts));
    if participants > 0 {
        return Err(DisclosureRefusal::HistogramOverlap { participants });
    }
    if answer.parts == file::Parts::Pairs {
        return match too_few(atoms::smallest(&all, withdrawn)) {
            Some(participants) => Err(differencing(participants)),
            None => Ok(Charge {
                answer,
                limits,
                answers: so_far,
                is_charged: false,
            }),
        };
    }
    // Zero participants are also too few.
    let smallest = atoms::smallest(&alone, withdrawn).unwrap_or(0);
    if let Some(participants) = too_few(Some(smallest)) {
        return Err(DisclosureRefusal::SmallPart {
            participants,
            minimum,
        });
    }
    if let Some(participants) = too_few(atoms::smallest(&all, withdrawn)) {
        return Err(differencing(participants));
    }
    let answers = so_far.saturating_add(answer.counts_as);
    if answers > limits.answers_per_partner {
        return Err(DisclosureRefusal::Budget {
            answers: so_far,
            counts_as: answer.counts_as,
            budget: limits.answers_per_partner,
        });
    }
    Ok(Charge {
        answer,
        limits,
        answers,
        is_charged: false,
    })
}

/// How many participants of an answer were in earlier ones of some kind.
fn participants_in_earlier(
    disclosed: &Disclosures,
    answer: &Answer,
    is_of_kind: impl Fn(&AnswerView<'_>) -> bool,
) -> u64 {
    let others: Vec<_> = disclosed.answers().filter(is_of_kind).collect();
    let is_in_others = |member: &&Member| {
        let mut others = others.iter();
        others.any(|it| file::contains(it.cohort, member.participant))
    };
    answer.cohort.iter().filter(is_in_others).count() as u64
}

/// Whether the content of a file is a ledger, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn is_ledger(text: &[u8]) -> bool {
    use crate::locked_file::Stored;
    Disclosures::parse(text).is_some_and(|disclosed| {
        let all: Vec<AnswerView<'_>> = disclosed.answers().collect();
        let _ = atoms::smallest(&all, &disclosed.withdrawn);
        disclosed.cost() == 0 || !all.is_empty()
    })
}

#[cfg(test)]
mod tests;

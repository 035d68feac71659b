//! The document for a data protection officer: what a plan computes, who learns what, and which limits apply.

mod metric;

use crate::{MetricName, Policy};
use veilpath_protocol::{Engine, EngineChoice, GroupQuestion, Reveal, RevealTo};
use veilpath_report::document::{Block, Document, Section};
use veilpath_session::{AnswerKind, Fingerprint, ScanpathLimit};

/// The start of the document's title, used to recognise an existing document.
pub(crate) const TITLE: &str = "Comparing eye movements with";

/// A placeholder for missing text.
const PLACEHOLDER: &str = "(to be filled in)";

/// A plan, as described in the document.
#[derive(Clone, Debug)]
pub struct DocumentPlan {
    /// The partners.
    pub partners: Vec<Fingerprint>,
    /// The engine.
    pub engine: EngineChoice,
    /// The metric.
    pub metric: MetricName,
    /// What is revealed.
    pub reveal: Reveal,
    /// Who learns it.
    pub reveal_to: RevealTo,
    /// The length that every scanpath appears to have.
    pub pad_to: Option<u32>,
    /// Whether this side's ids and stimuli are hidden from the other side.
    pub pseudonyms: bool,
    /// The most comparisons per scanpath that this side's user allows.
    pub limit: ScanpathLimit,
}

/// Describes a plan under a policy, in two pages of plain language.
pub fn policy_document(policy: &Policy, plan: &DocumentPlan) -> Document {
    let writer = Writer { policy, plan };
    let sections = vec![
        Section {
            heading: None,
            blocks: vec![writer.overview()],
        },
        section("What is computed", writer.computed()),
        section("What each side learns", writer.learned()),
        section("Assumptions", writer.assumption()),
        section("Limits", writer.limits()),
        section("What is stored, and for how long", writer.stored()),
        section("What remains personal data", writer.personal()),
        section("What this does not protect against", writer.not_protected()),
        section("A paragraph for the consent form", vec![writer.consent()]),
    ];
    Document {
        title: format!("{TITLE} {}", writer.partners()),
        sections,
    }
}

fn section(heading: &str, blocks: Vec<Block>) -> Section {
    Section {
        heading: Some(heading.into()),
        blocks,
    }
}

fn paragraph(text: impl Into<String>) -> Block {
    Block::Paragraph(text.into())
}

struct Writer<'a> {
    policy: &'a Policy,
    plan: &'a DocumentPlan,
}

impl Writer<'_> {
    /// The names of the partners.
    fn partners(&self) -> String {
        let name = |key: &Fingerprint| match self.policy.partner(*key) {
            Some(partner) => partner.name.clone(),
            None => key.to_string(),
        };
        let names: Vec<String> = self.plan.partners.iter().map(name).collect();
        names.join(" and ")
    }

    fn kind(&self) -> AnswerKind {
        AnswerKind::of(self.plan.reveal)
    }

    /// Whether the answer is a group answer.
    fn is_group_answer(&self) -> bool {
        self.kind().is_group_answer()
    }

    /// Whether each side tells the other who belongs to which group.
    fn publishes_groups(&self) -> bool {
        let question = self.plan.reveal.group_question();
        question.is_some_and(GroupQuestion::publishes_groups)
    }

    /// Whether the answer assigns a group to every single scanpath of the host.
    fn labels_scanpaths(&self) -> bool {
        let question = self.plan.reveal.group_question();
        question.is_some_and(GroupQuestion::names_scanpaths)
    }

    /// Whether scanpaths never leave their institution.
    fn is_protected(&self) -> bool {
        self.plan.engine.representative() != Engine::Plain
    }

    fn overview(&self) -> Block {
        let texts = self.policy.texts();
        let or_placeholder =
            |text: &Option<String>| text.clone().unwrap_or_else(|| PLACEHOLDER.into());
        let fingerprints: Vec<String> =
            self.plan.partners.iter().map(|it| it.to_string()).collect();
        let rows = [
            ("Institution", or_placeholder(&texts.institution)),
            ("Partner", self.partners()),
            ("Partner's key", fingerprints.join(", ")),
            ("Purpose", or_placeholder(&texts.purpose)),
            ("Legal basis", or_placeholder(&texts.legal_basis)),
            ("Contact", or_placeholder(&texts.contact)),
            (
                "Plan",
                format!(
                    "metric {}, answer {}, for {}, engine {}",
                    self.plan.metric.name(),
                    self.plan.reveal,
                    self.recipients(),
                    self.engine()
                ),
            ),
            ("Policy", format!("valid until {}", self.policy.expires())),
        ];
        let rows = rows.map(|(name, value)| (name.to_string(), value));
        Block::Table(rows.into())
    }

    fn engine(&self) -> &'static str {
        match self.plan.engine {
            EngineChoice::Auto => "auto (garbled or shares)",
            other => other.representative().name(),
        }
    }

    fn recipients(&self) -> &'static str {
        match self.plan.reveal_to {
            RevealTo::Both => "both institutions",
            RevealTo::Host => "the institution that hosts the session",
            RevealTo::Join => "the institution that joins the session",
        }
    }

    fn computed(&self) -> Vec<Block> {
        vec![
            paragraph(
                "Both institutions have recordings of where on a picture participants looked. Each turns its own recordings into scanpaths: sequences of letters for the places that a participant looked at. The scanpaths of one institution are then compared with those of the other.",
            ),
            paragraph(metric::describe(self.plan.metric)),
            paragraph(self.answer()),
        ]
    }

    /// Describes the answer.
    fn answer(&self) -> String {
        let text = match self.kind() {
            AnswerKind::Score => {
                "The answer is a score for every pair of scanpaths, one from each institution."
            }
            AnswerKind::Threshold => {
                "The answer is one bit for every pair of scanpaths: whether the two are at least as similar as the agreed threshold requires. The score itself is not disclosed."
            }
            AnswerKind::Mean => {
                "The answer is the mean score over all pairs, for each picture or for all together. No score of a single pair is disclosed."
            }
            AnswerKind::Groups => {
                "The answer is a mean score for each pair of groups, for example patients of one institution and controls of the other. No score of a single pair is disclosed, nor, if the other institution uses real recordings, who belongs to which group."
            }
            AnswerKind::PublishedGroups => {
                "The answer is a mean score for each pair of groups, for example patients of one institution and controls of the other. No score of a single pair is disclosed. Both institutions have agreed to tell each other who belongs to which group."
            }
            AnswerKind::TestSites => {
                "The answer is one number and its p-value: whether scanpaths are more alike within an institution than between the two. No score of a single pair is disclosed."
            }
            AnswerKind::TestGroups => {
                "The answer is one number and its p-value: whether scanpaths are more alike within a group of participants than between groups. No score of a single pair is disclosed, nor, if the other institution uses real recordings, who belongs to which group."
            }
            AnswerKind::PublishedTestGroups => {
                "The answer is one number and its p-value: whether scanpaths are more alike within a group of participants than between groups. No score of a single pair is disclosed. Both institutions have agreed to tell each other who belongs to which group."
            }
            AnswerKind::Nearest if self.labels_scanpaths() => {
                "The answer says, for each scanpath of the institution that hosts the session, to which group most of the similar scanpaths of the other institution belong. No score of a single pair is disclosed. If an institution uses made-up scanpaths instead of real recordings, it can find out who belongs to which group."
            }
            AnswerKind::Nearest => {
                "The answer is one number: for how many scanpaths of the institution that hosts the session most of the similar scanpaths of the other institution belong to the same group. No score of a single pair is disclosed, nor, if the other institution uses real recordings, who belongs to which group."
            }
            AnswerKind::Histogram => {
                "The answer is how many pairs have scores in each of several ranges. Ranges with too few participants are suppressed."
            }
        };
        text.to_string()
    }

    fn learned(&self) -> Vec<Block> {
        let own = match self.plan.pseudonyms {
            true => {
                "the partner sees pseudonyms instead of participant ids, the same ones in every session, and hashes instead of the names of pictures; it can recognise a picture whose name it can guess"
            }
            false => {
                "the partner sees participant ids and the names of pictures; pseudonyms can be used instead"
            }
        };
        let lengths = match self.plan.pad_to {
            None => {
                "both see the length of each scanpath: roughly how many places a participant looked at".to_string()
            }
            Some(length) => format!(
                "the lengths of scanpaths are hidden; both see only that none has more than {length} letters"
            ),
        };
        let mut items = vec![
            format!("the answer above goes to {}", self.recipients()),
            "both see the number of scanpaths, the metric, and how recordings were turned into letters"
                .into(),
            own.into(),
            lengths,
        ];
        let question = self.plan.reveal.group_question();
        if self.publishes_groups() {
            items.push("each tells the other the group of every single participant; with a group such as \"patients\" that is information about health".into());
        } else if let Some(question) = question.filter(|it| it.needs_groups()) {
            items.push(match question.sides_with_groups() {
                [true, true] => "both see the names and sizes of the groups".into(),
                _ => "the institution that hosts the session sees the names and sizes of the other one's groups".into(),
            });
        }
        items.push(match self.plan.engine.representative() {
            Engine::Plain => {
                "the institution that hosts the session sees every scanpath of the other one: with this engine nothing is protected".into()
            }
            Engine::Paillier(_) => {
                "the institution that hosts the session sees intermediate values from which attacks reconstruct parts of scanpaths; there is no proof of what it does not learn".into()
            }
            Engine::Garbled | Engine::Shares => {
                "neither sees a scanpath of the other, or learns anything else about it".to_string()
            }
        });
        vec![Block::List(items)]
    }

    fn assumption(&self) -> Vec<Block> {
        let text = match self.plan.engine.representative() {
            Engine::Plain => {
                "None: this engine is for trials with data that both institutions may see."
            }
            Engine::Paillier(_) => {
                "Both institutions follow the protocol, and the Paillier cryptosystem is secure. What the hosting institution sees was measured by attacks and is not proved to be harmless."
            }
            Engine::Garbled | Engine::Shares => {
                "Both institutions follow the protocol. They may keep and analyse everything that they see. The proof rests on AES-128, SHA-2 and the difficulty of Diffie–Hellman on Curve25519."
            }
        };
        vec![
            paragraph(text),
            paragraph(
                "The connection is encrypted and authenticated (TLS 1.3) with a key of each institution, whose fingerprints are exchanged in advance over a trusted channel. Others on the network see who communicates with whom, when, and how much.",
            ),
        ]
    }

    fn limits(&self) -> Vec<Block> {
        let policy = self.policy;
        // The engine `plain` has no default limit.
        let has_default = self.plan.engine.representative() != Engine::Plain;
        let allowed = policy.comparisons_per_scanpath();
        let most = match self.plan.limit {
            ScanpathLimit::DefaultUpTo(limit) => {
                Some(allowed.map_or(limit, |allowed| limit.min(allowed)))
            }
            _ => allowed,
        };
        let comparisons = match (self.plan.limit, most) {
            (ScanpathLimit::Count(count), _) => format!("at most {count} times"),
            (ScanpathLimit::Default | ScanpathLimit::DefaultUpTo(_), Some(limit))
                if has_default =>
            {
                format!("at most {limit} times, and less often if the default limit is lower")
            }
            (_, Some(limit)) => format!("at most {limit} times"),
            (ScanpathLimit::Default, None) if has_default => {
                "at most half as often as an attack needs to reconstruct it, by metric and length"
                    .into()
            }
            (_, None) => "without any limit on how often".into(),
        };
        // With garbled and shares, nobody learns anything about single pairs from a group answer, so comparisons are
        // not counted.
        let labels_scanpaths = self.labels_scanpaths();
        let opened_by_halves = self.plan.engine.representative().opens_outputs_by_halves();
        let uncounted = self.is_group_answer() && opened_by_halves && !labels_scanpaths;
        let counts_as_one = match labels_scanpaths && opened_by_halves {
            true => {
                "; the answer counts as one comparison of each scanpath of the institution that hosts the session"
            }
            false => "",
        };
        let comparisons = (!uncounted).then(|| {
            format!("over all sessions with one partner, every scanpath is compared {comparisons}{counts_as_one}")
        });
        let mut items: Vec<String> = comparisons.into_iter().collect();
        items.push(
            format!(
                "the policy, which is valid until {}, allows only these metrics: {}; only these engines: {}; and only these answers: {}",
                policy.expires(),
                policy.metrics().join(", "),
                policy.engines().join(", "),
                policy
                    .answers()
                    .iter()
                    .map(|kind| kind.name())
                    .collect::<Vec<_>>()
                    .join(", "),
            ),
        );
        if self.is_group_answer() {
            let (about, of) = match labels_scanpaths {
                true => (
                    "the answer is about single scanpaths of the institution that hosts the session, and about at least",
                    "the other",
                ),
                false => ("an answer is about at least", "each institution"),
            };
            items.push(format!(
                "if both follow the protocol, {about} {} participants of {of}; for yours, this holds even in combination with earlier answers for the same partner",
                policy.minimum_group()
            ));
            items.push(format!(
                "a partner gets at most {} group answers, over all sessions; an answer with several numbers about the same people counts several times",
                policy.answers_per_partner()
            ));
        }
        items.push(
            "both institutions sign every session before and after the disclosure; later changes to this record can be detected".into(),
        );
        vec![Block::List(items)]
    }

    fn stored(&self) -> Vec<Block> {
        let retention = self.policy.texts().retention.clone();
        vec![
            Block::List(vec![
                match self.is_protected() {
                    true => "recordings and scanpaths stay at this institution".into(),
                    false => "the recordings stay where they are; with this engine the scanpaths of the institution that joins are sent to the one that hosts".into(),
                },
                "answers, with the ids or pseudonyms of both sides, are in the result file and, so that an interrupted session can continue, in journals; both can be deleted after the last session".into(),
                "counts of comparisons and answers, under keyed hashes instead of ids, enforce the limits; they should be kept as long as the partner may ask again, because without them counting starts from zero".into(),
                "the signed record contains keys, times, numbers of participants and pairs, the metric and the kind of answer, but no ids".into(),
                "the partner stores the same kinds of data".into(),
            ]),
            paragraph(format!(
                "Retention: {}",
                retention.unwrap_or_else(|| PLACEHOLDER.into())
            )),
        ]
    }

    fn personal(&self) -> Vec<Block> {
        let mut items = vec![
            "recordings and scanpaths are personal data: eye movements can identify people and reveal something about their health".to_string(),
            "ids are personal data, and so are pseudonyms, which other knowledge may link to a person".into(),
        ];
        items.push(match self.is_group_answer() {
            _ if self.labels_scanpaths() => "the group that a single scanpath resembles is information about a single person".into(),
            false => "scores or bits of single pairs are information about single people, at both institutions; many of them together say more than each alone".into(),
            true => "whether group answers are still personal data depends on the groups and on what else is known, and has to be judged in each case".into(),
        });
        if self.publishes_groups() {
            items.push("the group of a participant is personal data, and after the session both institutions have it, under the ids or pseudonyms above; publishing it cannot be undone".into());
        }
        vec![
            Block::List(items),
            paragraph("The program reduces what is disclosed. It does not make data anonymous."),
        ]
    }

    fn not_protected(&self) -> Vec<Block> {
        vec![Block::List(vec![
            "a partner that breaks the protocol may learn more or make answers wrong; this is not always detected".into(),
            "nobody can check that a partner uses real scanpaths; with made-up ones it learns more about yours, within the limits".into(),
            "limits apply to each partner separately: partners that combine their answers know more".into(),
            "whoever controls a machine of this institution sees its data".into(),
        ])]
    }

    fn consent(&self) -> Block {
        let texts = self.policy.texts();
        let contact = texts.contact.clone().unwrap_or_else(|| PLACEHOLDER.into());
        let transfer = match self.plan.engine.representative() {
            Engine::Plain => {
                "The sequence of places that you looked at is sent to the partner, or the partner's to us"
            }
            Engine::Paillier(_) => {
                "Your recording does not leave our institution. It is compared under encryption, but the partner might be able to compute a part of where you looked"
            }
            Engine::Garbled | Engine::Shares => {
                "Your recording does not leave our institution. It is compared under encryption, so that the partner does not see where you looked"
            }
        };
        let answer = match self.is_group_answer() {
            _ if self.labels_scanpaths() => {
                "What is disclosed is which group the recordings that resemble yours belong to"
            }
            true => {
                "Only results about groups of participants are disclosed, and no result about you alone"
            }
            false => "Results about pairs of recordings, including yours, are disclosed",
        };
        let lengths = match self.plan.pad_to {
            None => ", and how many places were looked at",
            Some(_) => "",
        };
        let ids = match self.plan.pseudonyms {
            true => "a pseudonym",
            false => "its id in our study",
        };
        let group = match self.publishes_groups() {
            true => " and the group that its participant belongs to",
            false => "",
        };
        Block::Quote(format!(
            "We would like to compare the recording of your eye movements with recordings of {}. {transfer}. {answer}. The partner also learns how many recordings we have. For each it sees {ids}{group}{lengths}. You can withdraw your consent at any time, without giving a reason and without any disadvantage. We will then not use your recording in later comparisons, but results that were already disclosed cannot be taken back. Questions: {contact}.",
            self.partners(),
        ))
    }
}

#[cfg(test)]
mod tests;

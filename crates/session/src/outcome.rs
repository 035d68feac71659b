//! The outcome of a session: results, labels, and what was revealed.

use crate::journal::Journal;
use crate::roster::{self, Parties, Roster};
use crate::session::{AgreedSession, Agreement};
use veilpath_metrics::Cohort;
use veilpath_protocol::{Cost, Engine, Outcome, PlanTile, Results, RevealTo, Revealed, Role, Spec};

impl AgreedSession {
    /// The outcome, with all answers that the journal has.
    pub(crate) fn outcome(&self) -> Outcome {
        let (session, agreement) = (&self.session, &self.agreement);
        let spec = &agreement.proposal.spec;
        Outcome {
            results: results(spec, session.role, &agreement.pairs, &agreement.journal),
            answers: self.group_answer().ok().flatten().into_iter().collect(),
            cost: self.cost(),
            ..agreement.without_results(session.role)
        }
    }

    /// What it has cost, without the time.
    pub(crate) fn cost(&self) -> Cost {
        let Agreement {
            pairs,
            host,
            join,
            resume,
            proposal,
            ..
        } = &self.agreement;
        let cells = resume.work(pairs, host, join, &proposal.spec).cells;
        Cost {
            pairs_from_journal: pairs.len() - resume.compare.len(),
            ..Cost::of(self.session.channel.traffic(), cells)
        }
    }
}

impl Agreement {
    /// The outcome as this side sees it, before anything is computed.
    pub(crate) fn without_results(&self, role: Role) -> Outcome {
        without_results(
            role,
            &self.proposal.spec,
            &self.proposal.cohort,
            &self.parties,
            [&self.host, &self.join],
            (self.pairs.len() as u64, self.plan_tile()),
        )
    }

    /// What each side learns.
    pub(crate) fn revealed(&self) -> Vec<Revealed> {
        revealed(&self.proposal.spec)
    }
}

/// The outcome of a plan or tile with this many pairs as a side sees it, before anything is computed.
pub(crate) fn without_results(
    role: Role,
    spec: &Spec,
    cohort: &Cohort,
    parties: &Parties,
    rosters: [&Roster; 2],
    (pairs, tile): (u64, Option<PlanTile>),
) -> Outcome {
    let [a, b] = roster::scanpath_ids_of_both(role, cohort, parties, rosters);
    Outcome {
        names: ["host", "join"].map(String::from),
        one_cohort: false,
        a,
        b,
        pairs,
        tile,
        results: Results::new(spec.measures()),
        answers: Vec::new(),
        error_bound: spec.error_bound(),
        cost: Cost::default(),
        revealed: revealed(spec),
        spec: spec.clone(),
    }
}

/// The answers in the journal, where this side learns them.
pub(crate) fn results(
    spec: &Spec,
    role: Role,
    pairs: &[(usize, usize)],
    journal: &Journal,
) -> Results {
    let learns = spec.reveal_to.includes(role);
    let answers = pairs.iter().enumerate().filter_map(|(pair, &(a, b))| {
        let answer = journal.answer(pair).filter(|_| learns)?;
        Some((a, b, answer))
    });
    Results::of_answers(spec.measures(), answers)
}

fn revealed(spec: &Spec) -> Vec<Revealed> {
    let mut revealed = spec.engine.revealed(spec);
    // The other engines list the lengths themselves.
    let lengths = match spec.engine {
        Engine::Plain => ", their lengths",
        _ => "",
    };
    let by_session = Revealed {
        to: RevealTo::Both,
        what: format!(
            "how many scanpaths there are{lengths}, their ids and stimuli (pseudonyms and hashes if a side hides them), the metric and the encoding"
        ),
    };
    // First, as in the session, so that "nothing else" stays last.
    revealed.insert(0, by_session);
    revealed
}

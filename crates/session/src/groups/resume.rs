//! What is left to do for a group answer.
//!
//! Each side states for each pair whether it has its half, and for each number of the answer whether it knows it, has its share, and may
//! have sent that share. Both derive the same steps:
//!
//! | situation | what happens |
//! |---|---|
//! | every side that learns the answer knows it | nothing |
//! | both have shares of the answer, from the same run | the shares that are still needed are sent, or sent again |
//! | one side needs the answer, the other knows it, and both are to learn it | the numbers are sent |
//! | no share was sent | pairs without halves from the same run are compared, and the answer is computed |
//! | anything else: a share was sent and another is missing | the answer is lost |

use crate::counted_store::AgreedPairs;
use crate::error::SessionError;
use crate::journal::Journal;
use crate::resume::{Resume, Statement, exchange_statements, same_run};
use veilpath_channel::Channel;
use veilpath_protocol::Role;

/// What is left to do for the answer itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AnswerStep {
    /// Nothing: it is known, or there is none.
    #[default]
    Nothing,
    /// Each side that needs the answer gets the other's shares.
    SendShares {
        /// The host needs it.
        host: bool,
        /// The joining side needs it.
        join: bool,
    },
    /// The side with this role sends the numbers themselves.
    SendNumbers(Role),
    /// It is computed from the halves of all pairs.
    Compute,
}

impl Resume {
    /// Exchanges what each side has of the pairs and of the `numbers` numbers after them, and derives the steps.
    pub(crate) fn exchange_for_answer(
        channel: &mut dyn Channel,
        journal: &Journal,
        agreed: &AgreedPairs<'_>,
        numbers: usize,
    ) -> Result<Self, SessionError> {
        let (role, to) = (agreed.role, agreed.spec.reveal_to);
        let (peer, pairs) = (role.other(), agreed.pairs.len());
        let all = pairs + numbers;
        let of_item = |item| match item >= pairs && journal.is_withheld(item) {
            // A share of an earlier run, perhaps: what was sent may be of another.
            true => Statement::of(journal, item).without_half(),
            false => Statement::of(journal, item),
        };
        let ours: Vec<Statement> = (0..all).map(of_item).collect();
        let theirs = exchange_statements(channel, role, &ours)?;
        let both_have =
            |&item: &usize| ours[item].has(Statement::HALF) && theirs[item].has(Statement::HALF);
        let candidates = (0..all).filter(both_have).collect();
        let fitting = same_run(channel, role, journal, candidates)?;
        let answer = pairs..all;
        let of_answer = |statements: &[Statement], flag: u8| {
            statements[answer.clone()].iter().all(|it| it.has(flag))
        };
        let was_sent = [&ours, &theirs]
            .iter()
            .any(|it| it[answer.clone()].iter().any(|it| it.has(Statement::SENT)));
        let (we_know, they_know) = (
            of_answer(&ours, Statement::ANSWERED),
            of_answer(&theirs, Statement::ANSWERED),
        );
        let (we_need, they_need) = (
            to.includes(role) && !we_know,
            to.includes(peer) && !they_know,
        );
        let mut plan = Self::default();
        if to.includes(peer) && they_know && !of_answer(&ours, Statement::SENT) {
            plan.unrecorded = answer.clone().collect();
        }
        plan.answer = match (we_need, they_need) {
            (false, false) => AnswerStep::Nothing,
            _ if fitting.iter().filter(|item| answer.contains(item)).count() == numbers => {
                let (host, join) = match role {
                    Role::Host => (we_need, they_need),
                    Role::Join => (they_need, we_need),
                };
                AnswerStep::SendShares { host, join }
            }
            (_, true) if to.includes(role) && we_know => AnswerStep::SendNumbers(role),
            (true, _) if to.includes(peer) && they_know => AnswerStep::SendNumbers(peer),
            _ if was_sent => {
                plan.lost = numbers;
                AnswerStep::Nothing
            }
            _ => AnswerStep::Compute,
        };
        if plan.answer == AnswerStep::Compute {
            let mut fitting = fitting.into_iter().peekable();
            // Other pairs have no halves: their values follow from the lengths.
            plan.compare = (0..pairs)
                .filter(|pair| {
                    let fits = fitting.next_if_eq(pair).is_some();
                    agreed.is_informative(*pair) && !fits
                })
                .collect();
        }
        Ok(plan)
    }
}

#[cfg(test)]
mod tests;

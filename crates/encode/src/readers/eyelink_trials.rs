//! Which trial of an EyeLink recording was on, now and a moment ago.
//!
//! The line of a fixation is written when the fixation ends, and the next trial may have begun by then.

use std::collections::VecDeque;

/// The trial that rows belong to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TrialState {
    /// A trial with this stimulus.
    Stimulus(Option<String>),
    /// Between trials.
    BetweenTrials,
}

/// The states of the last moments, each with the time at which it began.
pub(super) struct TrialHistory {
    /// In the order of time.
    kept: VecDeque<(f64, TrialState)>,
    /// The last of them.
    now: TrialState,
}

/// A fixation spans a pause and a trial or two, not more.
const KEPT: usize = 16;

impl TrialHistory {
    pub(super) fn new(state: TrialState) -> Self {
        Self {
            kept: VecDeque::from([(f64::NEG_INFINITY, state.clone())]),
            now: state,
        }
    }

    /// The state changes at this time or, without a time, at the current line.
    pub(super) fn enter(&mut self, time: Option<f64>, state: TrialState) {
        let last = self
            .kept
            .back()
            .map_or(f64::NEG_INFINITY, |(time, _)| *time);
        let time = time.unwrap_or(last);
        if time < last {
            // The clock was restarted: earlier times mean nothing now.
            self.kept.clear();
        }
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back((time, state.clone()));
        self.now = state;
    }

    /// The state at an earlier time, or at the current line if there is no time. For a time before all kept states, the
    /// oldest one.
    pub(super) fn at(&self, time: Option<f64>) -> &TrialState {
        let Some(time) = time else {
            return &self.now;
        };
        let entered = self.kept.iter().rev().find(|(entered, _)| *entered <= time);
        let oldest = self.kept.front();
        entered.or(oldest).map_or(&self.now, |(_, state)| state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_trials_are_found_by_time() {
        let trial = |number: usize| TrialState::Stimulus(Some(number.to_string()));
        let mut history = TrialHistory::new(TrialState::BetweenTrials);
        history.enter(Some(100.0), trial(1));
        history.enter(Some(200.0), TrialState::BetweenTrials);
        history.enter(Some(300.0), trial(2));
        for (time, state) in [
            (Some(99.0), TrialState::BetweenTrials),
            (Some(100.0), trial(1)),
            (Some(250.0), TrialState::BetweenTrials),
            (Some(1e9), trial(2)),
            (None, trial(2)),
        ] {
            assert_eq!(history.at(time), &state, "{time:?}");
        }
        // A clock that was restarted.
        history.enter(Some(5.0), trial(3));
        assert_eq!(history.at(Some(250.0)), &trial(3));
        assert_eq!(history.at(Some(1.0)), &trial(3));
        for number in 4..1000 {
            history.enter(None, trial(number));
        }
        assert_eq!((history.kept.len(), history.at(None)), (KEPT, &trial(999)));
    }
}

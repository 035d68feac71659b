//! The current trial of an EyeLink recording, and the most recent ones.
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

/// The most recent states, each with the time at which it began.
pub(super) struct TrialHistory {
    /// In temporal order.
    states: VecDeque<(f64, TrialState)>,
    /// The latest state.
    now: TrialState,
}

/// The number of states that are stored: a fixation spans at most a pause and a trial or two.
const MAX_STATES: usize = 16;

impl TrialHistory {
    pub(super) fn new(state: TrialState) -> Self {
        Self {
            states: VecDeque::from([(f64::NEG_INFINITY, state.clone())]),
            now: state,
        }
    }

    /// The state changes at this time or, without a time, at the current line.
    pub(super) fn enter(&mut self, time: Option<f64>, state: TrialState) {
        let last = self
            .states
            .back()
            .map_or(f64::NEG_INFINITY, |(time, _)| *time);
        let time = time.unwrap_or(last);
        if time < last {
            // The clock was restarted, so earlier times no longer apply.
            self.states.clear();
        }
        if self.states.len() == MAX_STATES {
            self.states.pop_front();
        }
        self.states.push_back((time, state.clone()));
        self.now = state;
    }

    /// The state at an earlier time, or at the current line if there is no time. For a time before all stored states, the
    /// oldest one.
    pub(super) fn at(&self, time: Option<f64>) -> &TrialState {
        let Some(time) = time else {
            return &self.now;
        };
        let entered = self
            .states
            .iter()
            .rev()
            .find(|(entered, _)| *entered <= time);
        let oldest = self.states.front();
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
        assert_eq!(
            (history.states.len(), history.at(None)),
            (MAX_STATES, &trial(999))
        );
    }
}

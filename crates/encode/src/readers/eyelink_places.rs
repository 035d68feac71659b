//! Which trial of an EyeLink recording was on, now and a moment ago.
//!
//! The line of a fixation is written when the fixation ends, and the next trial may have begun by then.

use std::collections::VecDeque;

/// Where rows belong.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    /// To this stimulus.
    Stimulus(Option<String>),
    /// Between trials.
    Nowhere,
}

/// The places of the last moments, each with the time at which it was entered.
pub(super) struct Places {
    /// In the order of time.
    kept: VecDeque<(f64, Place)>,
    /// The last of them.
    now: Place,
}

/// A fixation spans a pause and a trial or two, not more.
const KEPT: usize = 16;

impl Places {
    pub(super) fn new(place: Place) -> Self {
        Self {
            kept: VecDeque::from([(f64::NEG_INFINITY, place.clone())]),
            now: place,
        }
    }

    /// From this time on rows belong elsewhere. Without a time, from the line at hand on.
    pub(super) fn enter(&mut self, time: Option<f64>, place: Place) {
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
        self.kept.push_back((time, place.clone()));
        self.now = place;
    }

    /// The place at a time that is past, or without one of the line at hand. Before all that is kept, it is the oldest.
    pub(super) fn at(&self, time: Option<f64>) -> &Place {
        let Some(time) = time else {
            return &self.now;
        };
        let entered = self.kept.iter().rev().find(|(entered, _)| *entered <= time);
        let oldest = self.kept.front();
        entered.or(oldest).map_or(&self.now, |(_, place)| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_places_are_found_by_time() {
        let trial = |number: usize| Place::Stimulus(Some(number.to_string()));
        let mut places = Places::new(Place::Nowhere);
        places.enter(Some(100.0), trial(1));
        places.enter(Some(200.0), Place::Nowhere);
        places.enter(Some(300.0), trial(2));
        for (time, place) in [
            (Some(99.0), Place::Nowhere),
            (Some(100.0), trial(1)),
            (Some(250.0), Place::Nowhere),
            (Some(1e9), trial(2)),
            (None, trial(2)),
        ] {
            assert_eq!(places.at(time), &place, "{time:?}");
        }
        // A clock that was restarted.
        places.enter(Some(5.0), trial(3));
        assert_eq!(places.at(Some(250.0)), &trial(3));
        assert_eq!(places.at(Some(1.0)), &trial(3));
        for number in 4..1000 {
            places.enter(None, trial(number));
        }
        assert_eq!((places.kept.len(), places.at(None)), (KEPT, &trial(999)));
    }
}

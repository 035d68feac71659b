//! Counts where the points of each participant lie, to find participants whose coordinates have a different meaning.

use crate::EncodeNote;
use crate::observations::MIN_ROWS_FOR_NOTE;
use crate::summary::FileSummary;
use std::collections::HashMap;

/// Counts for one recording, which are summed for each participant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    outside: u64,
    used: u64,
    /// The cell of the first point, and how many points are in it.
    first: Option<u16>,
    in_first: u64,
}

impl Tally {
    /// Counts a point in a cell.
    pub(super) fn cell(&mut self, cell: u16) {
        self.used += 1;
        self.in_first += u64::from(*self.first.get_or_insert(cell) == cell);
    }

    /// Counts a point outside the screen.
    pub(super) fn outside(&mut self) {
        self.outside += 1;
    }

    fn add(&mut self, other: Tally) {
        self.outside += other.outside;
        self.used += other.used;
        let first = self.first.or(other.first);
        if other.first == first {
            self.in_first += other.in_first;
        }
        self.first = first;
    }

    fn has_enough_points(&self) -> bool {
        self.outside + self.used >= MIN_ROWS_FOR_NOTE
    }

    fn is_odd(&self) -> bool {
        self.outside > self.used || self.in_first * 20 >= self.used * 19
    }
}

/// The tallies of all participants.
#[derive(Default)]
pub(super) struct Tallies {
    by_participant: HashMap<String, Tally>,
    /// The file index and the participant of each recording.
    by_file: Vec<(usize, String)>,
}

impl Tallies {
    /// Adds a recording.
    pub(super) fn add(&mut self, participant: &str, file: usize, tally: Tally) {
        let all = self.by_participant.entry(participant.to_string());
        all.or_default().add(tally);
        self.by_file.push((file, participant.to_string()));
    }

    /// A note if the points of some participants, but at most half, are unusual. It names files, never participants.
    pub(super) fn note(&self, files: &[FileSummary]) -> Option<EncodeNote> {
        let enough = |tally: &&Tally| tally.has_enough_points();
        let of = self.by_participant.values().filter(enough).count();
        let is_odd = |tally: &Tally| tally.has_enough_points() && tally.is_odd();
        let participants = self.by_participant.values().filter(|it| is_odd(it)).count();
        if participants == 0 || participants * 2 > of {
            return None;
        }
        let is_odd_here = |(_, participant): &&(usize, String)| {
            self.by_participant.get(participant).is_some_and(is_odd)
        };
        let has = |file: usize, odd: bool| {
            let mut here = self.by_file.iter().filter(|(of, _)| *of == file);
            here.any(|recording| is_odd_here(&recording) == odd)
        };
        let only_odd = files
            .iter()
            .enumerate()
            .filter(|&(file, _)| has(file, true) && !has(file, false));
        Some(EncodeNote::OddParticipants {
            participants,
            of,
            files: only_odd.map(|(_, file)| file.file.clone()).collect(),
        })
    }
}

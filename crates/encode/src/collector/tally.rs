//! Counts where the points of each participant lie and how long the fixations last, to find participants whose
//! coordinates or times have a different meaning.

use crate::observations::{DurationCounts, MIN_ROWS_FOR_NOTE};
use crate::summary::FileSummary;
use crate::{EncodeNote, LikelyCause};
use std::collections::HashMap;

/// Counts for one recording, which are summed for each participant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    outside: u64,
    used: u64,
    /// The cell of the first point, and how many points are in it.
    first: Option<u16>,
    in_first: u64,
    durations: DurationCounts,
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

    /// Counts the duration of a fixation.
    pub(super) fn duration(&mut self, duration_ms: f64) {
        self.durations.count(duration_ms);
    }

    fn add(&mut self, other: Tally) {
        self.durations.add(other.durations);
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

    /// A note if the points of some participants, but at most half, are unusual. If many points of the others lie outside
    /// the screen as well, the note is about all points, with their likely cause. It names files, never participants.
    pub(super) fn odd_places(
        &self,
        files: &[FileSummary],
        cause: LikelyCause,
    ) -> Option<EncodeNote> {
        let (participants, of, files) = self.odd(files, Tally::has_enough_points, Tally::is_odd)?;
        let (mut all, mut others) = (Tally::default(), Tally::default());
        for &tally in self.by_participant.values() {
            all.add(tally);
            if !tally.is_odd() {
                others.add(tally);
            }
        }
        if others.outside * 4 > others.outside + others.used {
            return Some(EncodeNote::ManyOutside {
                outside: all.outside,
                used: all.used,
                cause,
            });
        }
        Some(EncodeNote::OddParticipants {
            participants,
            of,
            files,
        })
    }

    /// A note if most durations of some participants, but at most half, are unlikely.
    pub(super) fn odd_durations(&self, files: &[FileSummary]) -> Option<EncodeNote> {
        let (participants, of, files) = self.odd(
            files,
            |tally| tally.durations.are_enough(),
            |tally| tally.durations.are_odd(),
        )?;
        Some(EncodeNote::OddDurations {
            participants,
            of,
            files,
        })
    }

    /// How many participants are odd, among how many with enough data, and the files with only their recordings; `None`
    /// if nobody is odd or more than half of them are.
    fn odd(
        &self,
        files: &[FileSummary],
        has_enough: fn(&Tally) -> bool,
        is_odd: fn(&Tally) -> bool,
    ) -> Option<(usize, usize, Vec<String>)> {
        let of = self.by_participant.values().filter(|it| has_enough(it));
        let of = of.count();
        let is_odd = |tally: &Tally| has_enough(tally) && is_odd(tally);
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
        let only_odd = only_odd.map(|(_, file)| file.file.clone());
        Some((participants, of, only_odd.collect()))
    }
}

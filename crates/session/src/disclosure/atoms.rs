//! Finds the participants whom no combination of answers can tell apart.
//!
//! Units are divided answer by answer. A ledger may have many answers about many scanpaths, so the list of positions that
//! a unit had is interned: equal lists have the same number.

use super::file::{AnswerView, CountedScanpath, Member, Parts, Weights};
use super::tag::Tag;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

/// What atoms consist of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// All scanpaths of a participant and a stimulus.
    Stimulus,
    /// Equal scanpaths of a participant and a stimulus.
    Scanpath,
}

/// The participant, the stimulus and, for single scanpaths, the content.
type UnitKey = (Tag, Tag, Option<Tag>);

/// Units with equal coefficients in every combination of answers, up to a common factor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Atom {
    positions: Sequence,
    /// The weights of the units, if they differ between answers.
    weights: Option<Sequence>,
    /// The counts of the units, if they differ between answers.
    counts: Option<Sequence>,
}

/// A unit's position in one answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Position {
    /// The number of the answer.
    answer: usize,
    group: Option<Tag>,
    stimulus: Option<Tag>,
    /// Which of the unit's contents this is, in order of first appearance.
    version: usize,
    /// What the weight of the unit depends on, where the partner can vary it within the answer.
    varied_weight: Option<usize>,
}

/// What is known about a unit.
#[derive(Default)]
struct UnitState {
    positions: Sequence,
    /// What its weights depend on.
    weights: Factor<Option<usize>>,
    /// How often a single scanpath occurs.
    counts: Factor<u32>,
    /// Its contents.
    versions: Vec<usize>,
    /// Whether it was in a group answer.
    in_group: bool,
    last_answer: usize,
}

/// The number of a sequence; 0 for the empty one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Sequence(usize);

/// Interns sequences: each is identified by its prefix and its last item.
struct Sequences<T>(HashMap<(Sequence, T), Sequence>);

/// A factor of a unit's coefficients. It drops out if it is the same in all answers.
#[derive(Clone, Copy)]
struct Factor<T> {
    first: Option<T>,
    all: Sequence,
    varies: bool,
}

/// The fewest participants of any atom that the last answer is about or splits off, not counting those who have
/// withdrawn; `None` if there is no such atom. Atoms that it does not touch could be told apart before. Scores of
/// single pairs are allowed to be about one participant each, unless the participant was in a group answer: an answer
/// by another metric without this participant would then differ by one person.
pub(super) fn smallest(answers: &[AnswerView<'_>], withdrawn: &BTreeSet<Tag>) -> Option<u64> {
    let units = [Unit::Stimulus, Unit::Scanpath].into_iter();
    units
        .filter_map(|unit| smallest_of(unit, answers, withdrawn))
        .min()
}

fn smallest_of(unit: Unit, answers: &[AnswerView<'_>], withdrawn: &BTreeSet<Tag>) -> Option<u64> {
    let last = answers.len().checked_sub(1)?;
    if answers.iter().all(|it| it.parts == Parts::Pairs) {
        return None;
    }
    let mut units = Units::new(unit, withdrawn);
    let mut split: HashSet<Atom> = HashSet::new();
    for (number, answer) in answers.iter().enumerate() {
        units.add(number, answer, |atom| {
            if number == last {
                split.insert(atom);
            }
        });
    }
    let touched = units.states.iter().filter_map(|((participant, ..), unit)| {
        let atom = unit.atom();
        let is_touched = unit.last_answer == last || split.contains(&atom);
        (unit.in_group && is_touched).then_some((atom, *participant))
    });
    let mut touched: Vec<(Atom, Tag)> = touched.collect();
    touched.sort_unstable();
    touched.dedup();
    let atoms = touched.chunk_by(|(one, _), (other, _)| one == other);
    atoms.map(|participants| participants.len() as u64).min()
}

/// All units that were in an answer.
struct Units<'a> {
    unit: Unit,
    withdrawn: &'a BTreeSet<Tag>,
    states: HashMap<UnitKey, UnitState>,
    positions: Sequences<Position>,
    weight_sequences: Sequences<Option<usize>>,
    count_sequences: Sequences<u32>,
    /// Numbers for what weights depend on, and for the contents of units.
    weights: HashMap<&'a [(Tag, u32)], usize>,
    contents: HashMap<&'a [CountedScanpath], usize>,
}

impl<'a> Units<'a> {
    fn new(unit: Unit, withdrawn: &'a BTreeSet<Tag>) -> Self {
        Self {
            unit,
            withdrawn,
            states: HashMap::new(),
            positions: Sequences(HashMap::new()),
            weight_sequences: Sequences(HashMap::new()),
            count_sequences: Sequences(HashMap::new()),
            weights: HashMap::new(),
            contents: HashMap::new(),
        }
    }

    /// Adds an answer. `before` gets the atom that each unit in it belonged to so far.
    fn add(&mut self, number: usize, answer: &AnswerView<'a>, mut before: impl FnMut(Atom)) {
        let members = answer.cohort.iter();
        let members = members.filter(|it| !self.withdrawn.contains(&it.participant));
        for member in members.collect::<Vec<_>>() {
            let weight = match answer.weights {
                Weights::Scanpaths => None,
                Weights::Participants => {
                    Some(number_of(&mut self.weights, &member.scanpaths_per_stimulus))
                }
            };
            let by_stimulus = |a: &CountedScanpath, b: &CountedScanpath| a.stimulus == b.stimulus;
            for scanpaths in member.scanpaths.chunk_by(by_stimulus) {
                match self.unit {
                    Unit::Stimulus => {
                        let content = number_of(&mut self.contents, scanpaths);
                        let position = (number, answer, member, scanpaths[0].stimulus);
                        before(self.enter(position, None, content, 1, weight));
                    }
                    Unit::Scanpath => {
                        for scanpath in scanpaths {
                            let position = (number, answer, member, scanpath.stimulus);
                            let content = Some(scanpath.content);
                            before(self.enter(position, content, 0, scanpath.count, weight));
                        }
                    }
                }
            }
        }
    }

    /// Enters a unit's position in an answer. Returns the atom that it belonged to before.
    fn enter(
        &mut self,
        (number, answer, member, stimulus): (usize, &AnswerView<'a>, &Member, Tag),
        scanpath: Option<Tag>,
        content: usize,
        count: u32,
        weight: Option<usize>,
    ) -> Atom {
        let state = self.states.entry((member.participant, stimulus, scanpath));
        let state = state.or_default();
        let before = state.atom();
        let version = state.versions.iter().position(|it| *it == content);
        let version = version.unwrap_or(state.versions.len());
        if version == state.versions.len() {
            state.versions.push(content);
        }
        let has_stimulus_parts = answer.by_stimulus || answer.parts == Parts::Stimuli;
        let position = Position {
            answer: number,
            group: member.group.filter(|_| answer.parts == Parts::Groups),
            stimulus: has_stimulus_parts.then_some(stimulus),
            version,
            varied_weight: weight.filter(|_| answer.by_stimulus),
        };
        state.positions = self.positions.extend(state.positions, position);
        state.weights.add(weight, &mut self.weight_sequences);
        state.counts.add(count, &mut self.count_sequences);
        state.in_group |= answer.parts != Parts::Pairs;
        state.last_answer = number;
        before
    }
}

impl UnitState {
    fn atom(&self) -> Atom {
        Atom {
            positions: self.positions,
            weights: self.weights.varies.then_some(self.weights.all),
            counts: self.counts.varies.then_some(self.counts.all),
        }
    }
}

impl<T: Eq + Hash> Sequences<T> {
    fn extend(&mut self, sequence: Sequence, item: T) -> Sequence {
        let next = Sequence(self.0.len() + 1);
        *self.0.entry((sequence, item)).or_insert(next)
    }
}

impl<T> Default for Factor<T> {
    fn default() -> Self {
        Self {
            first: None,
            all: Sequence::default(),
            varies: false,
        }
    }
}

impl<T: Copy + Eq + Hash> Factor<T> {
    fn add(&mut self, item: T, sequences: &mut Sequences<T>) {
        self.varies |= *self.first.get_or_insert(item) != item;
        self.all = sequences.extend(self.all, item);
    }
}

/// The number of a value, which is the same for equal values.
fn number_of<'a, T: Eq + Hash + ?Sized>(
    numbers: &mut HashMap<&'a T, usize>,
    value: &'a T,
) -> usize {
    let next = numbers.len();
    *numbers.entry(value).or_insert(next)
}

#!/usr/bin/env python3
"""Statistics of the result files in testdata/statistics, by NumPy, SciPy and scikit-learn.

This is independent of the Rust code and follows only its documentation. Permutations and draws come from ChaCha20 in the package
`cryptography`, so that p values and intervals can be compared exactly.
"""

import csv
import json
import struct
import sys
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.neighbors import KNeighborsClassifier

FOLDER = Path(__file__).resolve().parents[2] / "testdata" / "statistics"
SEED, PERMUTATIONS, RESAMPLES, LEVEL, K = 5, 499, 200, 0.95, 3
TEST, BOOTSTRAP, NEAREST = 0, 1, 2
TOLERANCE = Fraction(1, 10**9)


class Stream:
    """Integers from one stream of ChaCha20."""

    def __init__(self, purpose, index):
        key = struct.pack("<QQQQ", SEED, purpose, 0, 0)
        nonce = struct.pack("<QQ", 0, index)
        self.keystream = Cipher(ChaCha20(key, nonce), None).encryptor()

    def below(self, bound):
        while True:
            (word,) = struct.unpack("<I", self.keystream.update(bytes(4)))
            if word < 2**32 - 2**32 % bound:
                return word % bound

    def permutation(self, size):
        places = list(range(size))
        for last in range(size - 1, 0, -1):
            other = self.below(last + 1)
            places[last], places[other] = places[other], places[last]
        return places

    def draws(self, lists):
        return [one[self.below(len(one))] for one in lists for _ in one]


class Sample:
    """The pairs of a result: participants, scores of pairs of participants, groups."""

    def __init__(self, name, groups):
        result = json.loads((FOLDER / name).read_text())
        self.pool = result["one_cohort"]
        labels = [cohort["scanpaths"] for cohort in result["cohorts"]]
        self.ids = [list(dict.fromkeys(one["participant"] for one in side)) for side in labels]
        self.groups = [[groups[one] for one in side] for side in self.ids]
        self.names = sorted(set(groups.values()))
        self.rows = [row for row in result["results"] if not self.pool or row["a"] != row["b"]]
        found = defaultdict(list)
        for row in self.rows:
            a, b = self.ids[0].index(row["a"]), self.ids[1].index(row["b"])
            found[tuple(sorted((a, b))) if self.pool else (a, b)].append(row["similarity"])
        # Exact fractions, so that equal sums compare as equal.
        self.scores = {pair: sum(map(Fraction, one)) / len(one) for pair, one in found.items()}

    def same(self, pair, groups=None):
        first, second = groups or self.groups
        return first[pair[0]] == second[pair[1]]

    def strata(self, by_group):
        """Participants of the second side are numbered after those of the first."""
        lists, sides = [], [0] if self.pool else [0, 1]
        for side in sides:
            numbers = range(len(self.ids[side]))
            offset = side * len(self.ids[0])
            for group in self.names if by_group else [None]:
                chosen = [n for n in numbers if group is None or self.groups[side][n] == group]
                lists.append([offset + n for n in chosen])
        return [one for one in lists if one]

    def times(self, index, by_group):
        """How often each participant of each side is drawn."""
        draws = Stream(BOOTSTRAP, index).draws(self.strata(by_group))
        count = np.bincount(draws, minlength=len(self.ids[0]) + len(self.ids[1]))
        first = count[: len(self.ids[0])]
        return (first, first) if self.pool else (first, count[len(self.ids[0]) :])


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers)


def difference(scores, same):
    within = mean(score for pair, score in scores.items() if same(pair))
    between = mean(score for pair, score in scores.items() if not same(pair))
    return within - between


def p_value(observed, permuted):
    """Ties count, even between numbers that differ only by rounding."""
    least = observed - TOLERANCE
    return float(Fraction(sum(one >= least for one in permuted) + 1, len(permuted) + 1))


def interval(numbers):
    tail = (1 - LEVEL) / 2 * 100
    return list(np.percentile(numbers, [tail, 100 - tail]))


def drawn_difference(scores, same, times):
    weights = {pair: int(times[0][pair[0]]) * int(times[1][pair[1]]) for pair in scores}

    def side(wanted):
        chosen = [pair for pair in scores if same(pair) == wanted]
        values = [float(scores[pair]) for pair in chosen]
        return np.average(values, weights=[weights[pair] for pair in chosen])

    return side(True) - side(False)


def test_of_groups(sample):
    sizes = [len(side) for side in sample.ids]

    def permuted(index):
        stream = Stream(TEST, index)
        order = stream.permutation(sizes[0])
        first = [sample.groups[0][n] for n in order]
        if sample.pool:
            return first, first
        return first, [sample.groups[1][n] for n in stream.permutation(sizes[1])]

    observed = difference(sample.scores, sample.same)
    null = [
        difference(sample.scores, lambda pair: sample.same(pair, labels))
        for labels in map(permuted, range(PERMUTATIONS))
    ]
    drawn = [
        drawn_difference(sample.scores, sample.same, sample.times(index, True))
        for index in range(RESAMPLES)
    ]
    answer = {"value": float(observed), "p": p_value(observed, null), "interval": interval(drawn)}
    if sample.pool:
        answer["scipy_p"] = scipy_p(sample)
    return answer


def scipy_p(sample):
    """The same test with SciPy's own permutations of labels."""
    values = {pair: float(score) for pair, score in sample.scores.items()}

    def statistic(labels):
        return difference(values, lambda pair: labels[pair[0]] == labels[pair[1]])

    labels = np.array([sample.names.index(one) for one in sample.groups[0]])
    result = stats.permutation_test(
        (labels,),
        statistic,
        permutation_type="pairings",
        vectorized=False,
        n_resamples=9999,
        alternative="greater",
        rng=np.random.default_rng(1),
    )
    return float(result.pvalue)


def test_of_sites(between, within):
    """All participants as one set, the first site's first."""
    first = len(between.ids[0])
    scores = dict(within[0].scores)
    scores |= {(a + first, b + first): score for (a, b), score in within[1].scores.items()}
    scores |= {(a, b + first): score for (a, b), score in between.scores.items()}
    sites = [0] * first + [1] * len(between.ids[1])

    def same(labels):
        return lambda pair: labels[pair[0]] == labels[pair[1]]

    observed = difference(scores, same(sites))
    null = []
    for index in range(PERMUTATIONS):
        order = Stream(TEST, index).permutation(len(sites))
        null.append(difference(scores, same([sites[n] for n in order])))
    drawn = []
    for index in range(RESAMPLES):
        draws = Stream(BOOTSTRAP, index).draws([range(first), range(first, len(sites))])
        times = np.bincount(draws, minlength=len(sites))
        drawn.append(drawn_difference(scores, same(sites), (times, times)))
    return {
        "value": float(observed),
        "p": p_value(observed, null),
        "interval": interval(drawn),
    }


def classification(sample):
    """Leaves one participant out: neighbours are scanpaths of others with the same stimulus."""
    similarity = {}
    for row in sample.rows:
        similarity[row["a_index"], row["b_index"]] = row["similarity"]
    queries, references = (
        {row[f"{side}_index"]: (row[side], row["stimulus"]) for row in sample.rows} for side in "ab"
    )
    groups = [dict(zip(ids, of)) for ids, of in zip(sample.ids, sample.groups)]
    own, given, neighbours = [], [], []
    for query, (participant, stimulus) in sorted(queries.items()):
        others = [
            index
            for index, (other, seen) in sorted(references.items())
            if seen == stimulus and not (sample.pool and other == participant)
        ]
        distances = np.array([[1 - similarity[query, other] for other in others]])
        classifier = KNeighborsClassifier(n_neighbors=K, metric="precomputed")
        # Distances among the references are not used for prediction.
        zeros = np.zeros((len(others), len(others)))
        classifier.fit(zeros, [groups[1][references[other][0]] for other in others])
        own.append(groups[0][participant])
        given.append(classifier.predict(distances)[0])
        nearest = classifier.kneighbors(distances, return_distance=False)[0]
        votes = [sample.ids[1].index(references[others[n]][0]) for n in nearest]
        neighbours.append((sample.ids[0].index(participant), votes))
    chance = DummyClassifier(strategy="most_frequent").fit(own, own).score(own, own)

    numbers = [[sample.names.index(one) for one in side] for side in sample.groups]

    def right(first, second):
        # If several are most frequent, `mode` returns the smallest.
        modes = [stats.mode([second[n] for n in votes]).mode for _, votes in neighbours]
        return sum(first[one] == mode for (one, _), mode in zip(neighbours, modes))

    null = []
    for index in range(PERMUTATIONS):
        stream = Stream(NEAREST, index)
        first = [numbers[0][n] for n in stream.permutation(len(numbers[0]))]
        second = first
        if not sample.pool:
            second = [numbers[1][n] for n in stream.permutation(len(numbers[1]))]
        null.append(right(first, second))
    drawn = []
    for index in range(RESAMPLES):
        times = sample.times(index, True)[0]
        weights = [times[one] for one, _ in neighbours]
        drawn.append(accuracy_score(own, given, sample_weight=weights))
    return {
        "interval": interval(drawn),
        "given": given,
        "rate": accuracy_score(own, given),
        "p": p_value(right(*numbers), null),
        "confusion": confusion_matrix(own, given, labels=sample.names).tolist(),
        "chance": chance,
    }


def means(sample):
    """Over pairs of scanpaths; in one cohort both directions of a pair count as one."""
    by_stimulus = defaultdict(list)
    for row in sample.rows:
        by_stimulus[row["stimulus"]].append(row["similarity"])
    share = 2 if sample.pool else 1
    everything = [one for numbers in by_stimulus.values() for one in numbers]
    times = [sample.times(index, False) for index in range(RESAMPLES)]

    def drawn_means(rows):
        means = []
        for first, second in times:
            weights = [
                int(first[sample.ids[0].index(row["a"])])
                * int(second[sample.ids[1].index(row["b"])])
                for row in rows
            ]
            means.append(np.average([row["similarity"] for row in rows], weights=weights))
        return interval(means)

    rows = {name: [row for row in sample.rows if row["stimulus"] == name] for name in by_stimulus}
    return {
        "all": np.mean(everything),
        "pairs": len(everything) // share,
        "interval": drawn_means(sample.rows),
        "stimuli": {name: np.mean(numbers) for name, numbers in by_stimulus.items()},
        "intervals": {name: drawn_means(rows[name]) for name in by_stimulus},
    }


def group_means(sample):
    cells = {}
    times = [sample.times(index, True) for index in range(RESAMPLES)]
    for row in sample.names:
        for column in sample.names:
            chosen = []
            for a, b in sample.scores:
                found = (sample.groups[0][a], sample.groups[1][b])
                if found == (row, column) or sample.pool and found == (column, row):
                    chosen.append((a, b))
            values = [float(sample.scores[pair]) for pair in chosen]
            drawn = [
                np.average(values, weights=[int(first[a]) * int(second[b]) for a, b in chosen])
                for first, second in times
            ]
            cells[f"{row},{column}"] = {
                "mean": float(mean(sample.scores[pair] for pair in chosen)),
                "count": len(chosen),
                "interval": interval(drawn),
            }
    return cells


def histogram(sample):
    rows = [row for row in sample.rows if not sample.pool or row["a_index"] < row["b_index"]]
    counts, _ = np.histogram([row["similarity"] for row in rows], bins=20, range=(0, 1))
    return counts.tolist()


def answers(sample):
    return {
        "mean": means(sample),
        "groups": group_means(sample),
        "test:groups": test_of_groups(sample),
        "nearest": classification(sample),
        "histogram": histogram(sample),
    }


def main():
    with open(FOLDER / "cohort.csv") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        groups = {row["participant"]: row["group"] for row in rows}
    names = ["within.json", "between.json", "within-a.json", "within-b.json"]
    within, between, first, second = (Sample(name, groups) for name in names)
    expected = {
        "seed": SEED,
        "permutations": PERMUTATIONS,
        "resamples": RESAMPLES,
        "level": LEVEL,
        "k": K,
        "permutation_of_7": Stream(TEST, 3).permutation(7),
        "within": answers(within),
        "between": answers(between),
        "test:sites": test_of_sites(between, [first, second]),
    }
    json.dump(expected, sys.stdout, indent=1, default=float)
    print()


main()

#!/usr/bin/env python3
"""Compares the numbers of `veilpath compare` with those of other programs on fresh pairs of scanpaths.

Needs a release build of veilpath, the packages of compare.py, and an OpenCL driver for PyRQA (see vectors.py):

    venv/bin/python assurance/metrics/held_out.py target/release/veilpath [SEED]

Without a seed, the pairs are new in every run; the seed is printed. Some pairs are made as in vectors.py; others lie on a coarse
lattice, where many distances are equal. MultiMatch is left out there, because its path is not unique. Numbers that no package
computes are computed here by loops that follow their definition. Each row prints how many numbers there are, how many of them are
undefined, and the largest relative difference. The exit status is 1 if a difference is above 1e-9, or if only one of the two programs
gives a number.
"""

import csv
import math
import random
import string
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import multimatch_gaze
import numpy as np
from dtaidistance import dtw_ndim
from fastdtw import fastdtw
from rapidfuzz.distance import LCSseq
from scipy.spatial.distance import euclidean
from vectors import GRID, HEIGHT, WIDTH, distances, pairs, rqa, scasim, view_of

TOLERANCE = 1e-9
SIZE_CM, DISTANCE_CM = (52, 29), 60
RADIUS = 100
# In PyRQA, only points closer than the radius recur. No points in tenths of a pixel are exactly this far apart.
PYRQA_RADIUS = 100.05
LETTERS = string.ascii_uppercase + string.ascii_lowercase
LINE_NUMBERS = ["lines", "longest", "mean-line", "entropy"]
ROW_NUMBERS = ["trapping-rows", "longest-row", "trapping-columns", "longest-column"]
POINT_NUMBERS = ["rec", "det", "lam", "lam-rows", "lam-columns", "corm"]


def on_lattice(chance):
    """Few places, many of which both visit; some are exactly 100 pixels apart."""
    place = lambda: (60 * chance.randint(0, 4), 80 * chance.randint(0, 4), chance.randint(60, 700))
    return [place() for _ in range(chance.randint(1, 24))]


def cells(path):
    cell = lambda at, size: min(max(int(at * GRID / size), 0), GRID - 1)
    return [(cell(x, WIDTH), cell(y, HEIGHT)) for x, y, _ in path]


def letters(path):
    return "".join(LETTERS[row * GRID + column] for column, row in cells(path))


def points(path):
    return np.array(path, dtype=float)[:, :2]


def runs(bits):
    """The lengths of the runs of at least two."""
    text = "".join("1" if bit else " " for bit in bits)
    return [len(run) for run in text.split() if len(run) > 1]


def cross_recurrence(recurs):
    """All numbers of crqa by name, from a matrix of bits with a row for each fixation of A."""
    m, n = recurs.shape
    count = int(recurs.sum())
    diagonal = [run for k in range(1 - m, n) for run in runs(np.diagonal(recurs, k))]
    along_b = [run for row in recurs for run in runs(row)]
    along_a = [run for column in recurs.T for run in runs(column)]
    share = lambda part, whole: part / whole if whole else None
    percent = lambda part, whole: share(100 * part, whole)
    shift = sum(int(j) - int(i) for i, j in zip(*np.nonzero(recurs)))
    frequencies = [times / len(diagonal) for times in Counter(diagonal).values()]
    values = [
        percent(count, m * n),
        percent(sum(diagonal), count),
        percent(sum(along_a) + sum(along_b), 2 * count),
        percent(sum(along_b), count),
        percent(sum(along_a), count),
        percent(shift, (max(m, n) - 1) * count),
        len(diagonal),
        max(diagonal, default=0),
        share(sum(diagonal), len(diagonal)),
        -sum(p * math.log(p) for p in frequencies) if diagonal else None,
        share(sum(along_b), len(along_b)),
        max(along_b, default=0),
        share(sum(along_a), len(along_a)),
        max(along_a, default=0),
    ]
    return dict(zip(POINT_NUMBERS + LINE_NUMBERS + ROW_NUMBERS, values))


def pyrqa(a, b):
    """Percentages of points, from PyRQA's counts."""
    on_lines = lambda counts: sum(length * count for length, count in enumerate(counts, 1) if length > 1)
    one, other = rqa(points(a), points(b), PYRQA_RADIUS), rqa(points(b), points(a), PYRQA_RADIUS)
    count = sum(one.recurrence_points)
    lines = [one.diagonal_frequency_distribution, one.vertical_frequency_distribution, other.vertical_frequency_distribution]
    return [100 * count / (len(a) * len(b)), *(100 * on_lines(line) / count if count else None for line in lines)]


def subsmatch(a, b, window=3):
    if min(len(a), len(b)) < window:
        return [None]
    grams = [Counter(text[i : i + window] for i in range(len(text) - window + 1)) for text in (a, b)]
    first, second = ({gram: count / sum(of.values()) for gram, count in of.items()} for of in grams)
    return [1 - sum(abs(first.get(gram, 0) - second.get(gram, 0)) for gram in first | second) / 2]


def multimatch(a, b):
    kind = [("start_x", float), ("start_y", float), ("duration", float)]
    tables = [np.array([(x, y, duration / 1000) for x, y, duration in path], dtype=kind) for path in (a, b)]
    values = multimatch_gaze.docomparison(*tables, screensize=[WIDTH, HEIGHT])
    return [None if math.isnan(value) else value for value in values]


def programs():
    """Flags, program, and a function of two scanpaths that gives the same numbers."""
    fixations = ["--positions", "fixations"]
    within = lambda radius: ["crqa", *fixations, "--radius", str(radius), "--measures"]
    places = lambda path: np.array(cells(path), dtype=float)
    for number, name in enumerate(["dtw", "frechet", "hausdorff"]):
        program = "scipy" if name == "hausdorff" else "similaritymeasures"
        of_points = lambda a, b, number=number: [distances(points(a), points(b))[number]]
        of_cells = lambda a, b, number=number: [distances(places(a), places(b))[number]]
        yield [name, *fixations], program, of_points
        yield [name], program, of_cells
    exact = lambda a, b: [fastdtw(points(a), points(b), radius=len(a) + len(b), dist=euclidean)[0]]
    yield ["dtw", *fixations], "fastdtw", exact
    fast = lambda a, b: [dtw_ndim.distance_fast(points(a), points(b), inner_dist="euclidean")]
    yield ["dtw", *fixations], "dtaidistance", fast
    yield ["multimatch"], "multimatch-gaze", multimatch
    eye = view_of(WIDTH, HEIGHT, SIZE_CM, DISTANCE_CM)
    yield ["scasim"], "loops", lambda a, b: [scasim(a, b, eye)]
    yield [*within(PYRQA_RADIUS), "rec,det,lam-rows,lam-columns"], "PyRQA", pyrqa
    near = lambda a, b: np.linalg.norm(points(a)[:, None] - points(b)[None], axis=2) <= RADIUS
    same = lambda a, b: np.array([[x == y for y in letters(b)] for x in letters(a)])
    for names in POINT_NUMBERS, LINE_NUMBERS, ROW_NUMBERS:
        for flags, recurs in (within(RADIUS), near), (["crqa", "--measures"], same):
            chosen = lambda a, b, names=names, recurs=recurs: [cross_recurrence(recurs(a, b))[name] for name in names]
            yield [*flags, ",".join(names)], "loops", chosen
    common = lambda a, b: [LCSseq.normalized_similarity(letters(a), letters(b))]
    yield ["sequence-score"], "rapidfuzz", common
    yield ["subsmatch"], "loops", lambda a, b: subsmatch(letters(a), letters(b))


def write_cohort(path, paths):
    with path.open("w", newline="") as file:
        file.write(f"# veilpath cohort 1\n# alphabet: letters {GRID * GRID}\n# data: fixations\n# grid: {GRID}x{GRID}\n")
        file.write(f"# screen: {WIDTH} x {HEIGHT} pixels\n")
        file.write(f"# viewing: {SIZE_CM[0]} x {SIZE_CM[1]} cm from {DISTANCE_CM} cm\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["participant", "stimulus", "scanpath", "fixations"])
        for number, fixations in enumerate(paths):
            text = ";".join(f"{x} {y} {duration} {1000 * i}" for i, (x, y, duration) in enumerate(fixations))
            rows.writerow([path.stem, f"s{number:03}", letters(fixations), text])


def ours(veilpath, files, flags):
    command = [veilpath, "compare", *files, "--engine", "plain", "--format", "csv", "--quiet", "--metric", *flags]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    rows = list(csv.reader(done.stdout.splitlines()))[1:]
    return {int(row[2][1:]): [float(cell) if cell else None for cell in row[3:]] for row in rows}


def difference(one, other):
    if one is None or other is None:
        return 0.0 if one is other else math.inf
    return abs(one - other) / max(1.0, abs(other))


def main():
    veilpath = sys.argv[1] if len(sys.argv) > 1 else "target/release/veilpath"
    seed = sys.argv[2] if len(sys.argv) > 2 else str(random.SystemRandom().randrange(10**9))
    chance = random.Random("lattice " + seed)
    made = list(pairs(seed)) + [("lattice", on_lattice(chance), on_lattice(chance)) for _ in range(20)]
    print(f"seed {seed}: {len(made)} pairs\n\n| metric | program | numbers | undefined | largest difference |\n|---|---|---|---|---|")
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{side}.csv" for side in "ab"]
        for side, path in enumerate(files):
            write_cohort(path, [pair[1 + side] for pair in made])
        for flags, program, function in programs():
            numbers = ours(veilpath, files, flags)
            chosen = [pair for pair in made if flags != ["multimatch"] or pair[0] != "lattice"]
            theirs = [function(a, b) for _, a, b in chosen]
            found = [
                (difference(mine, value), kind, pair, mine, value)
                for pair, ((kind, _, _), values) in enumerate(zip(chosen, theirs))
                for mine, value in zip(numbers[pair], values, strict=True)
            ]
            undefined = sum(value is None for *_, value in found)
            largest = max(found, key=lambda it: it[0])
            row = [" ".join(flags), program, str(len(found) - undefined), str(undefined), f"{largest[0]:.1e}"]
            print("| " + " | ".join(row) + " |", flush=True)
            for far, kind, pair, mine, value in found:
                if far > TOLERANCE:
                    failed = True
                    print(f"  pair {pair} ({kind}): {mine}, {program} has {value}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

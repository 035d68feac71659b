#!/usr/bin/env python3
"""Times `veilpath compare` and Python packages on the same made-up scanpaths, in one run, and compares their numbers.

Needs a release build of veilpath and, for each measure, the package that it is compared with:
pip install "numpy<2" scipy similaritymeasures multimatch-gaze. A package that is missing is skipped with a message.

    assurance/measures/compare.py target/release/veilpath
"""

import csv
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PARTICIPANTS = 20
FIXATIONS = 60
WIDTH, HEIGHT = 1280, 720


def made_up(seed):
    """One scanpath: x, y in pixels and duration in milliseconds."""
    chance = random.Random(seed)
    return [
        (round(chance.uniform(0, WIDTH), 1), round(chance.uniform(0, HEIGHT), 1), chance.randint(80, 600))
        for _ in range(FIXATIONS)
    ]


def write_cohort(path, cohort, veilpath):
    """A cohort with fixations, encoded by the command from a fixation table."""
    table = path.with_suffix(".fixations.csv")
    with table.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["participant", "stimulus", "x", "y", "start", "duration"])
        for participant, fixations in cohort.items():
            start = 0
            for x, y, duration in fixations:
                rows.writerow([participant, "s", x, y, start, duration])
                start += duration + 30
    command = [veilpath, "encode", table, "--grid", "7x7", "--screen", f"{WIDTH}x{HEIGHT}", "--keep-fixations", "-o", path]
    subprocess.run(command, check=True, capture_output=True)


def ours(veilpath, files, metric):
    """Seconds, and the numbers by pair of participants."""
    start = time.perf_counter()
    command = [veilpath, "compare", *files, "--format", "csv", "--metric", *metric]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    rows = list(csv.reader(done.stdout.splitlines()))
    numbers = {(row[0], row[1]): [float(cell) for cell in row[3:]] for row in rows[1:]}
    return seconds, numbers


def packages():
    """For each measure: its flags, and a function of two scanpaths."""
    try:
        import numpy
        import similaritymeasures

        points = lambda path: numpy.array([[x, y] for x, y, _ in path])
        yield "dtw", ["dtw", "--points", "fixations"], lambda a, b: [similaritymeasures.dtw(points(a), points(b))[0]]
        yield "frechet", ["frechet", "--points", "fixations"], lambda a, b: [
            similaritymeasures.frechet_dist(points(a), points(b))
        ]
    except ImportError as error:
        print(f"skipped: {error}")
    try:
        import numpy
        import multimatch_gaze

        kind = [("start_x", float), ("start_y", float), ("duration", float)]
        table = lambda path: numpy.array([(x, y, duration / 1000) for x, y, duration in path], dtype=kind)
        yield "multimatch", ["multimatch"], lambda a, b: multimatch_gaze.docomparison(
            table(a), table(b), screensize=[WIDTH, HEIGHT]
        )
    except ImportError as error:
        print(f"skipped: {error}")


def main():
    veilpath = sys.argv[1] if len(sys.argv) > 1 else "target/release/veilpath"
    cohorts = [{f"{side}{i:02}": made_up(f"{side}{i}") for i in range(PARTICIPANTS)} for side in "ab"]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{side}.csv" for side in "ab"]
        for path, cohort in zip(files, cohorts):
            write_cohort(path, cohort, veilpath)
        print(f"{PARTICIPANTS**2} pairs of {FIXATIONS} fixations\n")
        print("| measure | veilpath, with start and files | Python | ratio | largest difference |")
        print("|---|---|---|---|---|")
        for name, flags, function in packages():
            seconds, numbers = ours(veilpath, files, flags)
            start = time.perf_counter()
            theirs = {(a, b): function(x, y) for a, x in cohorts[0].items() for b, y in cohorts[1].items()}
            python = time.perf_counter() - start
            largest = max(abs(p - q) for pair in theirs for p, q in zip(numbers[pair], theirs[pair]))
            print(f"| {name} | {seconds:.3f} s | {python:.2f} s | {python / seconds:.0f} | {largest:.1e} |")


if __name__ == "__main__":
    main()

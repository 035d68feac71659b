#!/usr/bin/env python3
"""Times `veilpath compare` and other programs on the same made-up scanpaths, in one run, and compares their numbers.

Needs a release build of veilpath and, for each metric, the package that it is compared with:

    python3 -m venv venv
    venv/bin/pip install "numpy<2" scipy similaritymeasures multimatch-gaze frechetdist fastdtw dtaidistance rapidfuzz PyRQA
    venv/bin/python assurance/metrics/compare.py target/release/veilpath [PAIRS [FIXATIONS]]

A package that is missing is skipped with a message. Each program gets the same pairs, in memory; Veilpath's time includes
the start of the process, reading two files, and writing the numbers, and it runs on one core. All times are CPU times, so that
other work on the machine matters little. `py` programs are Python loops or NumPy, `c` are compiled extensions: only against the
former do we expect to be a hundred times faster. ScaSim has no package on PyPI; vectors.py has loops that follow its definition.
"""

import csv
import os
import random
import resource
import string
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTH, HEIGHT = 1280, 720
COLUMNS = ROWS = 7
SIZE_CM, DISTANCE_CM = (52, 29), 60


def made_up(seed, count):
    """One scanpath: x, y in pixels and duration in milliseconds."""
    chance = random.Random(seed)
    return [
        (round(chance.uniform(0, WIDTH), 1), round(chance.uniform(0, HEIGHT), 1), chance.randint(80, 600))
        for _ in range(count)
    ]


def write_cohort(path, cohort, veilpath):
    """Writes a cohort with letters and fixations, encoded by the command from a fixation table. Returns the letters as numbers."""
    table = path.with_suffix(".fixations.csv")
    with table.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["participant", "stimulus", "x_px", "y_px", "start_ms", "duration_ms"])
        for participant, fixations in cohort.items():
            start = 0
            for x, y, duration in fixations:
                rows.writerow([participant, "s", x, y, start, duration])
                start += duration + 30
    size = f"{SIZE_CM[0]}x{SIZE_CM[1]}"
    command = [veilpath, "encode", table, "--grid", f"{COLUMNS}x{ROWS}", "--screen", f"{WIDTH}x{HEIGHT}"]
    command += ["--screen-cm", size, "--distance", str(DISTANCE_CM), "--keep-fixations", "-o", path]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    with path.open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    letters = string.ascii_uppercase + string.ascii_lowercase
    return {tuple(cohort[row["participant"]]): [letters.index(letter) for letter in row["scanpath"]] for row in rows}


def cpu_seconds(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def ours(veilpath, files, metric):
    """The best of three times in seconds, and the numbers by pair of participants."""
    command = [veilpath, "compare", *files, "--format", "csv", "--quiet", "--metric", *metric]
    seconds = []
    for _ in range(3):
        start = cpu_seconds(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "RAYON_NUM_THREADS": "1"})
        seconds.append(cpu_seconds(resource.RUSAGE_CHILDREN) - start)
        if done.returncode:
            sys.exit(done.stderr)
    rows = list(csv.reader(done.stdout.splitlines()))
    numbers = {(row[0], row[1]): [float(cell) for cell in row[3:]] for row in rows[1:]}
    return min(seconds), numbers


def lcs_table(a, b):
    """Textbook loops, as in published code for the Sequence Score."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = max(table[i][j] + (x == y), table[i][j + 1], table[i + 1][j])
    return [table[-1][-1] / max(len(a), len(b))]


def programs(letters_of):
    """Metric, flags, program, kind, how to convert a scanpath for it, and a function of two converted scanpaths."""
    letters = lambda path: letters_of[tuple(path)]
    yield "sequence-score", ["sequence-score"], "textbook loops", "py", letters, lcs_table

    def points(path):
        return numpy.array([[x, y] for x, y, _ in path])

    def cells(path):
        return numpy.array([[n % COLUMNS, n // COLUMNS] for n in letters(path)], dtype=float)

    fixations = ["--positions", "fixations"]
    try:
        import numpy
        import similaritymeasures as sm

        yield "dtw", ["dtw", *fixations], "similaritymeasures", "py", points, lambda a, b: [sm.dtw(a, b)[0]]
        yield "dtw, grid", ["dtw"], "similaritymeasures", "py", cells, lambda a, b: [sm.dtw(a, b)[0]]
        yield "frechet", ["frechet", *fixations], "similaritymeasures", "py", points, lambda a, b: [sm.frechet_dist(a, b)]
        yield "frechet, grid", ["frechet"], "similaritymeasures", "py", cells, lambda a, b: [sm.frechet_dist(a, b)]
    except ImportError as error:
        print(f"skipped: {error}")
    try:
        from fastdtw import fastdtw
        from scipy.spatial.distance import euclidean

        # Exact if the radius is at least the length.
        whole = lambda a, b: [fastdtw(a, b, radius=max(len(a), len(b)), dist=euclidean)[0]]
        yield "dtw", ["dtw", *fixations], "fastdtw, exact", "py", points, whole
    except ImportError as error:
        print(f"skipped: {error}")
    try:
        import frechetdist

        sys.setrecursionlimit(100_000)
        yield "frechet", ["frechet", *fixations], "frechetdist", "py", points, lambda a, b: [frechetdist.frdist(a, b)]
    except ImportError as error:
        print(f"skipped: {error}")
    try:
        import multimatch_gaze

        kind = [("start_x", float), ("start_y", float), ("duration", float)]
        table = lambda path: numpy.array([(x, y, duration / 1000) for x, y, duration in path], dtype=kind)
        screen = [WIDTH, HEIGHT]
        compare = lambda a, b: multimatch_gaze.docomparison(a, b, screensize=screen)
        yield "multimatch", ["multimatch"], "multimatch-gaze", "py", table, compare
    except ImportError as error:
        print(f"skipped: {error}")
    try:
        from vectors import view_of, scasim

        eye = view_of(WIDTH, HEIGHT, SIZE_CM, DISTANCE_CM)
        yield "scasim", ["scasim"], "loops of the definition", "py", list, lambda a, b: [scasim(a, b, eye)]
    except ImportError as error:
        print(f"skipped: {error}")
    try:
        from scipy.spatial.distance import directed_hausdorff

        both = lambda a, b: [max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0])]
        yield "hausdorff", ["hausdorff", *fixations], "scipy", "c", points, both
    except ImportError as error:
        print(f"skipped: {error}")
    try:
        from dtaidistance import dtw_ndim

        # By default, its steps cost the square of the distance, and its result is a root.
        yield "dtw", ["dtw", *fixations], "dtaidistance", "c", points, lambda a, b: [
            dtw_ndim.distance_fast(a, b, inner_dist="euclidean")
        ]
    except ImportError as error:
        print(f"skipped: {error}")
    try:
        from rapidfuzz.distance import LCSseq

        yield "sequence-score", ["sequence-score"], "rapidfuzz", "c", letters, lambda a, b: [
            LCSseq.normalized_similarity(a, b)
        ]
    except ImportError as error:
        print(f"skipped: {error}")
    try:
        from pyrqa.analysis_type import Cross
        from pyrqa.computation import RQAComputation
        from pyrqa.metric import EuclideanMetric
        from pyrqa.neighbourhood import FixedRadius
        from pyrqa.settings import Settings
        from pyrqa.time_series import EmbeddedSeries

        # In PyRQA, points recur if they are closer than the radius; in Veilpath, also if they are exactly that far apart. No points
        # in tenths of a pixel are 100.05 apart. By default, PyRQA leaves out the main diagonal.
        radius = 100.05
        series = lambda path: EmbeddedSeries(points(path).tolist(), dtype=numpy.float64)

        def rqa(a, b):
            settings = Settings(
                (a, b),
                analysis_type=Cross,
                neighbourhood=FixedRadius(radius),
                similarity_measure=EuclideanMetric,
                theiler_corrector=0,
            )
            result = RQAComputation.create(settings).run()
            return [100 * result.recurrence_rate, 100 * result.determinism]

        flags = ["crqa", *fixations, "--radius", str(radius), "--measures", "rec,det"]
        yield "crqa", flags, "PyRQA", "c", series, rqa
    except ImportError as error:
        print(f"skipped: {error}")


def main():
    veilpath = sys.argv[1] if len(sys.argv) > 1 else "target/release/veilpath"
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    people = max(1, round(pairs**0.5))
    cohorts = [{f"{side}{i:02}": made_up(f"{side}{i}", count) for i in range(people)} for side in "ab"]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{side}.csv" for side in "ab"]
        letters_of = {}
        for path, cohort in zip(files, cohorts):
            letters_of |= write_cohort(path, cohort, veilpath)
        print(f"{people**2} pairs of {count} fixations\n")
        print("| metric | veilpath | program | kind | seconds | ratio | largest difference |")
        print("|---|---|---|---|---|---|---|")
        for name, flags, program, kind, prepare, function in programs(letters_of):
            seconds, numbers = ours(veilpath, files, flags)
            given = [{who: prepare(path) for who, path in cohort.items()} for cohort in cohorts]
            start = cpu_seconds(resource.RUSAGE_SELF)
            try:
                theirs = {(a, b): function(x, y) for a, x in given[0].items() for b, y in given[1].items()}
            except Exception as error:
                print(f"skipped: {program}: {error}")
                continue
            python = cpu_seconds(resource.RUSAGE_SELF) - start
            largest = max(abs(p - q) for pair in theirs for p, q in zip(numbers[pair], theirs[pair]))
            ratio = python / seconds
            ratio = f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"
            row = [name, f"{seconds:.3f} s", program, kind, f"{python:.3f}", ratio, f"{largest:.1e}"]
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes testdata/metrics/pairs.csv: made-up pairs of scanpaths with the numbers that other programs give for them.

Needs the packages of compare.py and an OpenCL driver for PyRQA:

    venv/bin/pip install "numpy<2" scipy similaritymeasures multimatch-gaze rapidfuzz PyRQA pocl-binary-distribution
    venv/bin/python assurance/metrics/vectors.py [SEED]

Fixations are `x y duration` in pixels of a screen of 1280x720 and milliseconds, separated by semicolons. Columns:

- dtw, frechet: similaritymeasures; hausdorff: scipy. The same with `cells_` for the cells of a 7x7 grid.
- shape to duration: multimatch-gaze without grouping; empty where it has too few fixations.
- scasim: this file, from the definition of the paper, which is a least cost; no package on PyPI has it. The eye is 60 cm from
  the centre, a pixel is 1/30 cm large, and the modulator is 0.83.
- points, diagonal, along_b, along_a: PyRQA, recurrent points within 100 pixels, and those of them on lines of two and more.
- lcs: RapidFuzz, the normalised similarity of the letters.
"""

import csv
import math
import random
import sys
from pathlib import Path

import multimatch_gaze
import numpy as np
import similaritymeasures as sm
from pyrqa.analysis_type import Cross
from pyrqa.computation import RQAComputation
from pyrqa.metric import EuclideanMetric
from pyrqa.neighbourhood import FixedRadius
from pyrqa.settings import Settings
from pyrqa.time_series import EmbeddedSeries
from rapidfuzz.distance import LCSseq
from scipy.spatial.distance import directed_hausdorff

OUT = Path(__file__).resolve().parents[2] / "testdata" / "metrics"
WIDTH, HEIGHT, GRID = 1280, 720, 7


def anywhere(chance, count):
    return [(round(chance.uniform(0, WIDTH), 1), round(chance.uniform(0, HEIGHT), 1), chance.randint(60, 700)) for _ in range(count)]


def clusters(chance, count):
    """Fixations on a few places that are visited repeatedly."""
    places = anywhere(chance, 4)
    near = lambda place, size: round(min(max(chance.gauss(place, 25), 0), size - 1), 1)
    visits = [chance.choice(places) for _ in range(count)]
    return [(near(x, WIDTH), near(y, HEIGHT), chance.randint(60, 700)) for x, y, _ in visits]


def changed(chance, path):
    """A copy with noise, losses and insertions."""
    copy = []
    for x, y, duration in path:
        if chance.random() < 0.15:
            continue
        copy.append((round(x + chance.gauss(0, 12), 1), round(y + chance.gauss(0, 12), 1), max(1, duration + chance.randint(-50, 50))))
        if chance.random() < 0.15:
            copy += anywhere(chance, 1)
    return copy or path


def pairs(seed):
    chance = random.Random(seed)
    for _ in range(14):
        yield "random", anywhere(chance, chance.randint(1, 24)), anywhere(chance, chance.randint(1, 24))
    for _ in range(12):
        yield "clusters", clusters(chance, chance.randint(3, 24)), clusters(chance, chance.randint(3, 24))
    for _ in range(14):
        path = chance.choice([anywhere, clusters])(chance, chance.randint(4, 24))
        yield "changed", path, changed(chance, path)
    path = clusters(chance, 12)
    yield "reversed", path, path[::-1]
    yield "long and short", anywhere(chance, 60), anywhere(chance, 3)
    far = [(x - 500, y + 900, duration) for x, y, duration in anywhere(chance, 9)]
    yield "off the screen", far, anywhere(chance, 9)


def view_of(width, height, size_cm, distance_cm):
    """The centre of a screen, the size of a pixel, and the distance of the eye."""
    return width / 2, height / 2, size_cm[0] / width, size_cm[1] / height, distance_cm


EYE = (WIDTH / 2, HEIGHT / 2, 1 / 30, 1 / 30, 60)


def angle(a, b, eye):
    """Degrees between two places seen from the eye, by longitude and latitude (haversine)."""
    center_x, center_y, pixel_x, pixel_y, distance = eye

    def look(x, y):
        x, y = (x - center_x) * pixel_x, (y - center_y) * pixel_y
        return math.atan2(x, distance), math.atan2(y, math.hypot(x, distance))

    (lon, lat), (other_lon, other_lat) = look(*a[:2]), look(*b[:2])
    half = math.sin((other_lat - lat) / 2) ** 2 + math.cos(lat) * math.cos(other_lat) * math.sin((other_lon - lon) / 2) ** 2
    return math.degrees(2 * math.asin(math.sqrt(half)))


def scasim(a, b, eye=EYE):
    """The least cost of an alignment. An unaligned fixation costs its duration. Two aligned fixations cost the difference of their
    durations if they are at the same place, their sum if they are far apart, and something in between otherwise."""
    row = [0.0]
    for fixation in b:
        row.append(row[-1] + fixation[2])
    for one in a:
        before, row = row, [row[0] + one[2]]
        for j, other in enumerate(b):
            same = 0.83 ** angle(one, other, eye)
            partners = abs(one[2] - other[2]) * same + (one[2] + other[2]) * (1 - same)
            row.append(min(before[j] + partners, before[j + 1] + one[2], row[j] + other[2]))
    return row[-1]


def rqa(a, b, radius=100):
    # `TimeSeries` would treat a point with two coordinates as two points.
    series = [EmbeddedSeries(path[:, :2].tolist(), dtype=np.float64) for path in (a, b)]
    settings = Settings(
        tuple(series), analysis_type=Cross, neighbourhood=FixedRadius(radius), similarity_measure=EuclideanMetric, theiler_corrector=0
    )
    return RQAComputation.create(settings).run()


def distances(a, b):
    both = max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0])
    return [sm.dtw(a, b)[0], sm.frechet_dist(a, b), both]


def points_on_lines(counts):
    return sum(length * count for length, count in enumerate(counts, 1) if length > 1)


def numbers(a, b):
    first, second = np.array(a, dtype=float), np.array(b, dtype=float)
    cell = lambda at, size: min(max(int(at * GRID / size), 0), GRID - 1)
    cells = [[(cell(x, WIDTH), cell(y, HEIGHT)) for x, y, _ in path] for path in (a, b)]
    yield from distances(first[:, :2], second[:, :2])
    yield from distances(*(np.array(path, dtype=float) for path in cells))
    kind = [("start_x", float), ("start_y", float), ("duration", float)]
    tables = [np.array([(x, y, duration / 1000) for x, y, duration in path], dtype=kind) for path in (a, b)]
    similarities = multimatch_gaze.docomparison(*tables, screensize=[WIDTH, HEIGHT])
    yield from ("" if math.isnan(value) else value for value in similarities)
    yield scasim(a, b)
    result, other = rqa(first, second), rqa(second, first)
    yield int(sum(result.recurrence_points))
    yield int(points_on_lines(result.diagonal_frequency_distribution))
    # PyRQA's vertical lines are along its second series.
    yield int(points_on_lines(result.vertical_frequency_distribution))
    yield int(points_on_lines(other.vertical_frequency_distribution))
    yield LCSseq.normalized_similarity(*(["%d %d" % place for place in path] for path in cells))


def main():
    seed = sys.argv[1] if len(sys.argv) > 1 else "2026"
    text = lambda path: ";".join(f"{x!r} {y!r} {duration}" for x, y, duration in path)
    names = ["dtw", "frechet", "hausdorff", "cells_dtw", "cells_frechet", "cells_hausdorff"]
    names += ["shape", "direction", "length", "position", "duration", "scasim"]
    names += ["points", "diagonal", "along_b", "along_a", "lcs"]
    OUT.mkdir(parents=True, exist_ok=True)
    with open(OUT / "pairs.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["kind", "a", "b", *names])
        for kind, a, b in pairs(seed):
            plain = lambda value: value if isinstance(value, (int, str)) else repr(float(value))
            writer.writerow([kind, text(a), text(b), *map(plain, numbers(a, b))])


if __name__ == "__main__":
    main()

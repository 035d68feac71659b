#!/usr/bin/env python3
"""Writes testdata/detection: made-up raw gaze, and the fixations that pymovements finds in it.

Usage: pip install pymovements==0.28.0, then python assurance/detection/make.py from the root of the repository.

- NAME.csv: time in milliseconds, x and y in pixels from the top left of a screen of 1280x1024 pixels; empty where the eye is
  lost. Some lost samples have no row at all; pymovements gets them as lost samples.
- cases.csv: the detector, its settings, and the sampling rate. A threshold in degrees is for a screen of 38x30.2 cm at 68 cm.
- fixations.csv: onset, offset, and the mean place of the samples in between, by the number of the case.
"""
import csv
import math
import random
import sys
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pymovements as pm

OUT = Path(__file__).resolve().parents[2] / "testdata" / "detection"
WIDTH, HEIGHT, WIDTH_CM, HEIGHT_CM, DISTANCE_CM = SCREEN = 1280, 1024, 38.0, 30.2, 68.0


def recording(seed, rate, seconds, noise, digits):
    """Fixations with drift and noise, saccades between them, blinks, single lost samples and glances off the screen."""
    rng = random.Random(seed)
    count = int(rate * seconds)
    times = [round(i * 1000 / rate) for i in range(count)]
    points = []
    x, y = WIDTH / 2, HEIGHT / 2
    while len(points) < count:
        drift = (rng.gauss(0, 0.02), rng.gauss(0, 0.02))
        for _ in range(max(2, int(rng.gammavariate(4, 0.06) * rate))):
            x, y = x + drift[0], y + drift[1]
            points.append((x + rng.gauss(0, noise), y + rng.gauss(0, noise)))
        goal = (rng.uniform(-60, WIDTH + 60), rng.uniform(-60, HEIGHT + 60))
        if rng.random() < 0.3:
            goal = (x + rng.gauss(0, 30), y + rng.gauss(0, 30))
        steps = max(1, int(rate * (0.02 + 0.00004 * math.dist((x, y), goal))))
        for step in range(1, steps + 1):
            part = (1 - math.cos(math.pi * step / steps)) / 2
            points.append((x + part * (goal[0] - x) + rng.gauss(0, noise), y + part * (goal[1] - y) + rng.gauss(0, noise)))
        x, y = goal
    points = [tuple(round(value, digits) for value in point) for point in points[:count]]
    written = [True] * count
    for _ in range(int(seconds * 1.5)):
        start = rng.randrange(count // 20, count - count // 20)
        length = rng.choice([1, 1, 2, 3, int(0.03 * rate), int(0.1 * rate), int(0.2 * rate)])
        leave_out = rng.random() < 0.4
        for index in range(start, min(start + length, count - 3)):
            points[index] = (math.nan, math.nan)
            written[index] = not leave_out
    return times, points, written


def steps(rate):
    """Whole numbers that stand still and jump, so that speeds and extents lie exactly on thresholds."""
    rng = random.Random(99)
    points, x, y = [], 600, 500
    while len(points) < 1200:
        for _ in range(rng.randrange(5, 90)):
            points.append((float(x + rng.randrange(0, 3) * 10), float(y)))
        if rng.random() < 0.2:
            points.extend([(math.nan, math.nan)] * rng.choice([1, 2, 30]))
        x, y = x + rng.choice([-40, -20, 10, 20, 30, 200]), y + rng.choice([0, 0, 10, 20])
    # The last sample is lost: a window without another loss then ends with it.
    points.append((math.nan, math.nan))
    return [round(i * 1000 / rate) for i in range(len(points))], points, [True] * len(points)


RECORDINGS = {
    "noisy-500": (500, recording(1, 500, 4, 0.8, 2)),
    "clean-250": (250, recording(2, 250, 7, 0.6, 3)),
    "fast-1000": (1000, recording(3, 1000, 2, 0.15, 2)),
    "slow-60": (60, recording(4, 60, 20, 1.5, 1)),
    "steps-500": (500, steps(500)),
}

FIVE = ("fivepoint", {})
METHODS = [
    FIVE,
    ("neighbors", {}),
    ("preceding", {}),
    ("savitzky_golay", {"window_length": 7, "degree": 2}),
    ("savitzky_golay", {"window_length": 11, "degree": 3}),
]


def cases():
    for name, (rate, _) in RECORDINGS.items():
        for method in METHODS:
            yield name, rate, "ivt", 30.0, "deg", method, 100
        yield name, rate, "ivt", 20.0, "deg", FIVE, 60
        yield name, rate, "ivt", 900.0, "px", METHODS[1], 100
        # No speed of whole numbers may equal this threshold, because a polynomial's weights have rounding errors.
        yield name, rate, "ivt", 2510.0, "px", METHODS[3], 40
        if name == "steps-500":
            for threshold in (1666.6666666666667, 2500.0, 5000.0):
                yield name, rate, "ivt", threshold, "px", FIVE, 20
                yield name, rate, "ivt", threshold, "px", METHODS[1], 20
        # pymovements' I-DT needs equal steps in whole milliseconds.
        if 1000 % rate == 0:
            for threshold, unit, duration in (
                (1.0, "deg", 100), (0.5, "deg", 60), (2.0, "deg", 200),
                (20.0, "px", 100), (40.0, "px", 40), (30.0, "px", 80), (90.0, "px", 8 if rate > 250 else 12),
            ):
                yield name, rate, "idt", threshold, unit, FIVE, duration


def detect(times, points, rate, detector, threshold, unit, method, duration, screen=SCREEN):
    frame = pl.DataFrame({"time": times, "x": [p[0] for p in points], "y": [p[1] for p in points]})
    experiment = pm.Experiment(*screen, "upper left", rate)
    columns = {"pixel_columns" if unit == "deg" else "position_columns": ["x", "y"]}
    gaze = pm.Gaze(samples=frame, experiment=experiment, time_column="time", time_unit="ms", **columns)
    if unit == "deg":
        gaze.pix2deg()
    if detector == "ivt":
        name, numbers = method
        gaze.pos2vel(method=name, **numbers)
        gaze.detect("ivt", velocity_threshold=threshold, minimum_duration=duration)
    else:
        gaze.detect("idt", dispersion_threshold=threshold, minimum_duration=duration)
    times, points = np.array(times), np.array(points)
    for onset, offset in zip(gaze.events.frame["onset"], gaze.events.frame["offset"]):
        inside = points[(times >= onset) & (times <= offset)]
        yield int(onset), int(offset), *np.nanmean(inside, axis=0)


def write(name, header, rows):
    with open(OUT / name, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def main():
    # Suppress warnings about windows without any position, which I-DT gives for every blink.
    warnings.simplefilter("ignore")
    OUT.mkdir(parents=True, exist_ok=True)
    for name, (_, (times, points, written)) in RECORDINGS.items():
        text = lambda value: "" if math.isnan(value) else repr(value)
        rows = [(t, text(x), text(y)) for t, (x, y), wanted in zip(times, points, written) if wanted]
        write(f"{name}.csv", ["time_ms", "x_px", "y_px"], rows)
    all_cases, found = [], []
    for number, case in enumerate(cases()):
        name, rate, detector, threshold, unit, (method, numbers), duration = case
        times, points, _ = RECORDINGS[name][1]
        window, degree = numbers.get("window_length", ""), numbers.get("degree", "")
        all_cases.append([number, name, rate, detector, repr(threshold), unit, method, window, degree, duration])
        fixations = list(detect(times, points, rate, *case[2:]))
        found.extend((number, on, off, repr(float(x)), repr(float(y))) for on, off, x, y in fixations)
        print(*case, len(fixations), file=sys.stderr)
    header = ["case", "samples", "rate_hz", "detector", "threshold", "unit", "method", "window", "degree", "min_duration_ms"]
    write("cases.csv", header, all_cases)
    write("fixations.csv", ["case", "onset_ms", "offset_ms", "x_px", "y_px"], found)


if __name__ == "__main__":
    main()

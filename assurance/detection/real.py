#!/usr/bin/env python3
"""Writes testdata/detection/real.csv: how many fixations pymovements finds in published recordings, and a hash of them.

Usage: pip install pymovements==0.28.0, then python assurance/detection/real.py FOLDER, where FOLDER has

- arff_gazecom/deep_em_input.arff: `example_data/input.arff` of github.com/MikhailStartsev/deep_em_classifier, commit 9a345a37aab4;
- oemc_gazecom/AAF_beach.csv and AAW_beach.csv: `data_gazecom/beach` of github.com/elmadjian/OEMC, commit e41e14d03eb2;
- eyelink_asc/eyelink_binocular_example.asc: `tests/files` of github.com/pymovements/pymovements, commit bad128297cc9.

The recordings themselves are not part of this repository. The hash is FNV-1a of 64 bits over a line "onset offset" for each
fixation, in milliseconds. `x` and `y` are sums over the mean places of all fixations.
"""
import math
import sys
import warnings
from pathlib import Path

from make import METHODS, detect, write

GAZECOM = (1280, 720, 40.0, 22.5, 45.0)
EYELINK = (1920, 1080, 53.0, 30.0, 60.0)


def arff(path):
    # The recording's clock jitters by a millisecond, which pymovements' I-DT rejects, so both programs get samples 4 ms apart.
    rows = path.read_text().partition("@DATA\n")[2].splitlines()
    for number, row in enumerate(row for row in rows if not row.startswith("%")):
        x, y, confidence = row.split(",")[1:4]
        yield 4 * number, float(x), float(y), float(confidence) > 0


def oemc(path):
    for number, row in enumerate(path.read_text().splitlines()[1:]):
        x, y, confidence, _ = row.split("\t")
        yield 4 * number, float(x) * 1280, float(y) * 720, float(confidence) > 0


def eyelink(path, eye):
    for row in path.read_text().splitlines():
        cells = row.split()
        if cells and cells[0].isdigit() and len(cells) == 8:
            x, y = cells[1 + 3 * eye : 3 + 3 * eye]
            seen = x != "."
            yield int(cells[0]), float(x) if seen else 0, float(y) if seen else 0, seen


def recordings(folder):
    yield "arff_gazecom/deep_em_input.arff", "", arff, 250, GAZECOM
    for name in ("AAF", "AAW"):
        yield f"oemc_gazecom/{name}_beach.csv", "", oemc, 250, GAZECOM
    for eye in (0, 1):
        read = lambda path, eye=eye: eyelink(path, eye)
        yield "eyelink_asc/eyelink_binocular_example.asc", eye, read, 1000, EYELINK


def cases():
    for method in METHODS:
        for threshold in (20.0, 45.0):
            yield "ivt", threshold, "deg", method, 60
    yield "ivt", 900.0, "px", METHODS[1], 100
    for threshold, unit, duration in ((1.0, "deg", 100), (0.5, "deg", 60), (2.0, "deg", 200), (25.0, "px", 100), (60.0, "px", 40)):
        yield "idt", threshold, unit, METHODS[0], duration


def fnv(lines):
    value = 0xCBF29CE484222325
    for byte in "".join(lines).encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def main():
    warnings.simplefilter("ignore")
    folder, rows = Path(sys.argv[1]), []
    for name, eye, read, rate, screen in recordings(folder):
        samples = list(read(folder / name))
        times = [time for time, *_ in samples]
        assert set(b - a for a, b in zip(times, times[1:])) == {1000 // rate}, name
        points = [(x, y) if seen else (math.nan, math.nan) for _, x, y, seen in samples]
        for case in cases():
            found = list(detect(times, points, rate, *case, screen=screen))
            detector, threshold, unit, (method, numbers), duration = case
            window, degree = numbers.get("window_length", ""), numbers.get("degree", "")
            lines = [f"{onset} {offset}\n" for onset, offset, *_ in found]
            sums = [repr(float(sum(fixation[axis] for fixation in found))) for axis in (2, 3)]
            settings = [detector, repr(threshold), unit, method, window, degree, duration]
            rows.append([f"{name}", eye, rate, *settings, len(found), fnv(lines), *sums])
    settings = ["detector", "threshold", "unit", "method", "window", "degree", "min_duration_ms"]
    write("real.csv", ["file", "eye", "rate_hz", *settings, "fixations", "hash", "x", "y"], rows)


if __name__ == "__main__":
    main()

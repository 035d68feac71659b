"""Measures the overhead of the package over the command, and of a frame over a file.

python benches/overhead.py [--samples N] [--pairs N]

Build both with their release profiles first: `cargo build --release -p veilpath-cli` and `pip install ./python`. Prints
ratios of medians over several rounds, which alternate between the two programs.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("VEILPATH_CLI", str(ROOT / "target/release/veilpath"))


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def alternating(runs: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(seconds(run))
    return {name: statistics.median(measured) for name, measured in times.items()}


def compare(pairs: int, folder: Path) -> None:
    """Compares two cohorts, in the clear, to a result file."""
    import veilpath as vp

    side = round(pairs**0.5)
    for name, seed in (("a", 1), ("b", 2)):
        vp.synth_random(count=side, length=200, letters=49, seed=seed).save(folder / f"{name}.csv")
    files = [folder / "a.csv", folder / "b.csv"]
    options = ["--metric", "needleman-wunsch", "--substitution", "manhattan", "--grid", "7x7"]
    words = [COMMAND, "compare", *map(str, files), *options, "-q", "-o", str(folder / "command.json")]

    def package() -> None:
        cohorts = [vp.read_cohort(file) for file in files]
        result = vp.compare(*cohorts, metric="needleman-wunsch", substitution="manhattan", grid=(7, 7), progress=False)
        result.save(folder / "package.json")

    times = alternating({"command": lambda: subprocess.run(words, check=True), "package": package}, 9)
    print(f"{side * side} pairs of 200 × 200 letters, file to file:")
    print(f"  command {times['command']:.3f} s, package {times['package']:.3f} s")
    print(f"  ratio {times['package'] / times['command']:.3f} (below 1.05 is the aim)")


WORKER = """
import json, resource, sys, time
import polars as pl, pandas as pd, pyarrow as pa
import veilpath as vp
kind, path, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
def reset():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
# Polars copies a frame with many chunks before it exports it.
read = lambda: pl.read_csv(path).rechunk()
table = {"polars": read, "pandas": lambda: read().to_pandas(),
         "pyarrow": lambda: read().to_arrow(), "file": lambda: path}[kind]()
reset()
before = peak()
start = time.perf_counter()
cohort = vp.encode(table, screen=(1280, 720), progress=False)
taken = time.perf_counter() - start
print(json.dumps({"seconds": taken, "added": peak() - before, "letters": sum(map(len, cohort.to_polars()["scanpath"]))}))
"""


def encode(samples: int, folder: Path) -> None:
    """Encodes raw gaze from a file and from frames, each in its own process."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(1)
    people = 100
    each = samples // people
    walk = rng.normal(0, 3, (2, people * each)).cumsum(axis=1)
    table = pl.DataFrame(
        {
            "participant": np.repeat([f"p{number}" for number in range(people)], each),
            "stimulus": "scene",
            "time_ms": np.tile(np.arange(each) * 2.0, people),
            "x": np.abs(walk[0] % 2560 - 1280).round(2),
            "y": np.abs(walk[1] % 1440 - 720).round(2),
        }
    )
    path = folder / "gaze.csv"
    table.write_csv(path)
    size = table.estimated_size() / 2**20
    print(f"{people * each} gaze samples; the file has {path.stat().st_size / 2**20:.0f} MB, the frame {size:.0f} MB:")
    found: dict[str, list[dict[str, float]]] = {}
    for _ in range(3):
        for kind in ("file", "polars", "pyarrow", "pandas"):
            words = [sys.executable, "-c", WORKER, kind, str(path), str(samples)]
            done = subprocess.run(words, check=True, capture_output=True, text=True)
            found.setdefault(kind, []).append(json.loads(done.stdout))
    of_file = statistics.median(one["seconds"] for one in found["file"])
    for kind, measured in found.items():
        taken = statistics.median(one["seconds"] for one in measured)
        added = max(one["added"] for one in measured)
        assert {one["letters"] for one in measured} == {found["file"][0]["letters"]}
        print(f"  {kind:8} {taken:6.2f} s, ratio to the file {taken / of_file:.3f}, memory added {added:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--pairs", type=int, default=10_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare(arguments.pairs, Path(folder))
        encode(arguments.samples, Path(folder))
    print(f"peak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main()

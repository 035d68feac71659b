"""Compares how long tiles take on two clusters, for tiles that only wait, with the expected time.

python benches/scale.py [--workers 2,4,8,16,32,64] [--seconds S] [--tiles-per-worker N] [--command VEILPATH]

With --command, it first measures the overhead of a tile: eight tiles of four pairs, with coordinators and gateway.

Each institution is a Dask cluster of threads in this process. A tile starts when both have a worker for it, and then takes a
fixed time, so two cores are enough for 128 workers. Needs `pip install './python[dask]'`.
"""

from __future__ import annotations

import argparse
import logging
import math
import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from distributed import Client, LocalCluster


class Rendezvous:
    """Where the two workers of a tile wait for each other."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.barriers: dict[int, threading.Barrier] = {}

    def meet(self, tile: int) -> None:
        with self.lock:
            barrier = self.barriers.setdefault(tile, threading.Barrier(2))
        barrier.wait()


RENDEZVOUS: dict[int, Rendezvous] = {}


def simulated_tile(run: int, tile: int, seconds: float) -> int:
    RENDEZVOUS[run].meet(tile)
    time.sleep(seconds)
    return tile


def expected(tiles: int, workers: int, seconds: float, dispatch: float) -> float:
    """Both sides take tiles in the same order. A tile occupies one worker of each; tiles are submitted one at a time."""
    return math.ceil(tiles / workers) * seconds + tiles * dispatch


def measured(run: int, tiles: int, workers: int, seconds: float) -> float:
    RENDEZVOUS[run] = Rendezvous()
    sides = [
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        )
        for _ in range(2)
    ]
    clients = [Client(side) for side in sides]
    start = time.perf_counter()
    # Both sides run earlier tiles first, as in veilpath.dask.
    futures = [
        client.submit(simulated_tile, run, tile, seconds, priority=-tile, pure=False)
        for tile in range(tiles)
        for client in clients
    ]
    for future in futures:
        future.result()
    taken = time.perf_counter() - start
    for client, side in zip(clients, sides, strict=True):
        client.close()
        side.close()
    return taken


def overhead(command: str, folder: Path) -> float:
    """Seconds for a tile with almost nothing to compute, with all processes on this machine."""

    def start(side: str, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [command, *words],
            cwd=folder,
            env={**os.environ, "VEILPATH_HOME": str(folder / side)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def run(side: str, *words: str) -> str:
        process = start(side, *words)
        out = process.communicate()[0]
        assert process.returncode == 0, words
        return out

    addresses = [f"127.0.0.1:{port}" for port in range(7191, 7195)]
    agreeing, gateway, *own = addresses
    host_key, join_key = (run(side, "identity").strip() for side in ("host", "join"))
    run("host", "synth", "lifelike", "--participants", "8", "--stimuli", "2", "--seed", "7", "-o", "all.csv")
    run("host", "split", "all.csv", "--seed", "1", "--first", "host.csv", "--second", "join.csv")
    plan = ["--engine", "garbled", "--limit-per-scanpath", "4", "--tile-count", "8", "--cohort"]
    hosting = start("host", "host", "--listen", agreeing, "--peer", join_key, *plan, "host.csv")
    run("join", "join", agreeing, "--peer", host_key, "--wait", "30", *plan, "join.csv")
    assert hosting.wait() == 0
    (agreement,) = (file.stem for file in (folder / "host/agreements").glob("*.json"))
    for side in ("host", "join"):
        run(side, "worker-key", agreement, "--tiles", "1-8", "-o", f"{side}.json")
    coordinators = [
        start("host", "coordinator", agreement, "--listen", own[0], "--gateway", gateway),
        start("join", "coordinator", agreement, "--listen", own[1]),
    ]
    time.sleep(1)
    before = time.perf_counter()
    for tile in map(str, range(1, 9)):
        workers = [
            start(side + "-worker", "worker", f"{side}.json", "--tile", tile, "--coordinator", address, "--gateway", gateway)
            for side, address in zip(("host", "join"), own, strict=True)
        ]
        assert [worker.wait() for worker in workers] == [0, 0]
    taken = time.perf_counter() - before
    for coordinator in coordinators:
        coordinator.terminate()
    return taken / 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", default="2,4,8,16,32,64")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--tiles-per-worker", type=int, default=4)
    parser.add_argument("--command")
    arguments = parser.parse_args()
    if arguments.command:
        with tempfile.TemporaryDirectory() as folder:
            print(
                f"a tile takes {overhead(os.path.abspath(arguments.command), Path(folder)):.2f} s beside its computation",
                flush=True,
            )
    dispatch = measured(-1, 128, 32, 0.0) / 128
    print(f"handing out a tile takes {dispatch * 1000:.0f} ms", flush=True)
    print("workers a side  tiles  expected  measured  ratio", flush=True)
    for run, workers in enumerate(map(int, arguments.workers.split(","))):
        tiles = workers * arguments.tiles_per_worker
        predicted = expected(tiles, workers, arguments.seconds, dispatch)
        taken = measured(run, tiles, workers, arguments.seconds)
        print(f"{workers:14}  {tiles:5}  {predicted:6.1f} s  {taken:6.1f} s  {taken / predicted:5.2f}", flush=True)


if __name__ == "__main__":
    # Imported by name, so that workers, which are threads, share one rendezvous instead of getting copies.
    import scale

    scale.main()

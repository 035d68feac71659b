"""How long tiles take on two clusters, by arithmetic and with tiles that only wait.

python benches/scale.py [--workers 2,4,8,16,32,64] [--seconds S] [--tiles-per-worker N]

Two Dask clusters of threads in this process, one for each institution. A tile starts when both have a worker for it, and then
takes a fixed time, so two cores are enough for 128 workers. Needs `pip install './python[dask]'`.
"""

from __future__ import annotations

import argparse
import logging
import math
import threading
import time

from distributed import Client, LocalCluster


class Meetings:
    """Where the two workers of a tile wait for each other."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.barriers: dict[int, threading.Barrier] = {}

    def meet(self, tile: int) -> None:
        with self.lock:
            barrier = self.barriers.setdefault(tile, threading.Barrier(2))
        barrier.wait()


MEETINGS: dict[int, Meetings] = {}


def stand_in(run: int, tile: int, seconds: float) -> int:
    MEETINGS[run].meet(tile)
    time.sleep(seconds)
    return tile


def expected(tiles: int, workers: int, seconds: float, handing_out: float) -> float:
    """Both sides take tiles in the same order, and a tile keeps one worker of each busy. The scheduler hands out one at a time."""
    return math.ceil(tiles / workers) * seconds + tiles * handing_out


def measured(run: int, tiles: int, workers: int, seconds: float) -> float:
    MEETINGS[run] = Meetings()
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
    # Earlier tiles first, on both sides, as veilpath.dask submits them.
    futures = [
        client.submit(stand_in, run, tile, seconds, priority=-tile, pure=False)
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", default="2,4,8,16,32,64")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--tiles-per-worker", type=int, default=4)
    arguments = parser.parse_args()
    handing_out = measured(-1, 128, 32, 0.0) / 128
    print(f"handing out a tile takes {handing_out * 1000:.0f} ms")
    print("workers a side  tiles  expected  measured  ratio")
    for run, workers in enumerate(map(int, arguments.workers.split(","))):
        tiles = workers * arguments.tiles_per_worker
        told = expected(tiles, workers, arguments.seconds, handing_out)
        taken = measured(run, tiles, workers, arguments.seconds)
        print(f"{workers:14}  {tiles:5}  {told:6.1f} s  {taken:6.1f} s  {taken / told:5.2f}", flush=True)


if __name__ == "__main__":
    # By its name, so that workers, which are threads, do not get a copy of where they meet.
    import scale

    scale.main()

"""One of the two institutions of test_clusters.py, with its own cluster, which kills one of its workers while it computes."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import dask
from distributed import Client, LocalCluster

import veilpath as vp
import veilpath.dask

WORKERS = 2


def incomplete(home: Path) -> int:
    """The number of tiles that the coordinator has stored only partly."""
    header, entry, complete = 40, 32, 13
    count = 0
    for journal in (home / "journals").glob("*.journal"):
        content = journal.read_bytes()
        entries = (len(content) - header) // entry
        count += entries > 0 and content[header + (entries - 1) * entry] != complete
    return count


def kill_one(cluster: LocalCluster, done: threading.Event) -> None:
    """Kills a worker when all run and at least one is in the middle of a tile."""
    home = Path(os.environ["VEILPATH_HOME"])
    while not done.is_set():
        pids = [nanny.pid for nanny in cluster.workers.values() if nanny.pid]
        if len(pids) == WORKERS and incomplete(home) > 0:
            os.kill(pids[0], signal.SIGKILL)
            print("killed", flush=True)
            return
        time.sleep(0.002)


def main(role: str, address: str, peer: str, cohort: str, folder: str, tile_count: str) -> None:
    """Compares as the host or as the joining side."""
    options = {"n_workers": WORKERS, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    done = threading.Event()
    own = vp.read_cohort(cohort)
    plan: dict[str, Any] = {
        "peer": peer,
        "tile_count": int(tile_count),
        "metric": "levenshtein",
        "limit_per_scanpath": 1000,
        "wait": 20.0,
    }
    with dask.config.set({"distributed.scheduler.allowed-failures": 20}), LocalCluster(**options) as cluster:
        client = Client(cluster, set_as_default=False)
        killer = threading.Thread(target=kill_one, args=(cluster, done))
        killer.start()
        try:
            # The host gets one result, and the joining side a file for each tile.
            if role == "host":
                compared = vp.dask.host(own, listen=address, client=client, **plan)
            else:
                files = vp.dask.join(own, address, client=client, folder=folder, **plan)
                compared = vp.merge(files)
        finally:
            done.set()
            killer.join()
        compared.save(Path(folder) / "result.json")
        client.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

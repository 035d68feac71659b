"""One of the two institutions of test_clusters.py: a cluster of its own, whose workers are killed while they compute."""

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


def is_computing(home: Path) -> bool:
    """Whether the coordinator has something of a tile, but not everything: the last record says which."""
    started, half = 3, 6
    for journal in (home / "journals").glob("*.journal"):
        size = journal.stat().st_size // 32 * 32
        if size and journal.read_bytes()[size - 32] in (started, half):
            return True
    return False


def kill_some(cluster: LocalCluster, client: Client, done: threading.Event) -> None:
    """Kills the workers that have tiles, in the middle of one."""
    home = Path(os.environ["VEILPATH_HOME"])
    while not done.is_set():
        busy = [worker for worker, keys in client.processing().items() if any("_private_tile" in str(key) for key in keys)]
        pids = [nanny.pid for nanny in cluster.workers.values() if nanny.worker_address in busy and nanny.pid]
        if pids and is_computing(home):
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            print("killed", flush=True)
            return
        time.sleep(0.01)


def main(role: str, address: str, peer: str, cohort: str, folder: str, tiles: str) -> None:
    """Compares as the host or as the joining side."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    done = threading.Event()
    own = vp.read_cohort(cohort)
    plan: dict[str, Any] = {
        "peer": peer,
        "tiles": int(tiles),
        "metric": "levenshtein",
        "limit_per_scanpath": 1000,
        "wait": 20.0,
    }
    with dask.config.set({"distributed.scheduler.allowed-failures": 20}), LocalCluster(**options) as cluster:
        client = Client(cluster, set_as_default=False)
        killer = threading.Thread(target=kill_some, args=(cluster, client, done))
        killer.start()
        # The host gets one result, and the joining side a file for each tile.
        if role == "host":
            compared = vp.dask.host(own, listen=address, client=client, **plan)
        else:
            files = vp.dask.join(own, address, client=client, folder=folder, **plan)
            compared = vp.merge(files)
        compared.save(Path(folder) / "result.json")
        done.set()
        killer.join()
        client.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

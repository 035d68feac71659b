"""One of the two institutions of test_clusters.py: a cluster of its own, of which a worker is killed while it computes."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import dask
from distributed import Client, LocalCluster

import veilpath as vp
import veilpath.dask


def kill_one(cluster: LocalCluster, client: Client, done: threading.Event) -> None:
    """Kills a worker that computes a tile."""
    while not done.is_set():
        busy = [worker for worker, keys in client.processing().items() if any("_private_tile" in str(key) for key in keys)]
        pids = [nanny.pid for nanny in cluster.workers.values() if nanny.worker_address in busy and nanny.pid]
        if pids:
            # Not at its start.
            time.sleep(0.4)
            os.kill(pids[0], signal.SIGKILL)
            print("killed", flush=True)
            return
        time.sleep(0.01)


def main(role: str, address: str, peer: str, cohort: str, result: str, tiles: str) -> None:
    """Compares as the host or as the joining side."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    done = threading.Event()
    own = vp.read_cohort(cohort)
    plan = {"peer": peer, "tiles": int(tiles), "metric": "levenshtein", "limit_per_scanpath": 1000, "wait": 20.0}
    with dask.config.set({"distributed.scheduler.allowed-failures": 20}), LocalCluster(**options) as cluster:
        client = Client(cluster, set_as_default=False)
        killer = threading.Thread(target=kill_one, args=(cluster, client, done))
        killer.start()
        if role == "host":
            compared = vp.dask.host(own, listen=address, client=client, **plan)  # type: ignore[arg-type]
        else:
            compared = vp.dask.join(own, address, client=client, **plan)  # type: ignore[arg-type]
        compared.save(result)
        done.set()
        killer.join()
        client.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

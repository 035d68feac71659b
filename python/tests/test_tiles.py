"""Tiles: computed separately, passed between processes, merged, and run on a Dask cluster whose workers die."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import dask
import pytest
from conftest import without_time
from distributed import Client, LocalCluster

import veilpath as vp
import veilpath.dask

TILES = 5


@pytest.fixture(scope="module")
def cohorts() -> tuple[vp.Cohort, vp.Cohort]:
    return vp.split(vp.synth(participants=12, stimuli=3, seed=7), seed=1)


@pytest.fixture(scope="module")
def large() -> tuple[vp.Cohort, vp.Cohort]:
    first, second = (vp.synth_random(count=160, length=100, letters=49, seed=seed) for seed in (1, 2))
    return first, second


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    # By default, Dask gives up on a task after four of its workers have died.
    with dask.config.set({"distributed.scheduler.allowed-failures": 20}), LocalCluster(**options) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    with Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2)
        yield client


def same(merged: vp.Result, whole: vp.Result) -> bool:
    return without_time(merged.info) == without_time(whole.info) and merged.to_polars().equals(whole.to_polars())


@pytest.mark.parametrize("engine", ["plain", "garbled"])
def test_merged_tiles_equal_one_run(engine: str, cohorts: tuple[vp.Cohort, vp.Cohort], tmp_path: Path) -> None:
    options = {"metric": "levenshtein", "engine": engine}
    whole = vp.compare(*cohorts, **options)  # type: ignore[arg-type]
    tiles = [vp.compare(*cohorts, tile=f"{tile}/{TILES}", **options) for tile in range(1, TILES + 1)]  # type: ignore[arg-type]
    assert sum(len(tile) for tile in tiles) == len(whole)
    assert same(vp.merge(reversed(tiles)), whole)
    files = [tmp_path / f"{at}.json" for at in range(TILES)]
    for tile, file in zip(tiles, files, strict=True):
        tile.save(file)
    assert same(vp.merge(files), whole)
    with pytest.raises(vp.VeilpathError, match="missing"):
        vp.merge(tiles[1:])
    with pytest.raises(vp.VeilpathError, match=f"tile 1/{TILES}"):
        vp.report(tiles[0], tmp_path / "report.html")
    with pytest.raises(vp.VeilpathError, match=f"tile 1/{TILES}"):
        vp.stats(tiles[0], answers="mean")
    with pytest.raises(vp.PlanError, match="tile: "):
        vp.compare(*cohorts, tile="6/5")
    with pytest.raises(vp.PlanError, match="and not both"):
        vp.merge([tiles[0], files[1]])


def test_cohorts_and_results_can_be_pickled(cohort: vp.Cohort, cohorts: tuple[vp.Cohort, vp.Cohort]) -> None:
    again = pickle.loads(pickle.dumps(cohort))
    assert (again.name, again.groups, again.summary) == (cohort.name, cohort.groups, cohort.summary)
    assert again.to_polars().equals(cohort.to_polars())
    assert same(
        vp.pairwise(again, metric="dtw", positions="fixations"), vp.pairwise(cohort, metric="dtw", positions="fixations")
    )
    result = vp.compare(*cohorts, metric="scanmatch")
    assert pickle.loads(pickle.dumps(result)).info == result.info
    assert same(pickle.loads(pickle.dumps(result)), result)


def test_a_cluster_gives_the_results_of_one_run(client: Client, cohorts: tuple[vp.Cohort, vp.Cohort]) -> None:
    whole = vp.compare(*cohorts, metric="scanmatch")
    assert same(vp.dask.compare(*cohorts, client=client, metric="scanmatch"), whole)
    assert same(vp.dask.compare(*cohorts, client=client, metric="scanmatch", tile_count=1), whole)


def test_a_cluster_writes_result_files(client: Client, cohorts: tuple[vp.Cohort, vp.Cohort], tmp_path: Path) -> None:
    whole = vp.compare(*cohorts)
    files = vp.dask.compare_to_files(*cohorts, tmp_path, client=client, tile_count=3)
    assert [file.name for file in files] == [f"tile-0000{tile}-of-3.json" for tile in (1, 2, 3)]
    assert same(vp.merge(files), whole)


def test_worker_errors_equal_those_of_one_run(client: Client, cohorts: tuple[vp.Cohort, vp.Cohort]) -> None:
    with pytest.raises(vp.PlanError, match="a group answer has no tiles"):
        vp.dask.compare(*cohorts, client=client, tile_count=2, retries=0, reveal="groups")
    with pytest.raises(vp.PlanError, match="tile_count: "):
        vp.dask.compare(*cohorts, client=client, tile_count=0)
    with pytest.raises(vp.PlanError, match="tile and coins"):
        vp.dask.compare(*cohorts, client=client, tile="1/2")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize("kills", [1, pytest.param(6, marks=pytest.mark.full)])
def test_killed_workers_do_not_change_the_result(
    kills: int, cluster: LocalCluster, client: Client, large: tuple[vp.Cohort, vp.Cohort]
) -> None:
    whole = vp.compare(*large, metric="needleman-wunsch", progress=False)
    killed: list[int] = []
    done = threading.Event()

    def kill() -> None:
        # Kill workers that compute a tile, one after the other.
        while len(killed) < kills and not done.is_set():
            busy = [worker for worker, keys in client.processing().items() if any("_tile" in str(key) for key in keys)]
            pids = [nanny.pid for nanny in cluster.workers.values() if nanny.worker_address in busy and nanny.pid]
            # A killed worker counts as busy until Dask notices.
            if alive := [pid for pid in pids if pid not in killed]:
                os.kill(alive[0], signal.SIGKILL)
                killed.append(alive[0])
                time.sleep(0.3)
            time.sleep(0.005)

    killer = threading.Thread(target=kill)
    killer.start()
    merged = vp.dask.compare(*large, client=client, tile_count=24, metric="needleman-wunsch")
    done.set()
    killer.join()
    assert killed
    assert same(merged, whole)

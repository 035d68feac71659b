"""Two institutions compare on two Dask clusters, each of which loses workers."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import without_time
from distributed import Client, LocalCluster, Reschedule

import veilpath as vp
import veilpath.dask
from veilpath import _veilpath

TILES = 6

PLAN: dict[str, Any] = {"engine": "garbled", "metric": "levenshtein", "limit_per_scanpath": 1000}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def counted(home: Path) -> int:
    """All comparisons that an institution has counted."""
    (ledger,) = (home / "peers").glob("*.json")
    snapshot = json.loads(ledger.read_text())
    scanpaths = snapshot["scanpaths"]
    log = ledger.with_suffix(".log")
    header, *lines = log.read_text().splitlines() if log.exists() else [""]
    if header.endswith(snapshot["stamp"]):
        for line in map(json.loads, lines):
            for name, count in line["counts"].items():
                scanpaths.setdefault(name, {})[line["agreement"]] = count
    return sum(sum(agreements.values()) for agreements in scanpaths.values())


def institutions(folder: Path) -> tuple[list[Path], list[str]]:
    """Two state folders, and the fingerprints of their identities."""
    homes = [folder / "clinic", folder / "university"]
    for home in homes:
        home.mkdir(mode=0o700)
    return homes, [vp.identity(home / "identity.pem") for home in homes]


def session(homes: list[Path], cohorts: list[vp.Cohort], monkeypatch: pytest.MonkeyPatch, **plan: Any) -> list[vp.Session]:
    """Both sides of a finished session of the two institutions."""
    fingerprints = [vp.identity(home / "identity.pem") for home in homes]
    monkeypatch.setenv("VEILPATH_HOME", str(homes[0]))
    host = vp.host(cohorts[0], listen="127.0.0.1:0", peer=fingerprints[1], **PLAN, **plan)
    address = host.address
    monkeypatch.setenv("VEILPATH_HOME", str(homes[1]))
    join = vp.join(cohorts[1], address, peer=fingerprints[0], **PLAN, **plan)
    for side in (host, join):
        side.result(progress=False)
    return [host, join]


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
def test_two_clusters_that_lose_workers_finish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cohorts = [vp.synth_random(count=20, length=90, letters=20, seed=seed) for seed in (1, 2)]
    homes, fingerprints = institutions(tmp_path)
    for home, cohort in zip(homes, cohorts, strict=True):
        cohort.save(home / "cohort.csv")
    address = f"127.0.0.1:{free_port()}"
    script = Path(__file__).with_name("institution.py")
    started = []
    for role, home, peer in zip(("host", "join"), homes, reversed(fingerprints), strict=True):
        words = [str(script), role, address, peer, str(home / "cohort.csv"), str(home), str(TILES)]
        environment = os.environ | {"VEILPATH_HOME": str(home)}
        started.append(
            subprocess.Popen(
                [sys.executable, "-W", "ignore", *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
            )
        )
    try:
        outputs = [process.communicate(timeout=300) for process in started]
    finally:
        for process in started:
            process.kill()
    for process, (said, errors) in zip(started, outputs, strict=True):
        assert process.returncode == 0, errors
        assert "killed" in said
    results = [vp.read_result(home / "result.json") for home in homes]
    # Every pair is counted once, whichever workers were killed.
    for home, result in zip(homes, results, strict=True):
        assert counted(home) == len(result) == len(cohorts[0]) * len(cohorts[1])
    # A single run, with other identities.
    again = tmp_path / "again"
    again.mkdir()
    for result, side in zip(results, session(institutions(again)[0], cohorts, monkeypatch), strict=True):
        expected = side.result(progress=False)
        assert without_time(result.info) == without_time(expected.info)
        assert result.to_polars().equals(expected.to_polars())


def test_a_plan_that_is_too_large_for_one_result_needs_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cohorts = [vp.synth_random(count=3, length=5, letters=5, seed=seed) for seed in (1, 2)]
    homes, _ = institutions(tmp_path)
    agreed, _ = session(homes, cohorts, monkeypatch, tile_count=2)
    assert vp.dask.MAX_MERGED == 50_000_000
    monkeypatch.setattr(vp.dask, "MAX_MERGED", 8)
    monkeypatch.setenv("VEILPATH_HOME", str(homes[0]))
    with LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster, Client(cluster) as client:
        monkeypatch.setattr(client, "submit", None)
        with pytest.raises(vp.PlanError, match=r"9 pairs .* at most 8: pass folder"):
            vp.dask._compare_privately(agreed, "127.0.0.1:1", None, None, {"client": client})


def test_an_impossible_result_is_reported_after_all_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []

    def work(plan: Any, order: bytes, tile: int, *where: Any) -> int:
        ran.append(tile)
        if tile == failing:
            raise error
        time.sleep(0.05)
        return tile

    class Coordination:
        plan, address, tile_count = "plan", "127.0.0.1:1", 20

        def order(self, tile: int, hours: float) -> bytes:
            return b"order"

        def messages(self) -> list[str]:
            return []

    monkeypatch.setattr(_veilpath, "work", work)
    monkeypatch.setattr(vp.dask, "Result", lambda result: result)
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster, set_as_default=False) as client:
        coordination: Any = Coordination()

        def tiles() -> list[Any]:
            return vp.dask._tiles(client, coordination, "127.0.0.1:1", vp.dask._private_tile, {})

        failing = 0
        assert tiles() == list(range(1, 21))
        ran.clear()
        failing, error = 2, vp.PeerError("impossible")
        error.impossible_result = True
        with pytest.raises(vp.PeerError, match="impossible"):
            tiles()
        # Every tile ran once: the other side sees nothing else.
        assert sorted(ran) == list(range(1, 21))
        ran.clear()
        error.impossible_result = False
        with pytest.raises(vp.PeerError, match="impossible"):
            tiles()
        assert len(ran) < 20


def test_lasting_errors_are_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    cohorts = [vp.synth_random(count=3, length=5, letters=5, seed=seed) for seed in (1, 2)]
    started = []
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        homes, _ = institutions(folder)
        agreed, _ = session(homes, cohorts, monkeypatch, tile_count=2)
        gateway = f"127.0.0.1:{free_port()}"
        monkeypatch.setenv("VEILPATH_HOME", str(homes[0]))
        coordination = _veilpath.coordinate(agreed.agreement, None, "127.0.0.1:0", gateway, 4, 64)
        started.append((coordination, gateway))
    (coordination, gateway), (other, other_gateway) = started

    def work(gateway: str, coordinator: str, seconds: float = 9) -> vp.Result | vp.PeerError:
        options = {"wait": 0.5}
        end = time.time() + seconds
        return vp.dask._private_tile(coordination.plan, coordination.order(1, 1.0), 1, gateway, coordinator, options, end)

    try:
        # The other side's worker does not connect: the tile is rescheduled as long as the keys are valid.
        with pytest.raises(Reschedule):
            work(gateway, coordination.address)
        assert "tile 1 will be retried: the other side did not connect" in caplog.text
        with pytest.raises(vp.ConnectionError) as ended:
            work(gateway, coordination.address, -1)
        assert not ended.value.lasting
        # Retrying at the gateway or coordinator of another agreement cannot help.
        with pytest.raises(vp.ConnectionError, match="refused this worker key") as refused:
            work(other_gateway, coordination.address)
        assert refused.value.lasting
        with pytest.raises(vp.VeilpathError):
            work(gateway, other.address)
        deadline = time.time() + 9
        while not (messages := other.messages()) and time.time() < deadline:
            time.sleep(0.05)
        assert any("rejected" in message for message in messages)
    finally:
        coordination.stop()
        other.stop()

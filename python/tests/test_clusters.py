"""Two institutions compare on two Dask clusters, each of which loses a worker."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import veilpath as vp

TILES = 6


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


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
def test_two_clusters_that_lose_workers_finish(tmp_path: Path) -> None:
    cohorts = [vp.synth_random(count=20, length=60, letters=20, seed=seed) for seed in (1, 2)]
    homes = [tmp_path / "clinic", tmp_path / "university"]
    for home, cohort in zip(homes, cohorts, strict=True):
        home.mkdir(mode=0o700)
        cohort.save(home / "cohort.csv")
    fingerprints = [vp.identity(home / "identity.pem") for home in homes]
    address = f"127.0.0.1:{free_port()}"
    script = Path(__file__).with_name("institution.py")
    started = []
    for role, home, peer in zip(("host", "join"), homes, reversed(fingerprints), strict=True):
        words = [str(script), role, address, peer, str(home / "cohort.csv"), str(home / "result.json"), str(TILES)]
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
        outputs = [process.communicate(timeout=120) for process in started]
    finally:
        for process in started:
            process.kill()
    for process, (said, errors) in zip(started, outputs, strict=True):
        assert process.returncode == 0, errors
        assert "killed" in said
    expected = vp.compare(*cohorts, metric="levenshtein", progress=False)
    for home in homes:
        result = vp.read_result(home / "result.json")
        assert result.matrix().tolist() == expected.matrix().tolist()
        # Every pair once, whatever was killed.
        assert counted(home) == len(expected)

"""Shared fixtures: the command line, test data, cohorts."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import veilpath as vp

ROOT = Path(__file__).resolve().parents[2]


def command() -> str | None:
    """The command line: $VEILPATH_CLI, or the newest one of this repository, or the installed one."""
    if named := os.environ.get("VEILPATH_CLI"):
        return named
    built = [ROOT / "target" / profile / "veilpath" for profile in ("release", "debug")]
    built = [path for path in built if path.exists()]
    if built:
        return str(max(built, key=lambda path: path.stat().st_mtime))
    return shutil.which("veilpath")


@pytest.fixture(scope="session")
def cli() -> Callable[..., str]:
    """Runs a command of the command line."""
    program = command()
    if program is None:
        pytest.skip("the command line is not built: cargo build, or set VEILPATH_CLI")

    def run(*arguments: str | os.PathLike[str], home: Path | None = None) -> str:
        environment = os.environ | ({} if home is None else {"VEILPATH_HOME": str(home)})
        words = [program, *(os.fspath(argument) for argument in arguments)]
        done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def vectors() -> Path:
    """Scores of other programs, if the files are present."""
    for folder in ROOT.parents:
        if (found := folder / "shared" / "vectors").is_dir():
            return found
    pytest.skip("shared/vectors is not on this machine")


@pytest.fixture(scope="session")
def testdata() -> Path:
    """Test data of the repository."""
    return ROOT / "testdata"


@pytest.fixture(scope="session")
def fixations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of fixations."""
    path = tmp_path_factory.mktemp("fixations") / "fixations.csv"
    vp.synth_fixations(path, groups={"patients": 6, "controls": 6}, stimuli=3, seconds=4, seed=7)
    return path


@pytest.fixture(scope="session")
def cohort(fixations: Path) -> vp.Cohort:
    """A cohort with fixations and groups."""
    return vp.encode(fixations, screen=(1280, 720), screen_cm=(52, 29), distance=60, keep_fixations=True)


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a table."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def read_json(path: Path) -> dict[str, Any]:
    """A JSON file."""
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def without_time(info: dict[str, Any]) -> dict[str, Any]:
    """A result without the parts that differ from run to run."""
    return {name: value for name, value in info.items() if name != "cost"}

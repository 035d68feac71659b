"""Private comparisons, also with the command line on the other side."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import command, read_json

import veilpath as vp

Sides = tuple[Path, Path]


@pytest.fixture
def identities(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sides:
    """The identity files of two institutions, each in its own folder."""
    monkeypatch.delenv("VEILPATH_HOME", raising=False)
    folders = (tmp_path / "clinic", tmp_path / "university")
    for folder in folders:
        folder.mkdir(mode=0o700)
    return folders[0] / "identity.pem", folders[1] / "identity.pem"


@pytest.fixture(scope="module")
def cohorts() -> tuple[vp.Cohort, vp.Cohort]:
    everyone = vp.synth(groups={"patients": 10, "controls": 10}, stimuli=1, seconds=3, seed=7)
    return vp.split(everyone, seed=1)


def test_two_institutions_compare_in_one_process(
    identities: Sides, cohorts: tuple[vp.Cohort, vp.Cohort], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fingerprints = [vp.identity(path) for path in identities]
    assert vp.identity(identities[0], create=False) == fingerprints[0]
    steps: list[str] = []

    def university(address: str) -> None:
        # The state folder is chosen when the session starts.
        with vp.join(cohorts[1], address, peer=fingerprints[0], identity=identities[1], limit_per_scanpath=100) as session:
            steps.append(str(len(session.result())))

    monkeypatch.setenv("VEILPATH_HOME", str(identities[0].parent))
    with vp.host(
        cohorts[0], listen="127.0.0.1:0", peer=fingerprints[1], identity=identities[0], limit_per_scanpath=100
    ) as session:
        address = session.address
        assert session.fingerprint == fingerprints[0]
        monkeypatch.setenv("VEILPATH_HOME", str(identities[1].parent))
        other = threading.Thread(target=university, args=(address,))
        other.start()
        result = session.result()
        other.join()
    assert steps == ["100"]
    assert session.done
    assert "agreed on the plan" in session.steps
    assert session.result().info == result.info
    in_the_clear = vp.compare(*cohorts)
    assert result.to_polars().equals(in_the_clear.to_polars())
    assert any(item["to"] == "both" for item in result.info["revealed"])


@pytest.mark.parametrize("python_hosts", [True, False])
def test_python_and_the_command_line_compare_with_each_other(
    python_hosts: bool,
    identities: Sides,
    cohorts: tuple[vp.Cohort, vp.Cohort],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cli: Callable[..., str],
) -> None:
    ours, theirs = identities
    fingerprint = vp.identity(ours)
    their_fingerprint = cli("identity", "-q", home=theirs.parent).strip()
    monkeypatch.setenv("VEILPATH_HOME", str(ours.parent))
    own, other = cohorts if python_hosts else reversed(cohorts)
    other.save(tmp_path / "cohort.csv")
    scores = tmp_path / "scores.json"
    options = ["--peer", fingerprint, "--cohort", str(tmp_path / "cohort.csv"), "--reveal", "test:groups,200"]
    options += ["--metric", "scanmatch", "-q", "-o", str(scores)]
    environment = os.environ | {"VEILPATH_HOME": str(theirs.parent)}
    program = command()
    assert program is not None
    plan = {"metric": "scanmatch", "reveal": "test:groups,200", "identity": ours}
    if python_hosts:
        with vp.host(own, listen="127.0.0.1:0", peer=their_fingerprint, **plan) as session:  # type: ignore[arg-type]
            partner = subprocess.Popen([program, "join", session.address, *options], env=environment)
            result = session.result()
            assert partner.wait(60) == 0
    else:
        address = "127.0.0.1:17171"
        partner = subprocess.Popen([program, "host", "--listen", address, *options], env=environment)
        with vp.join(own, address, peer=their_fingerprint, wait=30, **plan) as session:  # type: ignore[arg-type]
            result = session.result()
        assert partner.wait(60) == 0
    assert result.answers == read_json(scores)["answers"]
    assert result.answers
    # The same permutations in the clear give the same p value.
    coins = next(iter(result.answers))["coins"]
    again = vp.compare(*cohorts, metric="scanmatch", reveal="test:groups,200", coins=coins)
    assert [answer["p_value"] for answer in again.answers] == [answer["p_value"] for answer in result.answers]


def test_different_plans_are_peer_errors(
    identities: Sides, cohorts: tuple[vp.Cohort, vp.Cohort], monkeypatch: pytest.MonkeyPatch
) -> None:
    fingerprints = [vp.identity(path) for path in identities]
    monkeypatch.setenv("VEILPATH_HOME", str(identities[0].parent))
    host = vp.host(cohorts[0], listen="127.0.0.1:0", peer=fingerprints[1], identity=identities[0], reveal="mean")
    address = host.address
    monkeypatch.setenv("VEILPATH_HOME", str(identities[1].parent))
    join = vp.join(cohorts[1], address, peer=fingerprints[0], identity=identities[1], reveal="groups")
    for session in (host, join):
        with pytest.raises(vp.PeerError, match="reveal"):
            session.result()


def test_local_errors_are_raised_early(identities: Sides, cohorts: tuple[vp.Cohort, vp.Cohort], tmp_path: Path) -> None:
    with pytest.raises(vp.InputError, match=r"veilpath\.identity\(\) creates one"):
        vp.host(cohorts[0], listen="127.0.0.1:0", peer=vp.identity(identities[1]), identity=tmp_path / "none.pem")
    own = vp.identity(identities[0])
    with pytest.raises(vp.PlanError, match="listen: give this or relay"):
        vp.host(cohorts[0], peer=own, identity=identities[0])
    with pytest.raises(vp.PlanError, match="peer: "):
        vp.host(cohorts[0], listen="127.0.0.1:0", peer="not a fingerprint", identity=identities[0])
    with pytest.raises(vp.PlanError, match="own fingerprint"):
        vp.host(cohorts[0], listen="127.0.0.1:0", peer=own, identity=identities[0]).result()
    with pytest.raises(vp.PlanError, match="limit_per_scanpath: "):
        vp.host(cohorts[0], listen="x", peer=own, identity=identities[0], limit_per_scanpath=-1)


def test_an_unreachable_host_is_a_connection_error(identities: Sides, cohorts: tuple[vp.Cohort, vp.Cohort]) -> None:
    vp.identity(identities[0])
    peer = vp.identity(identities[1])
    options = {"identity": identities[0], "reveal": "mean", "wait": 0.3}
    with pytest.raises(ConnectionError, match="is the host running"):
        vp.join(cohorts[0], "127.0.0.1:9", peer=peer, **options).result()  # type: ignore[arg-type]
    with pytest.raises(vp.ConnectionError, match="within"):
        vp.host(cohorts[0], listen="127.0.0.1:0", peer=peer, **options).result()  # type: ignore[arg-type]


def test_sessions_can_be_cancelled(identities: Sides, cohorts: tuple[vp.Cohort, vp.Cohort]) -> None:
    vp.identity(identities[0])
    peer = vp.identity(identities[1])
    start = time.monotonic()
    with vp.host(cohorts[0], listen="127.0.0.1:0", peer=peer, identity=identities[0], reveal="mean") as session:
        assert not session.done
        assert session.address.startswith("127.0.0.1:")
    assert session.done
    with pytest.raises(vp.Cancelled):
        session.result()
    assert time.monotonic() - start < 5


INTERRUPTED = """
import threading, time, veilpath as vp
def ready():
    time.sleep(0.7)
    print("ready", flush=True)
cohort = vp.synth_random(count=3000, length=300, letters=49, seed=1)
threading.Thread(target=ready).start()
start = time.monotonic()
try:
    {call}
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - start)
"""

CALLS = [
    "vp.pairwise(cohort, metric='dtw', grid=(7, 7), progress=False)",
    "vp.compare(cohort, cohort, engine='garbled', progress=False)",
    "vp.host(cohort, listen='127.0.0.1:0', peer='{peer}', reveal='mean').result()",
]


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_ends_long_calls(call: str, identities: Sides) -> None:
    home = identities[0].parent
    vp.identity(identities[0])
    script = INTERRUPTED.format(call=call.format(peer=vp.identity(identities[1])))
    environment = os.environ | {"VEILPATH_HOME": str(home)}
    words = [sys.executable, "-W", "ignore", "-c", script]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(30) == 0
    assert rest.startswith("interrupted"), rest
    assert float(rest.split()[1]) < 8


def test_policies_are_written_and_checked(identities: Sides, tmp_path: Path) -> None:
    peer = vp.identity(identities[1])
    path = tmp_path / "policy.toml"
    vp.write_policy_example(path)
    with pytest.raises(vp.OutputError):
        vp.write_policy_example(path)
    with pytest.raises(vp.PolicyError, match="another plan"):
        vp.check_policy(peer, policy=path, engine="plain", identity=identities[0])
    path.write_text("nonsense")
    with pytest.raises(vp.InputError, match=r"policy\.toml"):
        vp.check_policy(peer, policy=path, identity=identities[0])


def test_unknown_arguments_are_errors(cohorts: tuple[vp.Cohort, vp.Cohort], identities: Sides) -> None:
    """A misspelt limit must not be ignored. Sessions take no Paillier key, because a partner could use it twice."""
    peer = vp.identity(identities[1])
    for name in ("limit_per_scanpaht", "key"):
        with pytest.raises(TypeError, match=f"host.*'{name}'"):
            vp.host(cohorts[0], listen="127.0.0.1:0", peer=peer, **{name: 3})  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=f"join.*'{name}'"):
            vp.join(cohorts[1], "127.0.0.1:1", peer=peer, **{name: 3})  # type: ignore[arg-type]

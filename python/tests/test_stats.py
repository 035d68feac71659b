"""Statistics and reports equal those of the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from conftest import read_json

import veilpath as vp


def test_statistics_equal_those_of_the_command_line(cohort: vp.Cohort, tmp_path: Path, cli: Callable[..., str]) -> None:
    result = vp.pairwise(cohort, metric="scanmatch")
    result.save(tmp_path / "r.json")
    cohort.save(tmp_path / "c.csv")
    ours = vp.stats(result, groups=cohort, permutations=499, resamples=100)
    options = ["--groups", tmp_path / "c.csv", "--permutations", "499", "--resamples", "100", "-q"]
    cli("stats", tmp_path / "r.json", *options, "-o", tmp_path / "s.json")
    assert ours.answers == read_json(tmp_path / "s.json")["answers"]
    assert len(ours.answers) == 4
    assert "p = " in str(ours) or "p < " in str(ours)


def test_statistics_accept_every_kind_of_groups_and_sites(cohort: vp.Cohort) -> None:
    first, second = vp.split(cohort, seed=1, names=("clinic", "university"))
    between = vp.compare(first, second)
    frame = pl.DataFrame({"participant": list(cohort.groups), "group": list(cohort.groups.values())})
    answers = [
        vp.stats(between, groups=groups, answers="groups", resamples=0).answers for groups in (cohort.groups, frame, cohort)
    ]
    assert answers[0] == answers[1] == answers[2]
    within = [vp.compare(half, half, names=(half.name, half.name)) for half in (first, second)]
    with pytest.warns(vp.VeilpathWarning, match="exchangeable"):
        assert vp.stats(*within, between, answers="test:sites", permutations=99).answers
    with pytest.raises(vp.PlanError, match="expected one result, or three"):
        vp.stats(between, between)
    with pytest.raises(vp.PlanError, match="answers: "):
        vp.stats(between, answers="everything")
    with pytest.raises(vp.PlanError, match="pass groups"):
        vp.stats(between, answers="test:groups")
    with pytest.warns(vp.VeilpathWarning, match="no groups"):
        vp.stats(between, resamples=0)


def test_reports_are_html_pages(cohort: vp.Cohort, tmp_path: Path, cli: Callable[..., str]) -> None:
    result = vp.pairwise(cohort, metric="scanmatch")
    result.save(tmp_path / "result.json")
    cli("report", tmp_path / "result.json", "-o", tmp_path / "theirs.html", "-q")
    vp.report(vp.read_result(tmp_path / "result.json"), tmp_path / "ours.html")
    assert (tmp_path / "ours.html").read_text() == (tmp_path / "theirs.html").read_text()
    first, second = cohort.participants[:2]
    vp.report(result, tmp_path / "own.html", title="Ours", cohort=cohort, pairs=[(first, second)])
    page = (tmp_path / "own.html").read_text()
    assert "Ours" in page
    assert "for your institution only" in page
    with pytest.raises(vp.PlanError, match="html"):
        vp.report(result, tmp_path / "report.pdf")
    with pytest.raises(vp.PlanError, match="available stimuli"):
        vp.report(result, tmp_path / "r.html", stimuli=["nothing"])


def test_errors_in_result_files_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("a,b,stimulus,score,similarity\np,q,s,1,0.5\np,q,s,much,0.5\n")
    with pytest.raises(vp.InputError) as error:
        vp.read_result(path)
    assert (error.value.file, error.value.line) == (str(path), 3)


def test_exceptions_share_a_base_class() -> None:
    for kind in (
        vp.InputError,
        vp.PlanError,
        vp.PolicyError,
        vp.OutputError,
        vp.PeerError,
        vp.ConnectionError,
        vp.Cancelled,
    ):
        assert issubclass(kind, vp.VeilpathError)
    assert issubclass(vp.InputError, ValueError)
    assert issubclass(vp.ConnectionError, ConnectionError)
    assert issubclass(vp.OutputError, OSError)

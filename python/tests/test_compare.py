"""The numbers equal those of the command line, to the last bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import read_csv, read_json, without_time

import veilpath as vp

METRICS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("levenshtein", {}, []),
    ("needleman-wunsch", {"substitution": "manhattan", "gap": 2}, ["--substitution", "manhattan", "--gap", "2"]),
    ("needleman-wunsch", {"match": 2, "mismatch": 1, "gap": 1}, ["--match", "2", "--mismatch", "1", "--gap", "1"]),
    ("smith-waterman", {}, []),
    ("scanmatch", {"threshold": 3.5, "gap": -0.5}, ["--threshold", "3.5", "--gap", "-0.5"]),
    ("scanmatch", {"precision": 0.001, "wrap": True}, ["--precision", "0.001", "--wrap"]),
    ("sequence-score", {}, []),
    ("dtw", {"divide_by": "lengths"}, ["--divide-by", "lengths"]),
    ("frechet", {"positions": "fixations"}, ["--positions", "fixations"]),
    ("hausdorff", {}, []),
    ("crqa", {"measures": ["rec", "det"], "radius": 1}, ["--measures", "rec,det", "--radius", "1"]),
    ("scasim", {"modulator": 0.9}, ["--modulator", "0.9"]),
    ("multimatch", {"simplify": (45, 100, 300)}, ["--simplify", "45,100,300"]),
    ("subsmatch", {"window": 2}, ["--window", "2"]),
]


@pytest.fixture(scope="module")
def halves(cohort: vp.Cohort, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("halves")
    first, second = vp.split(cohort, seed=1)
    paths = (folder / "a.csv", folder / "b.csv")
    first.save(paths[0])
    second.save(paths[1])
    return paths


@pytest.mark.parametrize(("metric", "arguments", "flags"), METRICS)
def test_every_metric_gives_the_numbers_of_the_command_line(
    metric: Any,
    arguments: dict[str, Any],
    flags: list[str],
    halves: tuple[Path, Path],
    tmp_path: Path,
    cli: Callable[..., str],
) -> None:
    cohorts = [vp.read_cohort(path) for path in halves]
    result = vp.compare(*cohorts, metric=metric, names=("a", "b"), **arguments)
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    result.save(ours)
    cli("compare", *halves, "--metric", metric, *flags, "--names", "a,b", "-q", "-o", theirs)
    # The JSON has the shortest decimals that read back to the same doubles.
    assert without_time(read_json(ours)) == without_time(read_json(theirs))
    assert len(result) > 0


def test_encoding_gives_the_cohort_of_the_command_line(fixations: Path, tmp_path: Path, cli: Callable[..., str]) -> None:
    ours, theirs = tmp_path / "ours.csv", tmp_path / "theirs.csv"
    vp.encode(fixations, screen=(1280, 720), grid=(8, 6), bin=50, keep_fixations=True).save(ours)
    options = ["--screen", "1280x720", "--grid", "8x6", "--bin", "50", "--keep-fixations", "-q"]
    cli("encode", fixations, *options, "-o", theirs)
    assert ours.read_text() == theirs.read_text()


def pairs_of(rows: list[dict[str, str]]) -> tuple[vp.Cohort, vp.Cohort]:
    """Two cohorts whose pairs of the same stimulus are the rows."""
    frames = (
        pl.DataFrame(
            {
                "participant": [side] * len(rows),
                "stimulus": [str(number) for number in range(len(rows))],
                "scanpath": [row[side] for row in rows],
            }
        )
        for side in "ab"
    )
    first, second = (vp.read_cohort(frame) for frame in frames)
    return first, second


@pytest.mark.filterwarnings("ignore::veilpath.VeilpathWarning")
def test_numbers_equal_those_of_other_programs(vectors: Path, tmp_path: Path, cli: Callable[..., str]) -> None:
    tables: list[tuple[str, str, dict[str, Any], list[str]]] = [
        ("alignment_7x7.csv", "levenshtein", {"metric": "levenshtein"}, []),
        (
            "alignment_7x7.csv",
            "nw_manhattan_gap2",
            {"metric": "needleman-wunsch", "substitution": "manhattan", "gap": 2, "grid": (7, 7)},
            ["--substitution", "manhattan", "--gap", "2", "--grid", "7x7"],
        ),
        (
            "alignment_7x7.csv",
            "sw_match2_mismatch1_gap1",
            {"metric": "smith-waterman", "match": 2, "mismatch": 1, "gap": 1},
            ["--match", "2", "--mismatch", "1", "--gap", "1"],
        ),
        ("strings_7x7.csv", "levenshtein", {"metric": "levenshtein"}, []),
        ("strings_7x7.csv", "sequence_score", {"metric": "sequence-score"}, []),
        ("subsmatch_7x7.csv", "w3", {"metric": "subsmatch", "window": 3}, ["--window", "3"]),
    ]
    for table, column, arguments, flags in tables:
        rows = [row for row in read_csv(vectors / table) if row["a"] and row["b"]]
        first, second = pairs_of(rows)
        result = vp.compare(first, second, **arguments)
        frame = result.to_polars()
        scores = dict(zip(frame["stimulus"], frame[result.measures[0]], strict=True))
        files = [tmp_path / f"{side}.csv" for side in "ab"]
        for cohort, file in zip((first, second), files, strict=True):
            cohort.to_polars().write_csv(file)
        cli("compare", *files, "--metric", arguments["metric"], *flags, "-q", "-o", tmp_path / "c.csv")
        of_command = {row["stimulus"]: row[result.measures[0]] for row in read_csv(tmp_path / "c.csv")}
        for number, row in enumerate(rows):
            ours, theirs = scores[str(number)], of_command[str(number)]
            if ours is None:
                # SubsMatch is not defined for scanpaths that are shorter than its window.
                assert theirs == ""
                assert min(len(row["a"]), len(row["b"])) < 3
                continue
            assert ours == float(theirs), (table, number)
            assert math.isclose(ours, float(row[column]), rel_tol=1e-9, abs_tol=1e-12), (table, column, number)


def test_results_convert_to_every_kind_of_frame(cohort: vp.Cohort) -> None:
    first, second = vp.split(cohort, seed=1)
    result = vp.compare(first, second, metric="crqa")
    tables = result.to_pandas(), result.to_polars(), result.to_arrow()
    assert isinstance(tables[0], pd.DataFrame)
    assert isinstance(tables[1], pl.DataFrame)
    assert isinstance(tables[2], pa.Table)
    assert list(tables[0].columns) == tables[1].columns == tables[2].column_names
    assert tables[1].columns == ["a", "b", "stimulus", "rec", "det", "lam", "corm"]
    assert tables[0]["rec"].tolist() == tables[1]["rec"].to_list() == tables[2]["rec"].to_pylist()
    assert len(tables[0]) == len(result)


def test_a_matrix_has_the_pairs_of_a_stimulus(cohort: vp.Cohort) -> None:
    first, second = vp.split(cohort, seed=1)
    result = vp.compare(first, second, metric="scanmatch")
    rows, columns = result.labels()
    matrix = result.matrix(stimulus="scene-1", measure="similarity")
    assert matrix.shape == (len(rows), len(columns)) == (6, 6)
    frame = result.to_polars().filter(pl.col("stimulus") == "scene-1")
    for a, b, similarity in frame.select("a", "b", "similarity").iter_rows():
        assert matrix[rows.index(a), columns.index(b)] == similarity
    each = [result.matrix(stimulus=stimulus) for stimulus in result.stimuli]
    np.testing.assert_allclose(result.matrix(), np.mean(each, axis=0), rtol=1e-12)
    matrix[0, 0] = 0  # the caller owns the matrix
    with pytest.raises(vp.PlanError, match="scene-1"):
        result.matrix(stimulus="nothing")
    with pytest.raises(vp.PlanError, match="similarity"):
        result.matrix(measure="nothing")


def test_a_pairwise_matrix_works_with_scikit_learn(cohort: vp.Cohort) -> None:
    from sklearn.cluster import AgglomerativeClustering

    result = vp.pairwise(cohort, metric="dtw")
    distances = result.matrix()
    rows, columns = result.labels()
    assert rows == columns == cohort.participants
    np.testing.assert_array_equal(distances, distances.T)
    # A scanpath is equal to itself.
    np.testing.assert_array_equal(np.diag(result.matrix(stimulus="scene-1")), 0)
    clusters = AgglomerativeClustering(2, metric="precomputed", linkage="average").fit_predict(distances)
    assert set(clusters) == {0, 1}


def test_a_rehearsal_gives_the_same_numbers(cohort: vp.Cohort) -> None:
    first, second = vp.split(cohort, seed=1)
    in_the_clear = vp.compare(first, second)
    private = vp.compare(first, second, engine="garbled")
    assert private.to_polars().equals(in_the_clear.to_polars())
    assert private.info["revealed"]
    assert vp.compare(first, second, reveal="threshold:9").to_polars()["within"].dtype == pl.Boolean


def test_results_are_saved_and_read(cohort: vp.Cohort, tmp_path: Path) -> None:
    result = vp.pairwise(cohort)
    result.save(tmp_path / "r.json")
    again = vp.read_result(tmp_path / "r.json")
    assert again.info == result.info
    assert again.to_polars().equals(result.to_polars())
    with pytest.raises(vp.PlanError, match="json"):
        result.save(tmp_path / "r.xlsx")
    (tmp_path / "notes.csv").write_text("my notes\n")
    with pytest.raises(vp.OutputError, match="force=True") as error:
        result.save(tmp_path / "notes.csv")
    assert error.value.file == str(tmp_path / "notes.csv")
    result.save(tmp_path / "notes.csv", force=True)
    assert "score" in str(result)
    html = result._repr_html_()
    assert "<svg" in html
    assert "mean" in html
    assert "<script" not in html
    assert "<style" not in html


@pytest.mark.filterwarnings("ignore::veilpath.VeilpathWarning")
def test_wrong_arguments_are_named_in_errors(cohort: vp.Cohort) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"metric": "scan-match"}, "metric: .*scanmatch"),
        ({"threshold": 3}, "threshold does not apply"),
        ({"match": 2}, "match does not apply"),
        ({"metric": "scanmatch", "grid": (9, 9)}, "leave grid out"),
        ({"engine": "magic"}, "engine: .*garbled"),
        ({"metric": "dtw", "engine": "paillier"}, 'engine="'),
        ({"reveal": "everything"}, "reveal: expected score"),
        ({"key_bits": 2048}, "key_bits: it is only for the paillier engine"),
        ({"gap": "much"}, "gap: "),
        ({"pad_to": 0}, "pad_to: "),
    ]
    for arguments, expected in cases:
        with pytest.raises(vp.PlanError, match=expected):
            vp.compare(cohort, cohort, **arguments)
    other = vp.synth(stimuli=1, seed=1).to_polars().with_columns(stimulus=pl.lit("elsewhere"))
    with pytest.raises(vp.PlanError, match='pairs="all"'):
        vp.compare(vp.read_cohort(cohort.to_polars()), vp.read_cohort(other))
    letters = vp.read_cohort(pl.DataFrame({"participant": ["p"], "scanpath": ["ABC"]}))
    with pytest.raises(vp.PlanError, match="keep_fixations=True"):
        vp.compare(letters, letters, metric="multimatch")


def test_progress_is_reported_and_can_cancel_a_call(cohort: vp.Cohort) -> None:
    seen: list[tuple[int, int]] = []
    vp.pairwise(cohort, metric="dtw", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] > 0

    def stop(done: int, total: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        vp.pairwise(cohort, metric="dtw", progress=stop)

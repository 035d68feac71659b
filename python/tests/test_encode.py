"""Encodes files, patterns and data frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import veilpath as vp

SCREEN = (1280, 720)


def letters(cohort: vp.Cohort) -> list[tuple[Any, ...]]:
    return cohort.to_polars().rows()


def test_every_kind_of_frame_gives_the_cohort_of_the_file(fixations: Path) -> None:
    expected = letters(vp.encode(fixations, screen=SCREEN))
    table = pl.read_csv(fixations)
    pandas = pd.read_csv(fixations)
    frames: list[Any] = [
        table,
        pandas,
        table.to_arrow(),
        pd.read_csv(fixations, dtype_backend="pyarrow"),
        pandas.convert_dtypes(),
        pandas.astype({"participant": "category", "stimulus": "category"}),
        table.with_columns(pl.col("participant", "stimulus").cast(pl.Categorical)),
        pl.concat([table[:10], table[10:17], table[17:]], rechunk=False),
        table.to_arrow().to_reader(max_chunksize=7),
        pandas.set_index("participant").reset_index(),
    ]
    for frame in frames:
        assert letters(vp.encode(frame, screen=SCREEN)) == expected, type(frame)


def test_several_files_and_patterns_are_read(fixations: Path, tmp_path: Path) -> None:
    table = pl.read_csv(fixations)
    for (participant,), rows in table.group_by("participant", maintain_order=True):
        rows.drop("participant", "group").write_csv(tmp_path / f"{participant}.csv")
    cohort = vp.encode(str(tmp_path / "*.csv"), screen=SCREEN)
    assert cohort.participants == sorted(table["participant"].unique())
    listed = vp.encode(sorted(tmp_path.glob("*.csv")), screen=SCREEN)
    assert letters(listed) == letters(cohort)
    assert cohort.summary is not None
    assert len(cohort.summary["files"]) == 12
    with pytest.raises(vp.InputError, match="no file matches"):
        vp.encode(str(tmp_path / "*.asc"))
    with pytest.raises(vp.InputError, match="there is no such file"):
        vp.encode(tmp_path / "nothing.csv")


def test_a_list_of_frames_is_read(fixations: Path) -> None:
    table = pl.read_csv(fixations)
    parts = [rows for _, rows in table.group_by("participant", maintain_order=True)]
    assert letters(vp.encode(parts, screen=SCREEN)) == letters(vp.encode(table, screen=SCREEN))


def frame(**columns: Any) -> pd.DataFrame:
    usual: dict[str, Any] = {
        "participant": ["p", "p", "q"],
        "stimulus": ["s", "s", "s"],
        "x": [10.0, 200.0, 300.0],
        "y": [10.0, 20.0, 30.0],
        "duration": [200, 210, 220],
    }
    return pd.DataFrame({name: value for name, value in (usual | columns).items() if value is not None})


def test_ids_may_be_numbers() -> None:
    cohort = vp.encode(frame(participant=[1.0, 1.0, 2.0], stimulus=[7, 7, 7]), screen=SCREEN)
    assert cohort.participants == ["1", "2"]
    assert cohort.stimuli == ["7"]


def test_duplicates_are_refused() -> None:
    with pytest.raises(vp.InputError, match="same participant and stimulus") as error:
        vp.encode([frame(), frame()], screen=SCREEN)
    assert "allow_repeats=True" in str(error.value)
    with pytest.warns(vp.VeilpathWarning, match="kept separately"):
        assert len(vp.encode([frame(), frame()], screen=SCREEN, allow_repeats=True)) == 4
    rows = {"participant": ["p", "q", "p"], "stimulus": ["s", "s", "s"], "scanpath": ["A", "B", "C"]}
    with pytest.raises(vp.InputError, match="row 0 and row 2"):
        vp.read_cohort(pd.DataFrame(rows))
    assert len(vp.read_cohort(pd.DataFrame(rows), allow_repeats=True)) == 3


def test_wrong_types_are_refused_with_the_column() -> None:
    cases: list[tuple[str, Any, str]] = [
        ("x", ["10", "20", "thirty"], "this column has texts, but numbers are needed"),
        ("y", pd.to_datetime(["2020-01-01"] * 3), "points in time"),
        ("duration", pd.to_timedelta([1, 2, 3], unit="ms"), "type of time"),
        ("participant", [["p"], ["p"], ["q"]], "text or whole numbers are needed"),
    ]
    for column, values, expected in cases:
        with pytest.raises(vp.InputError, match=expected) as error:
            vp.encode(frame(**{column: values}), screen=SCREEN)
        assert error.value.column == column
        assert error.value.file == "frame"
        assert "convert it" in str(error.value)


def test_missing_columns_are_refused() -> None:
    with pytest.raises(vp.InputError, match="no columns for the coordinates") as error:
        vp.encode(frame(x=None), screen=SCREEN)
    assert "columns=" in str(error.value)
    with pytest.raises(vp.InputError, match="neither a duration nor a time"):
        vp.encode(frame(duration=None), screen=SCREEN)
    with pytest.raises(vp.InputError, match="gaze_z"):
        vp.encode(frame(), screen=SCREEN, columns={"x": "gaze_z"})
    with pytest.raises(vp.InputError, match='no column "scanpath"'):
        vp.read_cohort(frame())


def test_mixed_units_are_refused() -> None:
    mixed = frame().rename(columns={"x": "x_px", "y": "y_deg"})
    with pytest.raises(vp.InputError, match="different units") as error:
        vp.encode(mixed, screen=SCREEN)
    assert "units" in str(error.value)
    with pytest.raises(vp.InputError, match="screen=") as error:
        vp.encode(frame(x=[-300.0, 200.0, -100.0], y=[-200.0, 50.0, -10.0]))
    assert error.value.file == "frame"


def test_a_missing_value_is_reported_with_its_row() -> None:
    with pytest.raises(vp.InputError, match="participant is missing") as error:
        vp.encode(frame(participant=["p", None, "q"]), screen=SCREEN)
    assert (error.value.row, error.value.column, error.value.line) == (1, "participant", None)


def test_errors_in_files_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("participant,x,y,duration\np,1,2,300\np,one,2,300\n")
    with pytest.raises(vp.InputError, match="not a number") as error:
        vp.encode(path, screen=SCREEN)
    assert (error.value.file, error.value.line, error.value.column) == (str(path), 3, "x")
    assert error.value.row is None


def test_invalid_sources_and_options_are_refused() -> None:
    with pytest.raises(vp.InputError, match="pass files, data frames"):
        vp.encode(5)
    with pytest.raises(vp.InputError, match="neither a file nor a data frame"):
        vp.encode([object()])
    with pytest.raises(vp.PlanError, match="grid: "):
        vp.encode(frame(), grid=(0, 7), screen=SCREEN)
    with pytest.raises(vp.PlanError, match=r"units: .*px-centre"):
        vp.encode(frame(), units="cm", screen=SCREEN)  # type: ignore[arg-type]
    with pytest.raises(vp.InputError, match="not for data frames"):
        vp.encode(frame(), input_format="eyelink-asc", screen=SCREEN)


def test_groups_are_read_from_a_column_a_dictionary_or_a_frame(fixations: Path) -> None:
    table = pl.read_csv(fixations)
    groups = dict(table.select("participant", "group").unique().iter_rows())
    plain = table.drop("group")
    by_column = vp.encode(table, screen=SCREEN)
    assert by_column.groups == groups
    for given in (groups, table.select("participant", "group").unique()):
        assert vp.encode(plain, screen=SCREEN, groups=given).groups == groups
    with pytest.raises(vp.InputError, match="have no group"):
        vp.encode(plain, screen=SCREEN, groups={"p01": "patients"})


def test_raw_gaze_is_reduced_and_fixations_are_detected() -> None:
    time = np.arange(0, 2000, 4.0)
    x = np.where(time < 1000, 100.0, 900.0)
    gaze = pd.DataFrame(
        {"participant": "p", "stimulus": "s", "time_ms": time, "x": x, "y": np.where(time < 1000, 100.0, 600.0)}
    )
    runs = vp.encode(gaze, screen=SCREEN)
    assert runs.encoding["data"] == "gaze"
    detected = vp.encode(gaze, screen=SCREEN, detect="idt", dispersion="40px", keep_fixations=True)
    assert detected.has_fixations
    assert [len(row[-1]) for row in letters(detected)] == [2]
    with pytest.raises(vp.InputError, match="only fixations can be kept"):
        vp.encode(gaze, screen=SCREEN, keep_fixations=True)


def test_cohorts_survive_a_round_trip_through_frames(cohort: vp.Cohort, tmp_path: Path) -> None:
    for table in (cohort.to_pandas(), cohort.to_polars(), cohort.to_arrow()):
        again = vp.read_cohort(table)
        assert letters(again) == letters(cohort)
        assert again.groups == cohort.groups
    cohort.save(tmp_path / "c.csv")
    read = vp.read_cohort(tmp_path / "c.csv")
    assert (read.grid, read.encoding, read.has_fixations) == ((7, 7), cohort.encoding, True)
    assert "36 scanpaths of 12 participants on 3 stimuli" in repr(read)
    with pytest.raises(vp.OutputError, match=r"not written as \.json"):
        cohort.save(tmp_path / "c.json")
    assert not (tmp_path / "c.json").exists()
    with pytest.raises(vp.InputError, match=r"veilpath\.encode"):
        vp.read_cohort(Path(__file__).parents[2] / "testdata" / "formats" / "table.csv")


def test_a_saved_cohort_keeps_its_declarations(tmp_path: Path) -> None:
    letters_only = pl.DataFrame({"participant": ["p", "q"], "scanpath": ["ABBA", "CA"]})
    cohort = vp.read_cohort(letters_only)
    for number, one in enumerate((cohort, *vp.split(cohort, seed=1))):
        path = tmp_path / f"{number}.csv"
        one.save(path)
        assert "alphabet" not in path.read_text()
        # So a metric's grid can say how many letters there are.
        grid: dict[str, Any] = {"metric": "needleman-wunsch", "substitution": "manhattan", "grid": (2, 2)}
        again = vp.read_cohort(path)
        with pytest.warns(vp.VeilpathWarning, match=r"single letters \(A to D\)"):
            scores = [vp.compare(it, it, **grid).to_polars() for it in (again, one)]
        assert scores[0].equals(scores[1])
    declared = vp.synth_random(count=2, length=4, letters=49, seed=1)
    declared.save(tmp_path / "declared.csv")
    assert "# alphabet: letters 49\n" in (tmp_path / "declared.csv").read_text()


def test_the_frame_is_not_held_after_the_call(fixations: Path) -> None:
    table = pa.table(pl.read_csv(fixations))
    before = pa.total_allocated_bytes()
    vp.encode(table, screen=SCREEN)
    assert pa.total_allocated_bytes() == before


@pytest.mark.parametrize(
    "options",
    [
        {"rate": float("inf")},
        {"distance": float("inf")},
        {"screen": (float("inf"), 720)},
        {"screen": (0, 720)},
        {"screen_cm": (52, -1)},
    ],
)
def test_sizes_and_rates_are_finite(fixations: Path, options: dict[str, Any]) -> None:
    with pytest.raises(vp.InputError, match="above 0"):
        vp.encode(fixations, **{"screen": SCREEN, **options})


def test_events_are_a_text_or_a_list() -> None:
    table = pl.DataFrame({"x": [1, 2, 3], "y": [1, 2, 3], "duration": [200, 200, 200], "label": ["FIXA", "PURS", "SACC"]})
    choices: list[tuple[str | list[str], int]] = [
        ("FIXA,PURS", 2),
        (["FIXA", "PURS"], 2),
        ("all", 3),
        (["all"], 3),
        ("fixations", 1),
    ]
    for events, rows in choices:
        cohort = vp.encode(table, name="t", screen=(7, 7), participant="p", events=events)
        assert cohort.summary is not None
        assert cohort.summary["rows_used"] == rows, events

"""Turns gaze and fixations into a cohort."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from veilpath import _pymovements, _veilpath
from veilpath._cohort import Cohort, _given
from veilpath._errors import InputError
from veilpath._progress import progress_callback

if TYPE_CHECKING:
    from veilpath._types import ArrowStream, Grid, Notation, Path, Progress


def encode(
    sources: Path | ArrowStream | object | Iterable[Path | ArrowStream | object],
    *,
    # About the files and frames
    input_format: str | None = None,
    screen: tuple[float, float] | None = None,
    screen_cm: tuple[float, float] | None = None,
    distance: float | None = None,
    units: Literal["px", "px-centre", "fraction", "percent", "norm", "height", "deg", "lonlat"] | None = None,
    time_unit: Literal["s", "ms", "us", "ns"] | None = None,
    rate: float | None = None,
    flip_y: bool = False,
    eye: Literal["left", "right"] | None = None,
    rows: Literal["fixations", "samples"] | None = None,
    events: str | list[str] | None = None,
    participant: str | None = None,
    stimulus: str | None = None,
    name_pattern: str | None = None,
    groups: Path | ArrowStream | Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    # From points to letters
    grid: Grid | None = None,
    aoi: Path | None = None,
    aoi_column: bool | list[str] | None = None,
    outside: Literal["drop", "clamp"] | None = None,
    notation: Notation | None = None,
    bin: float | None = None,  # noqa: A002
    matlab_compat: bool = False,
    drop_empty: bool = False,
    keep_fixations: bool = False,
    # Raw gaze
    detect: Literal["runs", "ivt", "idt"] | None = None,
    velocity: str | None = None,
    velocity_method: str | None = None,
    dispersion: str | None = None,
    min_duration: float | None = None,
    min_dwell: float | None = None,
    downsize: Literal["floor", "round", "ceil"] | None = None,
    merge: bool | None = None,
    max_repeats: int | None = None,
    max_gap: float | None = None,
    runs: Literal["time", "count"] | None = None,
    # This call
    name: str | None = None,
    allow_repeats: bool = False,
    progress: Progress = None,
) -> Cohort:
    """Turns gaze or fixations into letters.

    ``sources`` is one of these, or several: a file; a pattern such as ``"recordings/*.asc"``; a data frame of pandas, polars,
    pyarrow or any other library with the Arrow PyCapsule interface; a pymovements ``Gaze`` or ``Events``. Data frames need
    the columns of a generic table: x and y, a duration or a time, and the participant and stimulus of each row. If they
    have other names, pass ``columns``, as in ``{"x": "gaze_x", "participant": "subject"}``. Frames are read in place,
    without a copy.

    :attr:`Cohort.summary` says what was assumed and dropped. Two recordings of one participant and stimulus in different
    files or frames are an error, unless ``allow_repeats`` is set.
    """
    options = _given(locals())
    for argument in ("sources", "progress"):
        options.pop(argument, None)
    found = _sources(sources, options)
    if isinstance(groups, Mapping):
        options["groups"] = dict(groups)
    if columns is not None:
        options["columns"] = {**options.get("columns", {}), **columns}
    options.setdefault("name", _name(found))
    with progress_callback(progress, "encode", "B") as bar:
        return Cohort(_veilpath.encode(found, options, bar))


def formats() -> dict[str, str]:
    """The names of all file formats for ``input_format``, with their titles."""
    return dict(_veilpath.formats())


def _sources(sources: object, options: dict[str, Any]) -> list[object]:
    """Paths, and pairs of a name and a frame."""
    is_frame = hasattr(sources, "__arrow_c_stream__") or _pymovements.is_pymovements(sources)
    if is_frame or isinstance(sources, str | os.PathLike):
        sources = [sources]
    elif not isinstance(sources, Iterable):
        raise InputError(
            f"sources: this is of the type {type(sources).__name__}\n"
            "  pass files, data frames of pandas, polars or pyarrow, or Gaze and Events of pymovements"
        )
    found: list[object] = []
    for number, source in enumerate(sources):
        if isinstance(source, str | os.PathLike):
            found.extend(_files(os.fspath(source)))
        elif _pymovements.is_pymovements(source):
            found.append((f"frame {number}", _pymovements.frame(source, options)))
        else:
            found.append((f"frame {number}", source))
    if len(found) == 1 and isinstance(found[0], tuple):
        found = [("frame", found[0][1])]
    return found


def _files(path: str) -> list[str]:
    """The files of a pattern, in order; a path that exists is never a pattern."""
    if os.path.exists(path) or not glob.has_magic(path):
        return [path]
    files = sorted(glob.glob(path, recursive=True))
    if not files:
        raise InputError(f"{path}: no file matches this pattern", file=path)
    return files


def _name(sources: list[object]) -> str:
    """The name of the cohort: that of its file, if it has one."""
    match sources:
        case [str(path)]:
            return os.path.splitext(os.path.basename(path))[0]
        case _:
            return "cohort"

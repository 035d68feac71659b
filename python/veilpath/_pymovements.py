"""Turns pymovements' Gaze and Events into frames with the columns of a generic table."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from veilpath._errors import InputError

if TYPE_CHECKING:
    from veilpath._types import ArrowStream


def is_pymovements(source: object) -> bool:
    """Whether this is a pymovements object. Does not import pymovements."""
    module = sys.modules.get("pymovements")
    return module is not None and isinstance(source, module.Gaze | module.Events)


def frame(source: Any, options: dict[str, Any]) -> ArrowStream:
    """The frame of an object. Its metadata becomes options that the user has not given."""
    is_gaze = hasattr(source, "samples")
    columns = dict(options.get("columns", {}))
    if is_gaze and options.get("rows") == "fixations":
        _experiment(source, options, None)
        source, is_gaze = source.events, False
    if not is_gaze:
        table: Any = source.frame
        if "location" not in table.columns and not {"x", "y"} <= columns.keys():
            raise InputError(
                "these events have no location\n"
                '  compute it first: gaze.compute_event_properties(("location", {"position_column": "pixel"}))'
            )
        _set(columns, x="location_x", y="location_y", event="name", start="onset", duration="duration")
        if options.get("bin") is not None or options.get("keep_fixations"):
            options.setdefault("time_unit", "ms")
        options["columns"] = columns
        return table  # type: ignore[no-any-return]
    table = source.samples
    position = next((name for name in ("pixel", "position") if name in table.columns), None)
    if position is None and not {"x", "y"} <= columns.keys():
        raise InputError(
            'this Gaze has neither pixels nor positions\n  name its columns: Gaze(..., pixel_columns=["x", "y"])'
        )
    if position is not None:
        eyes = _eyes(table[position])
        suffix = {2: "", 4: "l", 6: "l"}.get(eyes, "")
        if options.get("eye") == "right" and eyes > 2:
            suffix = "r"
        _set(columns, x=f"{position}_x{suffix}", y=f"{position}_y{suffix}")
    _set(columns, time="time")
    options["columns"] = columns
    options.setdefault("time_unit", "ms")
    options.setdefault("rows", "samples")
    # The chosen columns already select the eye.
    options.pop("eye", None)
    _experiment(source, options, position)
    return table  # type: ignore[no-any-return]


def _set(columns: dict[str, str], **names: str) -> None:
    for ours, theirs in names.items():
        columns.setdefault(ours, theirs)


def _eyes(column: Any) -> int:
    """The length of the lists in a column."""
    lengths = column.drop_nulls().list.len()
    return int(lengths[0]) if len(lengths) else 2


def _experiment(gaze: Any, options: dict[str, Any], position: str | None) -> None:
    """Takes the screen, the distance and the units from the experiment."""
    experiment = gaze.experiment
    screen = getattr(experiment, "screen", None)
    if screen is not None:
        size = (screen.width_px, screen.height_px)
        if None not in size:
            options.setdefault("screen", size)
        size_cm = (screen.width_cm, screen.height_cm)
        known = {"screen_cm": None if None in size_cm else size_cm, "distance": screen.distance_cm}
        for name, value in known.items():
            if value is not None and name not in options:
                options[name] = value
                # The user did not pass it, so no warning says that it has no effect.
                options.setdefault("from_experiment", []).append(name)
        if position == "pixel":
            centred = screen.origin == "center"
            options.setdefault("units", "px-centre" if centred else "px")
    if position == "position":
        options.setdefault("units", "deg")

"""Encodes pymovements objects, with the settings from their metadata."""

from __future__ import annotations

import numpy as np
import polars as pl
import pymovements as pm
import pytest

import veilpath as vp


def gaze(origin: str = "upper left") -> pm.Gaze:
    experiment = pm.Experiment(1280, 720, 52, 29, 60, origin, sampling_rate=500)
    time = np.arange(0, 4000, 2)
    rng = np.random.default_rng(1)
    places = rng.uniform((100, 100), (1180, 620), (40, 2))
    points = np.repeat(places, len(time) // 40, axis=0) + rng.normal(0, 0.5, (len(time), 2))
    if origin == "center":
        points -= (640, 360)
    frame = pl.DataFrame(
        {
            "time": time,
            "x": points[:, 0],
            "y": points[:, 1],
            "subject_id": ["s1"] * 1000 + ["s2"] * 1000,
            "text_id": ["t"] * 2000,
        }
    )
    return pm.Gaze(frame, experiment, trial_columns=["subject_id", "text_id"], pixel_columns=["x", "y"])


COLUMNS = {"participant": "subject_id", "stimulus": "text_id"}


def test_gaze_in_pixels_is_encoded() -> None:
    recorded = gaze()
    cohort = vp.encode(recorded, columns=COLUMNS)
    assert cohort.participants == ["s1", "s2"]
    assert cohort.stimuli == ["t"]
    flat = recorded.samples.with_columns(x=pl.col("pixel").list.get(0), y=pl.col("pixel").list.get(1)).drop("pixel")
    expected = vp.encode(flat, columns=COLUMNS, screen=(1280, 720), time_unit="ms", units="px")
    assert cohort.to_polars().equals(expected.to_polars())
    assert cohort.summary is not None
    assert cohort.summary["rows_used"] == 2000


def test_gaze_in_degrees_and_fixations_are_encoded() -> None:
    recorded = gaze("center")
    recorded.pix2deg()
    recorded.pos2vel("fivepoint")
    by_pixel = vp.encode(recorded, columns=COLUMNS)
    assert by_pixel.summary is not None
    recorded.samples = recorded.samples.drop("pixel")
    by_degrees = vp.encode(recorded, columns=COLUMNS)
    assert by_degrees.summary is not None
    assert by_degrees.summary["rows_read"] == by_pixel.summary["rows_read"] == 2000


def test_events_need_a_location() -> None:
    recorded = gaze()
    recorded.pix2deg()
    recorded.pos2vel("fivepoint")
    recorded.detect("idt", dispersion_threshold=1.0, minimum_duration=60)
    with pytest.raises(vp.InputError, match="compute_event_properties"):
        vp.encode(recorded.events, screen=(1280, 720))
    recorded.compute_event_properties(("location", {"position_column": "pixel"}))
    of_events = vp.encode(recorded.events, columns=COLUMNS, screen=(1280, 720), units="px")
    of_gaze = vp.encode(recorded, rows="fixations", columns=COLUMNS, units="px")
    assert of_events.to_polars().equals(of_gaze.to_polars())
    assert of_events.encoding["data"] == "fixations"
    assert all(len(scanpath) > 10 for scanpath in of_events.to_polars()["scanpath"])


def test_gaze_without_coordinates_is_refused() -> None:
    empty = pm.Gaze(pl.DataFrame({"time": [0, 1], "pupil": [1.0, 2.0]}))
    with pytest.raises(vp.InputError, match="pixel_columns"):
        vp.encode(empty)

"""Comparisons of local cohorts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from veilpath import _veilpath
from veilpath._cohort import Cohort, _given
from veilpath._progress import progress_callback
from veilpath._result import Result

if TYPE_CHECKING:
    from veilpath._types import Engine, Metric, MetricArguments, Notation, Pairs, Path, Progress


def compare(
    first: Cohort,
    second: Cohort,
    *,
    metric: Metric = "levenshtein",
    engine: Engine = "plain",
    pairs: Pairs = "same-stimulus",
    notation: Notation | None = None,
    letters: int | None = None,
    names: tuple[str, str] | None = None,
    reveal: str = "score",
    pad_to: int | None = None,
    tile: str | None = None,
    coins: str | None = None,
    key: Path | None = None,
    key_bits: int | None = None,
    hardened: bool | None = None,
    progress: Progress = None,
    **settings: Unpack[MetricArguments],
) -> Result:
    """Compares every scanpath of one cohort with every scanpath of the other for the same stimulus.

    Both cohorts are on this machine, so the default engine computes in the clear. Another engine rehearses a private run,
    with both sides on this machine. ``settings`` are those of the metric, such as ``gap`` or ``threshold``.
    ``tile="3/8"`` computes the third of eight parts of the plan; :func:`veilpath.merge` combines them, and
    :mod:`veilpath.dask` computes them on a cluster.
    """
    options = _given({name: value for name, value in locals().items() if name not in _NOT_OPTIONS}) | dict(settings)
    with progress_callback(progress, str(metric), "cells") as bar:
        return Result(_veilpath.compare(first._inner, second._inner, options, bar))


def pairwise(
    cohort: Cohort,
    *,
    metric: Metric = "levenshtein",
    pairs: Pairs = "same-stimulus",
    notation: Notation | None = None,
    letters: int | None = None,
    progress: Progress = None,
    **settings: Unpack[MetricArguments],
) -> Result:
    """Compares the scanpaths of a cohort with each other.

    The matrix of the result is square, with rows and columns in the same order, as scikit-learn's ``metric="precomputed"``
    expects.
    """
    return compare(
        cohort, cohort, metric=metric, pairs=pairs, notation=notation, letters=letters, progress=progress, **settings
    )


_NOT_OPTIONS = {"first", "second", "progress", "settings"}

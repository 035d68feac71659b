"""Types that several modules use."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypedDict

if TYPE_CHECKING:
    from distributed import Client

Path: TypeAlias = str | PathLike[str]
"""A file."""

Progress: TypeAlias = bool | Callable[[int, int], object] | None
"""How progress is shown.

``None``: with tqdm, if it is installed and the call takes longer than a second; ``True``: with tqdm; ``False``: not at
all; or a function of the work done and the total.
"""

Pairs: TypeAlias = Literal["same-stimulus", "all"]
Engine: TypeAlias = Literal["auto", "garbled", "shares", "paillier", "plain"]
Notation: TypeAlias = Literal["letters", "double-letters", "numbers", "dna"]
Metric: TypeAlias = Literal[
    "levenshtein",
    "needleman-wunsch",
    "smith-waterman",
    "scanmatch",
    "sequence-score",
    "dtw",
    "frechet",
    "hausdorff",
    "crqa",
    "scasim",
    "multimatch",
    "subsmatch",
]
Grid: TypeAlias = tuple[int, int] | str
"""Columns and rows."""


class ArrowStream(Protocol):
    """A data frame with the Arrow PyCapsule interface, such as those of pandas, polars and pyarrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Exports a stream of record batches."""


class MetricArguments(TypedDict, total=False):
    """The settings of metrics. Each metric takes some of them, and rejects those that would have no effect.

    ``match`` is the reward for equal letters; ``simplify`` takes degrees, a length and milliseconds. ``fixation_grid`` and
    ``duration_classes`` (milliseconds) round fixations, as private engines require.
    """

    substitution: Path
    insert: float
    delete: float
    gap: float
    match: float
    mismatch: float
    threshold: float
    grid: Grid
    wrap: bool
    scale: float
    precision: float
    positions: Literal["letters", "fixations"]
    fixation_grid: Grid
    duration_classes: list[float]
    measures: list[str]
    radius: float
    line: int
    undefined_as_zero: bool
    rounded: bool
    divide_by: Literal["lengths", "durations"]
    window: int
    modulator: float
    simplify: tuple[float, float, float]


class SessionArguments(MetricArguments, total=False):
    """The arguments of :func:`veilpath.host` and :func:`veilpath.join`; both sides give the same plan.

    The plan: ``metric`` with its settings, ``engine``, ``pairs``, ``notation``, ``letters``, ``reveal`` (``score``,
    ``threshold:T``, or a group answer), ``reveal_to``, ``pad_to``, ``tile`` (as in ``3/8``), and ``key_bits`` and
    ``hardened`` for the ``paillier`` engine. This side's own: ``names`` of the two cohorts in results, ``pseudonyms``,
    ``fresh``, ``limit_per_scanpath``, ``minimum_group``, ``policy`` and ``identity`` (files), ``allow`` (risky settings),
    ``memory`` in MiB, ``timeout`` and ``wait`` in seconds.
    """

    metric: Metric
    engine: Engine
    pairs: Pairs
    notation: Notation
    letters: int
    reveal: str
    reveal_to: Literal["both", "host", "join"]
    pad_to: int
    tile: str
    key_bits: int
    hardened: bool
    names: tuple[str, str]
    pseudonyms: bool
    fresh: bool
    limit_per_scanpath: int
    minimum_group: int
    policy: Path
    identity: Path
    allow: list[Literal["asymmetric-table", "fine-table", "extreme-gap", "changed-encoding"]]
    memory: int
    timeout: float
    wait: float


class ClusterArguments(SessionArguments, total=False):
    """The other arguments of :func:`veilpath.dask.host` and :func:`veilpath.dask.join`. The former describes them."""

    client: Client | None
    coordinator: str
    coordinator_memory: int
    retries: int
    hours: float

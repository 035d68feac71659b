"""Cohorts: one institution's scanpaths."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

from veilpath import _veilpath
from veilpath._table import Table

if TYPE_CHECKING:
    from veilpath._types import ArrowStream, Grid, Notation, Path


class Cohort(Table):
    """Scanpaths with the ids of participants and stimuli.

    Made by :func:`veilpath.encode`, :func:`veilpath.read_cohort` and :func:`veilpath.synth`. ``len`` is the number of
    scanpaths.
    """

    __slots__ = ("_inner",)

    def __init__(self, inner: _veilpath.Cohort) -> None:
        super().__init__(inner)
        self._inner = inner

    def __len__(self) -> int:
        return len(self._inner)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.name, self._inner.to_bytes(), self._inner.summary_json)

    def __repr__(self) -> str:
        return _veilpath.printable(
            f"<Cohort {self.name}: {len(self)} scanpaths of {len(self.participants)} participants "
            f"on {len(self.stimuli)} stimuli, {self.alphabet}>"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>"

    @property
    def name(self) -> str:
        """The name of the cohort in results and messages: the file, or the argument ``name``."""
        return self._inner.name

    @property
    def participants(self) -> list[str]:
        """The participants, in order of appearance."""
        return self._inner.participants

    @property
    def stimuli(self) -> list[str]:
        """The stimuli, in order of appearance."""
        return self._inner.stimuli

    @property
    def groups(self) -> dict[str, str]:
        """The group of each participant, if the cohort has groups."""
        return self._inner.groups

    @property
    def grid(self) -> tuple[int, int] | None:
        """Columns and rows of the grid, if the letters are grid cells and the grid is known."""
        return self._inner.grid

    @property
    def alphabet(self) -> str:
        """The notation and the number of letters."""
        return self._inner.alphabet

    @property
    def has_fixations(self) -> bool:
        """Whether the cohort has kept fixations, for metrics that need them."""
        return self._inner.has_fixations

    @property
    def encoding(self) -> dict[str, str]:
        """How gaze became letters. Two cohorts can be compared only if these settings agree."""
        return self._inner.encoding

    @property
    def summary(self) -> dict[str, Any] | None:
        """What :func:`veilpath.encode` read, used, assumed and dropped, and why; ``None`` for other cohorts."""
        summary = self._inner.summary_json
        return None if summary is None else json.loads(summary)

    def save(self, path: Path, *, force: bool = False) -> None:
        """Writes a cohort file, which the command line can read, too.

        An existing file that is not a cohort is replaced only with ``force``.
        """
        self._inner.save(path, force)


def _unpickled(name: str, content: bytes, summary: str | None) -> Cohort:
    return Cohort(_veilpath.cohort_from_bytes(name, content, summary))


def read_cohort(source: Path | ArrowStream, *, name: str | None = None, allow_repeats: bool = False) -> Cohort:
    """Reads a cohort file, or a data frame with the columns participant, stimulus and scanpath (and group).

    Two scanpaths of one participant for the same stimulus are an error, because results could not tell them apart;
    ``allow_repeats`` accepts them.
    """
    return Cohort(_veilpath.read_cohort(source, name, allow_repeats))


def split(
    cohort: Cohort,
    *,
    fraction: float = 0.5,
    seed: int | None = None,
    names: tuple[str, str] | None = None,
) -> tuple[Cohort, Cohort]:
    """Splits the participants at random, for rehearsals. Every group is split in the same proportion.

    The same seed gives the same split on every machine.
    """
    names = (f"{cohort.name}-a", f"{cohort.name}-b") if names is None else names
    first, second = _veilpath.split(cohort._inner, fraction, seed, names)
    return Cohort(first), Cohort(second)


def synth(
    *,
    participants: int | None = None,
    groups: dict[str, int] | None = None,
    difference: float | None = None,
    stimuli: int | None = None,
    seconds: float | None = None,
    grid: Grid | None = None,
    keep_fixations: bool = False,
    seed: int | None = None,
    name: str | None = None,
) -> Cohort:
    """Makes up participants who look at the same stimuli: by default 12, half of them novices and half experts.

    Alternatively, ``groups`` gives the sizes of named groups, and ``difference`` how much they differ, from 0 to 1.
    """
    cohort = _veilpath.synth_lifelike(_given(locals()), None)
    assert cohort is not None
    return Cohort(cohort)


def synth_fixations(
    path: Path,
    *,
    participants: int | None = None,
    groups: dict[str, int] | None = None,
    difference: float | None = None,
    stimuli: int | None = None,
    seconds: float | None = None,
    seed: int | None = None,
) -> None:
    """Writes a table of synthetic fixations on a 1280 × 720 pixel screen, as input for :func:`veilpath.encode`."""
    options = _given(locals())
    del options["path"]
    _veilpath.synth_lifelike(options, path)


def synth_random(
    *,
    count: int | None = None,
    length: int | tuple[int, int] | list[int] | None = None,
    notation: Notation | None = None,
    letters: int | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Cohort:
    """Makes up scanpaths of random letters: by default ten of 100. ``length`` is a number, a range (tuple) or a list."""
    options = _given(locals())
    length = options.pop("length", None)
    if isinstance(length, tuple):
        options["length_range"] = length
    elif length is not None:
        options["lengths"] = [length] if isinstance(length, int) else length
    return Cohort(_veilpath.synth_random(options))


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments that are not None."""
    return {name: value for name, value in arguments.items() if value is not None}

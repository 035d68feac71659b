"""Results, reports and statistics."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from veilpath import _veilpath
from veilpath._cohort import Cohort, _given
from veilpath._errors import PlanError
from veilpath._progress import progress_callback
from veilpath._table import Table

if TYPE_CHECKING:
    import numpy

    from veilpath._types import ArrowStream, Grid, Path, Progress


class Result(Table):
    """The result of a comparison: the numbers of all pairs, or group answers, and how they were computed.

    ``len`` is the number of pairs with results. A notebook shows the report's summary.
    """

    __slots__ = ("_info", "_inner")

    def __init__(self, inner: _veilpath.Result) -> None:
        super().__init__(inner)
        self._inner = inner
        self._info: dict[str, Any] | None = None

    def __len__(self) -> int:
        return len(self._inner)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._inner.to_bytes(),)

    def __repr__(self) -> str:
        if len(self) == 0 and self.answers:
            return f"<Result: {', '.join(answer['kind'] for answer in self.answers)}>"
        # A result file may be the partner's.
        return _veilpath.printable(f"<Result: {len(self)} pairs, {', '.join(self.measures)}>")

    def __str__(self) -> str:
        return str(self._inner)

    def _repr_html_(self) -> str:
        return _veilpath.printable(self._inner.summary_html())

    @property
    def measures(self) -> list[str]:
        """The names of the measures, such as score and similarity."""
        return self._inner.measures

    @property
    def stimuli(self) -> list[str]:
        """The stimuli of the pairs."""
        return self._inner.stimuli

    @property
    def info(self) -> dict[str, Any]:
        """Everything but the pairs, as in the JSON file: plan, cost, what each side learned, and answers."""
        if self._info is None:
            self._info = json.loads(self._inner.info_json)
        return self._info

    @property
    def answers(self) -> list[dict[str, Any]]:
        """The group answers."""
        answers: list[dict[str, Any]] = self.info.get("answers", [])
        return answers

    def labels(self, *, stimulus: str | list[str] | None = None) -> tuple[list[str], list[str]]:
        """The participants in the rows and in the columns of :meth:`matrix`."""
        rows, columns, _ = self._inner.matrix(None, _listed(stimulus))
        return rows, columns

    def matrix(self, *, stimulus: str | list[str] | None = None, measure: str | None = None) -> numpy.ndarray:
        """The numbers as a numpy matrix: a row for each participant of the first cohort, a column for each of the second.

        If two participants have several pairs of scanpaths, their numbers are averaged; if they have none, the entry is NaN.
        ``stimulus`` limits the pairs. ``measure`` chooses the number, by default the first of :attr:`measures`.
        """
        import numpy

        rows, columns, numbers = self._inner.matrix(measure, _listed(stimulus))
        return numpy.frombuffer(numbers, dtype=numpy.float64).reshape(len(rows), len(columns))

    def to_numpy(self, *, measure: str | None = None) -> numpy.ndarray:
        """The same as :meth:`matrix`, over all stimuli."""
        return self.matrix(measure=measure)

    def save(self, path: Path, *, force: bool = False) -> None:
        """Writes a result file: ``.json`` has everything, ``.csv`` the numbers, ``.txt`` a readable table.

        An existing file that is not a result file is replaced only with ``force``.
        """
        self._inner.save(path, force)


def read_result(path: Path) -> Result:
    """Reads a result file of :meth:`Result.save` or of the command line."""
    return Result(_veilpath.read_result(path))


def merge(tiles: Iterable[Result | Path]) -> Result:
    """Merges the results of all tiles of a plan, or their files.

    Apart from its cost, the merged result equals that of a single run.
    """
    parts = list(tiles)
    results = [part._inner for part in parts if isinstance(part, Result)]
    if len(results) == len(parts):
        return Result(_veilpath.merge(results))
    files = [part for part in parts if not isinstance(part, Result)]
    if results:
        raise PlanError("tiles: give results or files, and not both")
    return Result(_veilpath.merge_files(files))


def _unpickled(content: bytes) -> Result:
    return Result(_veilpath.result_from_bytes(content))


def report(
    result: Result,
    path: Path,
    *,
    title: str | None = None,
    names: tuple[str, str] | None = None,
    stimuli: list[str] | None = None,
    measures: list[str] | None = None,
    cohort: Cohort | None = None,
    grid: Grid | None = None,
    aspect: tuple[float, float] | None = None,
    images: Mapping[str, Path] | None = None,
    pairs: list[tuple[str, str]] | None = None,
    second_cohort: Cohort | None = None,
    radius: float | None = None,
    force: bool = False,
) -> None:
    """Writes the report: one HTML page that needs no network.

    ``cohort`` adds drawings of your own scanpaths, over ``images`` of the stimuli if you have them. ``pairs`` shows pairs of
    participants side by side. Such a page must stay in your institution.
    """
    arguments = locals()
    named = ("title", "names", "stimuli", "measures", "grid", "aspect", "pairs", "radius", "force")
    options = _given({name: arguments[name] for name in named})
    if images is not None:
        options["images"] = list(images.items())
    first, second = (None if it is None else it._inner for it in (cohort, second_cohort))
    _veilpath.report(result._inner, path, first, second, options)


def stats(
    *results: Result,
    groups: Path | ArrowStream | Mapping[str, str] | None = None,
    second_groups: Path | ArrowStream | Mapping[str, str] | None = None,
    answers: str | list[str] | None = None,
    measure: str | None = None,
    stimuli: list[str] | None = None,
    permutations: int = 9999,
    resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 1,
    progress: Progress = None,
) -> Result:
    """Computes statistics of groups of participants: means, permutation tests, nearest neighbours, confidence intervals.

    Pass one result or, for ``test:sites``, three: each cohort compared with itself, and the two with each other.
    ``answers`` are ``mean``, ``groups``, ``test:groups``, ``test:sites``, ``nearest:K``, ``nearest:K,rate`` and
    ``histogram:BINS``; by default, all that the results and groups allow. :attr:`Result.answers` has them as data, and
    ``print`` shows them as text.
    """
    options = _given(
        {
            "answers": answers,
            "measure": measure,
            "stimuli": stimuli,
            "permutations": permutations,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
            "groups": dict(groups) if isinstance(groups, Mapping) else groups,
            "second_groups": dict(second_groups) if isinstance(second_groups, Mapping) else second_groups,
        }
    )
    with progress_callback(progress, "stats", "steps") as bar:
        return Result(_veilpath.stats([result._inner for result in results], options, bar))


def _listed(stimulus: str | list[str] | None) -> list[str]:
    match stimulus:
        case None:
            return []
        case str():
            return [stimulus]
        case _:
            return stimulus

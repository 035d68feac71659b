"""Comparisons in tiles on a Dask cluster, for plans that are too large for one machine.

>>> from distributed import Client
>>> import veilpath as vp
>>> import veilpath.dask
>>> result = vp.dask.compare(first, second, client=Client("scheduler:8786"), metric="scanmatch")

A plan is cut into tiles of about the same number of matrix cells. Every tile is one task; Dask runs the tasks of a worker
that dies on another one. The result equals that of :func:`veilpath.compare` in everything but its cost.

``pip install 'veilpath[dask]'`` installs what this needs, here and on the workers.
"""

from __future__ import annotations

import pathlib
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from veilpath._compare import compare as _compare
from veilpath._errors import PlanError
from veilpath._result import merge

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed import Client, Future

    from veilpath._cohort import Cohort
    from veilpath._result import Result
    from veilpath._types import Path

Part = TypeVar("Part")
Whole = TypeVar("Whole")

__all__ = ["compare", "compare_to_files"]

TILES_PER_THREAD = 4
"""Tiles for each thread of the cluster: few enough that their overhead is small, and enough that no worker waits long."""

MOST_MERGED = 16_777_216
"""Pairs of one result."""


def compare(
    first: Cohort,
    second: Cohort,
    *,
    client: Client | None = None,
    tiles: int | None = None,
    retries: int = 2,
    **options: Any,
) -> Result:
    """Compares two cohorts as :func:`veilpath.compare` does, on the workers of a cluster.

    ``client`` is the cluster's, by default the current one. ``tiles`` is the number of parts, by default four for each
    thread of the cluster. A tile that fails is tried ``retries`` times more; tiles of lost workers are run again in any
    case. ``options`` are those of :func:`veilpath.compare`.
    """

    def finish(parts: list[Future[Result]], client: Client) -> Result:
        pairs = parts[0].result().info["tile"]["pairs"]
        if pairs > MOST_MERGED:
            raise PlanError(f"{pairs} pairs are too many for one result: compare_to_files writes a file for each tile")
        return merge(client.gather(parts))

    return _run(_tile, finish, (first, second), client, tiles, retries, options)


def compare_to_files(
    first: Cohort,
    second: Cohort,
    folder: Path,
    *,
    client: Client | None = None,
    tiles: int | None = None,
    retries: int = 2,
    **options: Any,
) -> list[pathlib.Path]:
    """The same for plans of any size: every worker writes the results of its tiles to a folder that all of them share.

    Returns the files, in order. :func:`veilpath.merge` puts them together if they have at most 16,777,216 pairs.
    """
    where = str(pathlib.Path(folder).absolute())

    def finish(parts: list[Future[str]], client: Client) -> list[pathlib.Path]:
        return [pathlib.Path(name) for name in client.gather(parts)]

    return _run(partial(_tile_to_file, where), finish, (first, second), client, tiles, retries, options)


def _run(
    task: Callable[[tuple[Cohort, Cohort], str, dict[str, Any]], Part],
    finish: Callable[[list[Future[Part]], Client], Whole],
    cohorts: tuple[Cohort, Cohort],
    client: Client | None,
    tiles: int | None,
    retries: int,
    options: dict[str, Any],
) -> Whole:
    """Runs a task for every tile."""
    if "tile" in options or "coins" in options:
        raise PlanError("tile and coins are for one call of veilpath.compare, and not for all tiles of a cluster")
    client = _client(client)
    count = tiles if tiles is not None else max(1, TILES_PER_THREAD * sum(client.nthreads().values()))
    if count < 1:
        raise PlanError(f"tiles: expected a number from 1, not {count}")
    # As a task, and not scattered: Dask makes it again where its worker is lost.
    both = client.submit(_both, *cohorts, pure=False)
    parts = [
        client.submit(task, both, f"{tile}/{count}", options, pure=False, retries=retries, priority=-tile)
        for tile in range(1, count + 1)
    ]
    try:
        return finish(parts, client)
    finally:
        # On an error or Ctrl-C, so that the cluster does not go on with the others.
        client.cancel(parts)


def _client(client: Client | None) -> Client:
    if client is not None:
        return client
    from distributed import get_client

    return get_client()


def _both(first: Cohort, second: Cohort) -> tuple[Cohort, Cohort]:
    return first, second


def _tile(cohorts: tuple[Cohort, Cohort], tile: str, options: dict[str, Any]) -> Result:
    return _compare(*cohorts, tile=tile, progress=False, **options)


def _tile_to_file(folder: str, cohorts: tuple[Cohort, Cohort], tile: str, options: dict[str, Any]) -> str:
    index, count = tile.split("/")
    path = pathlib.Path(folder) / f"tile-{int(index):05}-of-{count}.json"
    _tile(cohorts, tile, options).save(path)
    return str(path)

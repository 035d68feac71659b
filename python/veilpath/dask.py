"""Comparisons in tiles on a Dask cluster, for plans that are too large for one machine.

>>> from distributed import Client
>>> import veilpath as vp
>>> import veilpath.dask
>>> result = vp.dask.compare(first, second, client=Client("scheduler:8786"), metric="scanmatch")

A plan is cut into tiles of about the same number of matrix cells. Every tile is one task; Dask runs the tasks of a worker
that dies on another one. The result equals that of :func:`veilpath.compare` in everything but its cost.

Two institutions, each with a cluster of its own, call :func:`host` and :func:`join`.

``pip install 'veilpath[dask]'`` installs what this needs, here and on the workers.
"""

from __future__ import annotations

import pathlib
import time
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from veilpath import _session, _veilpath
from veilpath._compare import compare as _compare
from veilpath._errors import ConnectionError, PlanError
from veilpath._result import Result, merge

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed import Client, Future

    from veilpath._cohort import Cohort
    from veilpath._types import Path, SessionArguments

Part = TypeVar("Part")
Whole = TypeVar("Whole")

__all__ = ["compare", "compare_to_files", "host", "join"]

TILES_PER_THREAD = 4
"""Tiles for each thread of the cluster: few enough that their overhead is small, and enough that no worker waits long."""

MOST_MERGED = 16_777_216
"""Pairs of one result."""

MEETING = 60.0
"""Seconds for which a worker waits for the other side's worker before another tile has its turn."""


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


def host(
    cohort: Cohort,
    *,
    peer: str,
    listen: str,
    tiles: int,
    client: Client | None = None,
    coordinator: str | None = None,
    retries: int = 2,
    hours: float = 24.0,
    **options: Unpack[SessionArguments],
) -> Result:
    """Compares with another institution as :func:`veilpath.host` does, on the workers of this institution's cluster.

    The other side calls :func:`join`, with its own cluster, the same plan and the same number of ``tiles``. First this
    process agrees with the other side on ``listen``; then that address is the gateway, at which the workers of both sides
    meet. This process keeps the identity, counts every pair, and stores what workers compute: a tile whose worker dies
    continues on another one. Calling both functions again continues after any interruption.

    ``coordinator`` is the address on which this process listens for its own workers, by default one that they can reach
    with a free port. Each tile has a key that is valid for ``hours``, within which all of them must be computed. A tile that
    fails is tried ``retries`` times more; lost workers and connections do not count. ``engine`` is garbled by default.
    """
    session = _session.host(cohort, peer=peer, listen=listen, **_agreement_arguments(options, tiles))
    # The system may have chosen the port.
    address = session.address
    return _compare_privately(session, address, address, client, coordinator, retries, hours, options)


def join(
    cohort: Cohort,
    address: str,
    *,
    peer: str,
    tiles: int,
    client: Client | None = None,
    coordinator: str | None = None,
    retries: int = 2,
    hours: float = 24.0,
    **options: Unpack[SessionArguments],
) -> Result:
    """Compares with the institution that calls :func:`host`, on the workers of this institution's cluster.

    ``address`` is what the other side listens on, which the workers must reach, too. The other arguments are those of
    :func:`host`.
    """
    session = _session.join(cohort, address, peer=peer, **_agreement_arguments(options, tiles))
    return _compare_privately(session, address, None, client, coordinator, retries, hours, options)


def _agreement_arguments(options: SessionArguments, tiles: int) -> Any:
    """The arguments of the session that agrees on the plan."""
    if "tile" in options:
        raise PlanError("tile is for one call of veilpath.host or veilpath.join, and not for all tiles of a cluster")
    return {"engine": "garbled", **options, "tiles": tiles}


def _compare_privately(
    session: _session.Session,
    meeting: str,
    gateway: str | None,
    client: Client | None,
    coordinator: str | None,
    retries: int,
    hours: float,
    options: SessionArguments,
) -> Result:
    """Agrees with the other side, and runs a task for every tile."""
    with session:
        client = _client(client)
        session.result(progress=False)
    own = {name: value for name, value in options.items() if name in ("memory", "names", "timeout")}
    own["wait"] = min(MEETING, options.get("wait", MEETING))
    kept = _veilpath.coordinate(session.agreement, options.get("identity"), coordinator or _reachable(client), gateway)
    end = time.time() + hours * 3600
    parts: list[Future[Result]] = []
    try:
        # In the same order on both sides, so that workers of both have the same tiles.
        parts = [
            client.submit(
                _private_tile,
                kept.order(tile, hours),
                tile,
                meeting,
                kept.address,
                own,
                end,
                pure=False,
                retries=retries,
                priority=-tile,
            )
            for tile in range(1, kept.tiles + 1)
        ]
        return merge(client.gather(parts))
    finally:
        client.cancel(parts)
        kept.stop()


def _private_tile(order: bytes, tile: int, gateway: str, coordinator: str, options: dict[str, Any], end: float) -> Result:
    from distributed import Reschedule

    try:
        return Result(_veilpath.work(order, tile, gateway, coordinator, options))
    except ConnectionError:
        # The other side's worker has another tile, or has died. Tiles with lower numbers come first on both sides.
        if time.time() < end:
            raise Reschedule from None
        raise


def _reachable(client: Client) -> str:
    """An address of this machine that the workers can reach, with a free port."""
    from distributed.comm.addressing import get_address_host
    from distributed.utils import get_ip

    scheduler: str = client.scheduler_info()["address"]
    if not scheduler.startswith(("tcp://", "tls://")):
        return "127.0.0.1:0"
    host = get_address_host(scheduler)
    own = host if host.startswith("127.") else get_ip(host)
    return f"[{own}]:0" if ":" in own else f"{own}:0"


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
    both = client.submit(_cohort_pair, *cohorts, pure=False)
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


def _cohort_pair(first: Cohort, second: Cohort) -> tuple[Cohort, Cohort]:
    return first, second


def _tile(cohorts: tuple[Cohort, Cohort], tile: str, options: dict[str, Any]) -> Result:
    return _compare(*cohorts, tile=tile, progress=False, **options)


def _tile_to_file(folder: str, cohorts: tuple[Cohort, Cohort], tile: str, options: dict[str, Any]) -> str:
    index, count = tile.split("/")
    path = pathlib.Path(folder) / f"tile-{int(index):05}-of-{count}.json"
    _tile(cohorts, tile, options).save(path)
    return str(path)

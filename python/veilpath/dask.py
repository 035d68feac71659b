"""Comparisons in tiles on a Dask cluster, for plans that are too large for one machine.

>>> from distributed import Client
>>> import veilpath as vp
>>> import veilpath.dask
>>> result = vp.dask.compare(first, second, client=Client("scheduler:8786"), metric="scanmatch")

A plan is cut into tiles with about the same number of matrix cells. Each tile is one task; if a worker dies, Dask runs its
tasks on another one. Apart from its cost, the result equals that of :func:`veilpath.compare`.

Two institutions, each with its own cluster, call :func:`host` and :func:`join`.

``pip install 'veilpath[dask]'`` installs what this needs, here and on the workers.
"""

from __future__ import annotations

import logging
import pathlib
import time
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from veilpath import _session, _veilpath
from veilpath._compare import compare as _compare
from veilpath._errors import ConnectionError, PeerError, PlanError
from veilpath._result import Result, merge

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed import Client, Future

    from veilpath._cohort import Cohort
    from veilpath._types import ClusterArguments, Path

Part = TypeVar("Part")
Whole = TypeVar("Whole")

__all__ = ["compare", "compare_to_files", "host", "join"]

TILES_PER_THREAD = 4
"""Tiles per thread of the cluster: few enough to keep the overhead small, and enough that no worker is idle for long."""

MAX_MERGED = _veilpath.MAX_MERGED_PAIRS
"""The maximum number of pairs in one result, 50,000,000."""

QUEUED_PER_THREAD = 2
"""Tiles of a private comparison that are submitted per thread at a time, because each has its own key and scanpaths."""

MAX_WORKERS = 4096
"""The maximum number of workers that a coordinator serves."""

MEETING_TIMEOUT = 60.0
"""Seconds that a worker waits for the other side's worker before it takes another tile."""


_log = logging.getLogger("veilpath")


def compare(
    first: Cohort,
    second: Cohort,
    *,
    client: Client | None = None,
    tile_count: int | None = None,
    retries: int = 2,
    **options: Any,
) -> Result:
    """Compares two cohorts as :func:`veilpath.compare` does, on the workers of a cluster.

    ``client`` is the cluster's client, by default the current one. ``tile_count`` is the number of parts, by default four
    for each thread of the cluster. A tile that fails is retried ``retries`` times; tiles of lost workers are always run
    again. ``options`` are those of :func:`veilpath.compare`.
    """

    def finish(parts: list[Future[Result]], client: Client) -> Result:
        _check_merge(parts[0].result().info["tile"]["pairs"], "compare_to_files writes")
        return merge(client.gather(parts))

    return _run(_tile, finish, (first, second), client, tile_count, retries, options)


def compare_to_files(
    first: Cohort,
    second: Cohort,
    folder: Path,
    *,
    client: Client | None = None,
    tile_count: int | None = None,
    retries: int = 2,
    **options: Any,
) -> list[pathlib.Path]:
    """Does the same for plans of any size: each worker writes the results of its tiles to a folder that all workers share.

    Returns the files, in order. :func:`veilpath.merge` combines them if they have at most 50,000,000 pairs.
    """
    where = str(pathlib.Path(folder).absolute())

    def finish(parts: list[Future[str]], client: Client) -> list[pathlib.Path]:
        return [pathlib.Path(name) for name in client.gather(parts)]

    return _run(partial(_tile_to_file, where), finish, (first, second), client, tile_count, retries, options)


@overload
def host(
    cohort: Cohort, *, peer: str, listen: str, tile_count: int, folder: None = None, **options: Unpack[ClusterArguments]
) -> Result: ...


@overload
def host(
    cohort: Cohort, *, peer: str, listen: str, tile_count: int, folder: Path, **options: Unpack[ClusterArguments]
) -> list[pathlib.Path]: ...


def host(
    cohort: Cohort,
    *,
    peer: str,
    listen: str,
    tile_count: int,
    folder: Path | None = None,
    **options: Unpack[ClusterArguments],
) -> Result | list[pathlib.Path]:
    """Compares with another institution as :func:`veilpath.host` does, on the workers of this institution's cluster.

    The other side calls :func:`join`, with its own cluster, the same plan and the same ``tile_count``. First, this
    process listens on ``listen`` and agrees on the plan with the other side. Then that address becomes the gateway, where
    the workers of both sides meet. This process keeps the identity, counts every pair, and stores what workers compute, so
    a tile whose worker dies continues on another one. After any interruption, call both functions again to continue.

    With a ``folder`` that all workers share, each tile becomes a file there, and the files are returned, in order. Plans
    with more than 50,000,000 pairs need it, because they are too large for one result.

    ``client`` is the cluster's client, by default the current one. ``coordinator`` is the address on which this process
    listens for its own workers, by default a free port at an address that they can reach; it uses at most
    ``coordinator_memory`` MiB (1024) for all tiles in progress. Worker keys are valid for ``hours`` (24), within which all
    tiles must be computed. A tile that fails is retried ``retries`` times (2). Lost connections do not count; the logger
    ``veilpath`` logs them. Lost workers do not count either, but Dask gives up on a tile that loses more workers than
    ``distributed.scheduler.allowed-failures`` allows (3). The default ``engine`` is ``garbled``.
    """
    session = _session.host(cohort, peer=peer, listen=listen, **_agreement_arguments(options, tile_count))
    # The operating system may have chosen the port.
    address = session.address
    return _compare_privately(session, address, address, folder, options)


@overload
def join(
    cohort: Cohort, address: str, *, peer: str, tile_count: int, folder: None = None, **options: Unpack[ClusterArguments]
) -> Result: ...


@overload
def join(
    cohort: Cohort, address: str, *, peer: str, tile_count: int, folder: Path, **options: Unpack[ClusterArguments]
) -> list[pathlib.Path]: ...


def join(
    cohort: Cohort,
    address: str,
    *,
    peer: str,
    tile_count: int,
    folder: Path | None = None,
    **options: Unpack[ClusterArguments],
) -> Result | list[pathlib.Path]:
    """Compares with the institution that calls :func:`host`, on the workers of this institution's cluster.

    ``address`` is the one that the other side listens on. The workers must be able to reach it, too. The other arguments are
    those of :func:`host`.
    """
    session = _session.join(cohort, address, peer=peer, **_agreement_arguments(options, tile_count))
    return _compare_privately(session, address, None, folder, options)


def _agreement_arguments(options: ClusterArguments, tile_count: int) -> Any:
    """The arguments of the session that agrees on the plan."""
    if "tile" in options:
        raise PlanError("tile is for one call of veilpath.host or veilpath.join, and not for all tiles of a cluster")
    of_cluster = ("client", "coordinator", "coordinator_memory", "retries", "hours")
    plan = {name: value for name, value in options.items() if name not in of_cluster}
    return {"engine": "garbled", **plan, "tile_count": tile_count}


def _compare_privately(
    session: _session.Session,
    meeting: str,
    gateway: str | None,
    folder: Path | None,
    options: ClusterArguments,
) -> Result | list[pathlib.Path]:
    """Agrees with the other side, and runs a task for every tile."""
    with session:
        client = _client(options.get("client"))
        session.result(progress=False)
    coordinator = _veilpath.coordinate(
        session.agreement,
        options.get("identity"),
        options.get("coordinator") or _reachable(client),
        gateway,
        min(_threads(client), MAX_WORKERS),
        options.get("coordinator_memory"),
    )
    try:
        if folder is None:
            _check_merge(coordinator.pairs, "pass folder to write")
            return merge(_tiles(client, coordinator, meeting, _private_tile, options))
        task = partial(_private_tile_to_file, str(pathlib.Path(folder).absolute()), coordinator.tile_count)
        return [pathlib.Path(name) for name in _tiles(client, coordinator, meeting, task, options)]
    finally:
        _report(coordinator)
        coordinator.stop()


def _check_merge(pairs: int, advice: str) -> None:
    if pairs > MAX_MERGED:
        problem = f"{pairs} pairs are too many for one result, which has at most {MAX_MERGED}"
        raise PlanError(f"{problem}: {advice} a file for each tile")


def _tiles(
    client: Client,
    coordinator: _veilpath.Coordination,
    meeting: str,
    task: Callable[..., Part | PeerError],
    options: ClusterArguments,
) -> list[Part]:
    """Runs a task for every tile, and submits only a few at a time."""
    own = {name: value for name, value in options.items() if name in ("memory", "names", "timeout")}
    own["wait"] = min(MEETING_TIMEOUT, options.get("wait", MEETING_TIMEOUT))
    end = time.time() + options.get("hours", 24.0) * 3600
    # Sent to each worker once, not with every work order. As a task, Dask runs it again if its worker is lost.
    plan = client.submit(_plan, coordinator.plan, pure=False)
    parts: list[Future[Part | PeerError]] = []
    running: set[Future[Part | PeerError]] = set()
    try:
        # The same order on both sides, so that their workers have the same tiles.
        for tile in range(1, coordinator.tile_count + 1):
            while len(running) >= QUEUED_PER_THREAD * max(_threads(client), 4):
                running = _still_running(client, running, coordinator)
            if time.time() >= end:
                raise PlanError("the hours for all tiles are over; call the function again to continue")
            order = coordinator.order(tile, (end - time.time()) / 3600)
            where = (tile, meeting, coordinator.address, own, end)
            retries = options.get("retries", 2)
            part = client.submit(task, plan, order, *where, pure=False, retries=retries, priority=-tile)
            parts.append(part)
            running.add(part)
        while running:
            running = _still_running(client, running, coordinator)
        results: list[Part | PeerError] = client.gather(parts)
    finally:
        client.cancel(parts)
    # Only now: if the other tiles were cancelled, the other side would notice.
    if impossible := next((result for result in results if isinstance(result, PeerError)), None):
        raise impossible
    return [result for result in results if not isinstance(result, PeerError)]


def _still_running(client: Client, parts: set[Future[Part]], coordinator: _veilpath.Coordination) -> set[Future[Part]]:
    """Waits briefly for a task to end, and raises the error of a failed one."""
    from distributed import wait

    try:
        with client.as_current():
            done, running = wait(parts, timeout=1, return_when="FIRST_COMPLETED")
    except TimeoutError:
        done, running = set(), parts
    _report(coordinator)
    for part in done:
        if part.status == "error":
            part.result()
    return set(running)


def _report(coordinator: _veilpath.Coordination) -> None:
    for message in coordinator.messages():
        _log.warning("%s", message)


def _threads(client: Client) -> int:
    return sum(client.nthreads().values())


def _plan(plan: _veilpath.WorkPlan) -> _veilpath.WorkPlan:
    return plan


def _private_tile(
    plan: _veilpath.WorkPlan,
    order: bytes,
    tile: int,
    gateway: str,
    coordinator: str,
    options: dict[str, Any],
    end: float,
) -> Result | PeerError:
    from distributed import Reschedule

    try:
        return Result(_veilpath.work(plan, order, tile, gateway, coordinator, options))
    except PeerError as error:
        if not error.impossible_result:
            raise
        # Dask would run a task that fails again, and the other side would notice.
        return error
    except ConnectionError as error:
        # The other side's worker has another tile, or has died. Both sides run tiles with lower numbers first.
        if error.lasting or time.time() >= end:
            raise
        _log.warning("tile %d will be retried: %s", tile, error)
        raise Reschedule from None


def _private_tile_to_file(
    folder: str, count: int, plan: _veilpath.WorkPlan, order: bytes, tile: int, *where: Any
) -> str | PeerError:
    result = _private_tile(plan, order, tile, *where)
    return result if isinstance(result, PeerError) else _save(result, folder, tile, count)


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
    tile_count: int | None,
    retries: int,
    options: dict[str, Any],
) -> Whole:
    """Runs a task for every tile."""
    if "tile" in options or "coins" in options:
        raise PlanError("tile and coins are for one call of veilpath.compare, and not for all tiles of a cluster")
    client = _client(client)
    count = tile_count if tile_count is not None else max(1, TILES_PER_THREAD * _threads(client))
    if count < 1:
        raise PlanError(f"tile_count: expected a number from 1, not {count}")
    # A task, not scattered data: Dask runs it again if its worker is lost.
    both = client.submit(_cohort_pair, *cohorts, pure=False)
    parts = [
        client.submit(task, both, f"{tile}/{count}", options, pure=False, retries=retries, priority=-tile)
        for tile in range(1, count + 1)
    ]
    try:
        return finish(parts, client)
    finally:
        # After an error or Ctrl-C, the cluster must not continue with the other tiles.
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
    index, count = map(int, tile.split("/"))
    return _save(_tile(cohorts, tile, options), folder, index, count)


def _save(result: Result, folder: str, tile: int, count: int) -> str:
    path = pathlib.Path(folder) / f"tile-{tile:05}-of-{count}.json"
    result.save(path)
    return str(path)

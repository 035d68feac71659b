"""Comparisons between two institutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, Unpack

from veilpath import _veilpath
from veilpath._cohort import Cohort
from veilpath._errors import PlanError, VeilpathError
from veilpath._progress import progress_callback
from veilpath._result import Result
from veilpath._types import SessionArguments

if TYPE_CHECKING:
    from types import TracebackType

    from veilpath._types import Progress


class Session:
    """One side of a comparison between two institutions. It runs in the background; :meth:`result` waits for it.

    As a context manager, it cancels an unfinished session at the end of the block.
    """

    __slots__ = ("_inner",)

    def __init__(self, inner: _veilpath.Session) -> None:
        self._inner = inner

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self.done:
            self.cancel()

    def __repr__(self) -> str:
        steps = self.steps
        return f"<Session: {steps[-1] if steps else 'starting'}>"

    @property
    def address(self) -> str:
        """The address that the host listens on, with its port, or that the joining side connects to."""
        return self._inner.address

    @property
    def fingerprint(self) -> str:
        """This side's fingerprint."""
        return self._inner.fingerprint

    @property
    def agreement(self) -> str:
        """The id of the agreement, once there is a result."""
        found = self._inner.agreement
        if found is None:
            raise VeilpathError("the session has not ended")
        return found

    @property
    def steps(self) -> list[str]:
        """Descriptions of what has happened so far."""
        return self._inner.steps

    @property
    def progress(self) -> tuple[int, int] | None:
        """The matrix cells done, and their total; ``None`` before the computation."""
        return self._inner.progress

    @property
    def done(self) -> bool:
        """Whether the session has ended."""
        return self._inner.done

    def result(self, *, progress: Progress = None) -> Result:
        """Waits for the result, and returns it. Ctrl-C cancels the session."""
        with progress_callback(progress, "session", "cells") as bar:
            result = self._inner.result(bar)
        if result is None:
            raise VeilpathError("the session ended without a result")
        return Result(result)

    def cancel(self) -> None:
        """Ends the session. A new session with the same plan continues with the missing pairs."""
        self._inner.cancel()


def host(
    cohort: Cohort,
    *,
    peer: str,
    listen: str | None = None,
    relay: str | None = None,
    **options: Unpack[SessionArguments],
) -> Session:
    """Waits for the other institution on an address such as ``"0.0.0.0:7070"``, or at a relay.

    ``peer`` is its fingerprint, which it gets from :func:`veilpath.identity`. Both sides pass the same plan; the other
    arguments are this side's own (see ``SessionArguments``). The other side can also use the command line.
    """
    address, chosen = _address("listen", listen, relay)
    return Session(_veilpath.host(cohort._inner, address, peer, {**_checked("host", options), **chosen}))


def join(
    cohort: Cohort,
    address: str | None = None,
    *,
    peer: str,
    relay: str | None = None,
    **options: Unpack[SessionArguments],
) -> Session:
    """Connects to the other institution, which hosts at ``address``, or through a relay.

    The other arguments are those of :func:`veilpath.host`.
    """
    address, chosen = _address("address", address, relay)
    return Session(_veilpath.join(cohort._inner, address, peer, {**_checked("join", options), **chosen}))


def _checked(function: str, options: SessionArguments) -> SessionArguments:
    """The same options; an unknown name, which may be a misspelt limit, is an error as in other Python functions."""
    # Clusters also set the number of tiles.
    known = SessionArguments.__annotations__.keys() | {"tile_count"}
    for name in options.keys() - known:
        raise TypeError(f"{function}() got an unexpected keyword argument '{name}'")
    return options


def _address(name: str, direct: str | None, relay: str | None) -> tuple[str, dict[str, bool]]:
    """The address of the partner or the relay, and which of the two it is."""
    match direct, relay:
        case str(), None:
            return direct, {}
        case None, str():
            return relay, {"via_relay": True}
        case _:
            raise PlanError(f"{name}: give this or relay, and not both")

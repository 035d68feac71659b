"""Comparisons between two institutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, Unpack

from veilpath import _veilpath
from veilpath._cohort import Cohort
from veilpath._errors import PlanError, VeilpathError
from veilpath._progress import progress_callback
from veilpath._result import Result

if TYPE_CHECKING:
    from types import TracebackType

    from veilpath._types import Progress, SessionArguments


class Session:
    """One side of a comparison between two institutions. It runs in the background; :meth:`result` waits for its end.

    As a context manager it is cancelled when the block ends without a result.
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
        """What has happened so far, in words."""
        return self._inner.steps

    @property
    def progress(self) -> tuple[int, int] | None:
        """What is done and what there is to do, in matrix cells; ``None`` before the computation."""
        return self._inner.progress

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self._inner.done

    def result(self, *, progress: Progress = None) -> Result:
        """Waits for the end, and gives the result. Ctrl-C cancels the session."""
        with progress_callback(progress, "session", "cells") as bar:
            result = self._inner.result(bar)
        if result is None:
            raise VeilpathError("the session ended without a result")
        return Result(result)

    def cancel(self) -> None:
        """Ends the session. Another one with the same plan continues with the missing pairs."""
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

    ``peer`` is its fingerprint, which :func:`veilpath.identity` gives there. Both sides pass the same plan; the other
    arguments are this side's own (see ``SessionArguments``). The command line can be the other side.
    """
    address, chosen = _address("listen", listen, relay)
    return Session(_veilpath.host(cohort._inner, address, peer, {**options, **chosen}))


def join(
    cohort: Cohort,
    address: str | None = None,
    *,
    peer: str,
    relay: str | None = None,
    **options: Unpack[SessionArguments],
) -> Session:
    """Connects to the other institution, which hosts at ``address``, or meets it at a relay.

    The other arguments are those of :func:`veilpath.host`.
    """
    address, chosen = _address("address", address, relay)
    return Session(_veilpath.join(cohort._inner, address, peer, {**options, **chosen}))


def _address(name: str, direct: str | None, relay: str | None) -> tuple[str, dict[str, bool]]:
    """The address of the partner or the relay, and which of the two it is."""
    match direct, relay:
        case str(), None:
            return direct, {}
        case None, str():
            return relay, {"via_relay": True}
        case _:
            raise PlanError(f"{name}: give this or relay, and not both")

"""Identities and policies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from veilpath import _veilpath

if TYPE_CHECKING:
    from veilpath._types import Engine, Metric, Path


def identity(path: Path | None = None, *, create: bool = True) -> str:
    """The fingerprint of this institution's identity. Read it to the other institution, for example by phone.

    The first call creates the identity, in ``path``, or else in Veilpath's state folder (``$VEILPATH_HOME``, if it is set).
    """
    return _veilpath.identity(path, create)


def check_policy(
    peer: str | list[str],
    *,
    policy: Path | None = None,
    identity: Path | None = None,
    engine: Engine = "auto",
    metric: Metric = "levenshtein",
    reveal: str = "score",
    limit_per_scanpath: int | None = None,
) -> str:
    """Checks a plan against this institution's policy, without a partner, and returns the policy's expiry date.

    Raises :class:`veilpath.PolicyError` if the policy does not allow the plan.
    """
    options: dict[str, Any] = {"engine": engine, "metric": metric, "reveal": reveal}
    if limit_per_scanpath is not None:
        options["limit_per_scanpath"] = limit_per_scanpath
    peers = [peer] if isinstance(peer, str) else peer
    return _veilpath.check_policy(policy, identity, peers, options)


def write_policy_example(path: Path) -> None:
    """Writes a commented example policy to a new file."""
    _veilpath.write_policy_example(path)

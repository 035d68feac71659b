"""The package's exceptions."""

from __future__ import annotations

import builtins

from veilpath import _veilpath


class VeilpathError(Exception):
    """Something that Veilpath cannot do, and why.

    ``file``, ``line`` (of a file, from 1), ``row`` (of a data frame, from 0) and ``column`` say where the problem is;
    those that do not apply are ``None``. In the text, characters that could control a terminal are replaced by U+FFFD,
    because names in it may come from a file or from another institution.
    """

    file: str | None
    line: int | None
    row: int | None
    column: str | None

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        row: int | None = None,
        column: str | None = None,
    ) -> None:
        super().__init__(_veilpath.printable(message))
        self.file = file
        self.line = line
        self.row = row
        self.column = column


class InputError(VeilpathError, ValueError):
    """A file or a data frame cannot be read with these arguments."""


class PlanError(VeilpathError, ValueError):
    """The arguments are invalid, or do not fit the cohorts."""


class PolicyError(VeilpathError):
    """This institution's policy does not allow the plan."""


class OutputError(VeilpathError, OSError):
    """A file cannot be written, or would replace something else."""

    def __str__(self) -> str:
        return str(self.args[0])


class PeerError(VeilpathError):
    """The other institution disagrees, or its program misbehaves.

    If ``impossible_result`` is true, the other side has made a result impossible. Whether it is may depend on your scanpaths,
    so do not end or repeat anything because of it that the other side can see.
    """

    impossible_result: bool = False


class ConnectionError(VeilpathError, builtins.ConnectionError):
    """The network failed. Run both sides again: they continue where they stopped.

    If ``lasting`` is true, running again does not help until something changes, such as an address or a clock.
    """

    lasting: bool = False

    def __str__(self) -> str:
        return str(self.args[0])


class Cancelled(VeilpathError):
    """The session was cancelled on this side."""


class VeilpathWarning(UserWarning):
    """Something that is not an error, but that you may not expect."""

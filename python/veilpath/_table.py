"""The common base of cohorts and results."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from veilpath._types import ArrowStream


class Table:
    """A table that any data frame library can import through the Arrow PyCapsule interface."""

    __slots__ = ("_stream",)

    def __init__(self, stream: ArrowStream) -> None:
        self._stream = stream

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Exports the rows through the Arrow PyCapsule interface."""
        return self._stream.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """The rows as a pyarrow table."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> polars.DataFrame:
        """The rows as a polars data frame."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a pandas data frame."""
        return self.to_arrow().to_pandas()

"""Progress bars."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veilpath._types import Progress

_BAR_DELAY = 1.0
"""Seconds before a bar appears that was not explicitly requested."""


@contextmanager
def progress_callback(progress: Progress, description: str, unit: str) -> Iterator[Callable[[int, int], object] | None]:
    """Yields a callback that takes the work done and the total."""
    if progress is False or (progress is None and find_spec("tqdm") is None):
        yield None
    elif callable(progress):
        yield progress
    else:
        bar = _Bar(description, unit, 0.0 if progress else _BAR_DELAY)
        try:
            yield bar
        finally:
            bar.close()


class _Bar:
    def __init__(self, description: str, unit: str, delay: float) -> None:
        self._options = {"desc": description, "unit": unit, "unit_scale": True, "leave": False}
        self._start = time.monotonic() + delay
        self._bar: Any = None

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None and time.monotonic() >= self._start:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=total, **self._options)
        if self._bar is not None:
            self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()

"""Warn about the data at the line of user code that called this package."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


class RetrievalWarning(UserWarning):
    """The data is probably not what was meant; the results are correct for the data as given."""


def warn(message: str | Warning, category: type[Warning] = RetrievalWarning) -> None:
    """Warn at the line that called this package, or that called the integration which did."""
    level = 2
    frame = sys._getframe(1)  # noqa: SLF001  (`skip_file_prefixes` of warnings.warn is new in Python 3.12)
    while frame.f_back is not None and _is_ours(frame):
        level += 1
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(frame: FrameType) -> bool:
    package = frame.f_globals.get("__package__") or ""
    return any(part == "retrieval_metrics" or part.endswith("_retrieval_metrics") for part in package.split("."))

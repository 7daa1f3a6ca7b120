"""Shorten a traceback to the frames of the user, so that the failure of a retriever shows where it failed."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


def keep_user_frames(traceback: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of this package and of the standard library; None if no other is left."""
    entries: list[TracebackType] = []
    while traceback is not None:
        if not _is_internal(traceback.tb_frame):
            entries.append(traceback)
        traceback = traceback.tb_next
    shortened: TracebackType | None = None
    for entry in reversed(entries):
        shortened = TracebackType(shortened, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return shortened


def _is_internal(frame: FrameType) -> bool:
    parts = str(frame.f_globals.get("__name__", "")).split(".")
    package = parts[0]
    if package in sys.stdlib_module_names or "retrieval_metrics" in parts:
        return True
    # The integrations end so, and so may the name of a test.
    return package.endswith("_retrieval_metrics") and not package.startswith("test_")

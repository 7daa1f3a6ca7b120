"""Warn about the data at the line of user code that called this package."""

from __future__ import annotations

import sys
import warnings
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType


class RetrievalWarning(UserWarning):
    """The data is probably not what was meant; the results are correct for the data as given."""


@dataclass(frozen=True, slots=True)
class UserLine:
    """A line of user code, for a warning that is raised later and in another thread."""

    file: str
    number: int
    module: str
    registry: dict[Any, Any]


# The line that waits for the coroutine that is running, if that runs on an event loop of this package: its frames lead
# to the thread of the loop, and not to user code.
waiting_line: ContextVar[UserLine | None] = ContextVar("waiting_line", default=None)


def find_user_line() -> UserLine:
    """Return the line that called this package, or that called the integration which did."""
    frame = sys._getframe(1)  # noqa: SLF001  (as in `warn`)
    while frame.f_back is not None and _is_ours(frame):
        frame = frame.f_back
    line = waiting_line.get()
    if line is not None and _is_event_loop(frame):
        return line
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    return UserLine(frame.f_code.co_filename, frame.f_lineno, frame.f_globals.get("__name__", "<string>"), registry)


def warn(
    message: str | Warning, category: type[Warning] = RetrievalWarning, *, user_line: UserLine | None = None
) -> None:
    """Warn at the line that called this package, or that called the integration which did.

    Args:
        message: What to warn of.
        category: The class of the warning.
        user_line: The line, if it was found before, because user code does not call the code that warns.
    """
    level = 2
    frame = sys._getframe(1)  # noqa: SLF001  (`skip_file_prefixes` of warnings.warn is new in Python 3.12)
    while frame.f_back is not None and _is_ours(frame):
        level += 1
        frame = frame.f_back
    if user_line is None and _is_event_loop(frame):
        user_line = waiting_line.get()
    if user_line is None:
        warnings.warn(message, category, stacklevel=level)
        return
    warnings.warn_explicit(message, category, user_line.file, user_line.number, user_line.module, user_line.registry)


def _is_event_loop(frame: FrameType) -> bool:
    return frame.f_globals.get("__package__") == "asyncio"


def _is_ours(frame: FrameType) -> bool:
    package = frame.f_globals.get("__package__") or ""
    return any(part == "retrieval_metrics" or part.endswith("_retrieval_metrics") for part in package.split("."))

"""Warn about the data at the line of user code that called this package."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

# The modules that run coroutines and threads for others; a line in them says nothing to a user.
RUNNERS = ("asyncio", "concurrent", "threading")


class RetrievalWarning(UserWarning):
    """The data is probably not what was meant; the results are correct for the data as given."""


class UserLine(NamedTuple):
    """A line of user code, for a warning that may come later and from another thread."""

    filename: str
    number: int
    module: str
    registry: dict[Any, Any]

    @classmethod
    def of_frame(cls, frame: FrameType) -> UserLine:
        """Return the line that a frame executes."""
        module = frame.f_globals.get("__name__") or "<string>"
        registry = frame.f_globals.setdefault("__warningregistry__", {})
        return cls(frame.f_code.co_filename, frame.f_lineno, module, registry)


# The line of user code that waits for what another thread does for it.
_waiting_line: ContextVar[UserLine | None] = ContextVar("waiting_line", default=None)


def find_user_line() -> UserLine:
    """Return the line that called this package, or that called the integration which did."""
    return _find_user_line(sys._getframe(1), "")  # noqa: SLF001  (as in `warn`)


def warn(
    message: str | Warning,
    category: type[Warning] = RetrievalWarning,
    *,
    host: str | Sequence[str] = "",
    user_line: UserLine | None = None,
) -> None:
    """Warn at the line that called this package, or that called the integration which did.

    Args:
        message: The text.
        category: The class of the warning.
        host: The top-level module of a framework that calls this package, or several, whose lines are passed over too.
        user_line: The line, if it was found before, because no user code calls the code that warns.
    """
    caller = sys._getframe(1)  # noqa: SLF001  (`skip_file_prefixes` of warnings.warn is new in Python 3.12)
    line = user_line or _find_user_line(caller, host)
    warnings.warn_explicit(message, category, line.filename, line.number, line.module, line.registry)


@contextmanager
def remember_user_line() -> Iterator[None]:
    """Let warnings name the line that calls now, also from another thread with a copy of the context."""
    token = _waiting_line.set(_find_user_line(sys._getframe(1), ""))  # noqa: SLF001  (as in `warn`)
    try:
        yield
    finally:
        _waiting_line.reset(token)


def _find_user_line(caller: FrameType, host: str | Sequence[str]) -> UserLine:
    """Return the first line outside; without one the line that waits for this thread, or the outermost of all."""
    hosts = [host] if isinstance(host, str) else host
    outside = None
    frame: FrameType | None = caller
    outermost = caller
    while frame is not None:
        if not _is_ours(frame):
            outside = outside or frame
            if _top_level_module(frame) not in {*RUNNERS, "contextlib", *hosts}:
                return UserLine.of_frame(frame)
        outermost = frame
        frame = frame.f_back
    return _waiting_line.get() or UserLine.of_frame(outside or outermost)


def _top_level_module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def _is_ours(frame: FrameType) -> bool:
    package = frame.f_globals.get("__package__") or ""
    return any(part == "retrieval_metrics" or part.endswith("_retrieval_metrics") for part in package.split("."))

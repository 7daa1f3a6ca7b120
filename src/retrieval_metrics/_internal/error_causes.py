"""Follow an error to its causes: clients wrap the errors of what they use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


_OTHER_LOOP = re.compile(r"(?:different|another|other) (?:event )?loop|event loop is closed", re.IGNORECASE)

# What to do where a client meets a second event loop.
TWO_LOOPS_HINT = (
    "an asynchronous client works in one event loop only, and this one was used in another before: a synchronous call "
    "such as rm.retrieve has a loop of its own, and so has every asyncio.run. Use one style for this retriever, await "
    "rm.aretrieve or rm.retrieve; or give it a synchronous method, or a client of its own"
)


def iterate_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, what caused it, what caused that, and so on."""
    ids: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in ids:
        ids.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def is_event_loop_error(error: BaseException) -> bool:
    """Return whether an asynchronous client failed because it was used in two event loops.

    Example:
        >>> is_event_loop_error(RuntimeError("<asyncio.locks.Event object> is bound to a different event loop"))
        True
    """
    for cause in iterate_causes(error):
        if isinstance(cause, RuntimeError) and _OTHER_LOOP.search(str(cause)):
            return True
    return False

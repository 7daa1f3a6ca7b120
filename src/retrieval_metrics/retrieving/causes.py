"""Read an error with what caused it: clients wrap the errors of what they use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_OTHER_LOOP = re.compile(r"(?:different|another|other) (?:event )?loop|event loop is closed", re.IGNORECASE)

TWO_LOOPS = (
    "an asynchronous client works in one event loop only, and this one was used in another before: a synchronous call "
    "such as rm.retrieve has a loop of its own, and so has every asyncio.run. Use one style for this retriever, await "
    "rm.aretrieve or rm.retrieve; or give it a synchronous way, or a client of its own"
)
"""What to do where a client meets a second event loop."""


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, what caused it, what caused that, and so on."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or one.__context__


def is_of_another_loop(error: BaseException) -> bool:
    """Return whether an asynchronous client failed because it was used in two event loops.

    Example:
        >>> is_of_another_loop(RuntimeError("<asyncio.locks.Event object> is bound to a different event loop"))
        True
    """
    return any(isinstance(one, RuntimeError) and _OTHER_LOOP.search(str(one)) for one in causes(error))

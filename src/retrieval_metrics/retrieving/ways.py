"""The synchronous and the asynchronous way of what can be asked, in one function."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def first_way(synchronous: Callable[..., Any], asynchronous: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls the synchronous way, or, where there is none, returns what must be awaited.

    What has no synchronous way says so: it raises NotImplementedError, or another error from one. It is called once,
    and then only by the asynchronous way.

    Args:
        synchronous: The synchronous function.
        asynchronous: Its asynchronous twin, with the same arguments.

    Example:
        >>> def unknown(text):
        ...     raise NotImplementedError
        >>> async def known(text):
        ...     return [text]
        >>> ask = first_way(unknown, known)
        >>> from retrieval_metrics.retrieving.event_loop import run_until_complete
        >>> run_until_complete(ask("d1"))
        ['d1']
    """
    only_asynchronous = False

    @wraps(synchronous)
    def ask(*args: Any, **options: Any) -> Any:
        nonlocal only_asynchronous
        if not only_asynchronous:
            try:
                return synchronous(*args, **options)
            except Exception as error:
                if not any(isinstance(one, NotImplementedError) for one in (error, error.__cause__)):
                    raise
            only_asynchronous = True
        return asynchronous(*args, **options)

    return ask

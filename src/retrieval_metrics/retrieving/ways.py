"""The synchronous and the asynchronous way of what can be asked."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.retrieving.event_loop import serves_a_synchronous_caller

if TYPE_CHECKING:
    from collections.abc import Callable


class Ways(NamedTuple):
    """The ways of asking one thing; the core takes the one that suits its caller.

    Synchronous callers prefer the synchronous way, in threads, because an asynchronous client works in one event loop
    only. What has no synchronous way after all says so when it is called: it raises NotImplementedError, or another
    error from one. It is called once, and then only by the asynchronous way.

    Attributes:
        synchronous: The synchronous function; None if there is none.
        asynchronous: The function that returns what must be awaited, with the same arguments; None if there is none.

    Example:
        >>> def unknown(text):
        ...     raise NotImplementedError
        >>> async def known(text):
        ...     return [text]
        >>> from retrieval_metrics import retrieve
        >>> retrieve(Ways(unknown, known), {"q1": "d1"})["q1"]
        ['d1']
    """

    synchronous: Callable[..., Any] | None = None
    asynchronous: Callable[..., Any] | None = None

    @property
    def in_threads(self) -> Callable[..., Any]:
        """The synchronous way; where there is none, it returns what must be awaited."""
        synchronous, asynchronous = self
        if synchronous is None or asynchronous is None:
            return self.in_a_loop
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

    @property
    def in_a_loop(self) -> Callable[..., Any]:
        """The asynchronous way; where there is none, the synchronous one, which is called in a thread.

        Raises:
            ValueError: If there is neither.
        """
        found = self.asynchronous or self.synchronous
        if found is None:
            raise ValueError("there is neither a synchronous nor an asynchronous way")
        return found


def way_for_caller(found: Callable[..., Any] | Ways) -> Callable[..., Any]:
    """Return the function to call: of several ways that which suits the caller behind the running event loop."""
    if not isinstance(found, Ways):
        return found
    return found.in_threads if serves_a_synchronous_caller() else found.in_a_loop

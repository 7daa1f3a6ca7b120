"""Choose between the synchronous and the asynchronous function of a retriever or a model."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.retrieval.event_loop import serves_a_synchronous_caller

if TYPE_CHECKING:
    from collections.abc import Callable


class RetrieverFunctions(NamedTuple):
    """The synchronous and the asynchronous function of a retriever or a model; each caller gets the one that suits it.

    Synchronous callers use `synchronous` in threads, because an asynchronous client works in one event loop only. If it
    raises NotImplementedError (directly or as a cause), it is not tried again, and `asynchronous` is used.

    Attributes:
        synchronous: The synchronous function; None if there is none.
        asynchronous: The function that returns what must be awaited, with the same arguments; None if there is none.
        n_requested: How many items a store is asked for; None if fewer are in order, as with a threshold, or it is
            unknown.
        candidate_option: The option of the host library that lets a store examine more items, such as
            `"vector_store_kwargs={...}"`.

    Example:
        >>> def search(text):
        ...     raise NotImplementedError
        >>> async def asearch(text):
        ...     return [text]
        >>> from retrieval_metrics import retrieve
        >>> retrieve(RetrieverFunctions(search, asearch), {"q1": "d1"})["q1"]
        ['d1']
    """

    synchronous: Callable[..., Any] | None = None
    asynchronous: Callable[..., Any] | None = None
    n_requested: int | None = None
    candidate_option: str = ""

    @property
    def prefer_sync(self) -> Callable[..., Any]:
        """The synchronous function; without one, the asynchronous function, whose result must be awaited."""
        synchronous = self.synchronous
        asynchronous = self.asynchronous
        if synchronous is None or asynchronous is None:
            return self.prefer_async
        is_implemented = True

        @wraps(synchronous)
        def call(*args: Any, **options: Any) -> Any:
            nonlocal is_implemented
            if is_implemented:
                try:
                    return synchronous(*args, **options)
                except Exception as error:
                    if not _means_not_implemented(error):
                        raise
                is_implemented = False
            return asynchronous(*args, **options)

        return call

    @property
    def prefer_async(self) -> Callable[..., Any]:
        """The asynchronous function; without one, the synchronous function, which is called in a thread.

        Raises:
            ValueError: If there is neither.
        """
        function = self.asynchronous or self.synchronous
        if function is None:
            raise ValueError("there is neither a synchronous nor an asynchronous function")
        return function


def _means_not_implemented(error: Exception) -> bool:
    return isinstance(error, NotImplementedError) or isinstance(error.__cause__, NotImplementedError)


def choose_function(functions: Callable[..., Any] | RetrieverFunctions) -> Callable[..., Any]:
    """Return the function to call: of two, the one that suits the caller behind the running event loop."""
    if not isinstance(functions, RetrieverFunctions):
        return functions
    if serves_a_synchronous_caller():
        return functions.prefer_sync
    return functions.prefer_async

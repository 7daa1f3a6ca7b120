"""Give a function the signature of the function that it forwards its arguments to."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable


P = ParamSpec("P")


ReturnedT = TypeVar("ReturnedT")


def takes_arguments_of(source: Callable[P, Any]) -> Callable[[Callable[..., ReturnedT]], Callable[P, ReturnedT]]:
    """Return a decorator that gives a function the parameters of `source`, to which it forwards its arguments.

    Type checkers, editors, `help` and the documentation then show these parameters with their defaults.

    Example:
        >>> def search(question, *, workers=8): ...
        >>> @takes_arguments_of(search)
        ... def search_again(*args, **options):
        ...     return search(*args, **options)
        >>> str(signature(search_again))
        '(question, *, workers=8)'
    """

    def with_arguments(function: Callable[..., ReturnedT]) -> Callable[P, ReturnedT]:
        return_type = signature(function).return_annotation
        function.__signature__ = signature(source).replace(return_annotation=return_type)  # type: ignore[attr-defined]
        return function

    return with_arguments


def forward_arguments(
    name: str, function: Callable[..., ReturnedT], args: tuple[Any, ...], options: dict[str, Any]
) -> ReturnedT:
    """Call a function with the arguments that a function decorated with `takes_arguments_of` received.

    Args:
        name: The name of the decorated function, for the error message.
        function: The function to call.
        args: The positional arguments.
        options: The keyword arguments.

    Returns:
        What the called function returns.

    Raises:
        TypeError: If the called function does not take these arguments; the message begins with `name`.

    Example:
        >>> def search(question, *, workers=8):
        ...     return question, workers
        >>> forward_arguments("search_again", search, ("why?",), {})
        ('why?', 8)
        >>> forward_arguments("search_again", search, ("why?",), {"worker": 2})
        Traceback (most recent call last):
            ...
        TypeError: search_again: got an unexpected keyword argument 'worker'
    """
    try:
        signature(function).bind(*args, **options)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    return function(*args, **options)

"""Functions that pass their arguments on, and show the signature of those they pass them to."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable


P = ParamSpec("P")


ReturnedT = TypeVar("ReturnedT")


def takes_arguments_of(source: Callable[P, Any]) -> Callable[[Callable[..., ReturnedT]], Callable[P, ReturnedT]]:
    """Return a decorator that gives a function the arguments of another, to which it passes them on.

    Type checkers, editors, `help` and the documentation show them with their defaults.

    Example:
        >>> def search(question, *, workers=8): ...
        >>> @takes_arguments_of(search)
        ... def search_again(*args, **options):
        ...     return search(*args, **options)
        >>> str(signature(search_again))
        '(question, *, workers=8)'
    """

    def with_arguments(function: Callable[..., ReturnedT]) -> Callable[P, ReturnedT]:
        returned = signature(function).return_annotation
        function.__signature__ = signature(source).replace(return_annotation=returned)  # type: ignore[attr-defined]
        return function

    return with_arguments


def forward_arguments(
    name: str, function: Callable[..., ReturnedT], args: tuple[Any, ...], options: dict[str, Any]
) -> ReturnedT:
    """Call a function with the arguments of another that has them from `takes_arguments_of`, and return its result.

    Raises:
        TypeError: If the function does not take them; the message begins with the name of the other.

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

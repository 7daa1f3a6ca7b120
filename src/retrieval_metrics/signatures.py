"""Write the arguments of functions that take the same ones once: of twins, and of what passes options on."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
ReturnedT = TypeVar("ReturnedT")


def arguments_of(other: Callable[P, Any]) -> Callable[[Callable[..., ReturnedT]], Callable[P, ReturnedT]]:
    """Return a decorator that gives a function the arguments of another, to which it passes them on.

    Type checkers, editors, `help` and the documentation show them with their defaults.

    Example:
        >>> def asked(question, *, workers=8): ...
        >>> @arguments_of(asked)
        ... def ask(*args, **options):
        ...     return asked(*args, **options)
        >>> str(signature(ask))
        '(question, *, workers=8)'
    """

    def with_arguments(function: Callable[..., ReturnedT]) -> Callable[P, ReturnedT]:
        of_other = signature(other)
        result = signature(function).return_annotation
        function.__signature__ = of_other.replace(return_annotation=result)  # type: ignore[attr-defined]
        return function

    return with_arguments


def with_options_of(other: Callable[..., Any]) -> Callable[[Callable[P, ReturnedT]], Callable[P, ReturnedT]]:
    """Return a decorator that shows the keyword arguments of another function in place of a function's `**options`.

    Example:
        >>> def asked(question, *, workers=8): ...
        >>> @with_options_of(asked)
        ... def ask_twice(question, *, pause=1.0, **options):
        ...     return asked(question, **options), asked(question, **options)
        >>> str(signature(ask_twice))
        '(question, *, pause=1.0, workers=8)'
    """

    def with_options(function: Callable[P, ReturnedT]) -> Callable[P, ReturnedT]:
        own, options = signature(function), signature(other).parameters.values()
        named = [one for one in own.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
        named += [one for one in options if one.kind is Parameter.KEYWORD_ONLY]
        function.__signature__ = own.replace(parameters=named)  # type: ignore[attr-defined]
        return function

    return with_options


def passed_on(
    name: str, function: Callable[..., ReturnedT], args: tuple[Any, ...], options: dict[str, Any]
) -> ReturnedT:
    """Call a function with the arguments of another that has them from `arguments_of`, and return its result.

    Raises:
        TypeError: If the function does not take them; the message begins with the name of the other.

    Example:
        >>> def asked(question, *, workers=8):
        ...     return question, workers
        >>> passed_on("ask", asked, ("why?",), {})
        ('why?', 8)
        >>> passed_on("ask", asked, ("why?",), {"worker": 2})
        Traceback (most recent call last):
            ...
        TypeError: ask: got an unexpected keyword argument 'worker'
    """
    try:
        signature(function).bind(*args, **options)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    return function(*args, **options)

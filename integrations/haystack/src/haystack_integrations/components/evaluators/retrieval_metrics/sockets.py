"""Which inputs of a component take the text of a query, and which of its outputs hold documents: by their types."""

from __future__ import annotations

from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from haystack import Document

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

QUERY = "query"
"""The name of inputs for the text of a query; rankers can take it without requiring it."""


def sockets_of(thing: Any, side: Literal["input", "output"]) -> dict[str, Any]:
    """Return the inputs or outputs of a component by name; none of what is not a component."""
    sockets = getattr(thing, f"__haystack_{side}__", None)
    return {} if sockets is None else sockets._sockets_dict  # noqa: SLF001  (public only once it is in a pipeline)


def outputs_of(component: Any) -> list[str]:
    """Return the names of the outputs that hold documents."""
    outputs = sockets_of(component, "output").items()
    return [name for name, socket in outputs if any(kind == list[Document] for kind in _kinds(socket.type))]


def given(inputs: Mapping[str, tuple[Any, bool]], owner: str, fixed: Mapping[str, Any]) -> dict[str, bool]:
    """Return the inputs that receive the query, and whether as a list: the required ones, and those with a usual name.

    Args:
        inputs: Type of each input that nothing is connected to, and whether it is required.
        owner: The name of the component, for messages.
        fixed: Inputs with a value of their own.

    Raises:
        TypeError: If a required input takes no text.
    """
    receive: dict[str, bool] = {}
    for name, (kind, needed) in inputs.items():
        if name in fixed or not (needed or name == QUERY):
            continue
        kinds = set(_kinds(kind))
        if kinds & {str, Any}:
            receive[name] = False
        elif list[str] in kinds:
            receive[name] = True
        elif needed:
            raise TypeError(
                f"{owner} needs {name!r}, which is not a text; put a component that makes it from the query before it, "
                f"such as a text embedder in a pipeline, or give {name!r} a value by PipelineRetriever(..., inputs=)"
            )
    return receive


def _kinds(kind: Any) -> Iterator[Any]:
    """Yield a type, or the members of a union."""
    if get_origin(kind) is Annotated:
        yield from _kinds(get_args(kind)[0])
    elif get_origin(kind) in {Union, UnionType}:
        for one in get_args(kind):
            yield from _kinds(one)
    else:
        yield kind

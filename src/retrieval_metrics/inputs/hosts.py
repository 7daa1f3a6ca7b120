"""Frameworks whose retrievers, documents and models the core accepts; installed integrations register them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.metadata import EntryPoint

    from retrieval_metrics.inputs.retrieved import Retrieved

GROUP = "retrieval_metrics.hosts"
"""The entry point group. Each entry point has the name of a top-level module of the framework and loads a `Host`."""


@dataclass(frozen=True, kw_only=True)
class Host:
    """What an integration converts for the core.

    An integration creates one and registers it as an entry point of the group `retrieval_metrics.hosts`, under the name
    of the framework's top-level module. An object belongs to the framework if one of its base classes, or its
    metaclass, is defined in that module. The entry point is loaded on the first such object, so users of other
    frameworks do not wait for it.

    Attributes:
        name: The name of the framework, which is also that of the core's extra.
        ask: `ask(retriever)` returns a function from a query text to the answer, synchronous or asynchronous, or both
            as `Ways`; None for an object that is not a retriever.
        items: `items(answer)` converts what such a function returns into items, best first.
        model: `model(model)` returns a function from a prompt to a reply, or both ways; None for an object that is not
            a model.
        documents: `documents(objects)` converts documents or nodes into items.
    """

    name: str
    ask: Callable[[Any], Any]
    items: Callable[[Any], Sequence[Retrieved]]
    model: Callable[[Any], Any] | None = None
    documents: Callable[[Any], Sequence[Retrieved]] | None = None


FRAMEWORKS = {
    "langchain_core": "langchain",
    "llama_index": "llama-index",
    "haystack": "haystack",
    "haystack_integrations": "haystack",
}
"""The extra that installs the integration of each framework, by the framework's top-level module."""


@cache
def _announced() -> dict[str, EntryPoint]:
    """Return the entry points of installed integrations, by the top-level module of their framework."""
    from importlib.metadata import entry_points  # noqa: PLC0415  (costs as much to import as half of this package)

    return {found.name: found for found in entry_points(group=GROUP)}


def host_of(thing: Any) -> Host | None:
    """Return the host that an object belongs to, or None if it is a plain Python object.

    Raises:
        ImportError: If the object is of a framework whose integration is not installed; the message says how to
            install it.
    """
    kinds = (*type(thing).__mro__, type(type(thing)))  # some frameworks mark classes only by a metaclass
    roots = dict.fromkeys(kind.__module__.partition(".")[0] for kind in kinds)
    if roots.keys() <= {"builtins", "abc", "typing", "collections", "functools", "types", "retrieval_metrics"}:
        return None
    announced = _announced()
    for root in roots:
        if root in announced:
            host: Host = announced[root].load()
            return host
    for root, extra in FRAMEWORKS.items():
        if root in roots:
            raise ImportError(
                f"{type(thing).__name__} is of {extra}, whose integration is not installed: "
                f"pip install 'retrieval-metrics[{extra}]'"
            )
    return None

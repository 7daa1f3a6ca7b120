"""Frameworks whose retrievers, documents and models the core takes: installed integrations announce them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from retrieval_metrics.inputs.retrieved import Retrieved

GROUP = "retrieval_metrics.hosts"
"""The entry point group; each entry point is a `Host`, or a module attribute that is one."""


@dataclass(frozen=True, kw_only=True)
class Host:
    """What an integration converts for the core.

    An integration makes one and announces it as an entry point of the group `retrieval_metrics.hosts`. It must import
    its framework only inside these functions, which are called for objects of that framework alone.

    Attributes:
        name: The name of the framework, which is also that of the core's extra.
        modules: Top-level modules of the framework: an object belongs to it if a class it inherits from is defined in
            one of them.
        ask: `ask(retriever)` returns a function of a query text, synchronous or asynchronous, that retrieves; None for
            an object that is not a retriever.
        items: `items(answer)` converts what such a function returns into items, best first.
        model: `model(model)` returns a function from a prompt to a reply, synchronous or asynchronous; None for an
            object that is not a model.
        documents: `documents(objects)` converts documents or nodes into items.
    """

    name: str
    modules: tuple[str, ...]
    ask: Callable[[Any], Callable[[str], Any] | None]
    items: Callable[[Any], Sequence[Retrieved]]
    model: Callable[[Any], Callable[[str], Any] | None] | None = None
    documents: Callable[[Any], Sequence[Retrieved]] | None = None

    def owns(self, thing: Any) -> bool:
        """Return whether an object is of this framework."""
        return any(cls.__module__.partition(".")[0] in self.modules for cls in type(thing).__mro__)


FRAMEWORKS = {"langchain_core": "langchain", "llama_index": "llama-index", "haystack": "haystack"}
"""Frameworks with an integration of ours: top-level module, and the extra that installs it."""


@cache
def installed_hosts() -> tuple[Host, ...]:
    """Return the hosts that installed integrations announce."""
    from importlib.metadata import entry_points  # noqa: PLC0415  (costs as much to import as half of this package)

    return tuple(found.load() for found in entry_points(group=GROUP))


def host_of(thing: Any) -> Host | None:
    """Return the host that an object belongs to, or None if it is a plain Python object.

    Raises:
        ImportError: If the object is of a framework whose integration is not installed; the message holds the command.
    """
    roots = {cls.__module__.partition(".")[0] for cls in type(thing).__mro__}
    if roots <= {"builtins", "abc", "typing", "collections", "functools", "types", "retrieval_metrics"}:
        return None
    for host in installed_hosts():
        if not roots.isdisjoint(host.modules):
            return host
    for root, extra in FRAMEWORKS.items():
        if root in roots and root in sys.modules:
            raise ImportError(
                f"{type(thing).__name__} is of {extra}, whose integration is not installed: "
                f"pip install 'retrieval-metrics[{extra}]'"
            )
    return None

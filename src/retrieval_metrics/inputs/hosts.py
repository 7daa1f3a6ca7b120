"""Frameworks whose retrievers, documents and models the core accepts; installed integrations register them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.metadata import EntryPoint

    from retrieval_metrics.inputs.items import Retrieved

    class HasInvoke(Protocol):
        """A retriever, chain or model of LangChain, or what is used like one."""

        @property
        def invoke(self) -> Callable[..., object]:
            """The function that takes a question or a prompt."""

    class HasRetrieve(Protocol):
        """A retriever of LlamaIndex, or what is used like one."""

        @property
        def retrieve(self) -> Callable[..., object]:
            """The function that takes a question."""

    class HasRun(Protocol):
        """A pipeline or component of Haystack, or an agent that is run."""

        @property
        def run(self) -> Callable[..., object]:
            """The function that takes the inputs."""

    class HasQuery(Protocol):
        """A query engine of LlamaIndex."""

        @property
        def query(self) -> Callable[..., object]:
            """The function that takes a question."""

    class HasComplete(Protocol):
        """A model of LlamaIndex."""

        @property
        def complete(self) -> Callable[..., object]:
            """The function that takes a prompt."""

    class HasAsk(Protocol):
        """A model with its name and its limits: `Model`."""

        @property
        def ask(self) -> object:
            """The function that takes a prompt, or a model of a framework."""

    # A retriever of a framework; an installed integration says how it is asked.
    HostRetriever: TypeAlias = HasInvoke | HasRetrieve | HasRun | HasQuery
    # A function from a prompt to a reply, synchronous or not, or a model of a framework.
    LanguageModel: TypeAlias = Callable[..., object] | HasAsk | HasInvoke | HasComplete | HasRun


# The entry point group. Each entry point has the name of a top-level module of the framework and loads a `HostAdapter`.
ENTRY_POINT_GROUP = "retrieval_metrics.hosts"

# The extra that installs the integration of each framework, by the framework's top-level module.
FRAMEWORKS = {
    "langchain_core": "langchain",
    "llama_index": "llama-index",
    "haystack": "haystack",
    "haystack_integrations": "haystack",
}

# Objects whose classes all come from these modules are plain Python objects.
PLAIN_MODULES = {"builtins", "abc", "typing", "collections", "functools", "types", "retrieval_metrics"}


@dataclass(frozen=True, kw_only=True)
class HostAdapter:
    """What an integration converts for the core.

    An integration creates one and registers it as an entry point of the group `retrieval_metrics.hosts`, under the name
    of the framework's top-level module. An object belongs to the framework if one of its base classes, or its
    metaclass, is defined in that module. The entry point is loaded on the first such object, so users of other
    frameworks do not wait for it.

    Attributes:
        name: The name of the framework, which is also that of the core's extra.
        resolve_retriever: `resolve_retriever(retriever)` returns a function from a query text to the answer,
            synchronous or asynchronous, or both as `RetrieverFunctions`; None for an object that is not a retriever.
        convert_items: `convert_items(answer)` converts what such a function returns into items, best first, or into
            the `StageRankings` to it.
        model: `model(model)` returns a function from a prompt to a reply, or both ways; None for an object that is not
            a model.
        documents: `documents(objects)` converts documents or nodes into items.
        evaluation: `evaluation(result, metrics)` converts a result, dataset or experiment into an `rm.Evaluation` that
            has these metrics, by name, as far as it can; None for an object that is none of these.
    """

    name: str
    resolve_retriever: Callable[[Any], Any]
    convert_items: Callable[[Any], Any]
    model: Callable[[Any], Any] | None = None
    documents: Callable[[Any], Sequence[Retrieved]] | None = None
    evaluation: Callable[[Any, Sequence[str]], Any] | None = None


@cache
def _entry_point_by_module() -> dict[str, EntryPoint]:
    """Return the entry points of installed integrations, by the top-level module of their framework."""
    from importlib.metadata import entry_points

    return {entry_point.name: entry_point for entry_point in entry_points(group=ENTRY_POINT_GROUP)}


def find_host(value: object) -> HostAdapter | None:
    """Return the host that an object belongs to, or None if it is a plain Python object.

    Raises:
        ImportError: If the object is of a framework whose integration is not installed; the message says how to
            install it.
    """
    classes = (*type(value).__mro__, type(type(value)))  # some frameworks mark classes only by a metaclass
    modules = dict.fromkeys(cls.__module__.partition(".")[0] for cls in classes)
    if modules.keys() <= PLAIN_MODULES:
        return None
    entry_points = _entry_point_by_module()
    for module in modules:
        if module in entry_points:
            host: HostAdapter = entry_points[module].load()
            return host
    for module, extra in FRAMEWORKS.items():
        if module in modules:
            raise ImportError(
                f"{type(value).__name__} comes from {extra}, whose integration is not installed: "
                f"pip install 'retrieval-metrics[{extra}]'"
            )
    return None

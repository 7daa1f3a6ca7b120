"""The known metrics and their names."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics.scoring.definition import Definition


HeldT = TypeVar("HeldT")

_modules: list[str] = []


def add_from(module: str) -> None:
    """Have a module that adds metrics imported before the first one is looked up."""
    _modules.append(module)


class _Table(Mapping[str, HeldT]):
    """What is known by name. Looking at it imports the modules that add metrics, unless that has been done."""

    def __init__(self, held: dict[str, HeldT]) -> None:
        self._held = held

    @property
    def _whole(self) -> dict[str, HeldT]:
        for module in _modules:
            import_module(module)  # waits if another thread is importing it
        return self._held

    def __getitem__(self, name: str) -> HeldT:
        return self._whole[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole)

    def __len__(self) -> int:
        return len(self._whole)


_DEFINITIONS: dict[str, Definition] = {}
_NAME_OF: dict[str, str] = {}

DEFINITIONS: Mapping[str, Definition] = _Table(_DEFINITIONS)
"""Every metric by its canonical name."""

NAME_OF: Mapping[str, str] = _Table(_NAME_OF)
"""The canonical name for each spelling."""


def add(definition: Definition) -> None:
    """Register a metric."""
    spellings = (definition.name, *definition.aliases)
    for spelling in spellings:
        if spelling in NAME_OF:
            raise ValueError(f"the metric {NAME_OF[spelling]!r} is already called {spelling!r}")
    _DEFINITIONS[definition.name] = definition
    _NAME_OF.update(dict.fromkeys(spellings, definition.name))


_FUNCTIONS = {"mrr": "reciprocal_rank", "map": "average_precision"}
"""The functions that have another name than the metric."""


def meant(name: str) -> str:
    """Return what to write in place of a metric that is asked for as if it were a function; empty for other names."""
    known = NAME_OF.get(name.partition("_at_")[0], "")
    one = f"metrics.{_FUNCTIONS.get(known, known)}(gains)"
    return f"; write evaluate(qrels, run, {known!r}), or for one ranking {one}" if known else ""


def remove(name: str) -> None:
    """Remove a metric and all its names."""
    definition = _DEFINITIONS.pop(name)
    for spelling in (definition.name, *definition.aliases):
        del _NAME_OF[spelling]

"""The nodes after retrieval and after each postprocessor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from llama_index.core.postprocessor.types import BaseNodePostprocessor

    from retrieval_metrics import Retrieved

RETRIEVED = "retrieved"


class Stages:
    """Records the nodes of every query after each stage, immediately, because postprocessors may change them.

    Attributes:
        names: The stages in order: `retrieved`, then the class of each postprocessor, numbered where it comes again.
    """

    def __init__(self, postprocessors: Sequence[BaseNodePostprocessor], read: Callable[[Any], list[Retrieved]]) -> None:
        self.names = [RETRIEVED]
        for one in postprocessors:
            name = type(one).__name__
            again = sum(known.partition(" ")[0] == name for known in self.names)
            self.names.append(f"{name} {again + 1}" if again else name)
        self._read = read
        self._by_text: list[dict[str, list[Retrieved]]] = [{} for _ in self.names]

    def note(self, stage: int, text: str, nodes: Any) -> None:
        """Keep the nodes of a query after a stage."""
        self._by_text[stage][text] = self._read(nodes)

    def runs(self, texts: Mapping[Any, str], failed: Mapping[Any, Exception]) -> dict[str, dict[Any, list[Retrieved]]]:
        """Return a run per stage; a failed query has an empty ranking in each."""
        return {
            name: {query: [] if query in failed else by_text.get(text, []) for query, text in texts.items()}
            for name, by_text in zip(self.names, self._by_text, strict=True)
        }

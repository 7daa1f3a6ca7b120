"""Cut-offs by budget: as many items as fit into a number of characters or tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from retrieval_metrics.checks import positive_integer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from retrieval_metrics.aliases import IntArray, QueryId
    from retrieval_metrics.inputs.retrieved import Retrieved

_BUDGET = r"(?a:(\d+)\s*)(char|chars|characters|token|tokens)"


@dataclass(frozen=True, slots=True)
class Budget:
    """A cut-off by length: as many of the first items as fit into it, white space included.

    Rankings of chunks of different sizes are comparable at the same budget, but not at the same number of items. With a
    budget, the ideal ranking of NDCG uses all relevant documents, so it does not depend on how texts were split.

    Attributes:
        size: The number of characters or tokens.
        unit: `"chars"` or `"tokens"`.

    Example:
        >>> str(Budget.parse("2000 characters"))
        '2000chars'
    """

    size: int
    unit: Literal["chars", "tokens"]

    def __post_init__(self) -> None:
        positive_integer(self.size, f"a budget of {self.unit}")
        if self.unit not in {"chars", "tokens"}:
            raise ValueError(f"a budget must be in 'chars' or 'tokens', got {self.unit!r}")

    @classmethod
    def parse(cls, text: str) -> Budget | None:
        """Return the budget of a text such as `2000chars` or `800tokens`; None if the text is not a budget."""
        match = re.fullmatch(_BUDGET, text.strip())
        if match is None or not int(match[1]):
            return None
        return cls(int(match[1]), "chars" if match[2].startswith("char") else "tokens")

    def __str__(self) -> str:
        return f"{self.size}{self.unit}"


class Lengths:
    """The lengths of the items of every ranking; counted only if a metric has a budget."""

    def __init__(
        self,
        queries: Sequence[QueryId],
        rankings: Mapping[QueryId, Sequence[Retrieved]],
        count_tokens: Callable[[str], int] | None,
    ) -> None:
        self._queries = queries
        self._rankings = rankings
        self._count_tokens = count_tokens
        self._counted: dict[str, int] = {}

    def fitting(self, budget: Budget) -> IntArray:
        """Return how many of the first items of each query fit into a budget, shape (queries,).

        Raises:
            ValueError: If the length of an item is unknown.
        """
        measure = self._characters if budget.unit == "chars" else self._tokens
        fitting = np.zeros(len(self._queries), dtype=np.int64)
        for index, query in enumerate(self._queries):
            left = budget.size
            for item in self._rankings.get(query, ()):
                left -= measure(item, query)
                if left < 0:
                    break
                fitting[index] += 1
        return fitting

    def of_first(self, k: int, queries: Iterable[QueryId]) -> list[int]:
        """Return how many characters the first `k` items of each query hold; nothing if the length of one is unknown.

        Queries for which nothing was retrieved are left out.
        """
        found = []
        for query in queries:
            if first := list(self._rankings.get(query, ()))[:k]:
                try:
                    found.append(sum(self._characters(item, query) for item in first))
                except ValueError:
                    return []
        return found

    @staticmethod
    def _characters(item: Retrieved, query: QueryId) -> int:
        if item.text is not None:
            return len(item.text)
        if item.start is not None and item.end is not None:
            return item.end - item.start
        raise ValueError(
            f"item {item.id!r} of query {query!r} has neither text nor offsets, so a budget of chars cannot count it"
        )

    def _tokens(self, item: Retrieved, query: QueryId) -> int:
        if item.tokens is not None:
            return item.tokens
        if self._count_tokens is None or item.text is None:
            raise ValueError(
                f"item {item.id!r} of query {query!r} has no number of tokens; pass Retrieved(..., tokens=...), or its "
                "text and match=Matching(tokens=lambda text: len(encode(text)))"
            )
        if item.text not in self._counted:
            self._counted[item.text] = self._count_tokens(item.text)
        return self._counted[item.text]


def no_lengths(budget: Budget) -> ValueError:
    """Return the error for a budget on rankings that hold only ids."""
    return ValueError(
        f"a cut-off of {budget} needs the lengths of the items, but the rankings hold only ids; pass lists of "
        "Retrieved(id, text=...)"
    )

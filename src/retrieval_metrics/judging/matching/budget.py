"""Cut-offs by budget: as many items as fit into a number of characters or tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from retrieval_metrics.checks import positive_integer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from retrieval_metrics.aliases import BoolArray, IntArray, QueryId
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


@dataclass(frozen=True, slots=True)
class Filled:
    """How the first items of every query fill a budget.

    Attributes:
        count: Shape (queries,), how many of the first items fit.
        used: Shape (queries,), how many characters or tokens these have.
        ended: Shape (queries,), whether the whole ranking fits, so that a longer one could fill more.
    """

    count: IntArray
    used: IntArray
    ended: BoolArray


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
        self._filled: dict[Budget, Filled] = {}

    def filled(self, budget: Budget) -> Filled:
        """Return how the first items of each query fill a budget.

        Raises:
            ValueError: If the length of an item is unknown.
        """
        if budget not in self._filled:
            self._filled[budget] = self._fill(budget)
        return self._filled[budget]

    def _fill(self, budget: Budget) -> Filled:
        count, used = np.zeros((2, len(self._queries)), dtype=np.int64)
        ended = np.ones(len(self._queries), dtype=np.bool_)
        for index, query in enumerate(self._queries):
            taken = 0
            for item in self._rankings.get(query, ()):
                length = self._length(item, query, budget.unit)
                if taken + length > budget.size:
                    ended[index] = False
                    break
                taken += length
                count[index] += 1
            used[index] = taken
        return Filled(count, used, ended)

    def of_first(self, k: int | None, queries: Iterable[QueryId]) -> list[int]:
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

    def _length(self, item: Retrieved, query: QueryId, unit: str) -> int:
        return self._characters(item, query) if unit == "chars" else self._tokens(item, query)

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

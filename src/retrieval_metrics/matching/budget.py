"""Cutoffs by budget: as many items as fit into a number of characters, tokens or calls."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from retrieval_metrics._internal.validation import positive_integer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import BoolArray, IntArray, QueryId
    from retrieval_metrics.inputs.items import Retrieved


Unit: TypeAlias = Literal["chars", "tokens", "calls"]

_BUDGET_PATTERN = r"(?a:(\d+)\s*)(char|chars|characters|token|tokens|call|calls)"
_UNIT_BY_ALIAS = {"char": "chars", "characters": "chars", "token": "tokens", "call": "calls"}


@dataclass(frozen=True, slots=True)
class Budget:
    """A cutoff by length, white space included, or by calls: as many of the first items as fit into it.

    Rankings of chunks of different sizes are comparable at the same budget, but not at the same number of items. With a
    budget, the ideal ranking of NDCG uses all relevant documents, so it does not depend on how texts were split.

    A budget of calls is for the searches of an agent: `recall@3calls` is the recall of what its first three calls
    found, failed ones counted.

    Attributes:
        size: The number of characters, tokens or calls.
        unit: `"chars"`, `"tokens"` or `"calls"`.

    Example:
        >>> str(Budget.parse("2000 characters"))
        '2000chars'
    """

    size: int
    unit: Unit

    def __post_init__(self) -> None:
        positive_integer(self.size, f"a budget of {self.unit}")
        if self.unit not in get_args(Unit):
            raise ValueError(f"a budget must be in 'chars', 'tokens' or 'calls', got {self.unit!r}")

    @classmethod
    def parse(cls, text: str) -> Budget | None:
        """Return the budget of a text such as `2000chars`, `800tokens` or `3calls`; None if it is not a budget."""
        match = re.fullmatch(_BUDGET_PATTERN, text.strip())
        if match is None or not int(match[1]):
            return None
        unit: Unit = _UNIT_BY_ALIAS.get(match[2], match[2])  # type: ignore[assignment]  # the pattern lets no other word through
        return cls(int(match[1]), unit)

    @property
    def in_words(self) -> str:
        """The budget as it stands in a sentence, such as `2,000 characters`."""
        unit = "characters" if self.unit == "chars" else str(self.unit)
        if self.size == 1:
            unit = unit.removesuffix("s")
        return f"{self.size:,} {unit}"

    def __str__(self) -> str:
        return f"{self.size}{self.unit}"


@dataclass(frozen=True, slots=True)
class BudgetFills:
    """How far the first items of each query fill a budget.

    Attributes:
        n_fitting: Shape (queries,), how many of the first items fit.
        used_length: Shape (queries,), how many characters, tokens or calls the fitting items use.
        n_retrieved: Shape (queries,), how many items there are.
    """

    n_fitting: IntArray
    used_length: IntArray
    n_retrieved: IntArray

    @property
    def is_exhausted(self) -> BoolArray:
        """Shape (queries,), whether the whole ranking fits, so that a longer one could fill more."""
        is_exhausted: BoolArray = self.n_fitting == self.n_retrieved
        return is_exhausted

    def take(self, rows: IntArray) -> BudgetFills:
        """Return the fills of some of the queries."""
        return BudgetFills(self.n_fitting[rows], self.used_length[rows], self.n_retrieved[rows])

    def merge(self, other: BudgetFills) -> BudgetFills:
        """Return the fills of these queries, followed by those of others."""
        return BudgetFills(
            n_fitting=np.concatenate([self.n_fitting, other.n_fitting]),
            used_length=np.concatenate([self.used_length, other.used_length]),
            n_retrieved=np.concatenate([self.n_retrieved, other.n_retrieved]),
        )


class Lengths:
    """The lengths of the items of every ranking, and the calls that found them; counted only if a metric has a budget.

    Attributes:
        calls: The number of the call that found each item; empty if that is unknown.
    """

    def __init__(
        self,
        queries: Sequence[QueryId],
        rankings: Mapping[QueryId, Sequence[Retrieved]],
        count_tokens: Callable[[str], int] | None,
        calls: Mapping[QueryId, Sequence[int]],
    ) -> None:
        self.calls = calls
        self._queries = queries
        self._rankings = rankings
        self._count_tokens = count_tokens
        self._token_counts: dict[str, int] = {}
        self._fills: dict[Budget, BudgetFills] = {}

    def fill_budget(self, budget: Budget) -> BudgetFills:
        """Return how the first items of each query fill a budget."""
        if budget not in self._fills:
            if budget.unit == "calls":
                self._fills[budget] = self._fill_with_calls(budget)
            else:
                self._fills[budget] = self._fill_with_items(budget)
        return self._fills[budget]

    def _fill_with_items(self, budget: Budget) -> BudgetFills:
        if self.calls and not self._rankings:  # ids alone
            raise missing_lengths_error(budget)
        measure = self._find_measure(budget.unit)
        n_fitting = np.zeros(len(self._queries), dtype=np.int64)
        used_length = np.zeros(len(self._queries), dtype=np.int64)
        n_retrieved = np.zeros(len(self._queries), dtype=np.int64)
        for index, query in enumerate(self._queries):
            ranking = self._rankings.get(query, ())
            total_length = 0
            for item in ranking:
                length = measure(item, query)
                if total_length + length > budget.size:
                    break
                total_length += length
                n_fitting[index] += 1
            used_length[index] = total_length
            n_retrieved[index] = len(ranking)
        return BudgetFills(n_fitting, used_length, n_retrieved)

    def _fill_with_calls(self, budget: Budget) -> BudgetFills:
        if not self.calls and any(self._rankings.values()):
            raise missing_lengths_error(budget)
        n_fitting = np.zeros(len(self._queries), dtype=np.int64)
        used_length = np.zeros(len(self._queries), dtype=np.int64)
        n_retrieved = np.zeros(len(self._queries), dtype=np.int64)
        for index, query in enumerate(self._queries):
            calls = self.calls.get(query, ())
            n_fitting[index] = sum(call <= budget.size for call in calls)
            used_length[index] = min(budget.size, max(calls, default=0))
            n_retrieved[index] = len(calls)
        return BudgetFills(n_fitting, used_length, n_retrieved)

    def item_lengths(self, query: QueryId, n: int, unit: Unit) -> list[int]:
        """Return the length of each of the first `n` items of a query; for calls, the number of the call."""
        if unit == "calls":
            return list(self.calls.get(query, ())[:n])
        measure = self._find_measure(unit)
        return [measure(item, query) for item in self._rankings.get(query, ())[:n]]

    def first_lengths(self, k: int | None, queries: Iterable[QueryId]) -> list[int]:
        """Return how many characters the first `k` items of each query hold; nothing if a length is unknown."""
        lengths = []
        for query in queries:
            first_items = list(self._rankings.get(query, ()))[:k]
            if not first_items:
                continue
            try:
                lengths.append(sum(self._count_characters(item, query) for item in first_items))
            except ValueError:
                return []
        return lengths

    def _find_measure(self, unit: Unit) -> Callable[[Retrieved, QueryId], int]:
        return self._count_characters if unit == "chars" else self._count_item_tokens

    @staticmethod
    def _count_characters(item: Retrieved, query: QueryId) -> int:
        if item.text is not None:
            return len(item.text)
        if item.start is not None and item.end is not None:
            return item.end - item.start
        raise ValueError(
            f"item {item.id!r} of query {query!r} has neither text nor offsets, so a budget of chars cannot count it"
        )

    def _count_item_tokens(self, item: Retrieved, query: QueryId) -> int:
        if item.tokens is not None:
            return item.tokens
        if self._count_tokens is None or item.text is None:
            raise ValueError(
                f"item {item.id!r} of query {query!r} has no token count; pass Retrieved(..., tokens=...), or its "
                "text and match=Matching(count_tokens=lambda text: len(encode(text)))"
            )
        if item.text not in self._token_counts:
            self._token_counts[item.text] = self._count_tokens(item.text)
        return self._token_counts[item.text]


def missing_lengths_error(budget: Budget) -> ValueError:
    """Return the error for a budget on rankings that do not say what it counts."""
    if budget.unit == "calls":
        return ValueError(
            f"a cutoff of {budget} needs to know which call found each item; evaluate a view in the order of the "
            "calls, such as Trajectories.union()"
        )
    return ValueError(
        f"a cutoff of {budget} needs the lengths of the items, but the rankings hold only IDs; pass lists of "
        "Retrieved(id, text=...)"
    )

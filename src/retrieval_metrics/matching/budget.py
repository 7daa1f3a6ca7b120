"""Cut-offs by budget: as many items as fit into a number of characters, tokens or calls."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from retrieval_metrics._internal.validation import format_argument, positive_integer, python_or_cli_text
from retrieval_metrics.files.saved_records import register_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from retrieval_metrics._internal.validation import BoolArray, IntArray, QueryId
    from retrieval_metrics.inputs.items import Retrieved


Unit: TypeAlias = Literal["chars", "tokens", "calls"]

_BUDGET = r"(?a:(\d+)\s*)(char|chars|characters|token|tokens|call|calls)"
_UNITS = {"char": "chars", "characters": "chars", "token": "tokens", "call": "calls"}


@register_record
@dataclass(frozen=True, slots=True)
class Budget:
    """A cut-off by length, white space included, or by calls: as many of the first items as fit into it.

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
        match = re.fullmatch(_BUDGET, text.strip())
        if match is None or not int(match[1]):
            return None
        unit: Unit = _UNITS.get(match[2], match[2])  # type: ignore[assignment]  # the pattern lets no other word through
        return cls(int(match[1]), unit)

    @property
    def in_words(self) -> str:
        """The budget as it stands in a sentence, such as `2,000 characters`."""
        unit = "characters" if self.unit == "chars" else self.unit
        return f"{self.size:,} {unit if self.size > 1 else unit[:-1]}"

    def __str__(self) -> str:
        return f"{self.size}{self.unit}"


@register_record
@dataclass(frozen=True, slots=True)
class BudgetFills:
    """How the first items of every query fill a budget.

    Attributes:
        count: Shape (queries,), how many of the first items fit.
        used: Shape (queries,), how many characters or tokens these have.
        retrieved: Shape (queries,), how many items there are.
    """

    n_fitting: IntArray
    used_length: IntArray
    n_retrieved: IntArray

    @property
    def is_exhausted(self) -> BoolArray:
        """Shape (queries,), whether the whole ranking fits, so that a longer one could fill more."""
        ended: BoolArray = self.n_fitting == self.n_retrieved
        return ended

    def of(self, rows: IntArray) -> BudgetFills:
        """Return how some of the queries fill it."""
        return BudgetFills(self.n_fitting[rows], self.used_length[rows], self.n_retrieved[rows])

    def merge(self, other: BudgetFills) -> BudgetFills:
        """Return how these queries and then others fill it."""
        pairs = (
            (self.n_fitting, other.n_fitting),
            (self.used_length, other.used_length),
            (self.n_retrieved, other.n_retrieved),
        )
        return BudgetFills(*map(np.concatenate, pairs))


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
        self._counted: dict[str, int] = {}
        self._filled: dict[Budget, BudgetFills] = {}

    def fill_budget(self, budget: Budget) -> BudgetFills:
        """Return how the first items of each query fill a budget."""
        if budget not in self._filled:
            self._filled[budget] = self._found_by(budget) if budget.unit == "calls" else self._fill(budget)
        return self._filled[budget]

    def _fill(self, budget: Budget) -> BudgetFills:
        if self.calls and not self._rankings:  # ids alone
            raise missing_lengths_error(budget)
        measure = self._characters if budget.unit == "chars" else self._tokens
        count, used, retrieved = np.zeros((3, len(self._queries)), dtype=np.int64)
        for index, query in enumerate(self._queries):
            taken, ranking = 0, self._rankings.get(query, ())
            for item in ranking:
                length = measure(item, query)
                if taken + length > budget.size:
                    break
                taken += length
                count[index] += 1
            used[index], retrieved[index] = taken, len(ranking)
        return BudgetFills(count, used, retrieved)

    def _found_by(self, budget: Budget) -> BudgetFills:
        if not self.calls and any(self._rankings.values()):
            raise missing_lengths_error(budget)
        calls = [self.calls.get(query, ()) for query in self._queries]
        count = np.array([sum(call <= budget.size for call in each) for each in calls], dtype=np.int64)
        used = np.array([min(budget.size, max(each, default=0)) for each in calls], dtype=np.int64)
        return BudgetFills(count, used, np.array([len(each) for each in calls], dtype=np.int64))

    def item_lengths(self, query: QueryId, n: int, unit: Unit) -> list[int]:
        """Return the length of each of the first `n` items of a query; for calls, the number of the call."""
        if unit == "calls":
            return list(self.calls.get(query, ())[:n])
        measure = self._characters if unit == "chars" else self._tokens
        return [measure(item, query) for item in self._rankings.get(query, ())[:n]]

    def first_lengths(self, k: int | None, queries: Iterable[QueryId]) -> list[int]:
        """Return how many characters the first `k` items of each query hold; nothing if a length is unknown."""
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
                f"item {item.id!r} of query {query!r} has no number of tokens; "
                + python_or_cli_text(
                    "pass Retrieved(..., tokens=...), or its text and "
                    "match=Matching(count_tokens=lambda text: len(encode(text)))",
                    "the rows of the run need a column of them, tokens",
                )
            )
        if item.text not in self._counted:
            self._counted[item.text] = self._count_tokens(item.text)
        return self._counted[item.text]


def missing_lengths_error(budget: Budget) -> ValueError:
    """Return the error for a budget on rankings that do not say what it counts."""
    if budget.unit == "calls":
        return ValueError(
            f"a cut-off of {budget} needs to know which call found each item; evaluate a view in the order of the "
            f"calls, such as {format_argument('view', 'union', python='Trajectories.union()')}"
        )
    return ValueError(
        f"a cut-off of {budget} needs the lengths of the items, but the rankings hold only ids; "
        + python_or_cli_text(
            "pass lists of Retrieved(id, text=...)", "the rows of the run need a column of texts, text"
        )
    )

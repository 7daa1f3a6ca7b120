"""The interface of runs that were merged from several searches: what explanations ask them about the searches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.items import Retrieved


class SearchHistory(ABC):
    """The searches behind a run, such as those of an agent; a run that is the answer of a retriever has none."""

    @abstractmethod
    def require_judged_rows(self, judged: Container[QueryId]) -> None:
        """Raise if the judgments are of questions whose rows have other ids.

        Raises:
            ValueError: If their rows have other ids.
        """

    @abstractmethod
    def origin_of(self, query: QueryId, rank: int) -> tuple[int, int] | None:
        """Return the number of the search that found an item of a ranking and its rank there; None if unknown."""

    @abstractmethod
    def all_retrieved(self, query: QueryId) -> list[Retrieved]:
        """Return every item that was found or read for a query, whether or not it is in the ranking."""

    @abstractmethod
    def search_notes(self, query: QueryId) -> list[tuple[str, str]]:
        """Return, for each search, its query and the reason why it added no item to the ranking.

        The reason is empty if the search added an item.
        """

    @abstractmethod
    def document_story(self, query: QueryId, is_document: Callable[[Any], bool]) -> str:
        """Return what became of a document on its way into the ranking."""

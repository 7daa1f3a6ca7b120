"""A journal of a retriever's answers, so that an interrupted retrieval continues where it stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.entries import error_of, of_id, question_fingerprint, ranking_of
from retrieval_metrics.inputs.run import RetrievedRun
from retrieval_metrics.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.inputs.items import Ranking

KIND = "journal of a run"


class Answers:
    """A journal of answers; the last answer to a query counts."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """Set the path; the first answer creates the file.

        Raises:
            ValueError: If the name is that of a compressed file.
        """
        self._journal = Journal(path, KIND)

    def known(self, texts: Mapping[Any, str]) -> dict[Any, tuple[Ranking, float]]:
        """Return the ranking and the seconds of each answered query, except those whose text has changed.

        Args:
            texts: The texts of the queries, by query id.

        Raises:
            ValueError: If the file is not such a journal, is of a newer version, or is damaged before its last line.
        """
        found: dict[Any, tuple[Ranking, float]] = {}

        def take(entry: dict[str, Any]) -> None:
            query = entry["query"]
            if "error" not in entry and query in texts and entry["question"] == question_fingerprint(texts[query]):
                found[query] = ranking_of(entry), float(entry["seconds"])

        self._read(take)
        return found

    def run(self) -> RetrievedRun:
        """Return all answers, and the failures without a later answer.

        Raises:
            ValueError: As `known`.
        """
        rankings: dict[Any, Ranking] = {}
        errors: dict[Any, Exception] = {}
        seconds: dict[Any, float] = {}

        def take(entry: dict[str, Any]) -> None:
            query = entry["query"]
            if "error" not in entry:
                rankings[query] = ranking_of(entry)
                errors.pop(query, None)
            elif not rankings.get(query):
                rankings[query], errors[query] = [], error_of(entry)
            seconds[query] = float(entry["seconds"])

        self._read(take)
        return RetrievedRun(rankings, errors, seconds)

    def _read(self, take: Callable[[dict[str, Any]], None]) -> None:
        for number, entry in enumerate(self._journal.entries(), start=2):
            try:
                take(entry)
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{self._journal.path}, line {number}, holds no answer: {error!r}") from error

    def keep(self, query: QueryId, text: str, said: Mapping[str, Any], seconds: float) -> None:
        """Append an answer of `of_ranking`, or a failure of `of_error`, after which the query is asked again next time.

        Raises:
            OSError: If the file cannot be written.
        """
        question = question_fingerprint(text)
        self._journal.append({"query": of_id(query), "question": question, **said, "seconds": seconds})

"""Keep the answers of a retriever in a file as they arrive, so that a retrieval can be resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics._internal.append_log import AppendLog
from retrieval_metrics.inputs.fingerprints import question_fingerprint
from retrieval_metrics.inputs.json_codec import encode_id
from retrieval_metrics.inputs.ranking_codec import (
    decode_error,
    decode_ranking,
    decode_stages,
)
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.stage_rankings import (
    StageRankings,
    merge_stage_inputs,
    stages_to_runs,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.items import Ranking


# What the first line of a file calls a journal of answers.
RUN_LOG_KIND = "journal of a run"


class StoredAnswer(NamedTuple):
    """An answer in the journal, with the stages that led to it, if there are any."""

    ranking: Ranking
    stages: StageRankings
    seconds: float

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any]) -> StoredAnswer:
        """Read an entry without a failure."""
        ranking = decode_ranking(entry)
        return cls(ranking, decode_stages(entry, ranking), float(entry["seconds"]))


class AnswerLog:
    """A journal of answers; the last answer to a query counts."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """Set the path; the first answer creates the file."""
        self._log = AppendLog(path, RUN_LOG_KIND, is_private=True)

    def require_writable(self) -> None:
        """Raise OSError if no answer could be stored."""
        self._log.require_writable()

    def read_answers(self, texts: Mapping[Any, str]) -> dict[Any, StoredAnswer]:
        """Return the answer to each answered query, except those whose text has changed."""
        answers: dict[Any, StoredAnswer] = {}

        def read_entry(entry: dict[str, Any]) -> None:
            query = entry["query"]
            if "error" not in entry and query in texts and entry["question"] == question_fingerprint(texts[query]):
                answers[query] = StoredAnswer.from_entry(entry)

        self._read(read_entry)
        return answers

    def read_run(self) -> RetrievedRun:
        """Return all answers, and the failures without a later answer."""
        rankings: dict[Any, Ranking] = {}
        errors: dict[Any, Exception] = {}
        seconds: dict[Any, float] = {}
        stages: dict[Any, StageRankings] = {}

        def read_entry(entry: dict[str, Any]) -> None:
            query = entry["query"]
            if "error" not in entry:
                answer = StoredAnswer.from_entry(entry)
                rankings[query] = answer.ranking
                stages[query] = answer.stages
                errors.pop(query, None)
            elif not rankings.get(query):
                rankings[query] = []
                errors[query] = decode_error(entry)
            seconds[query] = float(entry["seconds"])

        self._read(read_entry)
        runs = stages_to_runs(stages)
        return RetrievedRun(rankings, errors, seconds, stages=runs, takes_documents=merge_stage_inputs(stages))

    def _read(self, read_entry: Callable[[dict[str, Any]], None]) -> None:
        for line, entry in enumerate(self._log.read_entries(), start=2):  # the first line says what the file is
            try:
                read_entry(entry)
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{self._log.path}, line {line}, holds no answer: {error!r}") from error

    def store(self, query: QueryId, text: str, answer: Mapping[str, Any], seconds: float) -> None:
        """Append an answer of `encode_ranking`, or a failure of `encode_error`, for which the query is asked again."""
        question = question_fingerprint(text)
        self._log.append({"query": encode_id(query), "question": question, **answer, "seconds": seconds})

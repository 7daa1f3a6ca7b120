"""The input of all checks of a lint: questions and judgments, with the corpus and the runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from retrieval_metrics.datasets.content_words import content_words
from retrieval_metrics.evaluation.score_run import score_judged_run
from retrieval_metrics.evaluation.scores import Origin
from retrieval_metrics.inputs.pieces import Quote, Span, Text
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.matching_options import Matching
from retrieval_metrics.matching.words import words
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.metrics.base.score import score

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics._internal.plain_types import FloatArray, QueryId
    from retrieval_metrics.datasets.corpus_index import CorpusIndex
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.metrics.base.metric import Metric


@dataclass(frozen=True)
class LintInput:
    """An evaluation set with its corpus and runs, as far as there are any.

    Attributes:
        texts: The text of each question, by query id.
        qrels: The judgments.
        passages: The corpus.
        runs: The runs, by name.
        sources: The document that each question comes from, as far as it is known.
        match: What the judged ids are compared with, in the corpus and in the runs.
    """

    texts: Mapping[Any, str]
    qrels: Qrels
    passages: CorpusIndex | None = None
    runs: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[QueryId, str] = field(default_factory=dict)
    match: str | Key = "id"

    @cached_property
    def queries(self) -> list[QueryId]:
        """The ids of the questions that have a text."""
        return [query for query in self.qrels.queries if query in self.texts]

    @cached_property
    def words(self) -> dict[Any, list[str]]:
        """The words of each question."""
        return {query: words(self.texts[query]) for query in self.queries}

    @cached_property
    def content(self) -> dict[Any, list[str]]:
        """The stems of the content words of each question."""
        return {query: content_words(tokens) for query, tokens in self.words.items()}

    @cached_property
    def graded(self) -> dict[Any, dict[Any, float]]:
        """The grade of each judged document and piece, by query id."""
        return self.qrels.graded()

    @cached_property
    def relevant(self) -> dict[Any, dict[Any, float]]:
        """The grades of what is relevant to each question, by query id, in the order of the judgments."""
        relevant: dict[Any, dict[Any, float]] = {}
        for query, grades in self.graded.items():
            relevant[query] = {judged: grade for judged, grade in grades.items() if grade > 0}
        return relevant

    @cached_property
    def n_with_relevant(self) -> int:
        """How many questions have a text and something relevant."""
        return sum(bool(self.relevant[query]) for query in self.queries)

    def groups(self, query: QueryId) -> list[dict[Any, float]]:
        """Return the groups of a question: alternatives with their grades; a flat judgment is a group of one."""
        return self._groups[query]

    @cached_property
    def _groups(self) -> dict[Any, list[dict[Any, float]]]:
        return self.qrels.groups()

    def text_of(self, judged: Any) -> str | None:
        """Return the text of what is judged, if it is known."""
        if isinstance(judged, (Quote, Text)):
            return judged.text
        if self.passages is None:
            return None
        if isinstance(judged, Span):
            return _text_of_span(judged, self.passages)
        item = self.passages.by_id.get(judged) if isinstance(judged, (str, int)) else None
        return None if item is None else item.text

    def values(self, metric: Metric) -> dict[str, FloatArray]:
        """Return the values of a metric of each query, by run."""
        return {name: score(judged, metric, STANDARD).values for name, judged in self._judged_runs.items()}

    def scores(self, metric: Metric) -> dict[str, Scores]:
        """Return the scores of a metric, by run."""
        scores = {}
        for name, judged in self._judged_runs.items():
            origin = Origin(judged, self.runs[name], self._match)
            scores[name] = score_judged_run(origin, [metric], STANDARD)
        return scores

    @cached_property
    def _match(self) -> Any:
        if not self.qrels.has_pieces:
            return "id"
        sources = None if self.passages is None else self.passages.sources
        return Matching(sources=sources, min_quote_length=1)

    @cached_property
    def _judged_runs(self) -> dict[str, JudgedRun]:
        return {name: judge(self.qrels, run, self._match, STANDARD.order) for name, run in self.runs.items()}


def _text_of_span(span: Span, passages: CorpusIndex) -> str | None:
    source = passages.sources.get(span.source)
    if source is None or span.end > len(source):
        return None
    return source[span.start : span.end]

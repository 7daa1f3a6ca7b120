"""Explain the queries of one evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.explaining.investigation import Investigation
from retrieval_metrics.explaining.needed import Needed
from retrieval_metrics.explaining.outcomes import Question
from retrieval_metrics.explaining.results import CameBack
from retrieval_metrics.explaining.told import Told
from retrieval_metrics.inputs.items import Piece, Retrieved, identity
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.run import RetrievedRun
from retrieval_metrics.judging.judge import judge
from retrieval_metrics.judging.ranking_order import BY_ID
from retrieval_metrics.presentation.numbers import listed
from retrieval_metrics.results.scores import ByMetric
from retrieval_metrics.scoring.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.explaining.finding import Finding
    from retrieval_metrics.explaining.outcomes import Outcomes
    from retrieval_metrics.explaining.results import Result
    from retrieval_metrics.results.scores import Scores

SHOWN = 10
"""The number of results shown for a metric without a cut-off."""


@dataclass(frozen=True)
class Explained:
    """One query: what was needed, whether it was found, and what was retrieved.

    Attributes:
        query: The query.
        findings: One per relevant document, best grade first.
        failures: One per needed document or group that is missing; for a group, the nearest miss.
        needed: How many relevant documents, or groups, are needed.
        ranking: What was retrieved, as given.
        index: The position of the query among the judged ones.
        k: The cut-off of the metric in items; None if it has none.
    """

    query: QueryId
    findings: tuple[Finding, ...]
    failures: tuple[Finding, ...]
    needed: int
    ranking: Any
    index: int
    k: int | None


class FirstOf(Mapping[Any, str]):
    """Looks up a text in one mapping, then in another, without copying either."""

    def __init__(self, *mappings: Mapping[Any, str]) -> None:
        self._mappings = mappings

    def __getitem__(self, key: Any) -> str:
        for mapping in self._mappings:
            if key in mapping:
                return mapping[key]
        raise KeyError(key)

    def __iter__(self) -> Iterator[Any]:
        return iter(set().union(*self._mappings))

    def __len__(self) -> int:
        return len(set().union(*self._mappings))


class Explainer:
    """Explains the queries of an evaluation for one metric, or at the largest cut-off of all.

    Attributes:
        names: The metrics whose values are shown.
        needed: Looks up the texts of what is needed.
    """

    def __init__(
        self, scores: Scores, metric: str | Metric | None = None, corpus: Mapping[Any, str] | None = None
    ) -> None:
        """Take the scores.

        Args:
            scores: The scores.
            metric: The metric whose cut-off and relevance threshold are used; None uses the largest cut-off.
            corpus: Texts by document id, for runs without texts.
        """
        origin = scores.needed_origin("explained")
        self.scores = scores
        self.rankings = scores.rankings("explained")
        self.question = _question(scores, metric)
        self.names = [*map(str, scores.metrics)] if metric is None else [name_of(scores, metric)]
        self._corpus: Mapping[Any, str] = {} if corpus is None else corpus
        self._judged = origin.judged
        self._investigation = Investigation(origin.judged, self.rankings, self.question)
        self._came_back = CameBack(origin.judged, self.rankings)

    @cached_property
    def needed(self) -> Needed:
        """Looks up the texts of what is needed."""
        covered = self._judged.covered
        return Needed(self.rankings.matching, self._texts, {} if covered is None else covered.moved)

    @cached_property
    def _texts(self) -> Mapping[Any, str]:
        return FirstOf(self._corpus, texts_of(self.scores))

    def outcomes(self, positions: Iterable[int]) -> Outcomes:
        """Decide what became of everything that some queries need, given by their position among the judged ones."""
        return self._investigation.outcomes(positions)

    def of(self, outcomes: Outcomes, places: Iterable[int] | None = None) -> Iterator[Explained]:
        """Tell the outcomes of some of their queries, given by place, in any order; None tells all."""
        queries = self._judged.qrels.queries
        chosen = range(len(outcomes.positions)) if places is None else places
        place = {queries[outcomes.positions[at]]: at for at in chosen}
        unmet = outcomes.unmet
        begins = np.searchsorted(outcomes.query[unmet], np.arange(len(outcomes.positions) + 1))
        for query, ranking in self.rankings.of(place):
            at = place[query]
            first = outcomes.rows_of(at).start
            told = Told(self._investigation, outcomes, at, ranking).findings()
            findings = tuple(self._told(query, one) for one in told)
            yield Explained(
                query,
                findings,
                tuple(findings[row - first] for row in unmet[begins[at] : begins[at + 1]].tolist()),
                int(outcomes.needed[at]),
                ranking,
                int(outcomes.positions[at]),
                None if self.question.at_needed else outcomes.cutoffs.of(at)[0],
            )

    def _told(self, query: QueryId, finding: Finding) -> Finding:
        """Return a finding with what the calls of an agent did with the document, if the run is a view of them."""
        run = self.rankings.run
        if not isinstance(run, RetrievedRun) or finding.kind == "beyond the budget":
            return finding
        if isinstance(finding.document, Piece):
            holding = self._holding(run, query, finding.document)
            story = run.story(query, lambda item: identity(item) in holding)
        else:
            key = self.rankings.matching.key
            story = run.story(
                query, lambda item: (key(item) if isinstance(item, Retrieved) else item) == finding.document
            )
        if not story:
            return finding
        # "Never retrieved" is said of this view; what the calls did with the document says more.
        return replace(finding, detail=story if finding.kind == "never retrieved" else f"{finding.detail}; {story}")

    def _holding(self, run: RetrievedRun, query: QueryId, piece: Piece) -> set[Any]:
        """Return the identities of the items that hold a piece by themselves, of all that came up for a query."""
        items = run.everything(query)
        if not items:
            return set()
        truth: Any = {query: [piece]}
        found: Any = {query: items}
        ranks = judge(as_qrels(truth), found, self.rankings.matching, BY_ID).ranks
        return {identity(items[rank - 1]) for rank in ranks.rank.tolist()}

    def results(self, explained: Explained, k: int | None = None) -> tuple[Result, ...]:
        """Return the first `k` results of a query; None takes the metric's cut-off."""
        if k is None:
            k = SHOWN if explained.k is None else explained.k
        return tuple(self._came_back.first(explained.index, explained.ranking, max(k, 1), self._texts))

    def in_parts(self, findings: Sequence[Finding], results: Sequence[Result]) -> tuple[Finding, ...]:
        """Return the findings; of a piece that no result holds whole, those say so that hold a part of it."""
        return tuple(self._in_parts(one, results) for one in findings)

    def _in_parts(self, finding: Finding, results: Sequence[Result]) -> Finding:
        if finding.kind != "never retrieved" or not isinstance(finding.document, Piece):
            return finding
        ranks = [str(one.rank) for one in results if self.needed.parts(one.item, finding.document)]
        if not ranks:
            return finding
        said = f"not retrieved whole: {'rank' if len(ranks) == 1 else 'ranks'} {listed(ranks)} hold"
        return replace(finding, detail=f"{said}{'s' if len(ranks) == 1 else ''} a part of it")

    def with_texts(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """Return the findings with the texts of what is needed."""
        return tuple(replace(one, text=self.needed.text(one.document)) for one in findings)


def texts_of(scores: Scores) -> Mapping[Any, str]:
    """Return the text of each id in the run, if the run has texts; cached, because it is a pass over the run."""
    known = scores.remembered
    if "texts" not in known:
        known["texts"] = scores.rankings("explained").texts()
    texts: Mapping[Any, str] = known["texts"]
    return texts


def name_of(scores: Scores, metric: str | Metric) -> str:
    """Return the canonical name of the metric; KeyError if it was not computed."""
    return str(ByMetric({str(each): each for each in scores.metrics})[metric])


def _question(scores: Scores, metric: str | Metric | None) -> Question:
    if metric is None:
        return Question(cuts=tuple(dict.fromkeys(each.k for each in scores.metrics if each.k is not None)))
    chosen = Metric.parse(name_of(scores, metric))
    parameters: dict[str, Any] = dict(chosen.parameters)
    rel = parameters.get("rel")
    return Question(
        cuts=() if chosen.k is None else (chosen.k,),
        rel=None if rel is None else float(rel),
        one_suffices=chosen.definition.one_suffices(**parameters),
        at_needed=chosen.definition.cuts_at_needed,
    )

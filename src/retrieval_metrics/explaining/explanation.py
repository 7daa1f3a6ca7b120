"""Explain the scores of single queries, and the failures over all queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from retrieval_metrics.checks import positive_integer
from retrieval_metrics.explaining.explainer import Explainer, name_of
from retrieval_metrics.explaining.needed import Needed
from retrieval_metrics.inputs.questions import texts_to_show
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.beginnings import beginning
from retrieval_metrics.presentation.escapes import on_one_line
from retrieval_metrics.presentation.printed import Printed
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.scoring.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.explaining.explainer import Explained
    from retrieval_metrics.explaining.finding import Finding, Outcome
    from retrieval_metrics.explaining.results import Result
    from retrieval_metrics.inputs.items import QueryTexts
    from retrieval_metrics.inputs.questions import Questions
    from retrieval_metrics.results.scores import Scores

PRINTED = 10
"""The number of printed results of a query; all are in `Explanation.results`."""
SHORT = 36
"""Characters of a text in the table of the worst queries."""
LOW = "nothing missing, ranked low"


@dataclass(frozen=True, repr=False)
class Explanation(Printed):
    """The outcome of each relevant document of one query, and what was retrieved instead.

    Attributes:
        query: The query.
        values: The values of its metrics, or of the metric that was asked for.
        findings: One per relevant document, best grade first.
        failures: One per needed document or group that is missing; for a group of alternatives, the nearest miss.
        needed: How many relevant documents, or groups, are needed.
        results: What was retrieved, down to the cut-off: rank, id, text, and its judgment.
        text: The text of the query; empty if it is unknown.
    """

    query: QueryId
    values: Mapping[str, float]
    findings: tuple[Finding, ...]
    failures: tuple[Finding, ...]
    needed: int
    results: tuple[Result, ...] = ()
    text: str = ""

    def _tables(self) -> list[Table]:
        values = ", ".join(f"{name} {_value(value)}" for name, value in self.values.items())
        title = f"{on_one_line(str(self.query))}: {values}"
        if self.text:
            title = f"{beginning(self.text, 100)}\n{title}"
        return [self._needed(title), *([self._results()] if self.results else [])]

    def _needed(self, title: str) -> Table:
        if not self.findings:
            return Table((), (), ["no document is relevant to this query"], title)
        groups = any(len(finding.groups) > 1 for finding in self.findings) or self.needed < len(self.findings)
        texts = any(finding.text and Needed.name(finding.document) for finding in self.findings)
        header = ["needed", *(["text"] if texts else []), *(["group"] if groups else []), "grade", "rank"]
        rows = [
            [
                finding.called,
                *([beginning(finding.text or "")] if texts else []),
                *([", ".join(map(str, finding.groups))] if groups else []),
                f"{finding.grade:g}",
                "-" if finding.rank is None else str(finding.rank),
                finding.detail,
            ]
            for finding in self.findings
        ]
        return Table([*header, "what became of it"], rows, (), title, (0, 1, -1) if texts else (0, -1))

    def _results(self) -> Table:
        shown = self.results[:PRINTED]
        texts = any(result.text for result in shown)
        calls = any(result.place is not None for result in shown)
        rows = [
            [
                str(result.rank),
                *([_found_by(result.place)] if calls else []),
                result.called,
                result.state,
                *([beginning(result.text or "")] if texts else []),
            ]
            for result in shown
        ]
        more = len(self.results) - len(shown)
        notes = [f"and {numbers.count(more, 'further result')}"] if more else []
        return Table(
            ["rank", *(["found by"] if calls else []), "came back", "judged", *(["text"] if texts else [])],
            rows,
            notes,
            "",
            tuple(range(1, 3 + calls + texts)),
        )

    def __repr__(self) -> str:
        return f"<Explanation of {self.query!r}: {len(self.failures)} of {self.needed} needed are missing>"


@dataclass(frozen=True, repr=False)
class Worst(Printed, Sequence[Explanation]):
    """The queries with the lowest values, explained, and the failures of all queries.

    Queries with the best possible value are never among them, however few queries there are.

    Attributes:
        metric: The metric.
        explanations: The worst queries, explained, worst first.
        n: The number of queries for which the metric is defined.
        failures: How many needed documents (or groups) are missing over all these queries, by reason, most frequent
            first.
        needed: How many are needed over all these queries.
        found: How many of them were found; if the cut-off leaves no room, some are neither found nor missing.
        unit: What is needed: a document, a group of alternatives, or a passage where quotes, texts or spans are judged.
    """

    metric: str
    explanations: tuple[Explanation, ...]
    n: int
    failures: Mapping[Outcome, int]
    needed: int
    found: int
    unit: str = "document"

    @property
    def queries(self) -> tuple[QueryId, ...]:
        """The ids of the worst queries, worst first."""
        return tuple(each.query for each in self.explanations)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Explanation]: ...

    def __getitem__(self, index: int | slice) -> Explanation | Sequence[Explanation]:
        return self.explanations[index]

    def __len__(self) -> int:
        return len(self.explanations)

    @property
    def summary(self) -> str:
        """The failures of all queries in one sentence: `12 of 17 failures: never retrieved; 5: beyond the cut-off`."""
        total = sum(self.failures.values())
        if not total:
            return f"no failures: {numbers.count(self.needed, f'needed {self.unit}')} found"
        first, *others = self.failures.items()
        said = f"{first[1]:,} of {numbers.count(total, 'failure')}: {first[0]}"
        return "; ".join([said, *(f"{number:,}: {kind}" for kind, number in others)])

    def _tables(self) -> list[Table]:
        rows = []
        for each in self.explanations:
            kinds = Counter(finding.kind for finding in each.failures)
            why = ", ".join(f"{number} {kind}" for kind, number in kinds.most_common()) or LOW
            found = each.needed - len(each.failures)
            wanted = next(iter(each.failures or each.findings), None)
            rows.append(
                [
                    beginning(f"{each.query} {each.text}", SHORT),
                    _value(each.values[self.metric]),
                    f"{found}/{each.needed}",
                    why,
                    "" if wanted is None else _in_short(wanted.called, wanted.text),
                    _in_short(each.results[0].called, each.results[0].text) if each.results else "nothing",
                ]
            )
        total = sum(self.failures.values())
        over = f"over {numbers.queries(self.n)}, {total:,} of {self.needed:,} needed {self.unit}s are missing"
        header = ["query", self.metric, "found", "missing", "needed", "came back first"]
        notes = [self.summary, over]
        if not rows:
            return [Table((), (), [*notes, f"every query has the best possible {self.metric}"])]
        return [Table(header, rows, notes, words=(0, 3, 4, 5))]

    def __repr__(self) -> str:
        return f"<Worst of {numbers.queries(self.n)} in {self.metric}: {self.summary}>"


def _value(value: float) -> str:
    return "undefined" if isnan(value) else numbers.value(value)


def _found_by(place: tuple[int, int] | None) -> str:
    return "no call" if place is None else f"call {place[0]}, rank {place[1]}"


def _in_short(called: str, text: str | None) -> str:
    return beginning(f"{called}: {text}" if text and not called.startswith("\u201c") else called, SHORT)


def explain(
    scores: Scores,
    query: QueryId,
    metric: str | Metric | None,
    queries: QueryTexts | Questions | None = None,
    corpus: Mapping[Any, str] | None = None,
) -> Explanation:
    """Explain one query; see `Evaluation.explain`."""
    explainer = Explainer(scores, metric, corpus)
    (explained,) = explainer.of(explainer.outcomes([scores.position(query)]))
    return _explanation(explainer, explained, texts_to_show(queries, scores.query_texts))


def worst(
    scores: Scores,
    metric: str | Metric,
    n: int,
    queries: QueryTexts | Questions | None = None,
    corpus: Mapping[Any, str] | None = None,
) -> Worst:
    """Explain the worst queries and sum the failures of all; see `Evaluation.worst`."""
    wanted = positive_integer(n, "n")
    name = name_of(scores, metric)
    explainer = Explainer(scores, metric, corpus)
    at = scores.metrics.index(Metric.parse(name))
    sign = scores.metrics[at].definition.sign
    values, best = sign * scores.values[:, at], sign * scores.best(scores.metrics[at])
    defined = np.flatnonzero(~np.isnan(values))
    outcomes = explainer.outcomes(scores.positions[defined].tolist())
    rows = defined[np.argsort(scores.positions[defined])]  # the queries of the outcomes, as rows of the scores
    candidates = np.flatnonzero((outcomes.n_unmet > 0) | (values[rows] < best[rows] - 1e-12))
    chosen = candidates[np.lexsort((rows[candidates], values[rows[candidates]]))][:wanted].tolist()
    explained = {each.index: each for each in explainer.of(outcomes, chosen)}
    texts = texts_to_show(queries, scores.query_texts)
    explanations = tuple(
        _explanation(explainer, explained[index], texts) for index in outcomes.positions[chosen].tolist()
    )
    qrels = scores.needed_origin("explained").judged.qrels
    unit = "passage" if qrels.has_pieces else "document" if qrels.is_flat else "group"
    failures = dict(outcomes.failures().most_common())
    return Worst(name, explanations, len(defined), failures, int(outcomes.needed.sum()), int(outcomes.met.sum()), unit)


def _explanation(explainer: Explainer, explained: Explained, queries: Mapping[Any, str]) -> Explanation:
    query, results = explained.query, explainer.results(explained)
    findings, failures = (
        explainer.in_parts(explainer.with_texts(each), results) for each in (explained.findings, explained.failures)
    )
    return Explanation(
        query,
        {name: explainer.scores.per_query[name][query] for name in explainer.names},
        findings,
        failures,
        explained.needed,
        results,
        str(queries.get(query, "")),
    )

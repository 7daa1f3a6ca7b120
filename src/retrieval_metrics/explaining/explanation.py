"""Why a query scored what it did, and what went wrong over all queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from retrieval_metrics.checks import positive_integer
from retrieval_metrics.definition.metric import Metric, as_metric
from retrieval_metrics.explaining.findings import Investigation, Question, needs, unmet
from retrieval_metrics.explaining.rankings import Rankings
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.printed import Printed
from retrieval_metrics.presentation.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.explaining.kinds import Finding, Outcome
    from retrieval_metrics.results.scores import Scores
    from retrieval_metrics.types import QueryId


@dataclass(frozen=True, repr=False)
class Explanation(Printed):
    """What became of each relevant document of one query.

    Attributes:
        query: The query.
        values: The values of its metrics, or of the one metric asked about.
        findings: One per relevant document, best grade first.
        failures: One per needed document or group that is missing; for a group of alternatives, the nearest miss.
        needed: How many relevant documents, or groups, are needed.
    """

    query: QueryId
    values: Mapping[str, float]
    findings: tuple[Finding, ...]
    failures: tuple[Finding, ...]
    needed: int

    def _tables(self) -> list[Table]:
        values = ", ".join(f"{name} {_value(value)}" for name, value in self.values.items())
        groups = any(len(finding.groups) > 1 for finding in self.findings) or self.needed < len(self.findings)
        header = ["document", *(["group"] if groups else []), "grade", "rank"]
        rows = [
            [
                str(finding.document),
                *([", ".join(map(str, finding.groups))] if groups else []),
                f"{finding.grade:g}",
                "-" if finding.rank is None else str(finding.rank),
                finding.detail,
            ]
            for finding in self.findings
        ]
        notes = [] if rows else ["no document is relevant to this query"]
        table = Table([*header, "what became of it"], rows, notes, f"{self.query}: {values}", (0, -1))
        return [table if rows else Table((), (), notes, table.title)]

    def __repr__(self) -> str:
        return f"<Explanation of {self.query!r}: {len(self.failures)} of {self.needed} needed are missing>"


@dataclass(frozen=True, repr=False)
class Worst(Printed, Sequence[Explanation]):
    """The queries with the lowest values, explained, and the failures of all queries.

    Attributes:
        metric: The metric.
        explanations: The worst queries, explained, worst first.
        queries: How many queries the metric is defined for.
        failures: How many needed documents (or groups) are missing over all these queries, by reason, most frequent
            first.
        needed: How many are needed over all these queries.
        unit: What is needed: a document or a group of alternatives.
    """

    metric: str
    explanations: tuple[Explanation, ...]
    queries: int
    failures: Mapping[Outcome, int]
    needed: int
    unit: str = "document"

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
            why = ", ".join(f"{number} {kind}" for kind, number in kinds.most_common())
            found = each.needed - len(each.failures)
            rows.append([str(each.query), _value(each.values[self.metric]), f"{found}/{each.needed}", why])
        total = sum(self.failures.values())
        over = f"over {numbers.queries(self.queries)}, {total:,} of {self.needed:,} needed {self.unit}s are missing"
        return [Table(["query", self.metric, "found", "missing"], rows, [self.summary, over], words=(0, -1))]

    def __repr__(self) -> str:
        return f"<Worst of {numbers.queries(self.queries)} in {self.metric}: {self.summary}>"


def _value(value: float) -> str:
    return "undefined" if isnan(value) else f"{value:.4f}"


def explain(scores: Scores, query: QueryId, metric: str | Metric | None) -> Explanation:
    """Explain one query; see `Evaluation.explain`."""
    investigation = _investigation(scores, metric)
    names = list(scores.per_query) if metric is None else [_name(scores, metric)]
    ((_, found),) = investigation.settled([scores.position(query)])
    return _explained(scores, query, names, found)


def worst(scores: Scores, metric: str | Metric, n: int) -> Worst:
    """Explain the worst queries, and count failure reasons over all queries; see `Evaluation.worst`."""
    wanted = positive_integer(n, "n")
    name = _name(scores, metric)
    investigation = _investigation(scores, metric)
    values = scores.values[:, scores.metrics.index(Metric.parse(name))]
    defined = np.flatnonzero(~np.isnan(values))
    ascending = defined[np.argsort(values[defined], kind="stable")][:wanted].tolist()
    lowest = {int(scores.positions[at]): scores.queries[at] for at in ascending}
    explained: dict[int, Explanation] = {}
    kinds: Counter[Outcome] = Counter()
    needed = 0
    for position, found in investigation.settled(scores.positions[defined].tolist()):
        kinds.update(finding.kind for finding in unmet(found))
        needed += needs(found)
        if position in lowest:
            explained[position] = _explained(scores, lowest[position], [name], found)
    unit = "document" if investigation.judged.qrels.is_flat else "group"
    explanations = tuple(explained[position] for position in lowest)
    return Worst(name, explanations, len(defined), dict(kinds.most_common()), needed, unit)


def _explained(scores: Scores, query: QueryId, names: Sequence[str], found: Sequence[Finding]) -> Explanation:
    values = {name: scores.per_query[name][query] for name in names}
    return Explanation(query, values, tuple(found), tuple(unmet(found)), needs(found))


def _investigation(scores: Scores, metric: str | Metric | None) -> Investigation:
    origin = scores.needed_origin("explained")
    rankings = Rankings(origin.run, origin.match)
    if metric is None:
        cutoffs = [each.k for each in scores.metrics if isinstance(each.k, int)]
        return Investigation(origin.judged, rankings, Question(k=max(cutoffs, default=None)))
    chosen = Metric.parse(_name(scores, metric))
    parameters: dict[str, Any] = dict(chosen.parameters)
    rel = parameters.get("rel")
    question = Question(
        k=chosen.k,
        rel=None if rel is None else float(rel),
        one_suffices=chosen.definition.one_suffices(**parameters),
        at_needed=chosen.definition.cuts_at_needed,
    )
    return Investigation(origin.judged, rankings, question)


def _name(scores: Scores, metric: str | Metric) -> str:
    """Return the metric's canonical name; KeyError if it was not computed."""
    scores.per_query[metric]  # raises for a metric that was not computed
    return str(as_metric(metric))

"""Score the same data under the rules of several libraries, and find the rule behind each difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.auditing.attribution import Bench, Switch, attribute
from retrieval_metrics.auditing.lints import lint
from retrieval_metrics.auditing.words import detail, words
from retrieval_metrics.checks import require
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.questions import question_texts
from retrieval_metrics.judging.by_id import common_queries
from retrieval_metrics.presentation.tables import Printed, Table
from retrieval_metrics.results.scores import ByMetric
from retrieval_metrics.scoring.metric import DEFAULT_METRICS, Metric, as_metrics
from retrieval_metrics.scoring.rules import RULE_SETS, as_rules
from retrieval_metrics.statistics.means import Sums

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from retrieval_metrics.checks import FloatArray, IntArray, QueryId
    from retrieval_metrics.inputs.items import QueryTexts, RunMapping
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels
    from retrieval_metrics.inputs.questions import Questions
    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.judging.ranking_order import Key, Matching
    from retrieval_metrics.scoring.rules import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleDifference:
    """A rule that makes a metric differ from the reference.

    Attributes:
        semantics: The rule set that differs.
        metric: The metric.
        rules: The rule, such as `repeats=count`; several if only all of them together make the difference.
        meaning: The rule in words.
        queries: The queries for which it makes the difference.
        example: The smallest of them: the one with the fewest retrieved and judged documents.
        value: The value of the example; NaN if it is left out of the mean.
        reference: Its value under the reference rules.
        detail: What the rule applies to in the example.
    """

    semantics: str
    metric: str
    rules: tuple[str, ...]
    meaning: str
    queries: tuple[QueryId, ...]
    example: QueryId
    value: float
    reference: float
    detail: str


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Audit(Printed):
    """The values of the same data under several rule sets, and why they differ.

    Attributes:
        metrics: The metrics.
        rules: The rule sets by name; the first is the reference.
        queries: The ids of the judged queries.
        values: Per rule set, shape (queries, metrics); NaN if a query does not enter the mean.
        refused: Per rule set, the number of queries for which the library raises an error instead of returning a value.
        differences: Which rule makes which metric differ from the reference, and where.
        lints: What looks suspicious about the evaluation set.
    """

    metrics: tuple[Metric, ...]
    rules: Mapping[str, Rules]
    queries: tuple[QueryId, ...]
    values: Mapping[str, FloatArray]
    refused: Mapping[str, int]
    differences: tuple[RuleDifference, ...]
    lints: tuple[str, ...]

    @property
    def semantics(self) -> tuple[str, ...]:
        """The names of the rule sets; the first is the reference."""
        return tuple(self.rules)

    @property
    def means(self) -> dict[str, ByMetric[float]]:
        """The mean of each metric that the library has, per rule set."""
        return {
            name: ByMetric(
                {
                    str(metric): Sums.of_defined(column).mean
                    for metric, column in zip(self.metrics, values.T, strict=True)
                    if self.rules[name].has(metric.name)
                }
            )
            for name, values in self.values.items()
        }

    def to_pandas(self) -> pd.DataFrame:
        """Return the means as a DataFrame with one row per metric and one column per rule set.

        For the differences, use `pandas.DataFrame(audit.differences)`.

        Raises:
            ImportError: If pandas is not installed; the message contains the command that installs it.
        """
        means = {name: dict(found) for name, found in self.means.items()}
        pandas = require("pandas", "to_pandas")
        frame: pd.DataFrame = pandas.DataFrame(
            means, index=pandas.Index([str(metric) for metric in self.metrics], name="metric")
        )
        return frame

    def __repr__(self) -> str:
        return (
            f"<Audit of {len(self.queries)} queries: {', '.join(self.semantics)}; {len(self.differences)} differences>"
        )

    def _tables(self) -> list[Table]:
        means = self.means
        rows = [
            [name, *(f"{means[rules][name]:.4f}" if name in means[rules] else "-" for rules in self.semantics)]
            for name in map(str, self.metrics)
        ]
        return [Table(["metric", *self.semantics], rows, self._notes())]

    def _notes(self) -> list[str]:
        queries = f"{len(self.queries)} {'query' if len(self.queries) == 1 else 'queries'}"
        refused = [
            f"{name}: raises an error for {count} of {len(self.queries)}, which its means leave out"
            for name, count in self.refused.items()
            if count
        ]
        return [f"{queries}; compared with {self.semantics[0]}", *refused, *self._explained(), *self.lints]

    def _explained(self) -> Iterator[str]:
        """Yield a sentence for each rule of each rule set, all its metrics together."""
        together: dict[tuple[str, tuple[str, ...], str], list[RuleDifference]] = {}
        for found in self.differences:
            together.setdefault((found.semantics, found.rules, found.meaning), []).append(found)
        for (semantics, _, meaning), of_rule in together.items():
            where = ", ".join(f"{found.metric} in {len(found.queries)}" for found in of_rule)
            shown = max(of_rule, key=lambda found: abs(np.nan_to_num(found.value - found.reference)))
            yield (
                f"{semantics}: {meaning} ({where} of {len(self.queries)}); {shown.metric} of query {shown.example!r} "
                f"is {_number(shown.value)} instead of {_number(shown.reference)}"
                + (f": {shown.detail}" if shown.detail else "")
            )


def audit(
    qrels: QuestionsOrQrels,
    run: RunMapping | Run,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    semantics: Iterable[str | Rules] = tuple(RULE_SETS),
    match: str | Key | Matching = "id",
    corpus: Collection[Any] | None = None,
    queries: QueryTexts | Questions | None = None,
) -> Audit:
    """Score the same data under the rules of several libraries, and find the rule that makes each difference.

    Each rule set is compared with the first. For every query that differs, rules are switched from the first set to the
    other, one at a time; if no single rule makes the difference, two together, and so on. Libraries without a metric
    are left out for that metric. A query for which a library raises an error is counted and left out of its means.

    Args:
        qrels: The judgments, as in `evaluate`.
        run: The rankings, as in `evaluate`.
        metrics: Names or metrics.
        semantics: Names of rule sets, or rule sets of your own; the others are compared with the first.
        match: As in `evaluate`.
        corpus: The ids of all documents; relevant documents that are not among them are reported.
        queries: The texts of the queries, or the evaluation set that has them; repeated texts are reported. None takes
            those of the judgments, if these came with texts.

    Raises:
        TypeError: As in `evaluate`.
        ValueError: As in `evaluate`, except that no query is refused; or if there is no rule set, or two have the same
            name.

    Example:
        The formula gives (1/1 + 2/3) / 2; if the repeat counts again, it is (1/1 + 2/2 + 3/3) / 2.

        >>> print(audit({"q": ["a", "b"]}, {"q": ["a", "a", "b"]}, "map", semantics=["standard", "llama_index"]))
        metric  standard  llama_index
        map       0.8333       1.5000
        1 query; compared with standard
        llama_index: a repeated document counts again (map in 1 of 1); map of query 'q' is 1.5000 instead of 0.8333:
        document 'a' is retrieved twice
        67% of the first 10 retrieved documents are judged; the others count as not relevant, whether they are or not
    """
    chosen, truth = as_metrics(metrics), as_qrels(qrels)
    rules = _rule_sets(semantics)
    common_queries(run, truth)
    bench = Bench(truth, run, match)
    under = {each.name: [bench.under(metric, each) for metric in chosen] for each in rules}
    reference, *others = rules
    return Audit(
        metrics=chosen,
        rules={each.name: each for each in rules},
        queries=tuple(truth.queries),
        values={name: np.column_stack([each.column for each in columns]) for name, columns in under.items()},
        refused={each.name: int(bench.refused(each).sum()) for each in rules},
        differences=tuple(
            _difference(bench, metric, other.name, found, (theirs.column, ours.column))
            for other in others
            for metric, ours, theirs in zip(chosen, under[reference.name], under[other.name], strict=True)
            if other.has(metric.name) and reference.has(metric.name)
            for found in attribute(bench, metric, ours, theirs)
        ),
        lints=lint(
            bench.judged(RULE_SETS["standard"]),
            corpus,
            (truth.texts or None) if queries is None else question_texts(queries),
        ),
    )


def _rule_sets(semantics: Iterable[str | Rules]) -> list[Rules]:
    if isinstance(semantics, str):
        raise TypeError(
            f"semantics must be several rule sets to compare, got {semantics!r}; write ('standard', {semantics!r})"
        )
    rules = [as_rules(each) for each in semantics]
    names = [each.name for each in rules]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"semantics must be one or more rule sets with different names, got {names}")
    return rules


def _difference(
    bench: Bench,
    metric: Metric,
    semantics: str,
    found: tuple[Sequence[Switch], IntArray],
    values: tuple[FloatArray, FloatArray],
) -> RuleDifference:
    chosen, queries = found
    judged = bench.judged(RULE_SETS["standard"])
    size = judged.n_retrieved[queries] + np.diff(np.array(judged.qrels.bounds))[queries]
    example = int(queries[np.argmin(size)])
    details = dict.fromkeys(said for switch in chosen if (said := detail(switch, judged, example, metric)))
    return RuleDifference(
        semantics=semantics,
        metric=str(metric),
        rules=tuple(map(str, chosen)),
        meaning=", and ".join(words(switch, metric) for switch in chosen),
        queries=tuple(judged.qrels.queries[at] for at in queries.tolist()),
        example=judged.qrels.queries[example],
        value=float(values[0][example]),
        reference=float(values[1][example]),
        detail="; ".join(details),
    )


def _number(value: float) -> str:
    return "left out" if np.isnan(value) else f"{value:.4f}"

"""Score the same data under the rules of several libraries, and find the rule behind each difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics.comparison.audit_lint import lint_judged_run
from retrieval_metrics.comparison.audit_wording import audit_notes
from retrieval_metrics.comparison.rule_attribution import AuditedRun, attribute_difference
from retrieval_metrics.comparison.rule_meanings import format_rule, rule_detail
from retrieval_metrics.evaluation.by_metric import ByMetric
from retrieval_metrics.evaluation.unused_exclusion import warn_about_unused_exclusion
from retrieval_metrics.files.judgment_paths import resolve_judgments
from retrieval_metrics.inputs.exclusion import as_exclusion, remove_excluded
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.questions import question_texts
from retrieval_metrics.matching.common_queries import count_common_queries
from retrieval_metrics.metrics.base.metric import DEFAULT_METRICS, Metric, as_metrics
from retrieval_metrics.metrics.base.rules import RULE_SETS, as_rules
from retrieval_metrics.reports.tables import Printed, Table
from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    import pandas as pd

    from retrieval_metrics._internal.plain_types import FloatArray, QueryId
    from retrieval_metrics.comparison.rule_attribution import Attribution, RuleSetValues
    from retrieval_metrics.files.judgment_paths import JudgmentsOrPath
    from retrieval_metrics.inputs.exclusion import Exclude
    from retrieval_metrics.inputs.items import QueryTexts, RunMapping
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.questions import Questions
    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.metrics.base.rules import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleDifference:
    """A rule that makes a metric differ from the reference.

    Attributes:
        rule_name: The name of the rule set that differs.
        metric: The metric.
        rules: The rule, such as `duplicates=count`; more than one if only all of them together make the difference.
        meaning: The rule in words.
        queries: The queries for which it makes the difference.
        example: One of these queries, the one with the fewest retrieved and judged documents.
        value: The value of the example; NaN if it is left out of the mean.
        reference: The value of the example under the reference rules.
        detail: What the rule applies to in the example.
    """

    rule_name: str
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
        n_excluded: How many documents were left out of the rankings by `exclude=`.
    """

    metrics: tuple[Metric, ...]
    rules: Mapping[str, Rules]
    queries: tuple[QueryId, ...]
    values: Mapping[str, FloatArray]
    refused: Mapping[str, int]
    differences: tuple[RuleDifference, ...]
    lints: tuple[str, ...]
    n_excluded: int = 0

    @property
    def rule_names(self) -> tuple[str, ...]:
        """The names of the rule sets; the first is the reference."""
        return tuple(self.rules)

    @property
    def means(self) -> dict[str, ByMetric[float]]:
        """The mean of each metric that the library has, per rule set."""
        means_by_rule_set = {}
        for rule_set_name, values in self.values.items():
            means = {}
            for metric, column in zip(self.metrics, values.T, strict=True):
                if self.rules[rule_set_name].has(metric.name):
                    means[str(metric)] = Sums.from_defined_values(column).mean
            means_by_rule_set[rule_set_name] = ByMetric(means)
        return means_by_rule_set

    def to_pandas(self) -> pd.DataFrame:
        """Return the means as a DataFrame with one row per metric and one column per rule set.

        For the differences, use `pandas.DataFrame(audit.differences)`.

        Raises:
            ImportError: If pandas is not installed; the message contains the command that installs it.
        """
        means = {rule_set_name: dict(means_by_metric) for rule_set_name, means_by_metric in self.means.items()}
        pandas = import_optional("pandas", "to_pandas")
        frame: pd.DataFrame = pandas.DataFrame(
            means, index=pandas.Index([str(metric) for metric in self.metrics], name="metric")
        )
        return frame

    def __repr__(self) -> str:
        return (
            f"<Audit of {len(self.queries)} queries: {', '.join(self.rule_names)}; {len(self.differences)} differences>"
        )

    def _tables(self) -> list[Table]:
        means = self.means
        rows = []
        for metric_name in map(str, self.metrics):
            cells = []
            for rule_set_name in self.rule_names:
                mean = means[rule_set_name].get(metric_name)
                cells.append("-" if mean is None else f"{mean:.4f}")
            rows.append([metric_name, *cells])
        return [Table(["metric", *self.rule_names], rows, audit_notes(self))]


def audit(
    qrels: JudgmentsOrPath,
    run: RunMapping | Run,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    rules: Iterable[str | Rules] = tuple(RULE_SETS),
    match: str | Key | Matching = "id",
    corpus: Collection[Any] | None = None,
    queries: QueryTexts | Questions | None = None,
    exclude: Exclude | None = None,
) -> Audit:
    """Score the same data under the rules of several libraries, and find the rule that makes each difference.

    Each rule set is compared with the first. For every query that differs, rules are switched from the first set to the
    other, one at a time; if no single rule makes the difference, two together, and so on. Libraries without a metric
    are left out for that metric. A query for which a library raises an error is counted and left out of its means.

    Args:
        qrels: The judgments, as in `evaluate`.
        run: The rankings, as in `evaluate`.
        metrics: Names or metrics.
        rules: Names of rule sets, or rule sets of your own; the others are compared with the first.
        match: As in `evaluate`.
        corpus: The ids of all documents; relevant documents that are not among them are reported.
        queries: The texts of the queries, or the evaluation set that has them; repeated texts are reported. None takes
            those of the judgments, if these came with texts.
        exclude: Documents to leave out of the rankings, as in `evaluate`.

    Raises:
        TypeError: As in `evaluate`.
        ValueError: As in `evaluate`, except that no query is refused; or if there is no rule set, or two have the same
            name.

    Example:
        The formula gives (1/1 + 2/3) / 2; if the repeat counts again, it is (1/1 + 2/2 + 3/3) / 2.

        >>> print(audit({"q": ["a", "b"]}, {"q": ["a", "a", "b"]}, "map", rules=["standard", "llama_index"]))
        metric  standard  llama_index
        map       0.8333       1.5000
        1 query; compared with the standard rules
        llama_index: a duplicate document counts again (map in 1 of 1); e.g. map of 'q': 1.5000 vs 0.8333 (document
        'a' is retrieved twice)
        judged@10 67%; unjudged documents count as not relevant
    """
    audited_metrics = as_metrics(metrics)
    audited_qrels = as_qrels(resolve_judgments(qrels))
    rule_sets = _read_rule_sets(rules)
    count_common_queries(run, audited_qrels)
    exclusion = as_exclusion(exclude)
    excluded_run = remove_excluded(run, audited_qrels, exclusion, get_match_key(match))
    warn_about_unused_exclusion(exclusion, excluded_run, audited_qrels, match)
    audited = AuditedRun(audited_qrels, excluded_run.run, match)
    values_by_rule_set = {}
    for rule_set in rule_sets:
        values_by_rule_set[rule_set.name] = {
            metric: audited.score_under(metric, rule_set) for metric in audited_metrics
        }
    reference, *other_rule_sets = rule_sets
    differences = []
    for rule_set in other_rule_sets:
        for metric in audited_metrics:
            if not (rule_set.has(metric.name) and reference.has(metric.name)):
                continue
            reference_values = values_by_rule_set[reference.name][metric]
            other_values = values_by_rule_set[rule_set.name][metric]
            for attribution in attribute_difference(audited, metric, reference_values, other_values):
                difference = _describe_difference(
                    audited, metric, rule_set.name, attribution, reference_values, other_values
                )
                differences.append(difference)
    texts = question_texts(queries) if queries is not None else audited_qrels.texts or None
    return Audit(
        metrics=audited_metrics,
        rules={rule_set.name: rule_set for rule_set in rule_sets},
        queries=tuple(audited_qrels.queries),
        values={
            rule_set_name: np.column_stack([values.column for values in values_by_metric.values()])
            for rule_set_name, values_by_metric in values_by_rule_set.items()
        },
        refused={rule_set.name: int(audited.find_refused(rule_set).sum()) for rule_set in rule_sets},
        differences=tuple(differences),
        lints=lint_judged_run(audited.judge(RULE_SETS["standard"]), corpus, texts),
        n_excluded=excluded_run.total,
    )


def _read_rule_sets(rules: Iterable[str | Rules]) -> list[Rules]:
    if isinstance(rules, str):
        raise TypeError(f"rules must be several rule sets to compare, got {rules!r}; write ('standard', {rules!r})")
    rule_sets = [as_rules(name_or_rules) for name_or_rules in rules]
    names = [rule_set.name for rule_set in rule_sets]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"rules must be one or more rule sets with different names, got {names}")
    return rule_sets


def _describe_difference(
    audited: AuditedRun,
    metric: Metric,
    rule_set_name: str,
    attribution: Attribution,
    reference_values: RuleSetValues,
    other_values: RuleSetValues,
) -> RuleDifference:
    judged = audited.judge(RULE_SETS["standard"])
    n_judged = np.diff(np.array(judged.qrels.bounds))
    n_documents = judged.n_retrieved[attribution.queries] + n_judged[attribution.queries]
    example_position = int(attribution.queries[np.argmin(n_documents)])
    details = [rule_detail(change, judged, example_position, metric) for change in attribution.changes]
    return RuleDifference(
        rule_name=rule_set_name,
        metric=str(metric),
        rules=tuple(map(str, attribution.changes)),
        meaning=", and ".join(format_rule(change, metric) for change in attribution.changes),
        queries=tuple(judged.qrels.queries[position] for position in attribution.queries.tolist()),
        example=judged.qrels.queries[example_position],
        value=float(other_values.column[example_position]),
        reference=float(reference_values.column[example_position]),
        detail="; ".join(dict.fromkeys(detail for detail in details if detail)),
    )

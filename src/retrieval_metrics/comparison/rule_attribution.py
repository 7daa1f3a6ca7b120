"""Find the rules that make two rule sets disagree, by switching them one at a time, then together."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.matching.judge import judge
from retrieval_metrics.metrics.base.refused_queries import find_refused_queries, has_fractional_grades
from retrieval_metrics.metrics.base.score import apply_rules_to_qrels, parameters_of, score

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import BoolArray, FloatArray, IntArray
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.metrics.base.definition import ParameterValue
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.metrics.base.rules import Rules


# The fields of `Rules` that are switched one at a time.
RULE_FIELDS = ("duplicates", "ties", "scores", "groups", "negative", "grades", "missing", "empty", "no_relevant")
# Values closer than this are equal: rounding in sums is far below it, and the effect of any rule far above.
TOLERANCE = 1e-9


class RuleChange(NamedTuple):
    """One rule in which two rule sets differ, for one metric.

    Attributes:
        rule: A field of `Rules`, or a parameter of the metric.
        value: Its value in the other rule set.
        is_parameter: Whether it is a parameter of the metric.
    """

    rule: str
    value: ParameterValue | None
    is_parameter: bool = False

    def __str__(self) -> str:
        return f"{self.rule}={self.value}"


class RuleSetValues(NamedTuple):
    """One metric of every query under one rule set.

    Attributes:
        rules: The rules that apply to the metric, as `effective_rules` returns them.
        column: Shape (queries,); NaN for queries that do not enter the mean.
    """

    rules: Rules
    column: FloatArray


class Attribution(NamedTuple):
    """The fewest rules that make a difference, and the positions of the queries for which they do."""

    changes: tuple[RuleChange, ...]
    queries: IntArray


class _JudgingRules(NamedTuple):
    """The rules that decide how a run is judged; all others decide how it is scored."""

    negative: str
    groups: str
    ties: str
    scores: str


class AuditedRun:
    """Judgments and a run, to be scored under several rule sets; runs are judged once for equal judging rules."""

    def __init__(self, qrels: Qrels, run: RunMapping | Run, match: str | Key | Matching) -> None:
        self.qrels = qrels
        self._run = run
        self._match = match
        self._is_in_run = np.fromiter((query in run for query in qrels.queries), np.bool_, len(qrels))
        self._has_fractional_grades = has_fractional_grades(qrels)
        self._judged_by_rules: dict[_JudgingRules, JudgedRun] = {}

    def judge(self, rules: Rules) -> JudgedRun:
        """Return the judged run under some rules."""
        key = _JudgingRules(rules.negative, rules.groups, rules.ties, rules.scores)
        if key not in self._judged_by_rules:
            qrels = apply_rules_to_qrels(self.qrels, replace(rules, grades="real"))
            self._judged_by_rules[key] = judge(qrels, self._run, self._match, rules.order)
        return self._judged_by_rules[key]

    def find_refused(self, rules: Rules) -> BoolArray:
        """Return which queries the rules refuse, shape (queries,)."""
        is_refused = np.zeros(len(self.qrels), dtype=np.bool_)
        for refused_queries in find_refused_queries(self.judge(rules), rules).values():
            is_refused |= refused_queries.is_refused
        if rules.grades == "integer":
            is_refused |= self._has_fractional_grades
        if rules.missing == "skip":  # queries that are left out cannot be refused
            return is_refused & self._is_in_run
        return is_refused

    def score_under(self, metric: Metric, rules: Rules) -> RuleSetValues:
        """Return a metric of every query under a rule set."""
        effective = effective_rules(rules, metric)
        return RuleSetValues(effective, self.score(metric, effective))

    def score(self, metric: Metric, rules: Rules) -> FloatArray:
        """Return a metric of every query under effective rules, shape (queries,); see `RuleSetValues`."""
        values = score(self.judge(rules), metric, rules).values
        is_left_out = self.find_refused(rules)
        if rules.missing == "skip":
            is_left_out = is_left_out | ~self._is_in_run
        return np.where(is_left_out, np.nan, values)


def effective_rules(rules: Rules, metric: Metric) -> Rules:
    """Return the rules that apply to a metric, with all its parameters spelled out."""
    defaults = {name: parameter.default for name, parameter in metric.definition.parameters.items()}
    parameters: Mapping[str, Any] = {**defaults, **parameters_of(metric, rules)}
    return replace(rules.for_metric(metric.name), parameters={metric.name: parameters}, exceptions={})


def list_rule_changes(reference: Rules, other: Rules, metric: Metric) -> list[RuleChange]:
    """Return the rules in which two effective rule sets differ for a metric."""
    changes = []
    reference_parameters = reference.parameters[metric.name]
    for name, value in other.parameters[metric.name].items():
        if value != reference_parameters[name]:
            changes.append(RuleChange(name, value, is_parameter=True))
    for field in RULE_FIELDS:
        if getattr(other, field) != getattr(reference, field):
            changes.append(RuleChange(field, getattr(other, field)))
    return changes


def apply_rule_changes(rules: Rules, changes: Sequence[RuleChange], metric: Metric) -> Rules:
    """Return effective rules with some of them changed."""
    parameters: dict[str, Any] = dict(rules.parameters[metric.name])
    fields: dict[str, Any] = {}
    for change in changes:
        target = parameters if change.is_parameter else fields
        target[change.rule] = change.value
    return replace(rules, parameters={metric.name: parameters}, **fields)


def attribute_difference(
    audited: AuditedRun, metric: Metric, reference: RuleSetValues, other: RuleSetValues
) -> Iterator[Attribution]:
    """Yield, for the queries on which two rule sets disagree, the fewest rules that make the difference."""
    is_unexplained = ~_are_equal(reference.column, other.column)
    changes = list_rule_changes(reference.rules, other.rules, metric)
    for n_changes in range(1, len(changes) + 1):
        for combination in combinations(changes, n_changes):
            if not is_unexplained.any():
                return
            values = audited.score(metric, apply_rule_changes(reference.rules, combination, metric))
            is_explained = _are_equal(values, other.column) & is_unexplained
            if is_explained.any():
                yield Attribution(combination, np.flatnonzero(is_explained))
                is_unexplained &= ~is_explained


def _are_equal(left: FloatArray, right: FloatArray) -> BoolArray:
    """Return where two columns of values agree; NaN agrees with NaN."""
    equal: BoolArray = np.isclose(left, right, rtol=0, atol=TOLERANCE, equal_nan=True)
    return equal

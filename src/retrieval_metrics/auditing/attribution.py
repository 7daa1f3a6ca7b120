"""Find the rules that make two rule sets disagree, by switching them one at a time, then together."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.judging.judge import judge
from retrieval_metrics.scoring.score import fractions, parameters_of, refusals, score, truth_under

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from retrieval_metrics.checks import BoolArray, FloatArray, IntArray
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.judging.ranking_order import Key, Matching
    from retrieval_metrics.scoring.definition import ParameterValue
    from retrieval_metrics.scoring.metric import Metric
    from retrieval_metrics.scoring.rules import Rules

FIELDS = ("repeats", "ties", "scores", "groups", "negative", "grades", "missing", "empty", "no_relevant")
TOLERANCE = 1e-9
"""Values closer than this are equal: rounding in sums is far below it, and the effect of any rule far above."""


class Switch(NamedTuple):
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


class UnderRules(NamedTuple):
    """One metric of every query under one rule set.

    Attributes:
        rules: The rules that apply to the metric, as `effective` returns them.
        column: Shape (queries,); NaN for queries that do not enter the mean.
    """

    rules: Rules
    column: FloatArray


class Bench:
    """The same judgments and run under several rule sets, judged once for each way of judging."""

    def __init__(self, truth: Qrels, run: RunMapping | Run, match: str | Key | Matching) -> None:
        self.truth = truth
        self._run = run
        self._match = match
        self._retrieved = np.fromiter((query in run for query in truth.queries), np.bool_, len(truth))
        self._fractions = fractions(truth)
        self._judged: dict[tuple[str, str, str, str], JudgedRun] = {}

    def judged(self, rules: Rules) -> JudgedRun:
        """Return the judged run under some rules."""
        key = (rules.negative, rules.groups, rules.ties, rules.scores)
        if key not in self._judged:
            truth = truth_under(self.truth, replace(rules, grades="real"))
            self._judged[key] = judge(truth, self._run, self._match, rules.order)
        return self._judged[key]

    def refused(self, rules: Rules) -> BoolArray:
        """Return which queries the rules refuse, shape (queries,)."""
        refused = np.zeros(len(self.truth), dtype=np.bool_)
        for queries, _ in refusals(self.judged(rules), rules).values():
            refused |= queries
        if rules.grades == "integer":
            refused |= self._fractions
        # Queries that the rules leave out because they are missing from the run cannot be refused.
        return refused & self._retrieved if rules.missing == "skip" else refused

    def under(self, metric: Metric, rules: Rules) -> UnderRules:
        """Return a metric of every query under a rule set."""
        applied = effective(rules, metric)
        return UnderRules(applied, self.values(metric, applied))

    def values(self, metric: Metric, rules: Rules) -> FloatArray:
        """Return a metric of every query under effective rules, shape (queries,); see `UnderRules`."""
        values = score(self.judged(rules), metric, rules).values
        left_out = self.refused(rules)
        if rules.missing == "skip":
            left_out = left_out | ~self._retrieved
        return np.where(left_out, np.nan, values)


def effective(rules: Rules, metric: Metric) -> Rules:
    """Return the rules that apply to a metric, with all its parameters spelled out."""
    defaults = {key: parameter.default for key, parameter in metric.definition.parameters.items()}
    parameters: Mapping[str, Any] = {**defaults, **parameters_of(metric, rules)}
    return replace(rules.of(metric.name), parameters={metric.name: parameters}, exceptions={})


def switches(reference: Rules, other: Rules, metric: Metric) -> list[Switch]:
    """Return the rules in which two effective rule sets differ for a metric."""
    ours, theirs = reference.parameters[metric.name], other.parameters[metric.name]
    return [
        *(Switch(key, theirs[key], is_parameter=True) for key in theirs if theirs[key] != ours[key]),
        *(
            Switch(field, getattr(other, field))
            for field in FIELDS
            if getattr(other, field) != getattr(reference, field)
        ),
    ]


def switched(rules: Rules, chosen: Sequence[Switch], metric: Metric) -> Rules:
    """Return effective rules with some of them switched."""
    parameters: dict[str, Any] = {
        **rules.parameters[metric.name],
        **{s.rule: s.value for s in chosen if s.is_parameter},
    }
    changed: dict[str, Any] = {switch.rule: switch.value for switch in chosen if not switch.is_parameter}
    return replace(rules, parameters={metric.name: parameters}, **changed)


def attribute(
    bench: Bench, metric: Metric, reference: UnderRules, other: UnderRules
) -> Iterator[tuple[tuple[Switch, ...], IntArray]]:
    """Yield, for the queries on which two rule sets disagree, the fewest rules that make the difference.

    Starting from the reference, one rule is switched, then two, and so on, until a query has its value under the other
    rules. All switches together always give that value, so every difference is explained.

    Yields:
        The switches, and the positions of the queries for which they make the difference.
    """
    unexplained = ~same(reference.column, other.column)
    differing = switches(reference.rules, other.rules, metric)
    for size in range(1, len(differing) + 1):
        for chosen in combinations(differing, size):
            if not unexplained.any():
                return
            values = bench.values(metric, switched(reference.rules, chosen, metric))
            reached = same(values, other.column) & unexplained
            if reached.any():
                yield chosen, np.flatnonzero(reached)
                unexplained &= ~reached


def same(left: FloatArray, right: FloatArray) -> BoolArray:
    """Return where two columns of values agree; NaN agrees with NaN."""
    equal: BoolArray = np.isclose(left, right, rtol=0, atol=TOLERANCE, equal_nan=True)
    return equal

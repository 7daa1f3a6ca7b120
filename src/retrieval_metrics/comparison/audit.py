"""Score the same data under the rules of several libraries, and find the rule behind each difference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import import_optional
from retrieval_metrics.evaluation.scores import ByMetric
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.questions import question_texts
from retrieval_metrics.matching.ids import count_common_queries
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.metrics.base.metric import DEFAULT_METRICS, Metric, as_metrics
from retrieval_metrics.metrics.base.refused_queries import find_refused_queries, has_fractional_grades
from retrieval_metrics.metrics.base.rules import RULE_SETS, STANDARD, as_rules
from retrieval_metrics.metrics.base.score import apply_rules_to_qrels, parameters_of, score
from retrieval_metrics.reports.tables import Printed, Table
from retrieval_metrics.statistics.means import Sums

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from retrieval_metrics._internal.validation import BoolArray, FloatArray, IntArray, QueryId
    from retrieval_metrics.inputs.items import Key, QueryTexts, RunMapping
    from retrieval_metrics.inputs.qrels import Qrels, QuestionsOrQrels
    from retrieval_metrics.inputs.questions import Questions
    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.ranking_order import Matching
    from retrieval_metrics.metrics.base.definition import ParameterValue
    from retrieval_metrics.metrics.base.rules import Rules


# Find the rules that make two rule sets disagree, by switching them one at a time, then together.

FIELDS = ("duplicates", "ties", "scores", "groups", "negative", "grades", "missing", "empty", "no_relevant")
TOLERANCE = 1e-9
"""Values closer than this are equal: rounding in sums is far below it, and the effect of any rule far above."""


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
        rules: The rules that apply to the metric, as `effective` returns them.
        column: Shape (queries,); NaN for queries that do not enter the mean.
    """

    rules: Rules
    column: FloatArray


class AuditedRun:
    """The same judgments and run under several rule sets, judged once for each way of judging."""

    def __init__(self, truth: Qrels, run: RunMapping | Run, match: str | Key | Matching) -> None:
        self.truth = truth
        self._run = run
        self._match = match
        self._retrieved = np.fromiter((query in run for query in truth.queries), np.bool_, len(truth))
        self._fractions = has_fractional_grades(truth)
        self._judged: dict[tuple[str, str, str, str], JudgedRun] = {}

    def judged(self, rules: Rules) -> JudgedRun:
        """Return the judged run under some rules."""
        key = (rules.negative, rules.groups, rules.ties, rules.scores)
        if key not in self._judged:
            truth = apply_rules_to_qrels(self.truth, replace(rules, grades="real"))
            self._judged[key] = judge(truth, self._run, self._match, rules.order)
        return self._judged[key]

    def refused(self, rules: Rules) -> BoolArray:
        """Return which queries the rules refuse, shape (queries,)."""
        refused = np.zeros(len(self.truth), dtype=np.bool_)
        for by_rule in find_refused_queries(self.judged(rules), rules).values():
            refused |= by_rule.is_refused
        if rules.grades == "integer":
            refused |= self._fractions
        # Queries that the rules leave out because they are missing from the run cannot be refused.
        return refused & self._retrieved if rules.missing == "skip" else refused

    def under(self, metric: Metric, rules: Rules) -> RuleSetValues:
        """Return a metric of every query under a rule set."""
        applied = effective(rules, metric)
        return RuleSetValues(applied, self.values(metric, applied))

    def values(self, metric: Metric, rules: Rules) -> FloatArray:
        """Return a metric of every query under effective rules, shape (queries,); see `RuleSetValues`."""
        values = score(self.judged(rules), metric, rules).values
        left_out = self.refused(rules)
        if rules.missing == "skip":
            left_out = left_out | ~self._retrieved
        return np.where(left_out, np.nan, values)


def effective(rules: Rules, metric: Metric) -> Rules:
    """Return the rules that apply to a metric, with all its parameters spelled out."""
    defaults = {key: parameter.default for key, parameter in metric.definition.parameters.items()}
    parameters: Mapping[str, Any] = {**defaults, **parameters_of(metric, rules)}
    return replace(rules.for_metric(metric.name), parameters={metric.name: parameters}, exceptions={})


def switches(reference: Rules, other: Rules, metric: Metric) -> list[RuleChange]:
    """Return the rules in which two effective rule sets differ for a metric."""
    ours, theirs = reference.parameters[metric.name], other.parameters[metric.name]
    return [
        *(RuleChange(key, theirs[key], is_parameter=True) for key in theirs if theirs[key] != ours[key]),
        *(
            RuleChange(field, getattr(other, field))
            for field in FIELDS
            if getattr(other, field) != getattr(reference, field)
        ),
    ]


def switched(rules: Rules, chosen: Sequence[RuleChange], metric: Metric) -> Rules:
    """Return effective rules with some of them switched."""
    parameters: dict[str, Any] = {
        **rules.parameters[metric.name],
        **{s.rule: s.value for s in chosen if s.is_parameter},
    }
    changed: dict[str, Any] = {switch.rule: switch.value for switch in chosen if not switch.is_parameter}
    return replace(rules, parameters={metric.name: parameters}, **changed)


def attribute(
    bench: AuditedRun, metric: Metric, reference: RuleSetValues, other: RuleSetValues
) -> Iterator[tuple[tuple[RuleChange, ...], IntArray]]:
    """Yield, for the queries on which two rule sets disagree, the fewest rules that make the difference."""
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


TOP = 10
JUDGED = Metric("judged", TOP)


def lint(judged: JudgedRun, corpus: Collection[Any] | None, queries: Mapping[Any, str] | None) -> tuple[str, ...]:
    """Return what to check before you trust any number, one sentence each."""
    found = (
        _one_relevant(judged),
        _without_relevant(judged),
        _not_in_corpus(judged, corpus),
        _repeated_queries(judged, queries),
        _judged_share(judged),
    )
    return tuple(filter(None, found))


def _one_relevant(judged: JudgedRun) -> str:
    if len(judged.qrels) == 1 or not (judged.n_relevant() == 1).all():
        return ""
    return (
        "every query has exactly one relevant document: recall, full recall and hit rate are the same number, average "
        "precision is the reciprocal rank, and precision@k cannot exceed 1/k"
    )


def _without_relevant(judged: JudgedRun) -> str:
    lacking = np.flatnonzero(judged.n_relevant() == 0)
    if not len(lacking):
        return ""
    return (
        f"{len(lacking)} of {len(judged.qrels)} queries have no relevant document, such as {_query(judged, lacking[0])}"
    )


def _not_in_corpus(judged: JudgedRun, corpus: Collection[Any] | None) -> str:
    if corpus is None:
        return ""
    qrels = judged.qrels
    known = set(corpus)
    lacking = [at for at in np.flatnonzero(qrels.document_grade > 0).tolist() if qrels.documents[at] not in known]
    if not lacking:
        return ""
    queries = len({int(qrels.document_query[at]) for at in lacking})
    return (
        f"{len(lacking)} relevant documents of {queries} queries are not in the corpus, so no retriever can find them, "
        f"such as {qrels.documents[lacking[0]]!r} of {_query(judged, qrels.document_query[lacking[0]])}"
    )


def _repeated_queries(judged: JudgedRun, queries: Mapping[Any, str] | None) -> str:
    """Compare the texts, or the ids if these are the texts, ignoring case, white space and final punctuation."""
    texts: Mapping[Any, Any] = {query: query for query in judged.qrels.queries} if queries is None else queries
    first: dict[str, Any] = {}
    repeated = []
    for query in judged.qrels.queries:
        text = texts.get(query)
        if isinstance(text, str):
            key = " ".join(text.casefold().split()).rstrip(" ?!.")
            if first.setdefault(key, query) != query:
                repeated.append((first[key], query))
    if not repeated:
        return ""
    one, other = repeated[0]
    return (
        f"{len(repeated)} of {len(judged.qrels)} queries repeat another, as {other!r} does {one!r}: a repeated "
        "question counts each time"
    )


def _judged_share(judged: JudgedRun) -> str:
    share = Sums.from_defined_values(score(judged, JUDGED, STANDARD).values)
    if not share.count or share.mean == 1:
        return ""
    return (
        f"{share.mean:.0%} of the first {TOP} retrieved documents are judged; the others count as not relevant, "
        "whether they are or not"
    )


def _query(judged: JudgedRun, at: int) -> str:
    return f"query {judged.qrels.queries[int(at)]!r}"


# Rules in words, and what they apply to in a query.

_WORDS: Mapping[str, str] = {
    "duplicates=ignore": "a repeated document earns nothing",
    "duplicates=count": "a repeated document counts again",
    "duplicates=error": "a ranking with a repeated document is refused",
    "ties=docid": "equal scores are ordered by document id",
    "ties=input": "equal scores stay in the order given",
    "ties=expected": "the value is the mean over all orders of equal scores",
    "groups=credit": "one document of a group suffices",
    "groups=flatten": "every document of a group is needed",
    "negative=nonrelevant": "a negative grade counts as judged not relevant",
    "negative=unjudged": "a negative grade counts as unjudged",
    "grades=real": "any grade is allowed",
    "grades=integer": "a grade that is not a whole number is refused",
    "scores=double": "scores are compared as they are",
    "scores=single": "scores are compared in 32 bits, so those that differ after seven digits are equal",
    "missing=zero": "a query that is not in the run has retrieved nothing",
    "missing=skip": "a query that is not in the run is left out",
    "empty=zero": "a query with nothing retrieved scores 0, by the formula",
    "empty=undefined": "a query with nothing retrieved is left out of the mean",
    "empty=error": "a query with nothing retrieved is refused",
    "no_relevant=undefined": "a query without a relevant document is left out of the mean",
    "no_relevant=zero": "a query without a relevant document scores 0",
    "no_relevant=match": "a query without a relevant document scores 1 if nothing was retrieved, else 0",
    "no_relevant=error": "a query without a relevant document is refused",
}


def words(switch: RuleChange, metric: Metric) -> str:
    """Return a rule as a sentence; a rule without a sentence is returned as written."""
    if switch.is_parameter:
        return metric.definition.parameters[switch.rule].choices.get(str(switch.value), str(switch))
    return _WORDS[str(switch)]


def detail(switch: RuleChange, judged: JudgedRun, query: int, metric: Metric) -> str:
    """Return what a rule applies to in a query; an empty string if there is nothing to show."""
    acts_on = (
        metric.definition.parameters[switch.rule].acts_on if switch.is_parameter else _ACTS_ON.get(switch.rule, "")
    )
    return _DETAILS[acts_on](judged, query, metric) if acts_on else ""


def _repeated(judged: JudgedRun, query: int, metric: Metric) -> str:  # noqa: ARG001  (they share one signature)
    again = judged.duplicates.document[judged.duplicates.query == query]
    hits = again[again >= 0]
    if not len(hits):
        return f"{len(again)} of its places hold repeated documents" if len(again) else ""
    relevant = hits[judged.qrels.document_grade[hits] > 0]
    document = int((relevant if len(relevant) else hits)[0])
    times = int((hits == document).sum()) + 1
    return f"document {judged.qrels.documents[document]!r} is retrieved {_times(times)}"


def _tied(judged: JudgedRun, query: int, metric: Metric) -> str:  # noqa: ARG001
    items = judged.items
    here = np.flatnonzero((items.query == query) & (items.tied > 1))
    if not len(here):
        return ""
    at = int(here[np.argmax(items.grade[here])])
    others = int(items.tied[at]) - 1
    return (
        f"document {judged.qrels.documents[int(items.document[at])]!r} has the same score as {_count(others, 'other')}"
    )


def _lengths(judged: JudgedRun, query: int, metric: Metric) -> str:
    relevant = int(judged.n_relevant()[query])
    retrieved = int(judged.n_retrieved[query])
    cut = "" if metric.k is None else f", k is {metric.k}"
    return f"{retrieved} retrieved, {relevant} relevant{cut}"


def _grades(judged: JudgedRun, query: int, metric: Metric) -> str:  # noqa: ARG001
    start, end = judged.qrels.bounds[query], judged.qrels.bounds[query + 1]
    grades = sorted(judged.qrels.document_grade[start:end].tolist(), reverse=True)
    return f"its grades are {', '.join(f'{grade:g}' for grade in grades[:5])}{', ...' if len(grades) > 5 else ''}"


def _groups(judged: JudgedRun, query: int, metric: Metric) -> str:  # noqa: ARG001
    start, end = judged.qrels.bounds[query], judged.qrels.bounds[query + 1]
    return f"{_count(end - start, 'document')} in {_count(int((judged.qrels.group_query == query).sum()), 'group')}"


_ACTS_ON: Mapping[str, str] = {
    "duplicates": "duplicates",
    "ties": "ties",
    "scores": "ties",
    "groups": "groups",
    "negative": "grades",
    "grades": "grades",
}
"""What each field of `Rules` applies to in a query; parameters of metrics have `acts_on`."""

_DETAILS: Mapping[str, Callable[[JudgedRun, int, Metric], str]] = {
    "duplicates": _repeated,
    "ties": _tied,
    "groups": _groups,
    "lengths": _lengths,
    "grades": _grades,
}


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


def _count(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleDifference:
    """A rule that makes a metric differ from the reference.

    Attributes:
        rule_name: The rule set that differs.
        metric: The metric.
        rules: The rule, such as `duplicates=count`; several if only all of them together make the difference.
        meaning: The rule in words.
        queries: The queries for which it makes the difference.
        example: The smallest of them: the one with the fewest retrieved and judged documents.
        value: The value of the example; NaN if it is left out of the mean.
        reference: Its value under the reference rules.
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
    """

    metrics: tuple[Metric, ...]
    rules: Mapping[str, Rules]
    queries: tuple[QueryId, ...]
    values: Mapping[str, FloatArray]
    refused: Mapping[str, int]
    differences: tuple[RuleDifference, ...]
    lints: tuple[str, ...]

    @property
    def rule_names(self) -> tuple[str, ...]:
        """The names of the rule sets; the first is the reference."""
        return tuple(self.rules)

    @property
    def means(self) -> dict[str, ByMetric[float]]:
        """The mean of each metric that the library has, per rule set."""
        return {
            name: ByMetric(
                {
                    str(metric): Sums.from_defined_values(column).mean
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
        rows = [
            [name, *(f"{means[rules][name]:.4f}" if name in means[rules] else "-" for rules in self.rule_names)]
            for name in map(str, self.metrics)
        ]
        return [Table(["metric", *self.rule_names], rows, self._notes())]

    def _notes(self) -> list[str]:
        queries = f"{len(self.queries)} {'query' if len(self.queries) == 1 else 'queries'}"
        refused = [
            f"{name}: raises an error for {count} of {len(self.queries)}, which its means leave out"
            for name, count in self.refused.items()
            if count
        ]
        return [f"{queries}; compared with {self.rule_names[0]}", *refused, *self._explained(), *self.lints]

    def _explained(self) -> Iterator[str]:
        """Yield a sentence for each rule of each rule set, all its metrics together."""
        together: dict[tuple[str, tuple[str, ...], str], list[RuleDifference]] = {}
        for found in self.differences:
            together.setdefault((found.rule_name, found.rules, found.meaning), []).append(found)
        for (rule_name, _, meaning), of_rule in together.items():
            where = ", ".join(f"{found.metric} in {len(found.queries)}" for found in of_rule)
            shown = max(of_rule, key=lambda found: abs(np.nan_to_num(found.value - found.reference)))
            yield (
                f"{rule_name}: {meaning} ({where} of {len(self.queries)}); {shown.metric} of query {shown.example!r} "
                f"is {_number(shown.value)} instead of {_number(shown.reference)}"
                + (f": {shown.detail}" if shown.detail else "")
            )


def audit(
    qrels: QuestionsOrQrels,
    run: RunMapping | Run,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    rules: Iterable[str | Rules] = tuple(RULE_SETS),
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
        rules: Names of rule sets, or rule sets of your own; the others are compared with the first.
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

        >>> print(audit({"q": ["a", "b"]}, {"q": ["a", "a", "b"]}, "map", rules=["standard", "llama_index"]))
        metric  standard  llama_index
        map       0.8333       1.5000
        1 query; compared with standard
        llama_index: a repeated document counts again (map in 1 of 1); map of query 'q' is 1.5000 instead of 0.8333:
        document 'a' is retrieved twice
        67% of the first 10 retrieved documents are judged; the others count as not relevant, whether they are or not
    """
    chosen, truth = as_metrics(metrics), as_qrels(qrels)
    rules = _rule_sets(rules)
    count_common_queries(run, truth)
    bench = AuditedRun(truth, run, match)
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


def _rule_sets(rules: Iterable[str | Rules]) -> list[Rules]:
    if isinstance(rules, str):
        raise TypeError(f"rules must be several rule sets to compare, got {rules!r}; write ('standard', {rules!r})")
    rule_sets = [as_rules(each) for each in rules]
    names = [each.name for each in rule_sets]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"rules must be one or more rule sets with different names, got {names}")
    return rule_sets


def _difference(
    bench: AuditedRun,
    metric: Metric,
    rule_name: str,
    found: tuple[Sequence[RuleChange], IntArray],
    values: tuple[FloatArray, FloatArray],
) -> RuleDifference:
    chosen, queries = found
    judged = bench.judged(RULE_SETS["standard"])
    size = judged.n_retrieved[queries] + np.diff(np.array(judged.qrels.bounds))[queries]
    example = int(queries[np.argmin(size)])
    details = dict.fromkeys(said for switch in chosen if (said := detail(switch, judged, example, metric)))
    return RuleDifference(
        rule_name=rule_name,
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

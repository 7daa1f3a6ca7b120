"""What must hold for every metric on every input that is accepted."""

import itertools
import math
import random
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from generated import cutoffs, flat_truths, often, rankings, truths
from retrieval_metrics.metrics.base.definition import Definition
from retrieval_metrics.metrics.base.registry import DEFINITIONS
from retrieval_metrics.metrics.base.value_bounds import find_two_valued_queries

OF_RANKINGS = {name: definition for name, definition in DEFINITIONS.items() if not definition.needs_places}
# The parameters whose allowed values depend on the grades.
DEPEND_ON_GRADES = {"gains", "max_grade"}


def spell_with_parameters(name: str, definition: Definition) -> list[str]:
    """Return a metric with each example of each of its parameters."""
    spellings = []
    for key, parameter in definition.parameters.items():
        if key not in DEPEND_ON_GRADES:
            spellings += [f"{name}({key}={value})" for value in parameter.examples]
    return spellings


def list_spellings() -> list[str]:
    """Return every metric of rankings, without and with parameters."""
    spellings = [*OF_RANKINGS]
    for name, definition in OF_RANKINGS.items():
        spellings += spell_with_parameters(name, definition)
    return [*spellings, "rbp(p=0.999)", "rbp(p=0.001)"]


def can_reach_one(name: str) -> bool:
    """Return whether the best value of a metric is 1; of groups ranked by themselves, only one can be first."""
    definition = rm.Metric.parse(name).definition
    return definition.reaches_one and definition.higher_is_better and "per=group" not in name


SPELLINGS = list_spellings()
BOUNDED = [name for name in SPELLINGS if rm.Metric.parse(name).definition.bounded]
REACHES_ONE = [name for name in BOUNDED if can_reach_one(name)]
IDEAL_IS_ONE = ["hit_rate", "recall", "full_recall", "mrr", "map", "ndcg", "ndcg(gain=exponential)", "r_precision"]

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


def with_cutoff(name: str, k: int | None) -> rm.Metric:
    metric = rm.Metric.parse(name)
    if k is None or not metric.definition.takes_cutoff:
        return metric
    return rm.Metric(metric.name, k, **dict(metric.parameters))


def value(truth: Any, ranking: Any, metric: rm.Metric, semantics: str = "standard") -> float:
    return rm.evaluate({"q": truth}, {"q": ranking}, metric, rules=semantics).per_query[str(metric)]["q"]


def values(truth: Any, ranking: Any, metrics: Iterable[rm.Metric], semantics: str = "standard") -> dict[str, float]:
    """The values of many metrics by name: of one drawn case, for drawing takes longer than scoring."""
    scored = rm.evaluate({"q": truth}, {"q": ranking}, list(dict.fromkeys(metrics)), rules=semantics).per_query
    return {name: of_query["q"] for name, of_query in scored.items()}


def are_same(left: Mapping[str, float], right: Mapping[str, float]) -> bool:
    """Whether all values are equal to the last bit; NaN is NaN."""
    return {name: repr(value) for name, value in left.items()} == {name: repr(value) for name, value in right.items()}


@often
@given(truth=flat_truths, ranking=rankings, k=cutoffs)
def test_flat_truth_is_groups_of_one_to_the_last_bit(
    truth: dict[str, float], ranking: list[str], k: int | None
) -> None:
    metrics = [with_cutoff(name, k) for name in SPELLINGS]
    assert are_same(values(truth, ranking, metrics), values([{d: g} for d, g in truth.items()], ranking, metrics))


@pytest.mark.parametrize("semantics", ["trec_eval", "autorag"])
@given(truth=flat_truths, ranking=rankings, k=cutoffs)
def test_flat_truth_is_groups_of_one_under_every_rule_set(
    semantics: str, truth: dict[str, float], ranking: list[str], k: int | None
) -> None:
    together = {document: math.floor(grade) for document, grade in truth.items()}
    once = list(dict.fromkeys(ranking))
    metrics = [with_cutoff(name, k) for name in ("hit_rate", "recall", "precision", "f1", "mrr", "map", "ndcg")]
    grouped = [{d: g} for d, g in together.items()]
    assert values(together, once, metrics, semantics) == values(grouped, once, metrics, semantics)


@often
@given(
    truth=st.lists(
        st.dictionaries(st.sampled_from("abcdef"), st.floats(-5, 900, allow_nan=False), min_size=1),
        min_size=1,
        max_size=6,
    ),
    ranking=st.lists(st.sampled_from("abcdefgh"), max_size=12),
    k=cutoffs,
)
def test_bounded_metrics_stay_in_bounds_and_are_undefined_only_where_they_need_what_is_not_judged(
    truth: list[dict[str, float]], ranking: list[str], k: int | None
) -> None:
    metrics = [with_cutoff(name, k) for name in BOUNDED]
    results = values(truth, ranking, metrics)
    for metric in metrics:
        parameters = dict(metric.parameters)
        rel = parameters.get("rel")
        level = parameters.get("grade")
        grades = [grade for group in truth for grade in group.values()]
        relevant = any(grade >= float(rel) if rel else grade > 0 for grade in grades)
        forbidden = any(grade <= float(level) if level else grade < 0 for grade in grades)
        needs = {
            "judged": bool(ranking),
            "leak": forbidden,
            "inverted": relevant and forbidden,
            "false_answer": not relevant,
        }
        defined = needs.get(metric.name, relevant)
        result = results[str(metric)]
        assert math.isnan(result) != defined, metric
        assert not defined or 0 <= result <= 1, metric


@often
@given(truth=truths, ranking=rankings, k=cutoffs)
def test_binary_metrics_are_0_or_1(truth: list[dict[str, float]], ranking: list[str], k: int | None) -> None:
    binary = [with_cutoff(name, k) for name in OF_RANKINGS if DEFINITIONS[name].binary]
    for name, result in values(truth, ranking, binary).items():
        assert result in {0.0, 1.0} or math.isnan(result), name


@often
@given(truth=truths, ranking=rankings, k=cutoffs)
def test_what_the_judgments_say_is_two_valued_is_0_or_1(
    truth: list[dict[str, float]], ranking: list[str], k: int | None
) -> None:
    names = [name for name in SPELLINGS if rm.Metric.parse(name).definition.two_valued is not None]
    at_first = [with_cutoff(name, 1) for name in names]
    at_cutoff = [with_cutoff(name, k) for name in names]
    metrics = list(dict.fromkeys([*at_first, *at_cutoff]))
    scores = rm.evaluate({"q": truth}, {"q": ranking}, metrics).scores
    assert scores.origin is not None
    for metric in metrics:
        is_two_valued = find_two_valued_queries(metric, scores.origin.judged, scores.rules)
        result = float(scores.column(metric)[0])
        assert is_two_valued is None or not is_two_valued[0] or result in {0.0, 1.0} or math.isnan(result), metric


@often
@given(truth=flat_truths, k=cutoffs)
def test_the_ideal_ranking_of_flat_truth_scores_one(truth: dict[str, float], k: int | None) -> None:
    best_first = sorted(truth, key=lambda document: -truth[document])
    metrics = []
    for name in REACHES_ONE:
        rel = dict(rm.Metric.parse(name).parameters).get("rel")
        if relevant := sum(grade >= float(rel) if rel else grade > 0 for grade in truth.values()):
            metrics.append(with_cutoff(name, max(k, relevant) if k else None))
    if metrics:
        results = values(truth, best_first, metrics)
        assert results == dict.fromkeys(results, 1.0)


@pytest.mark.parametrize("name", IDEAL_IS_ONE)
def test_one_item_that_satisfies_every_group_is_the_ideal_ranking(name: str) -> None:
    truth = [{"all": 1, "a": 1}, {"all": 1, "b": 1}, {"all": 1}]
    assert value(truth, ["all", "x", "a"], with_cutoff(name, 3)) == 1


@pytest.mark.parametrize("name", ["ndcg", "map", "mrr"])
@given(truth=truths, ranking=rankings, k=cutoffs)
def test_no_ranking_beats_the_one_that_greedily_takes_what_is_still_needed(
    name: str, truth: list[dict[str, float]], ranking: list[str], k: int | None
) -> None:
    alternatives = [max(group, key=group.__getitem__) for group in sorted(truth, key=lambda g: -max(g.values()))]
    best = value(truth, list(dict.fromkeys(alternatives)), with_cutoff(name, None))
    if not math.isnan(best) and len(set(alternatives)) == len(truth) and not _shared(truth):
        assert best == pytest.approx(1)
        assert value(truth, ranking, with_cutoff(name, k)) <= 1


def _shared(truth: list[dict[str, float]]) -> bool:
    documents = list(itertools.chain.from_iterable(truth))
    return len(documents) > len(set(documents))


@often
@given(truth=flat_truths, ranking=rankings, seed=st.integers(0, 99))
def test_the_order_below_the_last_judged_document_does_not_matter(
    truth: dict[str, float], ranking: list[str], seed: int
) -> None:
    tail = [f"unjudged{number}" for number in range(6)]
    shuffled = random.Random(seed).sample(tail, len(tail))
    metrics = [rm.Metric.parse(name) for name in SPELLINGS]
    assert are_same(*(values(truth, [*ranking, *end], metrics) for end in (tail, shuffled)))


@often
@given(truth=truths, ranking=rankings, k=st.integers(1, 15))
def test_a_deeper_cutoff_never_lowers_what_only_counts_hits(
    truth: list[dict[str, float]], ranking: list[str], k: int
) -> None:
    counting = ("hit_rate", "recall", "full_recall", "mrr", "map")
    shallow = values(truth, ranking, [with_cutoff(name, k) for name in counting])
    deep = values(truth, ranking, [with_cutoff(name, k + 1) for name in counting])
    for name, value, other in zip(counting, shallow.values(), deep.values(), strict=True):
        assert other >= value or math.isnan(value), name


@given(truth=flat_truths, ranking=rankings)
def test_repeating_a_document_never_helps(truth: dict[str, float], ranking: list[str]) -> None:
    for name in ("map", "ndcg", "recall", "precision@5"):
        once = value(truth, list(dict.fromkeys(ranking)), rm.Metric.parse(name))
        assert value(truth, [*ranking, *ranking], rm.Metric.parse(name)) <= once + 1e-12 or math.isnan(once)


@often
@given(truth=truths, ranking=rankings, k=cutoffs)
def test_what_is_forbidden_changes_no_metric_that_rewards_but_bpref(
    truth: list[dict[str, float]], ranking: list[str], k: int | None
) -> None:
    nothing = [{document: max(grade, 0.0) for document, grade in group.items()} for group in truth]
    metrics = [with_cutoff(name, k) for name in SPELLINGS if DEFINITIONS[rm.Metric.parse(name).name].higher_is_better]
    metrics = [metric for metric in metrics if metric.name != "bpref"]  # below 0 it counts as unjudged, as in trec_eval
    assert are_same(values(truth, ranking, metrics), values(nothing, ranking, metrics))

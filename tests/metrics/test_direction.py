"""Whatever reads a metric asks for its direction: a metric and its complement lead to the same conclusions."""

import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.value_counts import format_value_counts, values_chart
from retrieval_metrics.integration_api.pytest_support import check_ceiling, require_useful_bound
from retrieval_metrics.metrics.base.user_metrics import forget_metric

QRELS: Any = {f"q{at}": {f"d{at}": 1, "x": 0} for at in range(40)}
NAMES = ("found@2", "missed@2")

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


def system(strength: float, seed: int) -> dict[str, dict[str, float]]:
    """Rankings that have the relevant document first, third or not at all; equal scores in some."""
    rng = random.Random(seed)
    run = {}
    for number in range(40):
        place = 3.0 if rng.random() < strength else rng.choice([1.0, 2.0])
        run[f"q{number}"] = {f"d{number}": place, "u": 2.0, "v": 2.0, "w": 1.5}
    return run


RUNS: dict[str, Any] = {"weak": system(0.3, 1), "strong": system(0.9, 2)}


@pytest.fixture(autouse=True)
def define_both_metrics() -> Iterator[None]:
    """A metric of each direction, defined from outside: share of the relevant that is there, and that is not."""
    rm.define_metric("found", lambda grades: float((grades > 0).any()), binary=True)
    rm.define_metric("missed", lambda grades: float(not (grades > 0).any()), binary=True, higher_is_better=False)
    yield
    forget_metric("found")
    forget_metric("missed")


def test_the_values_are_complements_but_for_what_was_not_answered() -> None:
    run: Any = rm.RetrievedRun({**RUNS["weak"], "q0": [], "q1": []}, {"q1": OSError()})
    del run["q2"]
    result = rm.evaluate(QRELS, run, NAMES)
    found_values, missed_values = (result.per_query[name] for name in NAMES)
    assert {query for query in QRELS if math.isnan(missed_values[query])} == {"q1", "q2"}
    assert all(found_values[query] == 1 - missed_values[query] for query in QRELS if query not in {"q1", "q2"})
    assert "lower is better for missed@2" in str(result)


def test_over_the_orders_of_equal_scores() -> None:
    result = rm.evaluate(QRELS, RUNS["weak"], NAMES, ties="expected")
    assert result.tie_range is not None
    low, high = result.tie_range.means["found@2"]
    assert result.tie_range.means["missed@2"] == pytest.approx((1 - high, 1 - low))
    assert result.means["missed@2"] == pytest.approx(1 - result.means["found@2"])


def test_a_comparison() -> None:
    comparison = rm.compare(QRELS, RUNS, NAMES, baseline="weak", unjudged="bounds", margin=0.1)
    found_difference, missed_difference = comparison.differences
    assert (found_difference.gain, found_difference.paired.wins, found_difference.p_corrected) == pytest.approx(
        (missed_difference.gain, missed_difference.paired.wins, missed_difference.p_corrected)
    )
    assert len({conclusion.kind for conclusion in comparison.conclusions}) == 1
    assert [
        found_difference.kind for found_difference in rm.compare(QRELS, RUNS, NAMES, baseline="weak").conclusions
    ] == ["better", "better"]
    one_way, other_way = ([place.system for place in comparison.ranking.by_metric[name]] for name in NAMES)
    assert one_way == other_way == ["strong", "weak"]
    assert comparison.unjudged is not None
    low, high = comparison.unjudged.differences["found@2", "strong", "weak"]
    assert comparison.unjudged.differences["missed@2", "strong", "weak"] == pytest.approx((-high, -low))


def test_what_to_judge_next() -> None:
    by_found, by_missed = (rm.compare(QRELS, RUNS, name).to_judge(5) for name in NAMES)
    assert [suggestion.effect for suggestion in by_found] == pytest.approx(
        [suggestion.effect for suggestion in by_missed]
    )


def test_the_worst_queries() -> None:
    result = rm.evaluate(QRELS, RUNS["weak"], NAMES)
    lost = [query for query, value in result.per_query["found@2"].items() if value == 0]
    assert sorted(result.worst("missed@2", 40).queries) == sorted(lost)
    assert {*lost} <= {*result.worst("found@2", 40).queries}
    assert result.worst("missed@2").summary == f"missed@2 is above its best possible value on {len(lost)} of 40 queries"


def test_pages_begin_with_the_worst(tmp_path: Path) -> None:
    result = rm.evaluate(QRELS, RUNS["weak"], "missed@2")
    result.report(tmp_path / "report.html")
    worst = next(query for query, value in result.per_query["missed@2"].items() if value == 1)
    assert (tmp_path / "report.html").read_text().index(f'"{worst}"') > 0
    assert "the highest missed@2" in result._repr_html_()
    assert "the lowest found@2" in rm.evaluate(QRELS, RUNS["weak"], "found@2")._repr_html_()


def test_counts_by_value_call_no_0_a_failure() -> None:
    result = rm.evaluate(QRELS, RUNS["weak"], NAMES)
    missed = sum(result.per_query["missed@2"].values())
    found_counts, missed_counts = (dict(values_chart(result.scores, metric).rows) for metric in result.metrics)
    assert (found_counts, missed_counts) == ({"0": missed, "perfect": 40 - missed}, {"0": 40 - missed, "1": missed})
    assert format_value_counts(result.scores, result.metrics[1]).endswith("n = 40.")


def test_floors_and_ceilings() -> None:
    result = rm.evaluate(QRELS, RUNS["strong"], NAMES)
    require_useful_bound("at_least", "found@2", 0.5)
    with pytest.raises(ValueError, match=r"lower is better for missed@2, .* bound it: at_most=\{\.\.\.\}"):
        require_useful_bound("at_least", "missed@2", 0.5)
    assert check_ceiling(result.scores, "missed@2", 1).outcome == "passed"
    assert check_ceiling(result.scores, "missed@2", 0).outcome == "above_ceiling"


@pytest.mark.parametrize(
    ("option", "bound", "message"),
    [
        (
            "at_least",
            60,
            "at_least for mrr must be between 0 and 1, got 60: no value could pass. Did you mean 0.6?",
        ),
        ("at_least", 1.5, "at_least for mrr must be between 0 and 1, got 1.5: no value could pass"),
        ("fail_under", -0.5, "fail_under for mrr must be between 0 and 1, got -0.5: every value would pass"),
        ("at_most", 5, "at_most for mrr must be between 0 and 1, got 5: every value would pass. Did you mean 0.05?"),
        ("at_most", -1, "at_most for mrr must be between 0 and 1, got -1: no value could pass"),
    ],
)
def test_a_bound_out_of_the_range_of_a_metric_is_refused(option: str, bound: float, message: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011  (the whole of it is compared)
        require_useful_bound(option, "mrr", bound)
    assert str(raised.value) == message
    require_useful_bound(option, "mrr", bound % 1)
    require_useful_bound(option, "alpha_ndcg@10", abs(bound))  # which has no upper bound


def test_a_tuning_takes_no_floor_of_what_should_be_low() -> None:
    with pytest.raises(ValueError, match="lower is better for missed@2, so a floor has no effect"):
        rm.tune(RUNS, QRELS, "found@2", default="weak", at_least={"missed@2": 0})
    with pytest.raises(ValueError, match="lower is better for missed@2; tune takes the largest mean"):
        rm.tune(RUNS, QRELS, "missed@2", default="weak")
    assert rm.tune(RUNS, QRELS, "found@2", default="weak", at_most={"missed@2": 0.5}).winner == "strong"


def test_an_estimate_from_labels() -> None:
    questions = rm.EvaluationSet(dict.fromkeys(QRELS, "?"), QRELS)
    sample = questions.sample(20)
    people = rm.Labels.from_qrels({query: QRELS[query] for query in sample}, "Ada")
    model = rm.Labels.from_qrels(QRELS, "a model", kind="model")
    estimate = rm.evaluate_with_labels(RUNS, list(NAMES), human=people, model=model, sample=sample)
    assert estimate.ranking["found@2"] == estimate.ranking["missed@2"] == ["strong", "weak"]


def test_plots_and_tables_are_drawn_of_both(tmp_path: Path) -> None:
    comparison = rm.compare(QRELS, RUNS, NAMES)
    comparison.plot().savefig(tmp_path / "comparison.png")
    comparison.report(tmp_path / "comparison.html")
    rm.evaluate(QRELS, RUNS["weak"], NAMES).plot().savefig(tmp_path / "evaluation.png")
    history = rm.History(tmp_path / "history.jsonl")
    history.add(rm.evaluate(QRELS, RUNS["weak"], NAMES), "first")
    assert len(history.table()) == len(NAMES)
    found_plan, missed_plan = (str(rm.plan(difference=0.1, metric=name, pilot=comparison)) for name in NAMES)
    assert found_plan.replace("found@2", "missed@2") == missed_plan

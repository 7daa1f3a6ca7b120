"""Evaluations of different days: queries and metrics that are the same in all are found, the others are reported."""

from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from ranked_systems import same_ranking
from retrieval_metrics.comparison import common_ground
from retrieval_metrics.comparison.common_ground import CommonGround, find_common_ground

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


def make_questions(numbers: range, *, reworded: int = -1, rejudged: int = -1) -> rm.EvaluationSet:
    texts = {}
    qrels = {}
    for number in numbers:
        texts[f"q{number}"] = f"question {number}" + ("?" if number == reworded else "")
        qrels[f"q{number}"] = ["d", "e"] if number == rejudged else ["d"]
    return rm.EvaluationSet(texts, qrels)


def make_run(numbers: range, rank: int) -> dict[str, list[str]]:
    above = [f"x{number}" for number in range(rank - 1)]
    return {f"q{number}": [*above, "d"] for number in numbers}


def evaluate(
    numbers: range, rank: int = 1, metrics: Any = ("mrr", "recall@5"), *, changes: Any = None, **options: Any
) -> rm.Evaluation:
    questions = make_questions(numbers, **(changes or {}))
    return rm.evaluate(questions, make_run(numbers, rank), metrics, **options)


def find(**evaluations: rm.Evaluation) -> CommonGround:
    return find_common_ground({name: evaluation.scores for name, evaluation in evaluations.items()})


def test_evaluations_of_the_same_questions_have_all_in_common() -> None:
    old = evaluate(range(12), 2)
    new = evaluate(range(12), 1)
    ground = find(old=old, new=new)
    assert ground.scores == {"old": old.scores, "new": new.scores}
    assert ground.metrics == old.metrics
    assert ground.n_queries == 12
    assert (ground.query_mismatches, ground.metric_mismatches) == ((), ())


def test_queries_that_differ_are_counted_by_reason_and_left_out() -> None:
    old = evaluate(range(12), 2)
    new = evaluate(range(2, 15), 1, changes={"reworded": 3, "rejudged": 4})
    ground = find(old=old, new=new)
    mismatches = []
    for mismatch in ground.query_mismatches:
        mismatches.append((mismatch.kind, mismatch.systems, mismatch.n_queries, mismatch.n_total, mismatch.example))
    assert mismatches == [
        ("only_in_one", ("old",), 2, 12, "q0"),
        ("only_in_one", ("new",), 3, 13, "q12"),
        ("worded_differently", ("old", "new"), 1, 10, "q3"),
        ("judged_differently", ("old", "new"), 1, 10, "q4"),
    ]
    assert ground.n_queries == 8
    for scores in ground.scores.values():
        assert list(scores.queries) == ["q2", *(f"q{number}" for number in range(5, 12))]
        assert scores.counts["queries"] == 8


def test_a_comparison_has_the_mismatches_as_notes() -> None:
    comparison = rm.compare({"old": evaluate(range(12), 2), "new": evaluate(range(2, 12), 1)})
    assert len(comparison.notes) == 2
    assert "what differs besides the rankings" in str(comparison)


def test_metrics_of_one_evaluation_alone_are_left_out() -> None:
    old = evaluate(range(8), 2, ["mrr", "map"])
    ground = find(old=old, new=evaluate(range(8), 1, ["map", "ndcg@5"]))
    assert [str(metric) for metric in ground.metrics] == ["map"]
    mismatches = [(mismatch.metric, mismatch.missing_in) for mismatch in ground.metric_mismatches]
    assert mismatches == [("mrr", ("new",)), ("ndcg@5", ("old",))]
    with pytest.raises(ValueError, match="no metric in common: mrr"):
        find(old=evaluate(range(8), 2, "mrr"), new=evaluate(range(8), 1, "map"))


def test_metrics_that_are_asked_for_are_in_their_order() -> None:
    scores_by_system = {"old": evaluate(range(8), 2).scores, "new": evaluate(range(8)).scores}
    mrr, recall = scores_by_system["old"].metrics
    assert find_common_ground(scores_by_system, (recall, mrr)).metrics == (recall, mrr)
    assert find_common_ground(scores_by_system).metrics == (mrr, recall)


def test_a_metric_that_divides_by_another_largest_grade_is_left_out() -> None:
    graded = rm.evaluate({"q1": {"a": 1}, "q2": {"a": 3}}, {"q1": ["a"], "q2": ["a"]}, ["err", "mrr"])
    binary = rm.evaluate({"q1": {"a": 1}}, {"q1": ["a"]}, ["err", "mrr"])
    ground = find(graded=graded, binary=binary)
    assert [str(metric) for metric in ground.metrics] == ["mrr"]
    assert [(mismatch.metric, mismatch.missing_in) for mismatch in ground.metric_mismatches] == [("err", ())]


def test_numbers_saved_without_rankings_and_merged_ones_know_their_largest_grade(tmp_path: Path) -> None:
    graded = rm.evaluate({"q1": {"a": 1}, "q2": {"a": 3}}, {"q1": ["a"], "q2": ["a"]}, ["err", "mrr"])
    binary = rm.evaluate({"q1": {"a": 1}}, {"q1": ["a"]}, ["err", "mrr"])
    graded.save(tmp_path / "numbers.json", rankings=False)
    loaded: rm.Evaluation = rm.load(tmp_path / "numbers.json")
    with_latency = loaded.with_scores({"latency": {"q1": 0.2}})
    for evaluation in (loaded, rm.merge([graded]), rm.merge([loaded]), with_latency):
        mismatches = {
            mismatch.metric: mismatch.missing_in for mismatch in find(a=evaluation, b=binary).metric_mismatches
        }
        assert mismatches["err"] == ()
        assert evaluation.totals().scale == 3


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"ties": "input"}, "ties='docid' vs 'input'"),
        ({"rules": "autorag"}, r"\(standard vs autorag\): no_relevant="),
        ({"exclude": {"q0": ["x"]}}, "exclude= for 'new' alone"),
    ],
)
def test_other_rules_are_refused_with_the_reason(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=f"'old' and 'new' use different rules.*{reason}"):
        find(old=evaluate(range(8)), new=evaluate(range(8), **options))


def test_another_match_is_refused() -> None:
    items = {"q0": [rm.Retrieved("c", source="d")]}
    by_source = rm.evaluate(make_questions(range(1)), items, ["mrr"], match="source")
    with pytest.raises(ValueError, match="match=id vs source"):
        find(old=evaluate(range(8)), new=by_source)


def test_rules_of_another_name_that_do_the_same_are_the_same() -> None:
    ground = find(old=evaluate(range(8), 2), new=evaluate(range(8), 1, rules=rm.Rules(name="mine")))
    assert (ground.query_mismatches, ground.metric_mismatches) == ((), ())


def test_no_query_in_common_is_refused() -> None:
    with pytest.raises(ValueError, match="no query is identical in 'old' and 'new': 3 of 3 queries are only in 'old'"):
        find(old=evaluate(range(3)), new=evaluate(range(5, 8)))


def test_equal_judgments_are_compared_and_not_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(judgments: object) -> str:
        raise AssertionError(f"hashed {judgments!r}")

    monkeypatch.setattr(common_ground, "judgments_fingerprint", refuse)
    evaluations = {}
    for name, numbers in {"a": range(20), "b": range(20), "reversed": range(19, -1, -1)}.items():
        qrels = {f"q{number}": ["d", "e"] for number in numbers}
        evaluations[name] = rm.evaluate(qrels, same_ranking(qrels, "d"), "mrr")
    assert find(**evaluations).query_mismatches == ()


def test_groups_in_another_order_are_the_same_judgments() -> None:
    first = rm.evaluate({"q": [["a", "b"], ["c"]]}, {"q": ["a"]}, "mrr")
    second = rm.evaluate({"q": [["c"], ["b", "a"]]}, {"q": ["a"]}, "mrr")
    assert find(first=first, second=second).query_mismatches == ()

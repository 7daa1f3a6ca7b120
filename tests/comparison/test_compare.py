"""Evaluations of different days: what is common is compared, what differs is said."""

from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.comparison import common_ground

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


def questions(numbers: range, *, reworded: int = -1, rejudged: int = -1) -> rm.EvaluationSet:
    texts = {f"q{n}": f"question {n}" + ("?" if n == reworded else "") for n in numbers}
    return rm.EvaluationSet(texts, {f"q{n}": ["d", "e"] if n == rejudged else ["d"] for n in numbers})


def result(numbers: range, rank: int = 1, metrics: Any = ("mrr", "recall@5"), **options: Any) -> rm.Evaluation:
    changes = {name: options.pop(name) for name in ("reworded", "rejudged") if name in options}
    run = {f"q{n}": ["x"] * 0 + [f"x{at}" for at in range(rank - 1)] + ["d"] for n in numbers}
    return rm.evaluate(questions(numbers, **changes), run, metrics, **options)


def test_the_same_questions_give_what_comparing_the_runs_gives(tmp_path: Path) -> None:
    one, other = result(range(12), 2), result(range(12), 1)
    one.save(tmp_path / "old.json.gz")
    compared = rm.compare({"old": rm.load(tmp_path / "old.json.gz"), "new": other}, baseline="old")
    runs = {"old": one.scores.require_origin("").run, "new": other.scores.require_origin("").run}
    anew = rm.compare(questions(range(12)), runs, ["mrr", "recall@5"], baseline="old")
    assert str(compared) == str(anew)
    assert not compared.notes
    assert compared.difference("mrr").mean == 0.5


def test_what_differs_is_said_and_left_out() -> None:
    old, new = result(range(12), 2), result(range(2, 15), 1, reworded=3, rejudged=4)
    compared = rm.compare({"old": old, "new": new})
    assert compared.notes == (
        "2 of 12 queries only in 'old', such as 'q0'.",
        "3 of 13 queries only in 'new', such as 'q12'.",
        "1 of 10 queries worded differently in 'old' and 'new', such as 'q3'.",
        "1 of 10 queries judged differently in 'old' and 'new', such as 'q4'.",
        "Compared on 8 queries that are the same in all.",
    )
    assert list(compared.difference("mrr").queries) == ["q2", *(f"q{n}" for n in range(5, 12))]
    assert compared.scores["old"].counts["queries"] == 8
    assert "what differs besides the rankings" in str(compared)


def test_metrics_of_one_alone_are_said() -> None:
    compared = rm.compare({"old": result(range(8), 2, ["mrr", "map"]), "new": result(range(8), 1, ["map", "ndcg@5"])})
    assert [str(metric) for metric in compared.metrics] == ["map"]
    assert compared.notes == ("mrr was not computed in 'new'.", "ndcg@5 was not computed in 'old'.")
    with pytest.raises(ValueError, match=r"no metric in common: mrr was not computed in 'new'\."):
        rm.compare({"old": result(range(8), 2, "mrr"), "new": result(range(8), 1, "map")})


def test_a_metric_that_divides_by_another_largest_grade_is_left_out() -> None:
    one = rm.evaluate({"q1": {"a": 1}, "q2": {"a": 3}}, {"q1": ["a"], "q2": ["a"]}, ["err", "mrr"])
    other = rm.evaluate({"q1": {"a": 1}}, {"q1": ["a"]}, ["err", "mrr"])
    compared = rm.compare({"one": one, "other": other})
    assert [str(metric) for metric in compared.metrics] == ["mrr"]
    assert compared.notes[-1] == "err divides by the largest grade, which differs, so it is left out."


def test_numbers_saved_without_rankings_and_merged_ones_know_their_largest_grade(tmp_path: Path) -> None:
    graded = rm.evaluate({"q1": {"a": 1}, "q2": {"a": 3}}, {"q1": ["a"], "q2": ["a"]}, ["err", "mrr"])
    binary = rm.evaluate({"q1": {"a": 1}}, {"q1": ["a"]}, ["err", "mrr"])
    graded.save(tmp_path / "numbers.json", rankings=False)
    loaded: rm.Evaluation = rm.load(tmp_path / "numbers.json")
    latency = {"latency": {"q1": 0.2}}
    for one in (loaded, rm.merge([graded]), rm.merge([loaded]), loaded.with_scores(latency)):
        compared = rm.compare({"one": one, "other": binary})
        assert "err divides by the largest grade, which differs, so it is left out." in compared.notes
        assert one.totals().scale == 3


def test_other_rules_are_refused_with_the_reason() -> None:
    old = result(range(8))
    cases: list[tuple[dict[str, Any], str]] = [
        ({"ties": "input"}, "ties is 'docid' and 'input'"),
        ({"rules": "autorag"}, r"\(standard and autorag\) no_relevant is"),
    ]
    for options, reason in cases:
        with pytest.raises(ValueError, match=f"different rules cannot be compared: in 'old' and 'new' ?{reason}"):
            rm.compare({"old": old, "new": result(range(8), **options)})
    items = {"q0": [rm.Retrieved("c", source="d")]}
    by_source = rm.evaluate(questions(range(1)), items, ["mrr"], match="source")
    with pytest.raises(ValueError, match="match is id and source"):
        rm.compare({"old": old, "new": by_source})


def test_rules_of_another_name_that_do_the_same_are_the_same() -> None:
    mine = rm.Rules(name="mine")
    assert not rm.compare({"old": result(range(8), 2), "new": result(range(8), 1, rules=mine)}).notes


def test_nothing_in_common_is_refused_with_the_reason() -> None:
    with pytest.raises(ValueError, match=r"no query that is the same in 'old', 'new': 3 of 3 queries only in 'old'"):
        rm.compare({"old": result(range(3)), "new": result(range(5, 8))})


def test_what_is_fixed_cannot_be_changed() -> None:
    both = {"old": result(range(8), 2), "new": result(range(8))}
    with pytest.raises(ValueError, match="ties cannot be changed for evaluations"):
        rm.compare(both, ties="input")
    with pytest.raises(TypeError, match="evaluations have their own runs"):
        rm.compare(both, {"run": {}})
    with pytest.raises(ValueError, match="at least two systems"):
        rm.compare({"old": both["old"]})
    assert [str(metric) for metric in rm.compare(both, metrics="mrr").metrics] == ["mrr"]


def test_equal_judgments_are_compared_and_not_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(judgments: object) -> str:
        raise AssertionError(f"hashed {judgments!r}")

    monkeypatch.setattr(common_ground, "judgments_fingerprint", refused)
    judged = [{f"q{at}": ["d", "e"] for at in order} for order in (range(20), range(20), reversed(range(20)))]
    evaluations = {f"s{at}": rm.evaluate(one, {query: ["d"] for query in one}, "mrr") for at, one in enumerate(judged)}

    assert rm.compare(evaluations).notes == ()


def test_groups_in_another_order_are_the_same_judgments() -> None:
    truths = [{"q": [["a", "b"], ["c"]]}, {"q": [["c"], ["b", "a"]]}]
    evaluations = {f"s{at}": rm.evaluate(one, {"q": ["a"]}, "mrr") for at, one in enumerate(truths)}

    assert rm.compare(evaluations).notes == ()

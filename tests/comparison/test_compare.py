"""Comparing runs and comparing their evaluations is the same; what cannot be compared is refused before any work."""

import math
import re
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from ranked_systems import METRICS, drawn, same_ranking, systems

RUN = {"q": ["d"]}


def test_saved_evaluations_give_what_comparing_the_runs_gives(tmp_path: Path) -> None:
    qrels, runs = drawn(15, 7)
    evaluations = {name: rm.evaluate(qrels, run, METRICS) for name, run in runs.items()}
    evaluations["a"].save(tmp_path / "a.json.gz")
    evaluations["a"] = rm.load(tmp_path / "a.json.gz")
    of_evaluations = rm.compare(evaluations, baseline="a")
    of_runs = rm.compare(qrels, runs, METRICS, baseline="a")
    assert str(of_evaluations) == str(of_runs)
    assert of_evaluations.notes == ()


def test_evaluations_are_compared_in_the_metrics_that_they_share() -> None:
    qrels, runs = drawn(15, 7)
    evaluations = {
        "a": rm.evaluate(qrels, runs["a"], [*METRICS, "map"]),
        "b": rm.evaluate(qrels, runs["b"], ["map", "err"]),
    }
    assert list(rm.compare(evaluations).means) == ["map"]
    assert [str(metric) for metric in rm.compare(evaluations, metrics="map").metrics] == ["map"]


def test_options_that_decide_how_queries_are_scored_are_fixed_for_evaluations() -> None:
    evaluations = {name: rm.evaluate(RUN, RUN, "mrr") for name in "ab"}
    with pytest.raises(ValueError, match="ties cannot be changed for evaluations"):
        rm.compare(evaluations, ties="input")
    with pytest.raises(ValueError, match=r"match, clusters cannot be changed .* pass them"):
        rm.compare(evaluations, match="source", clusters=None)
    with pytest.raises(ValueError, match="unjudged cannot be changed for evaluations"):
        rm.compare(evaluations, unjudged="condensed")
    with pytest.raises(TypeError, match="evaluations have their own runs"):
        rm.compare(evaluations, {"run": {}})
    with pytest.raises(ValueError, match="at least two systems"):
        rm.compare({"a": evaluations["a"]})


@pytest.mark.parametrize(
    ("runs", "options", "error", "message"),
    [
        ({"a": RUN}, {}, ValueError, "needs at least two systems, got 'a'"),
        ({}, {}, ValueError, "needs at least two systems, got none"),
        ([RUN], {}, TypeError, "runs must map .* got list"),
        ({"q": ["d"], "p": ["d"]}, {}, TypeError, "got a single run"),
        ({"q": {"d": 2.5}, "p": {"d": 1}}, {}, TypeError, "got a single run"),
        ({"a": RUN, "b": RUN}, {"baseline": "c"}, ValueError, "baseline='c' is not one of the systems"),
        ({"a": RUN, "b": RUN}, {"level": 95}, ValueError, "level must be strictly between 0 and 1"),
        ({1: RUN, 2: RUN}, {}, TypeError, r"the name of a system must be text, got 1 \(int\)"),
        ({"a": RUN, " ": RUN}, {}, ValueError, "the name of a system must not be empty, got ' '"),
    ],
)
def test_what_cannot_be_compared_is_an_error(
    runs: object, options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        rm.compare({"q": ["d"]}, runs, "mrr", **options)  # type: ignore[arg-type]  # the point of the test


@pytest.mark.parametrize(
    ("qrels", "runs", "call"),
    [
        (RUN, None, 'compare(qrels, {"a": run, "b": other_run})'),
        (rm.evaluate(RUN, RUN, "mrr"), None, 'compare({"a": first, "b": second})'),
    ],
)
def test_a_missing_mapping_of_runs_is_answered_with_the_call_that_is_meant(qrels: Any, runs: Any, call: str) -> None:
    with pytest.raises(TypeError, match=re.escape(call)):
        rm.compare(qrels, runs)


def test_evaluations_and_runs_are_not_mixed() -> None:
    evaluation = rm.evaluate(RUN, RUN, "mrr")
    with pytest.raises(TypeError, match="evaluations have their own judgments"):
        rm.compare(RUN, {"a": evaluation, "b": evaluation}, "mrr")  # type: ignore[dict-item]  # the point of the line
    with pytest.raises(TypeError, match="'b' must be an Evaluation as the others are, got dict"):
        rm.compare({"a": evaluation, "b": {"q": ["d"]}})  # type: ignore[arg-type]  # the point of the line


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"level": 95}, ValueError, "level must be .*, got 95"),
        ({"level": "0.9"}, TypeError, "level must be .*, got '0.9'"),
        ({"margin": True}, TypeError, "margin must be a positive number, got True"),
        ({"margin": {"mrr": 0.1}}, TypeError, r"margin must be a positive number, got \{'mrr': 0.1\} \(dict\)"),
        ({"margin": math.nan}, ValueError, "margin must be positive, got nan"),
        ({"resamples": 0}, ValueError, "resamples must be a positive integer, got 0"),
        ({"seed": None}, TypeError, "seed must be an integer, got None"),
        ({"seed": -1}, ValueError, "seed must be 0 or more, got -1"),
        ({"unjudged": "bound"}, ValueError, "unjudged must be one of bounds, .* got 'bound'"),
        ({"unretrieved_relevant": 2}, ValueError, "unretrieved_relevant= .* unjudged='bounds', got unjudged=None"),
    ],
)
def test_options_are_refused_before_anything_is_evaluated(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    evaluation = rm.evaluate(RUN, RUN, "mrr")
    with pytest.raises(error, match=message):
        rm.compare(RUN, {"a": {"q": "never"}, "b": {"q": "never"}}, "mrr", **options)
    with pytest.raises(error, match=message):
        rm.compare({"a": evaluation, "b": evaluation}, **options)


def test_a_margin_that_nothing_can_exceed_is_refused() -> None:
    with pytest.raises(ValueError, match=r"margin must be at most 1, .* got 3"):
        rm.compare(RUN, {"a": RUN, "b": RUN}, "mrr", margin=3)


def test_an_error_in_one_run_names_the_system() -> None:
    with pytest.raises(ValueError, match="scores must be finite") as caught:
        rm.compare({"q": ["d"]}, {"good": {"q": ["d"]}, "bad": {"q": {"d": math.nan}}}, "mrr")
    assert caught.value.__notes__ == ["while evaluating the system 'bad'"]


def test_a_warning_about_one_run_names_the_system_and_points_to_the_caller() -> None:
    qrels, runs = systems({"a": [1, 1], "b": [1, 1]})
    del runs["b"]["q1"]
    with pytest.warns(rm.RetrievalWarning, match=r"^b: 1 of .* .'q1'. has no results and scores 0") as caught:
        comparison = rm.compare(qrels, runs, "mrr")
    assert caught[0].filename == __file__
    assert comparison.difference("mrr").values.tolist() == [0, -1]


def test_unequal_judged_coverage_is_a_warning() -> None:
    qrels = {f"q{number}": {"d": 1, "e": 0} for number in range(8)}
    runs = {"judged": same_ranking(qrels, "d", "e"), "unjudged": same_ranking(qrels, "x", "y", "d")}
    with pytest.warns(rm.RetrievalWarning, match="judged 100%, unjudged 33%"):
        rm.compare(qrels, runs, "mrr")

"""Tuning: the choice, and a number for new questions that does not fool itself."""

import math
import re
from functools import partial
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from tried_settings import always, data


def test_a_better_setting_is_found_and_its_gain_is_that_of_new_questions() -> None:
    qrels, runs = data(6, 80, better=0.6)
    tuning = rm.tune(runs, qrels, "mrr", default="s0")
    assert (tuning.winner, tuning.is_significant) == ("s5", True)
    assert tuning.p <= 0.05
    assert 0 < tuning.expected_gain_interval.low < tuning.expected_gain < tuning.expected_gain_interval.high
    assert re.fullmatch(
        r"s5 is better than s0 in mrr; expect \+0\.\d+ on new questions, not the \+0\.\d+ of these\.", tuning.conclusion
    )
    assert tuning["s5"].selection_rate > 0.9
    difference = rm.compare(qrels, runs, "mrr", baseline="s0").difference("mrr", "s5")
    assert tuning.gain == pytest.approx(difference.mean)
    assert tuning.p == difference.p_corrected


def test_the_best_of_equal_settings_is_worth_nothing_on_new_questions() -> None:
    naive, honest, better = [], [], []
    for seed in range(30):
        qrels, runs = data(20, 40, seed)
        tuning = rm.tune(runs, qrels, "mrr", default="s0", resamples=200)
        naive.append(tuning.gain)
        honest.append(tuning.expected_gain)
        better.append(tuning.is_significant)
        assert tuning.is_significant or tuning.expected_gain_interval.low <= 0
    assert np.mean(naive) > 0.08
    assert abs(np.mean(honest)) < 0.03
    assert np.mean(better) <= 0.15


def test_equal_means_keep_the_default() -> None:
    qrels, runs = data(1)
    tuning = rm.tune({"a": runs["s0"], "b": runs["s0"]}, qrels, "mrr", default="b")
    assert (tuning.winner, tuning.gain, tuning.p) == ("b", 0, 1)
    assert tuning.conclusion == "Keep b: no other setting has a better mrr on these questions."
    assert tuning["b"].selection_rate == 1


def test_a_function_is_tried_with_every_combination_of_its_parameters() -> None:
    qrels, runs = data(2)
    tuning = rm.tune(
        partial(rm.fuse, runs),
        qrels,
        "mrr",
        parameters={"k": [1, 60], "weights": [(1, 1), (1, 0), (0, 1)]},
        default={"k": 60, "weights": (1, 1)},
        extra_metrics="hit_rate@1",
    )
    assert len(tuning.settings) == 6
    assert tuning.default == "k=60, weights=(1, 1)"
    alone = rm.evaluate(qrels, rm.fuse(runs, weights=(1, 0)), "mrr").means["mrr"]
    assert tuning["k=60, weights=(1, 0)"].means["mrr"] == alone
    assert list(tuning.to_pandas().columns[:3]) == ["setting", "k", "weights"]
    assert "hit_rate@1" in str(tuning)


def test_retrievers_are_asked_once_each_and_evaluations_are_taken_as_they_are() -> None:
    qrels, runs = data(3)
    asked: list[str] = []

    def retriever(name: str) -> Any:
        def search(text: str) -> list[str]:
            asked.append(name)
            return runs[name][text]

        return search

    questions = rm.EvaluationSet({query: query for query in qrels}, qrels)
    of_retrievers = rm.tune({name: retriever(name) for name in runs}, questions, "mrr", default="s0")
    assert sorted(asked) == sorted(name for name in runs for _ in qrels)
    of_runs = rm.tune(runs, questions, "mrr", default="s0")
    evaluations = {name: rm.evaluate(questions, run, "mrr") for name, run in runs.items()}
    of_evaluations = rm.tune(evaluations, metric="mrr", default="s0")
    assert str(of_runs) == str(of_evaluations) == str(of_retrievers)


def test_bounds_leave_out_settings_the_default_included() -> None:
    qrels, runs = data(4, 60, better=0.5)
    free = rm.tune(runs, qrels, "mrr", default="s0")
    bound = free["s3"].means["mrr"] - 0.01
    tuning = rm.tune(runs, qrels, "mrr", default="s0", at_most={"mrr": bound})
    assert free.winner == "s3"
    assert tuning.winner != "s3"
    assert not tuning["s3"].feasible
    without = rm.tune(runs, qrels, "mrr", default="s0", at_least={"mrr": bound})
    assert without.winner == "s3"
    assert "3 settings beyond the bounds" in str(without)
    with pytest.raises(ValueError, match="no setting keeps the bounds"):
        rm.tune(runs, qrels, "mrr", default="s0", at_least={"mrr": 1.0})
    with pytest.raises(ValueError, match="seconds are known only of retrievers"):
        rm.tune(runs, qrels, "mrr", default="s0", at_most={"seconds": 1.0})


def test_the_interval_ends_at_0_where_the_questions_are_too_few_for_the_test() -> None:
    qrels = {f"q{number}": ["d"] for number in range(5)}
    runs = {"half": always(["x", "d"], 5), "whole": always(["d"], 5)}
    tuning = rm.tune(runs, qrels, "mrr", default="half")
    assert (tuning.winner, tuning.is_significant, tuning.expected_gain_interval) == ("whole", False, (0, 0.5))
    less = rm.tune(runs, qrels, "mrr", default="whole", at_most={"mrr": 0.9})
    assert (less.winner, less.expected_gain, less.expected_gain_interval) == ("half", -0.5, (-0.5, 0))


def test_a_mean_at_the_bound_keeps_it() -> None:
    qrels = {f"q{number}": ["d"] for number in range(20)}
    settings = {"old": always(["x", "d"]), "new": always(["d", "x"]), "bad": always(["x", "y", "z", "d"])}

    def allowed(**bounds: Any) -> list[str]:
        found = rm.tune(settings, qrels, "mrr", default="old", **bounds)
        return [setting.name for setting in found.settings if setting.feasible]

    assert allowed(at_least={"mrr": 0.5}) == ["new", "old"]
    assert allowed(at_most={"mrr": 0.5}) == ["old", "bad"]
    assert allowed(at_least={"mrr": 0.5}, at_most={"mrr": 0.5}) == ["old"]
    assert allowed(at_least={"mrr": 0.26}, at_most={"map": 0.99}) == ["old"]
    tuning = rm.tune(settings, qrels, "mrr", default="old", at_most={"mrr": 0.5})
    assert {setting.name: setting.selection_rate for setting in tuning.settings} == {"new": 0, "old": 1, "bad": 0}
    assert (tuning.winner, tuning.p, tuning.gain, tuning.expected_gain_interval) == ("old", 1, 0, (0, 0))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"default": "z"}, ValueError, "the default, 'z', is not among the settings: s0"),
        ({"default": {"k": 1}}, TypeError, "default must be the name of a setting"),
        ({"default": "s0", "parameters": {"k": [1]}}, TypeError, "so parameters are those of each"),
        ({"default": "s0", "candidates": rm.fuse}, ValueError, "a function needs parameters"),
        ({"default": "s0", "questions": None}, TypeError, "need questions with judgments"),
        ({"default": "s0", "metric": "mrrr"}, ValueError, "mrrr"),
    ],
)
def test_what_cannot_be_tuned_is_refused(options: Any, error: type[Exception], message: str) -> None:
    qrels, runs = data(2)
    with pytest.raises(error, match=message):
        rm.tune(**{"candidates": runs, "questions": qrels, "metric": "mrr", **options})


def test_progress_counts_the_settings(capsys: pytest.CaptureFixture[str]) -> None:
    qrels, runs = data(3)
    rm.tune(runs, qrels, "mrr", default="s0", show_progress=True)
    assert "3/3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"level": 95}, ValueError, "level must be strictly between 0 and 1, got 95"),
        ({"seed": "x"}, TypeError, "seed must be an integer, got 'x'"),
        ({"resamples": 0}, ValueError, "resamples must be a positive integer, got 0"),
        ({"at_least": {"map": "high"}}, TypeError, "at_least of map must be a number, got 'high'"),
        ({"at_most": {"map": math.nan}}, ValueError, "at_most of map must be a number, got nan"),
        ({"at_least": {"map": 20}}, ValueError, "at_least of map is 20, which no value can keep: its values are from"),
        ({"at_most": {"map": 20}}, ValueError, "at_most of map is 20, which every value keeps: its values are from 0"),
        ({"at_least": [("map", 0.2)]}, TypeError, "at_least must map names of metrics to numbers, got list"),
        ({"parameters": {"k": "abc"}}, TypeError, "the values of k must be a list, got 'abc'"),
        ({"parameters": {"k": [], "j": [1]}}, ValueError, "there is no value to try of k"),
        ({"default": {"j": 1}}, ValueError, "default must have a value of each of k, got {'j': 1}"),
    ],
)
def test_what_is_refused_is_refused_before_the_first_setting_is_tried(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    def never(**_: Any) -> Any:
        pytest.fail("a setting was tried")

    with pytest.raises(error, match=re.escape(message)):
        rm.tune(never, {"q": ["d"]}, "mrr", **{"parameters": {"k": [1, 2]}, "default": {"k": 1}, **options})


def test_an_error_names_its_setting() -> None:
    with pytest.raises(TypeError, match="got NoneType") as caught:
        rm.tune(lambda **_: None, {"q": ["d"]}, "mrr", parameters={"k": [1, 2]}, default={"k": 1})
    assert caught.value.__notes__ == ["this is the setting 'k=1'"]
    tuning = rm.tune({"a": {"q": ["d"]}, "b": {"q": ["x"]}}, {"q": ["d"]}, "mrr", default="a")
    with pytest.raises(KeyError, match="there is no setting 'c'; there are a and b"):
        tuning["c"]

"""Tuning: the choice, and a number for new questions that does not fool itself."""

import math
import re
from typing import Any

import pytest

import retrieval_metrics as rm
from tried_settings import data


def test_a_better_setting_is_found_and_its_gain_is_that_of_new_questions() -> None:
    qrels, runs = data(6, 80, better=0.6)
    tuning = rm.tune(runs, qrels, "mrr", default="s0")
    assert (tuning.winner, tuning.is_significant) == ("s5", True)
    assert tuning.p <= 0.05
    assert 0 < tuning.expected_gain_interval.low < tuning.expected_gain < tuning.expected_gain_interval.high
    assert re.fullmatch(
        r"s5 is better than s0 in mrr; expected gain on new questions \+0\.\d+ \(observed \+0\.\d+\)\.",
        tuning.conclusion,
    )
    assert tuning["s5"].selection_rate > 0.9
    difference = rm.compare(qrels, runs, "mrr", baseline="s0").difference("mrr", "s5")
    assert tuning.gain == pytest.approx(difference.mean)
    assert tuning.p == difference.p_corrected


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"level": 95}, ValueError, "level must be strictly between 0 and 1, got 95"),
        ({"seed": "x"}, TypeError, "seed must be an integer, got 'x'"),
        ({"resamples": 0}, ValueError, "resamples must be a positive integer, got 0"),
        ({"at_least": {"map": "high"}}, TypeError, "at_least of map must be a number, got 'high'"),
        ({"at_most": {"map": math.nan}}, ValueError, "at_most of map must be a number, got nan"),
        (
            {"at_least": {"map": 20}},
            ValueError,
            "at_least for map must be between 0 and 1, got 20",
        ),
        (
            {"at_most": {"map": 20}},
            ValueError,
            "at_most for map must be between 0 and 1, got 20",
        ),
        ({"at_least": [("map", 0.2)]}, TypeError, "at_least must map names of metrics to numbers, got list"),
        ({"parameters": {"k": "abc"}}, TypeError, "the values of k must be a list, got 'abc'"),
        ({"parameters": {"k": [], "j": [1]}}, ValueError, "there is no value of k to try"),
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

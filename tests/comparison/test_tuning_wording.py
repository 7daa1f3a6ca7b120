"""The sentences about a choice."""

import re
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.comparison.tuning_report import gain_rows
from tried_settings import always


def test_a_gain_that_is_not_shown_is_worth_a_switch_or_is_chance() -> None:
    qrels = {f"q{number}": ["d"] for number in range(20)}
    old = always(["x", "d"])
    new = always(["x", "d"])
    new |= {"q0": ["d"], "q1": ["d"], "q2": ["d"]}
    tuning = rm.tune({"old": old, "new": new}, qrels, "mrr", default="old")
    assert (tuning.winner, tuning.is_significant) == ("new", False)
    assert tuning.gain == pytest.approx(3 * 0.5 / 20)
    assert tuning.expected_gain_interval.low == 0 < tuning.expected_gain
    assert tuning.conclusion == (
        f"new has a positive expected gain (+{tuning.expected_gain:.4f} on new questions), but 20 questions do not "
        "show that it is better than old."
    )
    # One question decides, and says nothing of the others.
    old = always([*"abcefghij", "d"], 10)
    new = always(["x"], 10)
    old |= {"q0": ["x"]}
    new |= {"q0": ["d"]}
    tuned = rm.tune({"old": old, "new": new}, {f"q{number}": ["d"] for number in range(10)}, "mrr", default="old")
    assert (tuned.winner, tuned.is_significant) == ("new", False)
    assert tuned.expected_gain < 0
    assert tuned.conclusion == (
        "Keep old: the gain of new is no larger than chance would give the best of 2 equal settings."
    )


def test_nothing_is_expected_from_a_single_question() -> None:
    runs: dict[str, Any] = {"old": {"q0": ["x", "d"]}, "new": {"q0": ["d"]}}
    tuning = rm.tune(runs, {"q0": ["d"]}, "mrr", default="old")
    assert tuning.conclusion == "1 question cannot show what new would gain over old on new questions."
    assert "nan" not in str(tuning)
    assert "resample" not in str(tuning)
    assert [row.name for row in gain_rows(tuning, 4).rows] == ["new"]
    assert ["gain", "+0.500", "-"] in [line.split() for line in str(tuning).splitlines()]


def test_a_default_beyond_the_bounds_is_left_and_the_loss_is_said() -> None:
    qrels = {f"q{number}": ["d"] for number in range(30)}
    runs: dict[str, Any] = {
        "slow": dict.fromkeys(qrels, ("d", "x")),
        "fast": {query: ("x", "d") if number % 3 else ("d",) for number, query in enumerate(qrels)},
        "nearly": {query: ("x", "d") if number % 3 else ("d", "x") for number, query in enumerate(qrels)},
    }
    tuning = rm.tune(runs, qrels, "mrr", default="slow", at_most={"map": 0.9})
    assert (tuning.winner, tuning.is_significant, tuning.indistinguishable) == ("fast", False, ("nearly",))
    assert tuning.expected_gain_interval.low < tuning.expected_gain < tuning.expected_gain_interval.high < 0
    assert tuning.conclusion == (
        "slow violates the constraints; of the settings that satisfy them, fast has the best mrr. Expected gain over "
        f"slow on new questions {tuning.expected_gain:.3f}."
    )
    assert "corrected for the 2 settings" in str(tuning)
    equal = rm.tune({"slow": runs["slow"], "same": runs["slow"]}, qrels, "mrr", default="slow", at_least={"mrr": 1})
    assert equal.conclusion.startswith("Keep slow")
    unsure = {**runs["slow"], "q0": ("x", "d")}
    little = rm.tune({"slow": runs["slow"], "other": unsure}, qrels, "mrr", default="slow", at_most={"map": 0.99})
    assert little.expected_gain_interval.high == 0
    assert little.conclusion.endswith(" (not significant).")


def test_settings_that_all_break_a_bound_are_told_with_the_closest() -> None:
    qrels = {f"q{number}": ["d"] for number in range(21)}
    mixed: dict[str, Any] = {
        query: ["d", "x"] if number % 3 else ["x", "y", "z", "d"] for number, query in enumerate(qrels)
    }
    runs: dict[str, Any] = {"old": always(["x", "d"], 21), "mixed": mixed, "bad": always(["x", "y", "z", "d"], 21)}
    message = (
        "no setting meets the constraints hit_rate@3 >= 0.9 and mrr >= 0.7; 'mixed' comes closest with hit_rate@3 "
        "0.667 and mrr 0.750; the default, 'bad', has hit_rate@3 0.000 and mrr 0.250"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        rm.tune(runs, qrels, "mrr", default="bad", extra_metrics="map", at_least={"hit_rate@3": 0.9, "mrr": 0.7})
    with pytest.raises(ValueError, match=r"ndcg <= 0\.1; the default, 'bad', comes closest with ndcg 0\.431$"):
        rm.tune(runs, qrels, "mrr", default="bad", at_most={"ndcg": 0.1})
    with pytest.raises(ValueError, match=r"mrr >= 0\.75001; 'mixed' comes closest with mrr 0\.75000; "):
        rm.tune(runs, qrels, "mrr", default="bad", at_least={"mrr": 0.75001})

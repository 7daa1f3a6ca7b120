"""Which system is better: pairing, p values, correction, words."""

import math
import random
import re
from typing import Any

import pytest

import retrieval_metrics as rm
from ranked_systems import METRICS, drawn, systems
from retrieval_metrics.reports.numbers import signed


def test_a_system_that_is_better_everywhere_is_said_to_be() -> None:
    comparison = rm.compare(*systems({"old": [2] * 8, "new": [1] * 8}), ["mrr", "hit_rate@1"])
    assert [one.kind for one in comparison.conclusions] == ["better", "better"]
    assert [one.sentence for one in comparison.conclusions] == [
        "new is better than old in mrr, by 0.500 in every query.",
        "new is better than old in hit_rate@1, by 1.00 in every query.",
    ]
    swapped = rm.compare(*systems({"old": [1] * 8, "new": [2] * 8}), ["mrr", "hit_rate@1"])
    assert [one.sentence for one in swapped.conclusions] == [
        "new is worse than old in mrr, by 0.500 in every query.",
        "new is worse than old in hit_rate@1, by 1.00 in every query.",
    ]


def test_systems_that_do_not_differ_are_said_to_be_the_same() -> None:
    comparison = rm.compare(*systems({"a": [1, 2, 3], "b": [1, 2, 3]}), "mrr")
    (said,) = comparison.conclusions
    assert (said.kind, said.sentence) == ("identical", "b and a have the same value for every query in mrr.")
    assert comparison.difference("mrr").p_corrected == 1


def test_what_the_data_cannot_decide_comes_with_what_it_would_take() -> None:
    ranks = [1, 2, 3, 4, 5] * 8
    comparison = rm.compare(*systems({"a": ranks, "b": [*ranks[1:], 2]}), "mrr")
    difference = comparison.difference("mrr")
    assert not difference.significant
    low, high = difference.interval
    (said,) = comparison.conclusions
    assert said.kind == "not_significant"
    assert said.sentence == (
        f"No clear difference between b and a in mrr (95 % interval {signed(low)} to "
        f"{signed(high)}); a difference of {difference.mde().spread:.2g} would have been found in four "
        "of five cases."
    )
    assert low < 0 < high


def test_what_so_few_queries_cannot_have_shown_is_a_line_of_its_own() -> None:
    # All 50 are better by 1/7 - 1/8, but 50 queries may well hold none of those that lose 1.
    comparison = rm.compare(*systems({"old": [8] * 25 + [9] * 25, "new": [7] * 25 + [8] * 25}), "mrr")
    difference = comparison.difference("mrr")
    assert difference.significant
    assert 0 < difference.interval.low < difference.mean < difference.rare_effect.mean_shift
    assert difference.rare_effect.share == difference.rare_effect.mean_shift == pytest.approx(1 - 0.05 ** (1 / 50))
    assert difference.rare_effect_matters
    assert comparison.summary[-1] == (
        "50 queries cannot show what is rare: up to 5.8 % of all queries could be worse by 1, "
        "and the mean lower by 0.058."
    )
    ranks = [1, 2, 3, 4, 5] * 40
    wide = rm.compare(*systems({"a": ranks, "b": [*ranks[1:], 2]}), "mrr")
    assert not wide.difference("mrr").rare_effect_matters
    with_margin = rm.compare(*systems({"a": ranks, "b": [*ranks[1:], 2]}), "mrr", margin=0.1)
    assert with_margin.conclusions.get("mrr").rare_effect_note.endswith(
        "could be worse by 1, and the mean lower by 0.015."
    )
    # Whether rare losses make it worse by more is no question where it is, and of too few queries nothing is shown.
    beaten = rm.compare(*systems({"a": [1] * 200, "b": [2, 3, 4, 5] * 50}), "mrr", margin=0.1)
    assert (beaten.conclusions.get("mrr").noninferiority, beaten.conclusions.rare_effect_notes) == ("inferior", [])
    assert not rm.compare(*systems({"a": [1, 1], "b": [2, 3]}), "mrr").conclusions.rare_effect_notes


def test_too_few_queries_cannot_show_anything_and_say_so() -> None:
    comparison = rm.compare(*systems({"a": [2] * 5, "b": [1] * 5}), "mrr")  # at best p = 2 / 2^5
    difference = comparison.difference("mrr")
    assert difference.p_uncorrected == pytest.approx(2 / 2**5)
    assert math.isinf(difference.mde().spread)
    assert math.isnan(difference.interval.low)
    assert "no interval can be given at 95 %: 5 queries are too few for one" in str(comparison)
    (said,) = comparison.conclusions
    assert said.sentence == (
        "No clear difference between b and a in mrr: 5 queries cannot show any, however large; at least 6 are needed."
    )
    assert rm.compare(*systems({"a": [2] * 6, "b": [1] * 6}), "mrr").difference("mrr").significant


def test_a_missing_query_scores_0_under_standard_rules_and_the_warning_names_the_system() -> None:
    qrels, runs = systems({"a": [1, 1], "b": [1, 1]})
    del runs["b"]["q1"]
    with pytest.warns(rm.RetrievalWarning, match=r"^b: nothing was retrieved .* 'q1'; they score 0") as caught:
        comparison = rm.compare(qrels, runs, "mrr")
    assert caught[0].filename == __file__
    assert comparison.difference("mrr").values.tolist() == [0, -1]


def test_the_table_of_means_is_that_of_the_evaluations() -> None:
    qrels, runs = drawn(15, 6)
    comparison = rm.compare(qrels, runs, METRICS)
    for name, run in runs.items():
        evaluation = rm.evaluate(qrels, run, METRICS)
        assert {metric: means[name] for metric, means in comparison.means.items()} == dict(evaluation.means)
        assert {metric: ends[name] for metric, ends in comparison.intervals.items()} == dict(evaluation.intervals())


def test_evaluations_that_are_there_already_can_be_compared() -> None:
    qrels, runs = drawn(15, 7)
    evaluations = {name: rm.evaluate(qrels, run, [*METRICS, "map"]) for name, run in runs.items()}
    assert str(rm.compare(evaluations)) == str(rm.compare(qrels, runs, [*METRICS, "map"]))
    evaluations["b"] = rm.evaluate(qrels, runs["b"], ["map", "err"])
    assert list(rm.compare(evaluations).means) == ["map"]


@pytest.mark.parametrize(
    ("runs", "options", "error", "message"),
    [
        ({"a": {"q": ["d"]}}, {}, ValueError, "needs at least two systems, got 'a'"),
        ({}, {}, ValueError, "needs at least two systems, got none"),
        ([{"q": ["d"]}], {}, TypeError, "runs must map the name of each system to its run, got list"),
        ({"q": ["d"], "p": ["d"]}, {}, TypeError, "such as {'bm25': run, ...}; this is one run"),
        ({"a": {"q": ["d"]}, "b": {"q": ["d"]}}, {"baseline": "c"}, ValueError, "no system 'c' for the baseline"),
        ({"a": {"q": ["d"]}, "b": {"q": ["d"]}}, {"level": 95}, ValueError, "level must be strictly between 0 and 1"),
    ],
)
def test_what_cannot_be_compared_is_an_error(
    runs: object, options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        rm.compare({"q": ["d"]}, runs, "mrr", **options)  # type: ignore[arg-type]  # the point of the test


def test_an_error_in_one_run_names_the_system() -> None:
    with pytest.raises(ValueError, match="scores must be finite") as caught:
        rm.compare({"q": ["d"]}, {"good": {"q": ["d"]}, "bad": {"q": {"d": math.nan}}}, "mrr")
    assert caught.value.__notes__ == ["while evaluating the system 'bad'"]


def test_evaluations_that_do_not_belong_together_are_refused() -> None:
    one = rm.evaluate({"q": ["d"]}, {"q": ["d"]}, "mrr")
    with pytest.raises(ValueError, match=r"in 'a' and 'b' \(standard and autorag\) no_relevant is"):
        rm.compare({"a": one, "b": rm.evaluate({"q": ["d"]}, {"q": ["d"]}, "mrr", rules="autorag")})
    with pytest.raises(ValueError, match="no metric in common: mrr was not computed in 'b'"):
        rm.compare({"a": one, "b": rm.evaluate({"q": ["d"]}, {"q": ["d"]}, "map")})
    with pytest.raises(TypeError, match="'b' must be an Evaluation as the others are, got dict"):
        rm.compare({"a": one, "b": {"q": ["d"]}})  # type: ignore[arg-type]  # the point of the line


def test_a_margin_is_answered_per_metric_and_a_small_set_says_how_many_queries_it_takes() -> None:
    ranks = [1, 2, 3, 1] * 50
    comparison = rm.compare(
        *systems({"old": ranks, "new": ranks, "bad": [5] * 200}), "mrr", baseline="old", margin=0.02
    )
    outcomes = {one.system: one.margin.outcome for one in comparison.differences if one.margin is not None}
    assert outcomes == {"new": "noninferior", "bad": "inferior"}
    same, worse = comparison.conclusions
    assert same.sentence == (
        "new and old have the same value for every query in mrr; new is no worse by more than 0.02."
    )
    assert worse.sentence.endswith("), by more than 0.02.")
    assert (same.noninferiority, worse.noninferiority) == ("noninferior", "inferior")
    assert list(comparison.to_pandas().noninferiority) == ["noninferior", "inferior"]
    few = rm.compare(*systems({"old": [1] * 40, "new": [1] * 40}), "mrr", margin=0.02)
    assert few.conclusions.get("mrr").sentence == (
        "new and old have the same value for every query in mrr; that new is no worse by more than 0.02 is not shown, "
        "which takes about 149 queries."
    )


def test_a_margin_is_passed_with_few_queries_if_rare_losses_would_leave_the_system_better() -> None:
    few = rm.compare(*systems({"old": [2, 3] * 15, "new": [1, 2, 1] * 10}), "mrr", margin=0.05)
    assert few.conclusions[0].noninferiority == "noninferior"
    assert "rare losses" not in few.conclusions[0].sentence


def test_a_loss_on_two_queries_is_not_said_to_reach_1() -> None:
    comparison = rm.compare(*systems({"old": [1] * 150, "new": [1] * 148 + [500] * 2}), "mrr", margin=0.05)
    (one,) = comparison.conclusions
    assert one.noninferiority == "inconclusive"
    assert one.sentence.endswith(
        "is not shown: the loss lies on so few queries that the test, which allows for skewness, cannot bound it."
    )


def test_worse_by_more_than_a_margin_needs_an_interval_beyond_it() -> None:
    comparison = rm.compare(*systems({"old": [1, 2] * 40, "new": [1, 2] * 32 + [2, 4] * 8}), "mrr", margin=0.02)
    (one,) = comparison.conclusions
    assert one.details.margin is not None
    assert (one.kind, one.details.margin.outcome) == ("worse", "inferior")
    assert (one.noninferiority == "inferior") == (one.interval.high < -0.02)
    assert list(comparison.to_pandas().noninferiority) == [one.noninferiority]
    between = (one.details.margin.high - one.interval.high) / 2 + one.interval.high
    (open_,) = rm.compare(comparison.evaluations, margin=-between).conclusions
    assert open_.sentence.endswith(f"; whether by more than {-between:g} is open.")


def test_a_ranking_says_of_every_system_whether_it_passes_the_margin() -> None:
    ranks = [1, 2, 3, 1] * 50
    runs = systems({"old": ranks, "same": ranks, "bad": [5] * 200, "other": [1, 2, 3, 2] * 50})
    text = str(rm.compare(*runs, "mrr", baseline="old", margin=0.02))
    assert "\nsame is no worse than old by more than 0.02 in mrr.\nother and bad are worse than old by more" in text
    twice = str(rm.compare(*runs, ["mrr", "map"], baseline="old", margin=0.02))
    assert "\nsame is no worse than old by more than 0.02 in mrr and map.\nother and bad are worse than" in twice
    assert "margin: each system and metric by itself at a one-sided level of 95 %\n" in text + "\n"
    without = str(rm.compare(*runs, "mrr", margin=0.02))
    assert "margin (print(comparison.conclusions) has it): each system and metric by itself at a one-sided" in without


def test_what_is_rare_is_said_of_its_metric_where_metrics_differ() -> None:
    ranks = systems({"old": [4] * 6, "new": [1] * 6})
    first, second = rm.compare(*ranks, ["mrr", "recall@5"]).conclusions.rare_effect_notes
    rare = "6 queries cannot show what is rare: up to 39 % of all queries could"
    assert first == f"In mrr, {rare} be worse by 1, and the mean lower by 0.39."
    assert second == f"In recall@5, {rare} differ by 1, and the mean by 0.39."


def test_what_is_rare_in_one_metric_is_not_said_of_others() -> None:
    qrels = {f"q{i}": {"d": 2 if i < 4 else 1, "e": 1} for i in range(12)}
    runs = {"old": {query: ["d", "e"] for query in qrels}, "new": {query: ["e", "d"] for query in qrels}}
    (said,) = rm.compare(qrels, runs, ["mrr", "mrr(rel=2)"]).conclusions.rare_effect_notes
    assert said == (
        "In mrr, 12 queries cannot show what is rare: "
        "up to 22 % of all queries could differ by 1, and the mean by 0.22."
    )


def test_six_queries_are_not_said_to_show_nothing_because_two_metrics_are_tested() -> None:
    assert "better" in str(rm.compare(*systems({"old": [4] * 6, "new": [1] * 6}), ["mrr", "recall@3"]).conclusions)
    mixed = rm.compare(*systems({"old": [4] * 6, "new": [1] * 5 + [6]}), ["mrr", "recall@3"]).conclusions
    assert "cannot show any" not in str(mixed)
    five = rm.compare(*systems({"old": [4] * 5, "new": [1] * 5}), ["mrr", "recall@3"]).conclusions
    assert "5 queries cannot show any, however large; at least 6 are needed" in str(five)


def test_one_giant_cluster_bounds_nothing_and_finds_no_small_difference() -> None:
    rng = random.Random(1)
    old, new = ([rng.choice([1, 2, 5, 9]) for _ in range(60)] for _ in range(2))
    runs = systems({"old": old, "new": [min(one, other) for one, other in zip(old, new, strict=True)]})
    giant = {query: 0 if at < 50 else at for at, query in enumerate(runs[0])}
    with pytest.warns(rm.RetrievalWarning, match="clusters are few"):
        comparison = rm.compare(*runs, ["mrr", "recall@3", "recall@1"], clusters=giant)
    for one in comparison.conclusions:
        assert (one.p_corrected <= 0.05) == (one.interval.low > 0)
        assert "would have been found" not in one.sentence


def test_a_margin_is_a_number() -> None:
    with pytest.raises(TypeError, match=r"margin must be a positive number, got \{'mrr': 0.1\} \(dict\)"):
        rm.compare(*systems({"old": [1] * 10, "new": [1] * 10}), "mrr", margin={"mrr": 0.1})  # type: ignore[arg-type]


def chunked(size: int, number: int) -> dict[str, list[rm.Retrieved]]:
    return {
        f"q{at}": [rm.Retrieved(f"{size}-{n}", "x" * size, "a", n * size) for n in range(9)] for at in range(number)
    }


def test_chunks_of_different_sizes_are_not_compared_at_the_same_k_without_a_word() -> None:
    qrels = {f"q{at}": [rm.Span("a", 500, 510)] for at in range(12)}
    runs = {"small": chunked(100, 12), "large": chunked(300, 12)}
    unequal = (
        "The first 5 results of large hold 1,500 characters on average, those of small 500, so @5 compares unequal "
        "amounts of text; a budget such as recall@860chars compares equal ones."
    )
    assert rm.compare(qrels, runs, "recall@5").summary[0] == unequal
    runs["tiny"] = chunked(80, 12)
    assert "The first 5 results of large hold 1,500 characters on average, those of tiny 400, so @5" in str(
        rm.compare(qrels, runs, "recall@5")
    )
    for metrics in ("recall@700chars", "recall"):
        assert "unequal" not in str(rm.compare(qrels, runs, metrics))
    assert "amounts of text; recall@700chars compares equal ones." in str(
        rm.compare(qrels, runs, ["recall@5", "recall@700chars"])
    )
    alike = {"one": chunked(100, 12), "other": chunked(140, 12)}
    assert "unequal" not in str(rm.compare(qrels, alike, "recall@5"))
    ids: Any = {name: {query: [item.id for item in run] for query, run in of.items()} for name, of in runs.items()}
    by_id = {query: ["100-4", "300-1", "80-2"] for query in qrels}
    assert "unequal" not in str(rm.compare(by_id, ids, "recall@5"))


def test_the_largest_difference_is_the_best_value_seen_where_a_metric_has_no_bound() -> None:
    qrels = {f"q{number}": {"a": 3, "b": 1} for number in range(8)}
    runs = {"good": {query: ["a", "b"] for query in qrels}, "poor": {query: ["b"] for query in qrels}}
    (difference,) = rm.compare(qrels, runs, "dcg").differences
    assert difference.max_difference == pytest.approx(3 + 1 / math.log2(3))
    (bounded,) = rm.compare(qrels, runs, "ndcg").differences
    assert bounded.max_difference == 1
    qrels = {query: held | {"x": 0, "y": 0} for query, held in qrels.items()}
    nothing = {"one": {query: ["x"] for query in qrels}, "other": {query: ["y"] for query in qrels}}
    (empty,) = rm.compare(qrels, nothing, "dcg").differences
    assert empty.max_difference == 1  # no value says how large one can be


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"level": 95}, ValueError, "level must be strictly between 0 and 1, got 95"),
        ({"level": "0.9"}, TypeError, "level must be a number strictly between 0 and 1, got '0.9'"),
        ({"margin": True}, TypeError, "margin must be a positive number, got True"),
        ({"margin": math.nan}, ValueError, "margin must be positive, got nan"),
        ({"resamples": 0}, ValueError, "resamples must be a positive integer, got 0"),
        ({"seed": None}, TypeError, "seed must be an integer, got None"),
        ({"seed": -1}, ValueError, "seed must be 0 or more, got -1"),
        (
            {"unjudged": "bound"},
            ValueError,
            "unjudged must be one of bounds, nonrelevant, condensed, or None, got 'bound'",
        ),
    ],
)
def test_terms_of_a_comparison_are_refused_before_anything_is_evaluated(
    options: dict[str, Any], error: type[Exception], said: str
) -> None:
    one = rm.evaluate({"q": ["d"]}, {"q": ["d"]}, "mrr")
    with pytest.raises(error, match=re.escape(said)):
        rm.compare({"q": ["d"]}, {"a": {"q": 5}, "b": {"q": 5}}, "mrr", **options)  # type: ignore[dict-item]  # never read
    with pytest.raises(error, match=re.escape(said)):
        rm.compare({"a": one, "b": one}, **options)


def test_systems_have_names() -> None:
    run = {"q": ["d"]}
    with pytest.raises(TypeError, match=r"the name of a system must be text, got 1 \(int\)"):
        rm.compare(run, {1: run, 2: run}, "mrr")  # type: ignore[dict-item]  # the point of the line
    with pytest.raises(ValueError, match="the name of a system must not be empty, got ' '"):
        rm.compare(run, {"a": run, " ": run}, "mrr")
    one = rm.evaluate(run, run, "mrr")
    with pytest.raises(TypeError, match="evaluations have their own judgments"):
        rm.compare(run, {"a": one, "b": one}, "mrr")  # type: ignore[dict-item]  # the point of the line
    with pytest.raises(ValueError, match="n must be a positive integer, got -1"):
        rm.compare(run, {"a": run, "b": run}, "mrr").difference("mrr").largest_changes(-1)

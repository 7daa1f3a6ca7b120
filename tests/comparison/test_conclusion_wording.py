"""Metrics of which the same is concluded share one sentence, which has the size of each or the smallest and largest."""

import random
import re
from typing import Any

import retrieval_metrics as rm
from retrieval_metrics.comparison.comparison_wording import selection_bias_notes
from retrieval_metrics.comparison.selection_bias import SelectionBias
from retrieval_metrics.reports.numbers import signed


def said_of(first: Any, second: Any, **options: Any) -> list[str]:
    qrels = {f"q{at}": ["d"] for at in range(40)}
    runs = {name: {query: found(at) for at, query in enumerate(qrels)} for name, found in (("a", first), ("b", second))}
    said = rm.compare(qrels, runs, baseline="a", **options).summary
    return [one for one in said if "cannot show" not in one]


def test_metrics_of_which_the_same_is_concluded_share_a_sentence() -> None:
    def at_first(_: int) -> list[str]:
        return ["d", "x"]

    def at_second(_: int) -> list[str]:
        return ["x", "d"]

    def now_and_then(at: int) -> list[str]:
        return ["x", "d"] if at % 10 in {0, 4} else ["d", "x"]

    def never_twice(at: int) -> list[str]:
        return ["d"] if at % 10 else ["x"] * 12

    (same,) = said_of(at_first, at_first)
    names = "hit_rate@5, full_recall@5, recall@10, precision@5, mrr@10, map and ndcg@10"
    assert same == f"b and a have the same value for every query in {names}."
    same, worse = said_of(at_first, at_second)
    assert same.endswith("for every query in hit_rate@5, full_recall@5, recall@10 and precision@5.")
    assert worse == (
        "b is worse than a in mrr@10 and map, by 0.500 in every query, and in ndcg@10, by 0.369 in every query."
    )
    _, worse = said_of(at_first, now_and_then)
    assert re.fullmatch(
        r"b is worse than a in mrr@10 and map, by 0\.100 \(\S+ to \S+\), and in ndcg@10, by 0\.0738 \(.*\)\.", worse
    )
    said = said_of(at_first, never_twice, metrics=["mrr@10", "precision@5"])
    (unclear,) = (one for one in said if one.startswith("No clear"))
    assert re.fullmatch(
        r"No clear difference between b and a in mrr@10 \(95 % interval \S+ to \S+\), and in precision@5 \(\S+ to "
        r"\S+\); a difference of \S+ \(mrr@10\) or \S+ \(precision@5\) would have been found in four of five cases\.",
        unclear,
    )


def test_of_many_sizes_a_sentence_has_the_smallest_and_the_largest() -> None:
    values = [{f"q{at}": 0.5 for at in range(40)}, {f"q{at}": 0.6 + at / 400 for at in range(40)}]
    given = {
        name: rm.Evaluation.from_scores({f"m{k}": {q: v * k for q, v in each.items()} for k in range(1, 7)})
        for name, each in zip("ab", values, strict=True)
    }
    comparison = rm.compare(given, baseline="a")
    said = next(one for one in comparison.summary if one.startswith("b is"))
    assert said == "b is better than a in m1, m2, m3, m4, m5 and m6, by 0.149 to 0.892."
    assert str(comparison.conclusions).count("b is better than a in m") == 6


def test_other_grades_and_a_margin_are_part_of_what_is_concluded_alike() -> None:
    qrels: Any = {f"q{at}": {"d": 1, "y": 0} for at in range(200)}
    runs = {name: {query: ["d", "y"] for query in qrels} for name in "ab"}
    (said,) = rm.compare(qrels, runs, ["mrr", "map"], margin=0.1).summary[:1]
    assert said == "b and a have the same value for every query in mrr and map; b is no worse by more than 0.1."
    mrr, other = rm.compare(qrels, runs, ["mrr@1", "mrr@2"], unjudged="bounds").summary[:2]
    assert mrr.startswith("b and a have the same value for every query in mrr@1, and nothing is unjudged among the")
    assert other.startswith("b and a have the same value for every query in mrr@2, and nothing is unjudged among the")


def test_several_systems_beside_a_baseline_are_named_before_it_as_their_differences_are_taken() -> None:
    rng = random.Random(1)
    shifts = {"base": 0.5, "a": 0.53, "b": 0.54, "c": 0.55}
    values = {name: {f"q{at}": by + rng.gauss(0, 0.1) for at in range(30)} for name, by in shifts.items()}
    given = {name: rm.Evaluation.from_scores({"x": of}) for name, of in values.items()}
    comparison = rm.compare(given, baseline="base")
    (said,) = (one for one in str(comparison).splitlines() if one.startswith("No clear"))
    assert said.startswith("No clear difference of a, c and b from base in x (all 95 %")
    ends = [end for one in comparison.conclusions for end in one.interval]
    assert f"within {signed(min(ends))} to {signed(max(ends))});" in said


def test_the_best_is_flattered_only_if_it_is_worth_less_than_it_seems() -> None:
    less, more = (SelectionBias("mrr", "a", 6, 0.8, worth) for worth in (0.7, 0.9))
    assert selection_bias_notes([more]) == []
    assert selection_bias_notes([less, more]) == selection_bias_notes([less])
    assert selection_bias_notes([more._replace(sign=-1)]) != []

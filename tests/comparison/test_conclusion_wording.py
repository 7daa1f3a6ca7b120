"""The sentences about conclusions: those of generated comparisons, and of a few that chance seldom makes."""

import random
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from generated_comparisons import generate_comparison
from golden_texts import check_golden_texts
from ranked_systems import same_ranking, systems
from retrieval_metrics.reports.numbers import format_signed

GOLDEN = Path(__file__).parent / "golden" / "conclusion_wording.txt"
# Together these have every clause but those of the cases below.
SEEDS = [263, 244, 5, 52, 43, 92, 1, 10, 28, 30, 195]
DEFAULT_METRICS = ["hit_rate@5", "full_recall@5", "recall@10", "precision@5", "mrr@10", "map", "ndcg@10"]


def compare_ranks(
    first: list[int], second: list[int], metrics: str | list[str] = "mrr", **options: Any
) -> rm.Comparison:
    return rm.compare(*systems({"a": first, "b": second}), metrics, **options)


def compare_values(values: dict[str, list[float]], **options: Any) -> rm.Comparison:
    """Compare scores of a metric that was computed elsewhere."""
    evaluations = {}
    for system, scores in values.items():
        by_query = {f"q{number}": score for number, score in enumerate(scores)}
        evaluations[system] = rm.Evaluation.from_scores({"gain": by_query}, bounds=(0, 1))
    return rm.compare(evaluations, **options)


def compare_several_metrics(n_metrics: int) -> rm.Comparison:
    """Compare two systems in metrics in which one is better by another size each."""
    evaluations = {}
    for system, drift in (("a", 0.0), ("b", 0.1)):
        scores = {}
        for factor in range(1, n_metrics + 1):
            values = {f"q{number}": factor * (0.5 + drift + drift * number / 40) for number in range(40)}
            scores[f"m{factor}"] = values
        evaluations[system] = rm.Evaluation.from_scores(scores)
    return rm.compare(evaluations, baseline="a")


def compare_similar_systems(n_systems: int, baseline: str | None) -> rm.Comparison:
    """Compare systems that hardly differ."""
    rng = random.Random(1)
    values = {}
    for number in range(n_systems):
        values[f"s{number}"] = [0.5 + number / 100 + rng.gauss(0, 0.1) for _ in range(30)]
    return compare_values(values, baseline=baseline)


def make_cases() -> dict[str, rm.Comparison]:
    giant_cluster = {f"q{number}": number // 9 for number in range(27)}
    judged = {f"q{number}": {"d": 1, "y": 0} for number in range(200)}
    ranking = same_ranking(judged, "d", "y")
    nan = float("nan")
    ranks = [1, 2, 3, 4, 5] * 40
    return {
        "identical in all metrics": compare_ranks([1] * 40, [1] * 40, DEFAULT_METRICS),
        "two outcomes": compare_ranks([1] * 40, [2] * 40, DEFAULT_METRICS),
        "one size in two metrics": compare_ranks([1] * 40, ([2] * 3 + [1] * 7) * 4, ["mrr@10", "map", "ndcg@10"]),
        "several sizes": compare_several_metrics(3),
        "many sizes": compare_several_metrics(6),
        "several others beside a baseline": compare_similar_systems(4, "s0"),
        "many others beside the best": compare_similar_systems(8, None),
        "few queries": compare_ranks([2] * 5, [1] * 5),
        "few clusters": compare_ranks([2] * 27, [1] * 27, clusters=giant_cluster),
        "a rare change could undo it": compare_values({"a": [0.5] * 25, "b": [0.458 + n / 1e4 for n in range(25)]}),
        "a rare loss": compare_ranks([8] * 25 + [9] * 25, [7] * 25 + [8] * 25),
        "a rare effect in one metric of two": compare_ranks([4] * 6, [1] * 6, ["mrr", "recall@5"]),
        "within the margin": compare_ranks([1] * 200, [1] * 200, ["mrr", "map"], margin=0.1),
        "worse by more than the margin": compare_ranks([1] * 200, [5] * 200, margin=0.1),
        "a margin that takes more queries": compare_ranks([1] * 40, [1] * 40, margin=0.02),
        "a margin with a rare effect": compare_ranks(ranks, [*ranks[1:], 2], margin=0.1),
        "a loss on two queries": compare_ranks([1] * 150, [1] * 148 + [500] * 2, margin=0.05),
        "nothing unjudged": rm.compare(judged, {"a": ranking, "b": ranking}, ["mrr@1", "mrr@2"], unjudged="bounds"),
        "no query in common": compare_values({"a": [0.1, 0.2, nan, nan], "b": [nan, nan, 0.3, 0.4]}),
    }


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_the_sentences_are_those_of_the_golden_file() -> None:
    comparisons = {f"generated from {seed}": generate_comparison(seed) for seed in SEEDS} | make_cases()
    texts = {}
    for case, comparison in comparisons.items():
        conclusions = comparison.conclusions
        own = [conclusion.sentence for conclusion in conclusions]
        texts[case] = ["alone:", *own, "together:", *conclusions.sentences, "ranked:", *comparison.ranking.sentences]
    check_golden_texts(GOLDEN, texts)


def test_a_sentence_about_several_pairs_has_all_their_intervals() -> None:
    comparison = compare_similar_systems(8, None)
    best = comparison.ranking.by_metric["gain"][0].system
    ends: list[float] = []
    for conclusion in comparison.conclusions:
        if conclusion.kind != "not_significant":
            continue
        if best == conclusion.system:
            ends += conclusion.interval
        elif best == conclusion.baseline:
            ends += [-end for end in conclusion.interval]
    (sentence,) = [text for text in comparison.ranking.sentences if "differ significantly" in text]
    assert f"within {format_signed(min(ends))} to {format_signed(max(ends))};" in sentence


def test_every_conclusion_is_printed_with_a_sentence_of_its_own() -> None:
    comparison = compare_several_metrics(6)
    assert sum(text.startswith("b is better") for text in comparison.summary) == 1
    assert sum(line.startswith("b is better") for line in str(comparison.conclusions).splitlines()) == 6

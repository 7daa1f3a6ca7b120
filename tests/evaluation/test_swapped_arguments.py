"""Judgments that look like scores, beside a run that looks like judgments, were exchanged; others were not."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from data_warning_kinds import find_kinds, find_origin
from retrieval_metrics.evaluation.swapped_arguments import SwappedArguments, find_swapped_arguments


def make_scores(number: int) -> dict[str, float]:
    return {name: 12.25 - 1.1 * rank - number / 7 for rank, name in enumerate("xbaycz")}


JUDGMENTS: Any = {f"q{number}": {"a": 1, "b": 0, "c": 2} for number in range(10)}
SCORES: Any = {f"q{number}": make_scores(number) for number in range(10)}
TIED_SCORES: Any = {f"q{number}": {f"d{rank}": (9 - rank // 2) / 10 for rank in range(16)} for number in range(3)}


def find(qrels: Any, run: Any) -> SwappedArguments | None:
    return find_swapped_arguments(find_origin(qrels, run).judged, run)


@pytest.mark.parametrize(
    ("scores", "judgments"),
    [
        (SCORES, JUDGMENTS),
        ({"q1": {"a": 0.83, "b": 0.71}, "q2": {"c": 0.6}}, {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}),
        ({"q1": {"a": 12.3, "b": 11.1}}, {"q1": {"a": 1, "b": 0}}),
        ({"q1": {"a": 12.3, "b": 11.1}}, {"q1": {"a": 1}}),
        (SCORES, {query: ["a", "c"] for query in JUDGMENTS}),
    ],
)
def test_scores_beside_judgments_are_found_and_the_right_order_is_not(scores: Any, judgments: Any) -> None:
    with pytest.warns(rm.RetrievalWarning, match=r"look swapped.*evaluate\(qrels, run\)"):
        rm.evaluate(scores, judgments, "ndcg@10")
    assert find(judgments, scores) is None


def test_the_evidence_is_the_first_fraction_and_the_largest_score() -> None:
    assert find(SCORES, JUDGMENTS) == SwappedArguments("q0", "x", 12.25, 2.0)
    assert find(SCORES, {query: ["a", "c"] for query in JUDGMENTS}) == SwappedArguments("q0", "x", 12.25, None)


def test_scores_of_few_values_are_found_by_their_falling_order() -> None:
    fused = {f"q{number}": {"a": 1 / 61, "b": 1 / 62, "c": 1 / 63} for number in range(4)}  # one of 3! ** 4 orders
    judgments: Any = {query: {"b": 1, "c": 0} for query in fused}
    assert find(fused, judgments) is not None
    rising = {**fused, "q3": dict(reversed(fused["q3"].items()))}
    assert find(rising, judgments) is None


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        pytest.param(
            {"q1": {"a": 0.5, "b": 0.25}, "q2": {"a": 0.75, "b": 0.5}}, {"q1": ["a"], "q2": ["a"]}, id="fine scale"
        ),
        pytest.param(SCORES, {query: {"a": 3, "b": 2, "c": 1} for query in SCORES}, id="a model's grades beside ranks"),
        pytest.param({"q1": {"a": 0.5, "b": 1, "c": 0}}, {"q1": {"a": 1, "b": 1, "c": 0}}, id="some whole grades"),
        pytest.param(SCORES, {query: list("abcdefghi") for query in SCORES}, id="deeper than the judgments"),
        pytest.param(
            {query: dict(reversed(scores.items())) for query, scores in SCORES.items()},
            {query: ["a"] for query in SCORES},
            id="rising",
        ),
        pytest.param(TIED_SCORES, {query: list("abcd") for query in TIED_SCORES}, id="ties, which scores seldom have"),
    ],
)
def test_judgments_with_fractions_are_judgments(qrels: Any, run: Any) -> None:
    assert "swapped_arguments" not in find_kinds(qrels, run, "ndcg")


def sample_ranking(rng: random.Random, depth: int, make_score: Callable[[], float]) -> dict[str, float]:
    return {f"d{number}": make_score() for number in rng.sample(range(30), depth)}


def sort_falling(ranking: dict[str, float]) -> dict[str, float]:
    return dict(sorted(ranking.items(), key=lambda entry: -entry[1]))


@pytest.mark.parametrize("scale", [1, 100])
@pytest.mark.parametrize("whole_scores", [[1], [1, 2], [0, 1, 2, 3], [1, 2, 3, 4, 5]])
@pytest.mark.parametrize("is_falling", [True, False])
def test_fine_grades_beside_whole_scores_are_no_exchange(scale: int, whole_scores: Any, *, is_falling: bool) -> None:
    rng = random.Random(scale)
    for n_judged in (5, 20):
        grades = {}
        run = {}
        for number in range(10):
            grades[f"q{number}"] = sample_ranking(rng, n_judged, lambda: scale * rng.random())
            ranking = sample_ranking(rng, 8, lambda: rng.choice(whole_scores))
            run[f"q{number}"] = sort_falling(ranking) if is_falling else ranking
        assert "swapped_arguments" not in find_kinds(grades, run)
    if is_falling and whole_scores[0] and len(whole_scores) > 1:
        falling_grades = {query: sort_falling(graded) for query, graded in grades.items()}
        assert "swapped_arguments" not in find_kinds(falling_grades, run)


@pytest.mark.parametrize("empty_ranking", [{}, []])
def test_a_run_in_which_nothing_was_retrieved_is_no_exchange(empty_ranking: Any) -> None:
    falling = {f"q{number}": {f"d{rank}": 0.9 - rank / 100 for rank in range(30)} for number in range(30)}
    assert "swapped_arguments" not in find_kinds(falling, dict.fromkeys(falling, empty_ranking))


def test_files_have_the_same_guard(tmp_path: Path) -> None:
    lines = ["query,document,score"]
    for query, scores in SCORES.items():
        lines += [f"{query},{document},{score}" for document, score in scores.items()]
    (tmp_path / "run.csv").write_text("\n".join(lines))
    rm.write_qrels(JUDGMENTS, tmp_path / "qrels.csv")
    qrels = rm.read_qrels(tmp_path / "qrels.csv")
    run = rm.read_run(tmp_path / "run.csv")
    assert "swapped_arguments" not in find_kinds(qrels, run)
    scores_as_qrels = rm.read_qrels(tmp_path / "run.csv")
    qrels_as_run = rm.read_run(tmp_path / "qrels.csv", columns={"score": "grade"})
    assert "swapped_arguments" in find_kinds(scores_as_qrels, qrels_as_run)

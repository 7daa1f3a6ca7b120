"""A single ranking has the values that it has in a set."""

import math
import random
from typing import Any

import pytest

import retrieval_metrics as rm
from generated import scored_run

METRICS = [*rm.DEFAULT_METRICS, "err@5", "rbp(p=0.5)", "bpref", "judged@5", "alpha_ndcg@10", "r_precision", "f1@5"]
unwarned = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


@unwarned
def test_every_row_is_that_of_the_whole_set() -> None:
    qrels, run = scored_run(random.Random(3), 30, depth=20, ties=0.4, judged=0.4)
    qrels["q0"] = dict.fromkeys(qrels["q0"], 0)
    run["q1"] = {}
    whole = rm.evaluate(qrels, run, METRICS)
    largest_grade = max(max(grades.values()) for grades in qrels.values())
    for query, relevant in qrels.items():
        row = rm.evaluate_ranking(relevant, run[query], METRICS, max_grade=largest_grade)
        expected = {name: values[query] for name, values in whole.per_query.items()}
        assert row == pytest.approx(expected, abs=0, rel=0, nan_ok=True)


@unwarned
@pytest.mark.parametrize(
    ("relevant", "retrieved", "match"),
    [
        ([["a", "b"], ["c"]], ["b", "a"], "id"),
        ([{"a": 2, "b": 1}], ["b", "b"], "id"),
        (["s"], [rm.Retrieved("c1", source="s"), rm.Retrieved("c2", source="t")], "source"),
        ([rm.Quote("wraps a block")], [rm.Retrieved("c1", "Next."), rm.Retrieved("c2", "It wraps a block.")], "id"),
    ],
)
def test_groups_and_pieces_are_judged_as_everywhere(relevant: Any, retrieved: Any, match: str) -> None:
    whole = rm.evaluate({"q": relevant}, {"q": retrieved}, ["ndcg", "recall@2", "map"], match=match)
    assert rm.evaluate_ranking(relevant, retrieved, ["ndcg", "recall@2", "map"], match=match) == whole.means


@unwarned
def test_it_is_a_dict_that_reads_every_spelling() -> None:
    row = rm.evaluate_ranking(["d7"], ["d3", "d7"], "ap")
    assert isinstance(row, dict)
    assert row == {"map": 0.5}
    assert row["ap"] == 0.5


@unwarned
def test_what_one_row_cannot_know_is_asked_for() -> None:
    with pytest.raises(
        ValueError, match=r"err@5 divides by the largest grade .* pass max_grade=, .*err\(max_grade=3\)"
    ):
        rm.evaluate_ranking({"a": 2}, ["a"], ["mrr", "err@5"])
    assert rm.evaluate_ranking({"a": 2}, ["a"], "err(max_grade=3)")["err(max_grade=3)"] == 0.375
    with pytest.raises(ValueError, match="must be between 2, the largest of these judgments"):
        rm.evaluate_ranking({"a": 2}, ["a"], "err", max_grade=1)


@unwarned
def test_nothing_is_warned_of(recwarn: pytest.WarningsRecorder) -> None:
    assert rm.evaluate_ranking(["a"], [], "mrr") == {"mrr": 0.0}
    assert math.isnan(rm.evaluate_ranking([], ["a"], "mrr")["mrr"])
    assert not recwarn

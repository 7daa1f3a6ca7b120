"""Alpha-NDCG: worked values, the numbers of ndeval, and what its greedy ideal means."""

import math
import random

import pyndeval
import pytest

import retrieval_metrics as rm


def alpha_ndcg(truth: list[list[str]] | dict[str, float], ranking: list[str], name: str = "alpha_ndcg") -> float:
    return rm.evaluate({"q": truth}, {"q": ranking}, name).means[name]


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("alpha", [0.25, 0.5, 0.9])
def test_every_value_is_that_of_ndeval(alpha: float) -> None:
    rng = random.Random(7)
    for _ in range(200):
        documents = [f"d{number:02d}" for number in range(rng.randint(3, 14))]
        groups = [rng.sample(documents, rng.randint(1, min(6, len(documents)))) for _ in range(rng.randint(1, 6))]
        ranking = rng.sample([*documents, "x1", "x2", "x3"], rng.randint(1, len(documents)))
        members = [pyndeval.SubtopicQrel("q", str(index), d, 1) for index, group in enumerate(groups) for d in group]
        scored = [pyndeval.ScoredDoc("q", d, -float(rank)) for rank, d in enumerate(ranking)]
        for k in (5, 10):
            name = f"alpha-nDCG@{k}"
            oracle = pyndeval.RelevanceEvaluator(members, measures=[name], alpha=alpha).evaluate(scored)["q"][name]
            ours = rm.Metric("alpha_ndcg", k, alpha=alpha)
            value = rm.evaluate({"q": groups}, {"q": ranking}, ours).means[ours]
            assert value == pytest.approx(oracle, abs=1e-9), (groups, ranking)


def test_without_alternatives_it_is_binary_ndcg() -> None:
    truth = {"a": 3.0, "b": 1.0, "c": 0.0}
    ranking = ["c", "b", "x", "a"]
    assert alpha_ndcg(truth, ranking) == alpha_ndcg(truth, ranking, "ndcg(gain=binary)")


def test_saying_the_same_again_gains_less_than_something_new() -> None:
    groups = [["a", "b"], ["c"]]
    assert alpha_ndcg(groups, ["a", "c", "b"]) == 1
    assert alpha_ndcg(groups, ["a", "b", "c"]) < 1
    assert alpha_ndcg(groups, ["a", "b", "c"], "alpha_ndcg(alpha=0)") == 1


def test_a_ranking_can_surpass_the_greedy_ideal_which_is_not_clipped_away() -> None:
    # Each of a, b and d is in two groups. The ideal begins with d, after which a and b gain 1 + 0.5; but a and b share
    # no group, so one after the other they gain 2 and 2.
    groups = [["b"], ["d", "b"], ["a"], ["a", "d"]]
    discount = 1 / math.log2(3)
    expected = (2 + 2 * discount) / (2 + 1.5 * discount)
    assert alpha_ndcg(groups, ["a", "b"], "alpha_ndcg@2") == pytest.approx(expected)
    assert expected > 1


def test_two_quotes_of_one_group_in_one_chunk_count_once() -> None:
    qrels = {"q": [[rm.Quote("the first half"), rm.Quote("the second half")], [rm.Quote("something else")]]}
    chunks = [rm.Retrieved(1, text="the first half and the second half"), rm.Retrieved(2, text="something else")]
    assert rm.evaluate(qrels, {"q": chunks}, "alpha_ndcg@2").means["alpha_ndcg@2"] == 1


def test_a_budget_cuts_the_ranking_and_not_the_ideal() -> None:
    chunks = [rm.Retrieved("a", text="12345"), rm.Retrieved("c", text="12345")]
    value = rm.evaluate({"q": [["a", "b"], ["c"]]}, {"q": chunks}, "alpha_ndcg(alpha=1)@6chars").means
    assert value["alpha_ndcg(alpha=1)@6chars"] == pytest.approx(1 / (1 + 1 / math.log2(3)))


@pytest.mark.parametrize("alpha", ["-0.1", "1.5", "nan", "much"])
def test_alpha_is_a_share(alpha: str) -> None:
    with pytest.raises(ValueError, match=rf"'alpha' of alpha_ndcg must be a number from 0 to 1, got '{alpha}'"):
        rm.Metric.parse(f"alpha_ndcg(alpha={alpha})@10")


def test_recall_counts_groups() -> None:
    assert alpha_ndcg([["a", "b"], ["c"]], ["a", "b"], "recall@2") == 0.5

"""At a budget, as many of the first items count as fit into it."""

import math
from typing import Any, ClassVar

import pytest

import retrieval_metrics as rm
from retrieval_metrics import Retrieved

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


def means(judgments: Any, ranking: list[Retrieved], metrics: list[str], sources: Any = None) -> dict[str, float]:
    return dict(rm.evaluate({"q": judgments}, {"q": ranking}, metrics, match=rm.Matching(sources=sources)).means)


class TestBudgets:
    TRUTH: ClassVar = ["b"]
    RANKING: ClassVar = [Retrieved("a", "four"), Retrieved("b", "sixsix"), Retrieved("c", "x")]

    @pytest.mark.parametrize(("budget", "fits"), [(9, False), (10, True), (11, True)])
    def test_items_count_as_long_as_they_fit(self, budget: int, *, fits: bool) -> None:
        name = f"recall@{budget}chars"
        assert means(self.TRUTH, self.RANKING, [name]) == {name: fits}

    def test_precision_divides_by_the_number_that_fit(self) -> None:
        names = [f"precision@{budget}chars" for budget in (3, 4, 10, 99)]
        assert [*means(self.TRUTH, self.RANKING, names).values()] == [0, 0, 1 / 2, 1 / 3]

    def test_the_ideal_does_not_shrink_with_the_number_of_items_that_fit(self) -> None:
        result = means(["b", "d"], [Retrieved("b", "four")], ["ndcg@4chars", "ndcg@1"])
        assert result["ndcg@1"] == 1
        assert result["ndcg@4chars"] == pytest.approx(1 / (1 + 1 / math.log2(3)))

    def test_tokens_are_given_or_counted(self) -> None:
        items = [Retrieved("a", tokens=4), Retrieved("b", tokens=6)]
        assert means(self.TRUTH, items, ["recall@9tokens", "recall@10tokens"]) == {
            "recall@9tokens": 0,
            "recall@10tokens": 1,
        }
        match = rm.Matching(count_tokens=len)
        assert (
            rm.evaluate({"q": self.TRUTH}, {"q": self.RANKING}, "mrr@10 tokens", match=match).means["mrr@10tokens"]
            == 1 / 2
        )

    def test_a_length_that_nobody_knows_is_asked_for(self) -> None:
        with pytest.raises(ValueError, match="a cutoff of 9chars needs the lengths of the items"):
            rm.evaluate({"q": ["a"]}, {"q": ["a"]}, "mrr@9chars")
        with pytest.raises(ValueError, match="item 'a' of query 'q' has neither text nor offsets"):
            means(["a"], [Retrieved("a")], ["mrr@9chars"])
        with pytest.raises(ValueError, match="item 'a' of query 'q' has no token count; pass Retrieved"):
            means(["a"], [Retrieved("a", "text")], ["mrr@9tokens"])

    def test_a_budget_holds_something(self) -> None:
        with pytest.raises(ValueError, match="a budget of chars must be a positive integer"):
            rm.Budget(0, "chars")
        with pytest.raises(ValueError, match="a budget must be in 'chars', 'tokens' or 'calls', got 'words'"):
            rm.Budget(5, "words")  # type: ignore[arg-type]  # what a user may write

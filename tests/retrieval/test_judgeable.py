"""Rankings that can be judged: ids where ids suffice, and items with what the judgments are compared with."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.retrieval.judgeable import Judgeable


def judgeable(judgments: Any, match: Any = "id") -> Judgeable:
    return Judgeable(rm.Qrels({"q": judgments}), match)


def test_rankings_with_the_compared_values_pass() -> None:
    judgeable(["a"]).check(["a", "b"], "q")
    judgeable(["a"]).check([rm.Retrieved("a"), rm.Retrieved("b")], "q")
    judgeable(["x.md"], "source").check([rm.Retrieved("a", source="x.md"), rm.Retrieved("b")], "q")


@pytest.mark.parametrize(
    ("judgments", "match", "ranking", "error", "message"),
    [
        (["a"], "id", [1], TypeError, "document IDs"),
        ([rm.Quote("the whole quote of a page")], "id", ["a"], TypeError, "returned only IDs for query 'q'"),
        (["a"], "id", [rm.Retrieved("a"), rm.Retrieved(None, text="t")], ValueError, "1 of 2 documents .* have no ID"),
        (["x"], "metadata:urls", [rm.Retrieved("a", metadata={"url": "x"})], ValueError, "match='metadata:url'"),
    ],
)
def test_a_ranking_without_them_is_refused(
    judgments: Any, match: Any, ranking: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        judgeable(judgments, match).check(ranking, "q")

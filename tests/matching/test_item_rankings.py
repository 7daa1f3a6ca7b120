"""Items are judged by their ids, and an item that repeats an earlier one earns nothing."""

from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics import Quote, Retrieved

FACT = "The with statement wraps the execution of a block."


def item(number: int, text: str) -> Retrieved:
    return Retrieved(f"c{number}", text)


def means(judgments: Any, ranking: Any, metrics: Any, **options: Any) -> dict[str, float]:
    return dict(rm.evaluate({"q": judgments}, {"q": ranking}, metrics, **options).means)


class TestChunksOfDocuments:
    ITEMS = (
        Retrieved("a1", source="a.md"),
        Retrieved("a2", source="a.md"),
        Retrieved("b1", source="b.md"),
    )

    def test_a_repeat_keeps_its_place_and_earns_nothing(self) -> None:
        result = rm.evaluate({"q": ["b.md"]}, {"q": list(self.ITEMS)}, "mrr", match="source")
        assert result.means["mrr"] == pytest.approx(1 / 3)
        assert result.counts["duplicates"] == 1

    def test_collapsed_a_document_takes_one_place(self) -> None:
        options = rm.Matching(by="source", deduplicate=True)
        result = rm.evaluate({"q": ["b.md"]}, {"q": list(self.ITEMS)}, ["mrr", "precision"], match=options)
        assert dict(result.means) == {"mrr": 1 / 2, "precision": 1 / 2}
        assert result.counts["duplicates"] == 0

    @pytest.mark.filterwarnings("ignore:2 of . results have no source")
    def test_items_without_a_source_keep_their_places(self) -> None:
        items = [Retrieved("x"), Retrieved("y"), *self.ITEMS]
        assert means(["a.md"], items, ["mrr"], match="source") == {"mrr": 1 / 3}
        collapsed = rm.Matching(by="source", deduplicate=True)
        assert means(["b.md"], items, ["mrr"], match=collapsed) == {"mrr": 1 / 4}

    def test_pages_can_be_numbers(self) -> None:
        items = [Retrieved("x", metadata={"page": 7}), Retrieved("y", metadata={"page": 3})]
        assert means([3], items, ["mrr"], match="metadata:page") == {"mrr": 1 / 2}


def test_a_repeated_item_keeps_its_place_and_earns_nothing() -> None:
    ranking = [item(1, "other"), item(1, "other"), item(2, FACT), item(2, FACT)]
    result = rm.evaluate({"q": [Quote(FACT)]}, {"q": ranking}, ["mrr", "precision"])
    assert dict(result.means) == {"mrr": 1 / 3, "precision": 1 / 4}
    assert result.counts["duplicates"] == 2


def test_a_function_chooses_one_of_several_values() -> None:
    items = {"q1": [rm.Retrieved("a", metadata={"page": [3, 4]})]}
    evaluation = rm.evaluate({"q1": ["3"]}, items, "mrr", match=lambda item: str(item.value("page")[0]))
    assert evaluation.means["mrr"] == 1.0


@pytest.mark.parametrize("value", [[3, 4], np.array([3, 4]), {"a": 1}, {3}], ids=["list", "array", "dict", "set"])
def test_a_value_that_holds_several_is_no_id(value: Any) -> None:
    items = {"q1": [rm.Retrieved("a", metadata={"page": value})]}
    with pytest.raises(
        TypeError, match=r"match='metadata:page' gives .* of query 'q1'; .* a function that chooses one"
    ):
        rm.evaluate({"q1": ["3"]}, items, "mrr", match="metadata:page")

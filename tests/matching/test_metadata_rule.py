"""Items that have the judged metadata satisfy it."""

from typing import Any

import retrieval_metrics as rm
from retrieval_metrics import Metadata, Retrieved


def means(judgments: Any, ranking: Any, metrics: list[str], **options: Any) -> dict[str, float]:
    return dict(rm.evaluate({"q": judgments}, {"q": ranking}, metrics, **options).means)


def test_every_value_must_be_there() -> None:
    items = [
        Retrieved("x", source="a.pdf", metadata={"page": 2}),
        Retrieved("y", source="b.pdf", metadata={"page": 3}),
        Retrieved("z", metadata={"page": 3, "source": "a.pdf"}),
    ]
    assert means([Metadata(source="a.pdf", page=3)], items, ["mrr", "precision"]) == {
        "mrr": 1 / 3,
        "precision": 1 / 3,
    }


def test_every_item_that_has_the_values_is_relevant_and_the_first_one_satisfies_the_judgment() -> None:
    items = [Retrieved(number, metadata={"kind": kind}) for number, kind in enumerate("bab")]
    assert means([Metadata(kind="b")], items, ["recall@1", "precision"]) == {"recall@1": 1, "precision": 2 / 3}
    assert [match.rank for match in rm.match({"q": [Metadata(kind="b")]}, {"q": items})] == [1]

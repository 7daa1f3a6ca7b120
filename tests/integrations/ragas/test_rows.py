"""The fields of a row as they are read: lists, arrays, and what a file made of them."""

import asyncio
import math
from typing import Any

import numpy as np
import pytest
from ragas import Dataset

from ragas_retrieval_metrics import NDCG, RetrievalMetric

pytestmark = pytest.mark.filterwarnings("ignore:a?evaluate\\(\\) is deprecated:DeprecationWarning")


RANKING = ["d1", "d3", "d7", "d2", "d9"]


def value(metric: RetrievalMetric, retrieved: Any, reference: Any, **fields: Any) -> float:
    result = metric.score(retrieved_context_ids=retrieved, reference_context_ids=reference, **fields)
    score: float = result.value
    return score


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("['d1', 'd7']", ["d1", "d7"]),
        (' ["d1", "d7"]\n', ["d1", "d7"]),
        ("('d1', 'd7')", ["d1", "d7"]),
        ("{'d1': 3, 'd7': 1}", {"d1": 3, "d7": 1}),
        ("{'d1', 'd7'}", ["d1", "d7"]),
        ("[['d1', 'x'], ['d7']]", [["d1", "x"], ["d7"]]),
        ("[]", []),
        ("[\"it's\", 'd1']", ["it's", "d1"]),
    ],
)
def test_lists_that_a_csv_file_made_text_of_are_read_back(text: str, reference: Any) -> None:
    np.testing.assert_equal(value(NDCG(10), str(RANKING), text), value(NDCG(10), RANKING, reference))


@pytest.mark.parametrize("empty", [None, "", "  ", float("nan")])
def test_an_empty_cell_is_an_absent_one(empty: Any) -> None:
    assert math.isnan(value(NDCG(10), RANKING, empty))
    with pytest.raises(ValueError, match=r"row '\(this row\)' has no retrieved_context_ids, which ndcg_at_10 needs"):
        value(NDCG(10), empty, ["d1"])


@pytest.mark.parametrize(
    ("retrieved", "reference", "error", "message"),
    [
        ("d1", ["d1"], TypeError, r"retrieved_context_ids is the bare string 'd1'; write a list: \['d1'\]"),
        (["d1"], "d1", TypeError, "reference_context_ids is the bare string 'd1'"),
        (["d1"], "d1, d2", TypeError, "bare string 'd1, d2'"),
        ("7", [7], TypeError, "bare string '7'"),
        (7, [7], TypeError, r"retrieved_context_ids must be a list, got 7 \(int\)"),
        ("['d1', 'd", ["d1"], ValueError, "cannot be read back as a list"),
        ("[d1, d2]", ["d1"], ValueError, "cannot be read back as a list"),
        ("['d1' 'd2']", ["d1"], ValueError, "a printed array without separators"),
        ("['d1'\n 'd2']", ["d1"], ValueError, "a printed array"),
        ({"d1", "d2"}, ["d1"], TypeError, "a set has no order"),
        (["d1"], [1], TypeError, "IDs in the judgments are int and those in what was retrieved are str"),
        ([1], ["1"], TypeError, "convert one side"),
        ([True], [1], TypeError, "must be str or int, got bool"),
        (["d1"], {"d1": float("nan")}, ValueError, "finite"),
    ],
)
def test_what_is_no_list_of_ids_is_refused(
    retrieved: Any, reference: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        value(NDCG(10), retrieved, reference)


def test_arrays_are_lists_and_nothing_is_changed() -> None:
    retrieved = np.array(RANKING)
    reference = np.array(["d1", "d7"])
    assert value(NDCG(10), retrieved, reference) == value(NDCG(10), RANKING, ["d1", "d7"])
    assert retrieved.tolist() == RANKING
    assert reference.tolist() == ["d1", "d7"]


def test_without_reading_back_a_csv_file_its_characters_are_refused(tmp_path: Any) -> None:
    rows = [{"retrieved_context_ids": RANKING, "reference_context_ids": ["d1", "d7"]}]
    dataset: Dataset[Any] = Dataset("questions", "local/csv", data=rows, root_dir=str(tmp_path))
    dataset.save()
    dataset.reload()
    row = dataset[0]
    assert row["reference_context_ids"] == "['d1', 'd7']"
    with pytest.raises(ValueError, match=r"' ' .* is blank"):
        value(NDCG(10), RANKING, list(row["reference_context_ids"]))
    assert asyncio.run(NDCG(10).ascore(**row)).value == value(NDCG(10), RANKING, ["d1", "d7"])

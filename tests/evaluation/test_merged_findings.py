"""What is wrong with the data of parts is known of the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.data_warnings import find_data_warnings

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")

QRELS = {f"q{number}": [f"doc{number}"] for number in range(40)}
QUERIES = list(QRELS)
GOOD = {query: documents if number % 4 else ["none"] for number, (query, documents) in enumerate(QRELS.items())}
FOREIGN = {query: [f"{number}x"] for number, query in enumerate(QRELS)}
NEAR = {
    query: [documents[0].upper()] if number % 2 else documents
    for number, (query, documents) in enumerate(QRELS.items())
}
EMPTY: dict[str, list[str]] = {query: [] for query in QRELS}


def evaluate_parts(run: dict[str, Any], size: int = 20) -> rm.Evaluation:
    parts = []
    for start in range(0, len(QUERIES), size):
        queries = QUERIES[start : start + size]
        parts.append(rm.evaluate({query: QRELS[query] for query in queries}, {q: run[q] for q in queries}, "mrr@10"))
    return rm.merge(parts)


def find_obstacle(evaluation: rm.Evaluation) -> tuple[bool, str | None]:
    (difference,) = rm.compare({"good": evaluate_parts(GOOD), "other": evaluation}).differences
    return difference.comparable, difference.obstacle


def list_kinds(evaluation: rm.Evaluation) -> list[tuple[str, bool]]:
    return [(warning.kind, warning.is_blocking) for warning in find_data_warnings(evaluation.scores)]


@pytest.mark.parametrize(("run", "obstacle"), [(FOREIGN, "foreign_ids"), (NEAR, "near_misses"), (EMPTY, "no_results")])
def test_the_whole_is_warned_of_and_refused_like_its_data_in_one(run: dict[str, Any], obstacle: str) -> None:
    whole = rm.evaluate(QRELS, run, "mrr@10")
    merged = evaluate_parts(run)
    assert merged == whole
    assert list_kinds(merged) == list_kinds(whole) != []
    assert find_obstacle(whole) == find_obstacle(merged) == (False, obstacle)


def test_one_part_with_foreign_ids_is_enough() -> None:
    merged = evaluate_parts(GOOD | {query: FOREIGN[query] for query in QUERIES[20:]})
    assert list_kinds(merged) == [("no_common_ids", True)]
    assert find_obstacle(merged) == (False, "foreign_ids")


@pytest.mark.parametrize("size", [1, 2, 20])
def test_queries_that_find_nothing_are_ordinary(size: int) -> None:
    merged = evaluate_parts(GOOD, size)
    assert list_kinds(merged) == []
    assert find_obstacle(merged)[1] not in {"foreign_ids", "near_misses"}
    # Documents that are judged in other parts are no foreign ones.
    swapped = dict(zip(QUERIES, [*list(QRELS.values())[1:], ["doc0"]], strict=True))
    assert find_obstacle(evaluate_parts(swapped, size))[1] not in {"foreign_ids", "near_misses"}


def test_few_queries_and_small_parts_that_match_nothing_do_not_block() -> None:
    small_parts = []
    for queries in (QUERIES[:2], QUERIES[2:6]):
        qrels = {query: QRELS[query] for query in queries}
        small_parts.append(rm.evaluate(qrels, {query: FOREIGN[query] for query in queries}, "mrr@10"))
    few = rm.merge(small_parts)
    assert list_kinds(few) == [("no_common_ids", True)]
    assert find_obstacle(few)[0]
    # 18 of 40 queries are too many to find nothing by chance, but say little about the other 22.
    minority = {query: FOREIGN[query] for query in QUERIES[22:]}
    parts = []
    for queries in (QUERIES[:22], QUERIES[22:]):
        qrels = {query: QRELS[query] for query in queries}
        parts.append(rm.evaluate(qrels, {query: (GOOD | minority)[query] for query in queries}, "mrr@10"))
    assert find_obstacle(rm.merge(parts))[0]


def test_an_outage_of_a_part_is_warned_of() -> None:
    merged = evaluate_parts(GOOD | {query: [] for query in QUERIES[20:]})
    assert list_kinds(merged) == [("empty_rankings", False)]
    (warning,) = find_data_warnings(merged.scores)
    assert warning.message.endswith("(in 1 of the 2 merged parts)")
    assert find_obstacle(merged)[1] != "no_results"


def test_other_judgments_and_what_is_saved_are_those_of_the_parts(tmp_path: Path) -> None:
    merged = evaluate_parts(FOREIGN)
    merged.save(tmp_path / "merged.json")
    loaded = rm.load(tmp_path / "merged.json")
    assert list_kinds(loaded) == list_kinds(merged) == [("no_common_ids", True)]
    assert find_obstacle(loaded) == (False, "foreign_ids")
    assert find_obstacle(rm.merge([rm.merge([loaded])])) == (False, "foreign_ids")
    other = rm.evaluate(QRELS | {"q1": ["doc0", "doc1"]}, GOOD, "mrr@10")
    for good in (rm.evaluate(QRELS, GOOD, "mrr@10"), evaluate_parts(GOOD)):
        assert rm.compare({"good": good, "other": other}).differences[0].n == 39


def test_nothing_is_known_of_scores_alone() -> None:
    parts = [rm.Evaluation.from_scores({"mrr": {"q1": 0.5}}), rm.Evaluation.from_scores({"mrr": {"q2": 1.0}})]
    assert rm.merge(parts).scores.findings is None
    mixed = rm.merge([parts[0], rm.evaluate({"q2": ["a"]}, {"q2": []}, "mrr")])
    assert list_kinds(mixed) == [("empty_rankings", False)]

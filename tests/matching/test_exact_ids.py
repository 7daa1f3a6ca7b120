"""Judged documents are found by id in scored and listed rankings, and wrong rankings are refused."""

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.matching.exact_ids import judge_by_id
from retrieval_metrics.matching.ranking_order import TIES_BY_ID

scored_runs = st.dictionaries(
    st.sampled_from([f"d{i}" for i in range(15)]), st.sampled_from([0.0, 0.5, 1.0, 2, -1.0, 1e-3, 3.25]), max_size=12
)


def ranks(judgments: Any, ranking: Any) -> dict[Any, int]:
    judged = judge_by_id(rm.Qrels({"q": judgments}), {"q": ranking}, TIES_BY_ID)
    documents = [judged.qrels.documents[position] for position in judged.items.document.tolist()]
    return dict(zip(documents, judged.items.rank.tolist(), strict=True))


@given(scored_runs)
def test_ranks_are_those_of_sorting_by_score_then_document_id_descending(run: dict[str, float]) -> None:
    order = sorted(run, key=lambda document: (run[document], document), reverse=True)
    assert ranks([f"d{i}" for i in range(15)], run) == {document: rank for rank, document in enumerate(order, start=1)}


@given(scored_runs)
def test_a_scored_run_and_its_ranking_are_the_same(run: dict[str, float]) -> None:
    order = sorted(run, key=lambda document: (run[document], document), reverse=True)
    judgments = ["d1", "d4", "d9"]
    assert (
        ranks(judgments, run)
        == ranks(judgments, order)
        == ranks(judgments, tuple(order))
        == ranks(judgments, np.array(order))
    )


def test_integer_ids_tie_as_decimal_strings() -> None:
    assert ranks([10, 9], {10: 1.0, 9: 1.0}) == {9: 1, 10: 2}


@pytest.mark.parametrize("n_retrieved", [256, 257, 512, 513, 1_000])
@pytest.mark.parametrize("n_found", [0, 1, 3, 15, 250])
@pytest.mark.parametrize("kind", [int, str])
def test_a_few_and_many_judged_documents_are_found_in_long_lists(kind: Any, n_found: int, n_retrieved: int) -> None:
    source = random.Random(n_found)
    retrieved = [kind(number) for number in source.sample(range(1, 3_000), n_retrieved)]
    found = [*retrieved[:1], *retrieved[-1:], *source.sample(retrieved[1:-1], n_found)] if n_found else []
    judged = [*found, *(kind(number) for number in range(4_000, 4_030))]
    expected = {document: retrieved.index(document) + 1 for document in found}
    assert ranks(judged, retrieved) == ranks(judged, tuple(retrieved)) == expected
    repeated = [*retrieved, *retrieved[:20]]
    assert ranks(judged, repeated) == expected


def test_ties_are_found_in_long_rankings_too() -> None:
    rng = random.Random(4)
    run = {f"d{number}": float(rng.randrange(40)) for number in range(1500)}
    order = sorted(run, key=lambda document: (run[document], document), reverse=True)
    judged = judge_by_id(rm.Qrels({"q": list(run)}), {"q": run}, TIES_BY_ID)
    assert [judged.qrels.documents[position] for position in judged.items.document.tolist()] == order
    assert judged.items.tied.tolist() == [sum(score == run[d] for score in run.values()) for d in order]


@pytest.mark.parametrize("begins_in_order", [True, False])
@pytest.mark.parametrize("number", [float, np.float64, np.float32, Fraction, int])
def test_a_long_ranking_in_any_order_of_any_kind_of_number_has_the_ranks_of_sorting(
    number: Callable[[int], float], *, begins_in_order: bool
) -> None:
    rng = random.Random(5)
    whole_numbers = rng.sample(range(-(2**23), 2**23), 300)
    whole_numbers[:20] = sorted(whole_numbers[:20], reverse=begins_in_order)
    run = {f"d{index}": number(score) for index, score in enumerate(whole_numbers)}
    run |= {"e1": number(7), "e2": number(7), "whole": 2**60, "next to it": 2**60 + 1, "beside": float(2**60)}
    order = sorted(run, key=lambda document: (float(run[document]), document), reverse=True)
    assert ranks(list(run), run) == {document: rank for rank, document in enumerate(order, start=1)}


def test_scores_of_numpy_and_whole_numbers_are_numbers() -> None:
    assert ranks(["b"], {"a": np.float32(2), "b": np.float64(3), "c": 1, "d": True}) == {"b": 1}


def test_scores_whose_sum_overflows_are_finite_all_the_same() -> None:
    assert ranks(["b"], {"a": 1.7e308, "b": 1.6e308, "c": 1.5e308}) == {"b": 2}
    assert ranks(["b"], {**{f"d{index}": 10**308 for index in range(20)}, "b": 1.0}) == {"b": 21}
    assert ranks(["b"], {**{f"d{index}": 10**308 for index in range(200)}, "b": 1.0}) == {"b": 201}


@pytest.mark.parametrize("score", [1.7e308, 10**308], ids=["float", "int"])
def test_an_unchanged_ranking_without_a_finite_sum_is_read_again_and_a_changed_one_is_not(score: float) -> None:
    scores: dict[str, float] = {f"d{index}": score for index in range(500)}
    scores["b"] = 1.0
    evaluation = rm.evaluate({"q": ["b"]}, {"q": scores}, "mrr")
    assert evaluation.explain("q").query == "q"
    scores["b"] = 2.0
    with pytest.raises(ValueError, match="was changed after it was evaluated"):
        evaluation.explain("q")


def test_a_repeated_document_stands_at_its_first_rank() -> None:
    judged = judge_by_id(rm.Qrels({"q": ["a", "b"]}), {"q": ["a", "a", "x", "b", "x"]}, TIES_BY_ID)
    assert judged.items.rank.tolist() == [1, 4]
    assert judged.n_retrieved.tolist() == [5]
    assert judged.n_duplicates.tolist() == [2]


@pytest.mark.parametrize(
    ("ranking", "error", "message"),
    [
        ("d1", TypeError, r"ranking of query 'q' is the bare string 'd1'; write a list: \['d1'\]"),
        ({"d1", "d2"}, TypeError, "must be a list of document IDs.*got set; a set has no order"),
        (7, TypeError, "must be a list of document IDs.*got int"),
        (None, TypeError, "got NoneType"),
        ([("d1", 0.5)], TypeError, r"holds pairs such as \('d1', 0.5\); pass dict\(ranking\)"),
        (["d1", None], TypeError, "document IDs in the run must be str or int, got NoneType"),
        (["d1", 2], TypeError, "partly str and partly int"),
        ([["d1", "d2"]], TypeError, r"holds lists such as \['d1', 'd2'\]; pass one list of IDs, best first"),
        ([{"id": "d1", "score": 2}], TypeError, "holds dicts with keys 'id', 'score'; pass their IDs, or items"),
        (["d1", {"id": "d2"}], TypeError, "holds something that is not a document ID: unhashable type: 'dict'"),
        (
            [1, 2],
            TypeError,
            "document IDs in the qrels are str and those in the run are int, so none of them can match",
        ),
        ({1: 2.0}, TypeError, r"convert one side, for example with str\(id\)"),
        ({None: 2.0}, TypeError, "must be str or int, got NoneType"),
        ({"d1": float("nan")}, ValueError, "score of document 'd1' for query 'q' is nan; scores must be finite"),
        ({"x": 1.0, "y": float("-inf")}, ValueError, "score of document 'y' for query 'q' is -inf"),
        ({"x": 10**400}, ValueError, "score of document 'x' for query 'q' is an integer of 1329 bits"),
        ({"d1": "0.5"}, TypeError, r"must be a number, got '0.5' \(str\)"),
        ({"d1": None}, TypeError, r"must be a number, got None \(NoneType\)"),
        ({"d1": 1j}, TypeError, r"must be a number, got 1j \(complex\)"),
    ],
)
def test_a_ranking_that_is_none_is_refused_by_name(ranking: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        judge_by_id(rm.Qrels({"q": ["d1", "d2"]}), {"q": ranking}, TIES_BY_ID)


def test_an_empty_ranking_retrieves_nothing() -> None:
    empties: list[Any] = [[], {}, ()]
    for empty in empties:
        assert judge_by_id(rm.Qrels({"q": ["a"]}), {"q": empty}, TIES_BY_ID).n_retrieved.tolist() == [0]

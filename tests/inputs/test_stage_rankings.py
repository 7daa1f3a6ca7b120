"""The rankings after each stage of a retriever are collected, ordered and checked."""

from itertools import permutations
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.inputs.stage_rankings import (
    StageRankings,
    is_stage_mapping,
    require_separate_stages,
    stages_to_runs,
)


def test_a_mapping_holds_steps_if_its_values_are_rankings() -> None:
    assert is_stage_mapping({"bm25": ["d1"], "fused": {"d1": 0.5}, "reranked": None})
    for answer in ({}, {"d1": 0.5}, {"d1": True}, {"documents": ["d1"], "answer": "because"}, ["d1"], None):
        assert not is_stage_mapping(answer)


def test_the_answer_is_what_the_last_reached_step_holds() -> None:
    assert StageRankings({"bm25": ["d1", "d2"], "reranked": ["d2"]}).answer == ["d2"]
    assert StageRankings({"bm25": ["d1"], "reranked": None}).answer == ["d1"]
    assert StageRankings({"bm25": ["d1"], "reranked": []}).answer == []
    assert StageRankings({"bm25": None}).answer is None


def test_calls_are_steps_in_the_order_of_their_starts_whichever_ends_first() -> None:
    item = rm.Retrieved("d1")
    spans = [
        ("whole", None, "Compression", [item]),
        ("mix", "whole", "Ensemble", [item, item]),
        ("a", "mix", "Finder", [item]),
        ("b", "mix", "Finder", []),
        ("c", "elsewhere", "Chain", None),
        ("d", "c", "Reranker", [item]),
    ]
    assert list(StageRankings.from_spans(spans)) == ["Finder", "Finder 2", "Ensemble", "Compression", "Reranker"]
    assert StageRankings.from_spans(spans)["Finder 2"] == []


@pytest.mark.parametrize("order", [*permutations(["bm25", "dense", "title"])])
def test_parts_that_end_in_another_order_each_time_make_one_order(order: tuple[str, ...]) -> None:
    """Neither is before the other, and what stands behind all of them in every question comes last."""
    first = ["bm25", "dense", "title", "fused", "reranked"]
    of_questions = {
        "q1": StageRankings.fromkeys(first, ["d"]),
        "q2": StageRankings.fromkeys([*order, "fused", "reranked"], ["d"]),
    }
    assert list(stages_to_runs(of_questions)) == first


def test_a_circle_of_routes_has_an_order_all_the_same() -> None:
    routes: Any = {"q1": {"a": ["d"], "b": ["d"]}, "q2": {"b": ["d"], "c": ["d"]}, "q3": {"c": ["d"], "a": None}}
    assert stages_to_runs(routes) == {
        "a": {"q1": ["d"]},
        "b": {"q1": ["d"], "q2": ["d"]},
        "c": {"q2": ["d"], "q3": ["d"]},
    }
    assert sorted(stages_to_runs(routes | {"q3": {"c": ["d"], "a": ["d"]}})) == ["a", "b", "c"]


def test_one_list_under_two_names_is_refused() -> None:
    ranking = ["d1", "d2"]
    with pytest.raises(ValueError, match=r"'fused' and 'reranked' share one list.*copy it"):
        require_separate_stages({"fused": ranking, "reranked": ranking})
    require_separate_stages({"fused": ranking, "reranked": list(ranking), "filtered": [], "last": []})
    with pytest.raises(TypeError, match="stages are named by text, got 1"):
        require_separate_stages({1: ranking})

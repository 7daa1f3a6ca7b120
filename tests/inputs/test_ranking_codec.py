"""Rankings, stages and failures are read back from JSON as they were."""

import json
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.inputs.ranking_codec import (
    decode_error,
    decode_ranking,
    decode_stages,
    encode_error,
    encode_ranking,
    encode_stages,
)
from retrieval_metrics.inputs.stage_rankings import StageRankings

ITEMS = [rm.Retrieved("a", "one text", "s", 3, score=0.5), rm.Retrieved(None, "one text"), rm.Retrieved(7)]


def through_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("ranking", [["d1", "d2"], [1, 2], [], {"d1": 2.5, "d2": 1}, {7: 0.5}, ITEMS])
def test_a_ranking_comes_back_as_it_was(ranking: Any) -> None:
    assert decode_ranking({"query": "q", **through_json(encode_ranking(ranking, "q"))}) == ranking


def test_texts_that_occur_often_are_written_once() -> None:
    texts: dict[str, int] = {}
    entry = through_json(encode_ranking(ITEMS, "q", texts))
    assert texts == {"one text": 0}
    assert decode_ranking({"query": "q", **entry}, list(texts)) == ITEMS


def test_stages_say_which_is_the_answer_and_which_was_not_reached() -> None:
    ranking = ["d2"]
    stages = StageRankings({"bm25": ["d1", "d2"], "filter": None, "reranked": ranking})
    entry = through_json(encode_stages(stages, ranking, "q"))
    assert entry == {"stages": {"bm25": {"documents": ["d1", "d2"]}, "filter": None, "reranked": True}}
    decoded = decode_stages({"query": "q", **entry}, ranking)
    assert decoded == stages
    assert decoded["reranked"] is ranking
    assert encode_stages(StageRankings(), ranking, "q") == {}


@pytest.mark.parametrize("error", [ValueError("no"), TimeoutError("slow"), KeyError("k"), ZeroDivisionError()])
def test_a_failure_of_python_comes_back_as_its_type(error: Exception) -> None:
    decoded = decode_error(through_json(encode_error(error)))
    assert type(decoded) is type(error)
    assert str(decoded) == str(error)


def test_a_failure_of_another_type_keeps_its_name() -> None:
    class ServiceError(Exception):
        """An error that only its package knows."""

    decoded = decode_error(encode_error(ServiceError("busy")))
    assert (type(decoded), str(decoded)) == (RuntimeError, "ServiceError: busy")

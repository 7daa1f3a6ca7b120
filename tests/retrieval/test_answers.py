"""The answers of a retriever: the stages that lead to them, and what is wrong with one."""

from pathlib import Path

import pytest

import retrieval_metrics as rm

PIPELINE = {
    "one?": {"bm25": ["a", "b"], "dense": ["c"], "fused": {"a": 0.5, "c": 0.4}, "reranked": ["c", "a"]},
    "two?": {"bm25": ["d"], "dense": None, "fused": ["d"], "reranked": None},
}


def test_a_retriever_may_return_what_it_held_after_each_step(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    run = rm.retrieve(PIPELINE.__getitem__, {"q1": "one?", "q2": "two?"}, resume=path)
    assert run == {"q1": ["c", "a"], "q2": ["d"]}
    assert run.stages == {
        "bm25": {"q1": ["a", "b"], "q2": ["d"]},
        "dense": {"q1": ["c"]},
        "fused": {"q1": {"a": 0.5, "c": 0.4}, "q2": ["d"]},
        "reranked": {"q1": ["c", "a"]},
        "returned": {"q1": ["c", "a"], "q2": ["d"]},
    }

    def never(text: str) -> list[str]:
        raise AssertionError(text)

    again = rm.retrieve(never, {"q1": "one?", "q2": "two?"}, resume=path)
    for read in (again, rm.load(path)):
        assert (read, read.stages) == (run, run.stages)


def test_what_is_wrong_with_a_step_is_said_of_it() -> None:
    def notes(answer: object) -> str:
        with pytest.raises((TypeError, ValueError)) as raised:
            rm.retrieve(lambda _: answer, {"q1": "one?"})
        return str(raised.value) + " ".join(raised.value.__notes__)

    assert "objects of type float" in notes({"bm25": ["a"], "scores": [0.5]})
    assert "this is its ranking after the stage 'scores'" in notes({"bm25": ["a"], "scores": [0.5]})
    assert "returned None for query 'q1'" in notes({"bm25": None})
    ranking = ["a"]
    assert "copy it" in notes({"fused": ranking, "reranked": ranking})

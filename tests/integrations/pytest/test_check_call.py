"""The judgments, the texts and the retriever that a test may pass."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from pytest_retrieval_metrics import CheckResult, RetrievalCheck

QRELS = {"what does yield do?": ["yield#1"], "what is a closure?": ["naming#2"]}


@pytest.mark.parametrize(
    "qrels",
    [
        QRELS,
        rm.Qrels(QRELS),
        list(QRELS.items()),
        [{"id": len(text), "query": text, "relevant": ids} for text, ids in QRELS.items()],
        {"queries": {"a": next(iter(QRELS))}, "relevant_docs": {"a": ["yield#1"]}},
    ],
)
def test_judgments_come_in_every_shape_of_the_core(check: RetrievalCheck, qrels: Any) -> None:
    asked = []

    def search(text: str) -> list[str]:
        asked.append(text)
        return QRELS[text]

    assert check(qrels, search, {"mrr": 1}).evaluation.means["mrr"] == 1
    assert set(asked) <= set(QRELS)


def test_the_texts_of_queries_can_stand_beside_the_judgments(check: RetrievalCheck) -> None:
    async def search(text: str) -> list[str]:
        await asyncio.sleep(0)
        return [text]

    result = check({7: ["seven"]}, search, {"mrr": 1}, queries={7: "seven", 8: "not judged"})
    assert isinstance(result, CheckResult)


def test_a_dataset_has_its_own_texts(check: RetrievalCheck) -> None:
    with pytest.raises(TypeError, match="queries= are for judgments by query ID; a dataset has its own texts"):
        check(list(QRELS.items()), len, {"mrr": 1}, queries=dict.fromkeys(QRELS, "text"))


def test_texts_must_fit_the_judgments(check: RetrievalCheck) -> None:
    with pytest.raises(ValueError, match=r"no text for 1 judged queries, for example 'what is a closure\?'"):
        check(QRELS, len, {"mrr": 1}, queries={"what does yield do?": "yield"}, name="absent")
    with pytest.raises(TypeError, match="a run needs none"):
        check(QRELS, QRELS, {"mrr": 1}, queries={}, name="run")


def test_judgments_alone_are_refused_with_what_is_missing(check: RetrievalCheck) -> None:
    with pytest.raises(TypeError, match=r"got dict alone: pass the retriever or the run as the second argument"):
        check(QRELS, at_least={"mrr": 1})


def test_judgments_are_read_from_a_file_without_texts(check: RetrievalCheck, tmp_path: Path) -> None:
    path = tmp_path / "judged.qrels"
    path.write_text("q1 0 d1 1\n")
    assert check(path, {"q1": ["d1"]}, {"mrr": 0.5}).evaluation.means["mrr"] == 1

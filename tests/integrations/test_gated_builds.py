"""A build in which retrieval is broken on purpose fails in every host, and one in which it is improved passes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from haystack import Pipeline

import handbook_haystack
import handbook_langchain
import handbook_llama_index
from handbook_search import new_words, old_words, questions
from pytest_retrieval_metrics import RetrievalCheck
from retrieval_builds import SETTINGS

# A bug that is easily made: of the documents that each build asks for, one is left.
DEPTHS = {"today": 5, "improved": 5, "broken": 1}


def langchain(build: str) -> Any:
    store = handbook_langchain.store_of(new_words if build == "improved" else old_words)
    return store.as_retriever(search_kwargs={"k": DEPTHS[build]})


def llama_index(build: str) -> Any:
    index = handbook_llama_index.index_of(new_words if build == "improved" else old_words)
    return index.as_retriever(similarity_top_k=DEPTHS[build])


def haystack(build: str) -> Pipeline:
    pipeline = handbook_haystack.make_pipeline()
    ranker: Any = pipeline.get_component("ranker")  # it hands on 3 of 5 documents
    ranker.top_k = {"today": 3, "improved": 5, "broken": 1}[build]
    return pipeline


@pytest.mark.parametrize("make", [langchain, llama_index, haystack], ids=["LangChain", "LlamaIndex", "Haystack"])
def test_a_broken_build_is_red_and_an_improved_one_green(
    make: Callable[[str], Any], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    settings = replace(SETTINGS, baselines=str(tmp_path))

    def check(build: str, *, update: bool = False) -> Any:
        retrieval_check = RetrievalCheck(request.node, replace(settings, update=update), checks=1, records=[])
        return retrieval_check(questions(), make(build), {"recall@5": 0.2}, baseline=True, match="filename")

    check("today", update=True)
    check("today")
    improved = check("improved")
    assert improved.evaluation.means["recall@5"] > 0.45
    with pytest.raises(pytest.fail.Exception, match=r"recall@5 worse: 0\.\d+ -> 0\.\d+"):
        check("broken")
    for saved in tmp_path.rglob("*.json"):
        assert "Dogs travel free" not in saved.read_text(encoding="utf-8")  # no text of the handbook is committed

"""The examples of LangChain: they run, and print the numbers that the core gives for the same rankings."""

import re
from pathlib import Path

import pytest

import questions
import retrieval_metrics as rm
from corpus import passages

pytest.importorskip("langchain_core")

import langchain_evaluation
import langchain_mmr
from retrievers import BM25, Dense


@pytest.mark.thorough
def test_tuning_and_the_retriever_select_the_same(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    choice = langchain_mmr.main(tmp_path / "lambda.svg")
    retriever = re.search(r"^vectors, MMR +ndcg@10 ([\d.]+)", capsys.readouterr().out, flags=re.MULTILINE)
    assert retriever is not None
    assert choice["lambda_mult=0.8"].means["ndcg@10"] == pytest.approx(float(retriever[1]), abs=6e-4)
    assert "<svg" in (tmp_path / "lambda.svg").read_text()


@pytest.mark.thorough
def test_it_prints_the_numbers_of_the_core(capsys: pytest.CaptureFixture[str]) -> None:
    langchain_evaluation.main()
    printed = capsys.readouterr().out
    pieces = passages()
    qrels = questions.qrels(pieces)
    texts = questions.queries()
    index = BM25(pieces)
    run = {query: list(index.search(text, langchain_mmr.FETCH_K)) for query, text in texts.items()}
    assert str(rm.evaluate(qrels, run, langchain_evaluation.METRICS)) in printed
    assert "4 queries on which the retriever failed" in printed
    assert "ConnectionError('the service is down')" in printed


def test_the_store_holds_the_vectors_of_the_dense_retriever() -> None:
    pieces = passages()[:30]
    dense = Dense(pieces, dimensions=8)
    documents = {piece.id: langchain_mmr.as_document(piece) for piece in pieces}
    retrieved = langchain_mmr.store_of(dense, documents).similarity_search("what does yield do?", k=5)
    assert [document.id for document in retrieved] == list(dense.search("what does yield do?", 5))

"""The example of LlamaIndex: it runs, and prints the numbers that the core gives for the same rankings."""

import pytest

import questions
import retrieval_metrics as rm
from corpus import passages

pytest.importorskip("llama_index.core")

import llama_index_evaluation
from retrievers import BM25, Dense, Retriever


def test_it_prints_the_numbers_of_the_core(capsys: pytest.CaptureFixture[str]) -> None:
    llama_index_evaluation.main()
    printed = capsys.readouterr().out
    pieces = passages()
    qrels, texts = questions.qrels(pieces), questions.queries()
    table = {line.split()[1]: line.split()[2:] for line in printed.splitlines() if line[:1] in {"0", "1"}}
    retrievers: dict[str, Retriever] = {"BM25": BM25(pieces), "vectors": Dense(pieces)}
    for name, retriever in retrievers.items():
        run = {query: list(retriever.search(text, llama_index_evaluation.DEPTH)) for query, text in texts.items()}
        means = rm.evaluate(qrels, run, llama_index_evaluation.METRICS).means
        assert list(map(float, table[name])) == pytest.approx(list(means.values()), abs=1e-6)
    assert "40 queries of 20 ms with 8 workers" in printed


def test_a_topic_is_as_relevant_as_its_best_passage() -> None:
    groups = [{"with#1": 2, "with#2": 3}, {"try#1": 1}]
    assert llama_index_evaluation.topics_of(groups) == [{"with": 3}, {"try": 1}]

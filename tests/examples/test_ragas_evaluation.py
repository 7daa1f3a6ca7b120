"""The example of Ragas prints the numbers that the core gives for the same rankings."""

import re

import pytest

import questions
import retrieval_metrics as rm
from corpus import passages

pytest.importorskip("ragas")

import ragas_evaluation
from retrievers import BM25, Dense, Retriever


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:evaluate\\(\\) is deprecated:DeprecationWarning")
def test_it_prints_the_numbers_of_the_core(capsys: pytest.CaptureFixture[str]) -> None:
    ragas_evaluation.main()
    printed = capsys.readouterr().out
    pieces = passages()
    qrels = questions.qrels(pieces)
    texts = questions.queries()
    rows = re.findall(r"^(\w+@(?:3|10)) +([01]\.\d{3}) +([01]\.\d{3})$", printed, flags=re.MULTILINE)
    assert len(rows) == 14
    retrievers: dict[str, Retriever] = {"BM25": BM25(pieces), "dense": Dense(pieces)}
    for column, retriever in enumerate(retrievers.values(), start=1):
        run = {query: list(retriever.search(text, ragas_evaluation.DEPTH)) for query, text in texts.items()}
        means = rm.evaluate(qrels, run, [row[0] for row in rows]).means
        assert [row[column] for row in rows] == [f"{mean:.3f}" for mean in means.values()]

    run = {query: list(retrievers["BM25"].search(text, ragas_evaluation.DEPTH)) for query, text in texts.items()}
    for number, query in enumerate(texts):
        if number % 5 == 0:
            run[query] = []
    with pytest.warns(rm.RetrievalWarning, match="judged queries"):
        means = rm.evaluate(qrels, run, ["mrr@10", "ndcg@10"]).means
    failing = printed.partition("every fifth row fails")[2]
    for name, mean in means.items():
        assert f"{name}".ljust(9) + f"{mean:.3f}" in failing
    (flattered,) = re.findall(r"as ragas shows it: ([01]\.\d{3})", failing)
    assert float(flattered) > means["mrr@10"]
    assert f"{len(range(0, len(texts), 5))} queries on which the retriever failed, scored 0" in failing.splitlines()

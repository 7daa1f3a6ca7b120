"""What one answer can tell is told after one answer; what concerns one query is the failure of that query."""

from typing import Any

import pytest
from llama_index.core.schema import NodeWithScore, QueryBundle

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator, judged_by_text
from llama_index_hosts import Prepared, node

ROWS = [(f"query {at}", [at]) for at in range(40)]


class Counting(Prepared):
    asked = 0

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.asked += 1
        return super()._retrieve(query_bundle)


def paged(without: int | None = None) -> Counting:
    return Counting(
        {text: [node(f"n{at}", page=at) if at != without else node(f"n{at}")] for at, (text, _) in enumerate(ROWS)}
    )


def evaluator(retriever: Prepared, name: str = "mrr", **arguments: Any) -> RetrieverEvaluator:
    return RetrieverEvaluator.from_metric_names([name], retriever=retriever, **arguments)


def test_one_node_without_the_key_is_one_failed_query() -> None:
    with pytest.warns(rm.RetrievalWarning, match="failed for 1 of them"):
        result = evaluator(paged(without=7), match="metadata:page").evaluate_dataset(ROWS)
    assert list(result.errors) == ["query 7"]
    assert "has a value for match='metadata:page'" in str(result[7].error)
    assert result.means["mrr"] == 39 / 40


def test_what_every_node_lacks_is_said_after_one_query() -> None:
    retriever = paged()
    with pytest.raises(ValueError, match="match='metadata:chapter'; the metadata of the first has 'page'"):
        evaluator(retriever, match="metadata:chapter").evaluate_dataset(ROWS)
    assert retriever.asked == 1


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("recall@5tokens", [(text, ["n1"]) for text, _ in ROWS], "has no number of tokens"),
        ("mrr", ROWS, "document ids in the judgments are int and those that were retrieved are str"),
    ],
)
def test_what_no_answer_can_be_scored_by_is_said_after_one_query(name: str, rows: Any, message: str) -> None:
    retriever = paged()
    with pytest.raises((TypeError, ValueError), match=message):
        evaluator(retriever, name).evaluate_dataset(rows)
    assert retriever.asked == 1


def test_a_budget_works_with_ids_where_nodes_have_text() -> None:
    answer = [node("n1", "a" * 1500), node("n2", "b" * 400), node("n3", "c" * 400)]
    ours = evaluator(Prepared({"q": answer}), "recall@2000chars")
    assert ours.evaluate("q", ["n2", "n3"]).metric_vals_dict == {"recall@2000chars": 0.5}
    assert dict(ours.evaluate_dataset([("q", ["n2", "n3"])]).means) == {"recall@2000chars": 0.5}
    by_page = RetrieverEvaluator.from_metric_names(
        ["recall@2000chars"], retriever=Prepared({"q": [node("n", "a" * 1999, page=3)]}), match="metadata:page"
    )
    assert dict(by_page.evaluate_dataset([("q", [3])]).means) == {"recall@2000chars": 1.0}


def test_an_empty_text_of_a_corpus_is_named() -> None:
    dataset = {"queries": {"q": "why?"}, "corpus": {"n1": "  "}, "relevant_docs": {"q": ["n1"]}}
    with pytest.raises(ValueError, match="the text of 'n1', relevant to query 'q', is empty"):
        judged_by_text(dataset)

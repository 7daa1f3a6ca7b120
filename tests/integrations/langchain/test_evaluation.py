"""Evaluating retrievers: datasets, failures, what identifies a document, and what is said when nothing does."""

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

import retrieval_metrics as rm
from langchain_hosts import Prepared
from langchain_retrieval_metrics import aevaluate_retriever, evaluate_retriever

ANSWERS: dict[str, Any] = {"why?": ["d1", "d2"], "how?": ["d3", "d1"], "when?": ["d4"]}
ROWS: list[dict[str, Any]] = [
    {"query": "why?", "relevant": ["d1"]},
    {"query": "how?", "relevant": {"d1": 2, "d9": 1}},
    {"query": "when?", "relevant": [["d4", "d5"], ["d6"]]},
]


def test_ids_grades_and_groups_are_judged_side_by_side() -> None:
    result = evaluate_retriever(Prepared(answers=ANSWERS), ROWS, ["mrr", "recall"])
    assert result.per_query["mrr"] == {"why?": 1.0, "how?": 0.5, "when?": 1.0}
    assert result.per_query["recall"] == {"why?": 1.0, "how?": 0.5, "when?": 0.5}
    assert result.errors == {}


def test_a_failing_query_is_reported_and_not_fatal() -> None:
    answers = ANSWERS | {"how?": ConnectionError("no index")}
    with pytest.warns(rm.RetrievalWarning, match="failed on 1 of .*'how\\?': ConnectionError: no"):
        result = evaluate_retriever(Prepared(answers=answers), ROWS, "mrr")
    assert result.per_query["mrr"] == {"why?": 1.0, "how?": 0.0, "when?": 1.0}
    assert (result.counts["failed"], list(result.errors)) == (1, ["how?"])
    assert isinstance(result.errors["how?"], ConnectionError)


def test_the_first_failure_is_raised_where_that_is_wanted() -> None:
    answers = ANSWERS | {"how?": ConnectionError("no index")}
    with pytest.raises(ConnectionError, match="no index"):
        evaluate_retriever(Prepared(answers=answers), ROWS, "mrr", raise_on_error=True)
    with pytest.raises(ConnectionError, match="no index"):
        asyncio.run(aevaluate_retriever(Prepared(answers=answers), ROWS, "mrr", raise_on_error=True))


def test_chunks_of_one_parent_count_once_and_can_be_collapsed() -> None:
    chunks = [Document(text, metadata={"parent": parent}) for text, parent in [("a", "p"), ("b", "p"), ("c", "q")]]
    retriever = Prepared(answers={"why?": chunks})
    rows = [("why?", ["p", "q"])]
    by_key = evaluate_retriever(retriever, rows, ["map"], match="metadata:parent").means["map"]
    collapsed = rm.Matching(by="metadata:parent", deduplicate=True)
    assert by_key == (1 + 2 / 3) / 2
    assert evaluate_retriever(retriever, rows, ["map"], match=collapsed).means["map"] == 1


@pytest.mark.parametrize("answer", ["a text", {"documents": []}, [("d1", 0.5)], None])
def test_what_is_no_list_of_documents_is_refused(answer: Any) -> None:
    with pytest.raises(TypeError, match=r"must return a list of Documents|the retriever returned None"):
        evaluate_retriever(RunnableLambda(lambda _: answer), ROWS[:1], "mrr")


def test_what_is_no_retriever_is_refused_and_a_store_is_told_what_to_write() -> None:
    store: Any = InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
    with pytest.raises(TypeError, match=r"must be a Runnable.*write store\.as_retriever\(\)"):
        evaluate_retriever(store, ROWS)
    with pytest.raises(TypeError, match="must be a Runnable"):
        asyncio.run(aevaluate_retriever(store, ROWS))


def test_ids_of_documents_against_ids_of_chunks_are_warned_of() -> None:
    with pytest.warns(rm.RetrievalWarning, match="no retrieved document is judged"):
        evaluate_retriever(Prepared(answers=ANSWERS), [(query, ["other"]) for query in ANSWERS], "mrr")


def test_as_many_queries_are_under_way_as_are_allowed() -> None:
    together = threading.Barrier(4, timeout=10)  # breaks, and fails the query, if fewer than 4 come together

    def meet(query: str) -> list[Document]:
        if query != "query 0":  # the first is asked alone, before the others
            together.wait()
        return [Document("a text", id=query)]

    rows = [(f"query {number}", [f"query {number}"]) for number in range(9)]
    assert evaluate_retriever(RunnableLambda(meet), rows, "mrr", max_concurrency=4).means["mrr"] == 1


def test_inside_a_running_loop_both_work() -> None:
    retriever = Prepared(answers=ANSWERS)

    async def notebook() -> list[rm.Evaluation]:
        return [evaluate_retriever(retriever, ROWS, "map"), await aevaluate_retriever(retriever, ROWS, "map")]

    synchronous, asynchronous = asyncio.run(notebook())
    assert synchronous.per_query["map"] == asynchronous.per_query["map"]


def test_callbacks_tags_and_metadata_reach_the_retriever() -> None:
    class Seen(BaseCallbackHandler):
        def __init__(self) -> None:
            self.tags: list[Any] = []

        def on_retriever_start(self, *_: Any, tags: Any = None, metadata: Any = None, **__: Any) -> None:
            self.tags.append((tags, metadata["run"]))

    handler = Seen()
    config: Any = {"callbacks": [handler], "tags": ["evaluation"], "metadata": {"run": 7}}
    evaluate_retriever(Prepared(answers=ANSWERS), ROWS, "mrr", config=config)
    assert handler.tags == [(["evaluation"], 7)] * 3


def test_progress_is_shown_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    evaluate_retriever(Prepared(answers=ANSWERS), ROWS, "mrr", show_progress=True)
    assert "3/3" in capsys.readouterr().err


def test_the_first_answer_is_tried_before_the_others_are_asked() -> None:
    queries = []

    def retrieve(query: str) -> list[Document]:
        queries.append(query)
        return [Document("a text")]

    with pytest.raises(ValueError, match="have no ID"):
        evaluate_retriever(retrieve, [(f"query {number}", ["d1"]) for number in range(50)], "mrr")
    assert len(queries) == 1
    with pytest.raises(ValueError, match="match='metadata:parent'"):
        evaluate_retriever(retrieve, [(f"query {number}", ["d1"]) for number in range(50)], match="metadata:parent")
    assert len(queries) == 2


def test_each_question_has_its_seconds_a_limit_and_more_than_one_attempt() -> None:
    attempts: list[str] = []

    def retrieve(query: str) -> list[Document]:
        attempts.append(query)
        if query == "how?" and attempts.count(query) == 1:
            raise ConnectionError("once")
        return [Document("a text", id="d1")]

    result = evaluate_retriever(retrieve, ROWS, "mrr", retries=1, timeout=30)
    assert (attempts.count("how?"), result.errors, list(result.seconds)) == (2, {}, ["why?", "how?", "when?"])


def test_the_number_of_workers_is_refused_by_its_name_here() -> None:
    with pytest.raises(ValueError, match=r"max_concurrency must be .* got 0"):
        evaluate_retriever(Prepared(answers=ANSWERS), ROWS, max_concurrency=0)


def test_questions_of_one_source_are_a_cluster() -> None:
    rows = [
        {**row, "source": f"{index // 2}.md"}
        for index, row in enumerate([*ROWS, {"query": "who?", "relevant": ["d1"]}])
    ]
    result = evaluate_retriever(Prepared(answers=ANSWERS | {"who?": ["d1"]}), rows, "mrr")
    assert result.scores.clusters is not None
    assert result.scores.clusters.count == 2


CLUSTERS = {f"question {number}": number // 3 for number in range(66)}


RANKINGS = [["x", "d"], ["d", "x"]]


@pytest.mark.parametrize("clusters", [CLUSTERS, CLUSTERS.get, None, "source"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_clusters_are_those_of_the_core(clusters: Any, *, asynchronous: bool) -> None:
    answers = {query: RANKINGS[cluster % 2] for query, cluster in CLUSTERS.items()}
    dataset = [(query, ["d"]) for query in CLUSTERS]
    if asynchronous:
        result = asyncio.run(aevaluate_retriever(Prepared(answers=answers), dataset, "mrr", clusters=clusters))
    else:
        result = evaluate_retriever(Prepared(answers=answers), dataset, "mrr", clusters=clusters)
    core = rm.evaluate({key: ["d"] for key in CLUSTERS}, answers, "mrr", clusters=clusters)
    assert dict(result.intervals()) == dict(core.intervals())
    independent = rm.evaluate({key: ["d"] for key in CLUSTERS}, answers, "mrr", clusters=None)
    assert (dict(core.intervals()) == dict(independent.intervals())) == (clusters is None or clusters == "source")


def test_clusters_that_know_no_question_are_refused_before_anything_is_asked() -> None:
    queries: list[str] = []
    retriever: Any = queries.append
    with pytest.raises(ValueError, match="clusters= has none of the judged queries, such as 'why\\?'"):
        evaluate_retriever(retriever, ROWS, "mrr", clusters={"other": 1})
    assert not queries


def test_retrievers_of_langchain_are_compared_by_the_core() -> None:
    better = Prepared(answers={key: ["d", "x"] for key in "abcdefgh"})
    worse = Prepared(answers={key: ["x", "d"] for key in "abcdefgh"})
    comparison = rm.compare_retrievers(
        {"worse": worse, "better": better}, [(query, ["d"]) for query in "abcdefgh"], "mrr"
    )
    assert comparison.summary[0].startswith("better is better than worse in mrr")
    assert len(comparison.seconds["better"]) == 8


def test_documents_to_leave_out_take_no_rank() -> None:
    documents = [Document("why?", id="q1"), Document("because", id="d1")]
    rows = [{"id": "q1", "query": "why?", "relevant": ["d1"]}]
    for exclude in ("query_id", {"q1": ["q1"]}):
        result = evaluate_retriever(lambda _: documents, rows, "mrr", exclude=exclude)
        assert (result.means["mrr"], result.counts["excluded"]) == (1.0, 1)

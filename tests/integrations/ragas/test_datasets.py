"""Datasets from retrievers: with ids, concurrently, and without losing a failure."""

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from ragas import EvaluationDataset, evaluate

import retrieval_metrics as rm
from ragas_retrieval_metrics import (
    MRR,
    NDCG,
    RetrievalMetric,
    afrom_langchain,
    afrom_llama_index,
    from_langchain,
    from_llama_index,
    metric_suite,
    to_evaluation,
)

llama_retriever = pytest.importorskip("llama_index.core.base.base_retriever")


llama_schema = pytest.importorskip("llama_index.core.schema")


pytestmark = pytest.mark.filterwarnings("ignore:a?evaluate\\(\\) is deprecated:DeprecationWarning")


QUESTIONS: list[dict[str, Any]] = [
    {"id": "q1", "query": "what is a closure?", "relevant": ["closure#1"]},
    {"id": "q2", "query": "what is a cell?", "relevant": ["cell#1", "cell#2"]},
]


RETRIEVED_IDS = {"what is a closure?": ["cell#1", "closure#1"], "what is a cell?": ["cell#2"]}


class NodeRetriever(llama_retriever.BaseRetriever):  # type: ignore[misc, name-defined]  # imported by importorskip
    def _retrieve(self, query_bundle: Any) -> list[Any]:
        return [
            llama_schema.NodeWithScore(
                node=llama_schema.TextNode(
                    id_=document_id,
                    text=f"text of {document_id}",
                    metadata={"page": 7},
                    relationships={
                        llama_schema.NodeRelationship.SOURCE: llama_schema.RelatedNodeInfo(
                            node_id=document_id.split("#")[0]
                        )
                    },
                ),
                score=0.5,
            )
            for document_id in RETRIEVED_IDS[query_bundle.query_str]
        ]


class DocumentRetriever(BaseRetriever):
    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
    ) -> list[Document]:
        return [
            Document(f"text of {document_id}", id=document_id, metadata={"page": 7})
            for document_id in RETRIEVED_IDS[query]
        ]


def build(host: str, questions: Any, **options: Any) -> EvaluationDataset:
    ways: dict[str, Any] = {
        "llama_index": lambda: from_llama_index(NodeRetriever(), questions, **options),
        "langchain": lambda: from_langchain(DocumentRetriever(), questions, **options),
        "llama_index async": lambda: asyncio.run(afrom_llama_index(NodeRetriever(), questions, **options)),
        "langchain async": lambda: asyncio.run(afrom_langchain(DocumentRetriever(), questions, **options)),
    }
    dataset: EvaluationDataset = ways[host]()
    return dataset


HOSTS = ["llama_index", "langchain", "llama_index async", "langchain async"]


@pytest.mark.parametrize("host", HOSTS)
def test_rows_hold_texts_and_the_ids_that_ragas_never_fills(host: str) -> None:
    dataset = build(host, QUESTIONS, show_progress=False)
    assert dataset.to_list() == [
        {
            "user_input": "what is a closure?",
            "retrieved_contexts": ["text of cell#1", "text of closure#1"],
            "retrieved_context_ids": ["cell#1", "closure#1"],
            "reference_context_ids": ["closure#1"],
        },
        {
            "user_input": "what is a cell?",
            "retrieved_contexts": ["text of cell#2"],
            "retrieved_context_ids": ["cell#2"],
            "reference_context_ids": ["cell#1", "cell#2"],
        },
    ]
    result: Any = evaluate(dataset, metric_suite(k=3), show_progress=False)
    expected = rm.evaluate(
        {row["query"]: row["relevant"] for row in QUESTIONS}, RETRIEVED_IDS, [m.metric for m in metric_suite(k=3)]
    )
    evaluation = to_evaluation(result)
    assert dict(evaluation.means) == dict(expected.means)
    assert evaluation.counts == expected.counts


@pytest.mark.parametrize("host", HOSTS)
def test_progress_is_shown_on_stderr_unless_it_is_not_wanted(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    build(host, QUESTIONS)
    assert "2/2" in capsys.readouterr().err
    build(host, QUESTIONS, show_progress=False)
    assert not capsys.readouterr().err


def test_queries_and_qrels_may_come_apart() -> None:
    texts = {str(row["id"]): str(row["query"]) for row in QUESTIONS}
    qrels = {str(row["id"]): list(row["relevant"]) for row in QUESTIONS}
    together = build("langchain", QUESTIONS, show_progress=False).to_list()
    assert build("langchain", texts, qrels=qrels, show_progress=False).to_list() == together
    by_text = {texts[query]: relevant for query, relevant in qrels.items()}
    assert build("langchain", list(texts.values()), qrels=by_text, show_progress=False).to_list() == together
    with pytest.raises(ValueError, match="no judgments for 1 of 2 queries, for example 'q2'"):
        build("langchain", texts, qrels={"q1": ["closure#1"]}, show_progress=False)


@pytest.mark.parametrize(
    "relevant",
    [{"cell#1": 2, "cell#2": 1}, [["cell#1", "cell#2"]], [{"cell#1": 2}], [rm.Quote("text of cell#2")], {"cell#1": 0}],
)
def test_what_no_list_can_say_is_left_to_qrels_and_never_flattened(relevant: Any) -> None:
    questions = rm.EvaluationSet.from_dataset([QUESTIONS[0], {**QUESTIONS[1], "relevant": relevant}])
    dataset = build("langchain", questions, show_progress=False)
    assert not any("reference_context_ids" in row for row in dataset.to_list())
    with pytest.raises(ValueError, match=r"\['reference_context_ids'\]"):
        evaluate(dataset, [MRR(by="ids")], show_progress=False)
    if any(isinstance(piece, rm.Quote) for piece in relevant):
        return
    result: Any = evaluate(dataset, [NDCG(3, qrels=questions)], show_progress=False)
    ids = rm.evaluate(questions.qrels, {"q1": RETRIEVED_IDS["what is a closure?"], "q2": ["cell#2"]}, "ndcg@3")
    assert str(result[next(iter(result.scores[0]))]) == str(list(ids.per_query["ndcg@3"].values()))


def test_reference_texts_become_reference_contexts() -> None:
    relevant = [rm.Text("text of cell 1"), rm.Text("text of cell#2")]
    dataset = build("llama_index", [{**QUESTIONS[1], "relevant": relevant}], show_progress=False)
    assert dataset[0].reference_contexts == ["text of cell 1", "text of cell#2"]  # type: ignore[union-attr]  # a single turn
    result: Any = evaluate(dataset, [RetrievalMetric("recall", by="texts")], show_progress=False)
    assert result["recall-by-texts"] == [0.5]


def test_items_may_be_named_otherwise_than_by_their_id() -> None:
    by_source = from_llama_index(
        NodeRetriever(), {"what is a cell?": ["cell"]}, match="source", show_progress=False
    ).to_list()
    assert by_source[0]["retrieved_context_ids"] == ["cell"]
    for host in HOSTS:
        questions: Any = {"what is a cell?": [7]}
        assert build(host, questions, match="metadata:page", show_progress=False)[0].retrieved_context_ids == [7]  # type: ignore[union-attr]  # a single turn
        named = build(host, QUESTIONS, match=lambda item: f"{item.id}!", show_progress=False)
        assert named[1].retrieved_context_ids == ["cell#2!"]  # type: ignore[union-attr]  # a single turn


@pytest.mark.parametrize("host", ["llama_index", "langchain"])
def test_an_item_brings_its_place_and_its_score(host: str) -> None:
    items: list[rm.Retrieved] = []

    def name(item: rm.Retrieved) -> str:
        items.append(item)
        return f"{item.source}:{item.start}-{item.end}"

    node = llama_schema.TextNode(id_="a", text="about yield", start_char_idx=40, end_char_idx=51)
    node.relationships[llama_schema.NodeRelationship.SOURCE] = llama_schema.RelatedNodeInfo(node_id="yield.txt")
    metadata = {"source": "yield.txt", "start_index": 40, "relevance_score": 0.5}

    class Nodes(llama_retriever.BaseRetriever):  # type: ignore[misc, name-defined]  # imported by importorskip
        def _retrieve(self, query_bundle: Any) -> list[Any]:
            del query_bundle
            return [llama_schema.NodeWithScore(node=node, score=0.5)]

    questions = {"what does yield do?": ["yield.txt:40-51"]}
    if host == "llama_index":
        dataset = from_llama_index(Nodes(), questions, match=name, show_progress=False)
    else:
        documents = [Document("about yield", metadata=metadata)]
        dataset = from_langchain(RunnableLambda(lambda _: documents), questions, match=name, show_progress=False)
    assert dataset[0].retrieved_context_ids == ["yield.txt:40-51"]  # type: ignore[union-attr]  # a single turn
    assert {item.score for item in items} == {0.5}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    ("match", "error", "message"),
    [
        ("metadata:key", ValueError, r"no document retrieved for query 'q1' has a value for match='metadata:key'"),
        (lambda _: 0.5, TypeError, "must be str or int, got float"),
        ("name", ValueError, "match must be 'id', 'source', 'filename', 'metadata:<name>' or a callable, got 'name'"),
    ],
)
def test_an_item_without_an_id_is_an_error_and_no_failure_of_the_retriever(
    host: str, match: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        build(host, QUESTIONS, match=match, show_progress=False)


def test_a_document_of_langchain_without_an_id_is_named() -> None:
    anonymous: Any = RunnableLambda(lambda _: [Document("text")])
    with pytest.raises(ValueError, match="1 of 1 documents retrieved for query 'q1' have no ID"):
        from_langchain(anonymous, QUESTIONS, show_progress=False)


@pytest.mark.parametrize("host", HOSTS)
def test_a_query_whose_retriever_fails_scores_0_and_is_heard(host: str) -> None:
    questions = [*QUESTIONS, {"id": "q3", "query": "unknown", "relevant": ["x"]}]
    with pytest.warns(rm.RetrievalWarning, match=r"failed for 1 of 3 queries, for example 'q3': KeyError: 'unknown'"):
        dataset = build(host, questions, show_progress=False)
    assert dataset[2].retrieved_context_ids == []  # type: ignore[union-attr]  # a single turn
    result: Any = evaluate(dataset, [MRR()], show_progress=False)
    assert result["mrr"] == [0.5, 1.0, 0.0]
    assert to_evaluation(result).counts["missing"] == 1
    with pytest.raises(KeyError, match="unknown"):
        build(host, questions, show_progress=False, raise_on_error=True)


@pytest.mark.parametrize("options", [{"qrels": {"q1": "closure#1", "q2": []}}, {"match": "name"}])
def test_what_is_wrong_with_the_questions_is_said_before_anything_is_retrieved(options: dict[str, Any]) -> None:
    received_queries: list[str] = []
    retriever: Any = RunnableLambda(received_queries.append)
    texts = {str(row["id"]): str(row["query"]) for row in QUESTIONS}
    arguments = {"qrels": {"q1": [], "q2": []}, "show_progress": False, **options}
    with pytest.raises((TypeError, ValueError), match=r"bare string 'closure#1'|match must be 'id'"):
        from_langchain(retriever, texts, **arguments)
    assert not received_queries


def test_queries_are_under_way_at_once() -> None:
    both_here = threading.Barrier(2, timeout=10)

    class Waiting(DocumentRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
            if query == "first":
                return []  # it is asked alone, before the others
            both_here.wait()  # breaks, and fails the query, unless two are here at the same time
            return super()._get_relevant_documents(query, run_manager=run_manager)

    questions = [{"id": "q0", "query": "first", "relevant": ["x"]}, *QUESTIONS]
    dataset = from_langchain(Waiting(), questions, workers=2, show_progress=False)
    assert [row["retrieved_context_ids"] for row in dataset.to_list()] == [[], *RETRIEVED_IDS.values()]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: from_llama_index(DocumentRetriever(), QUESTIONS),
            "the retriever must be one of LlamaIndex, got an object of type DocumentRetriever; .*rm.retrieve",
        ),
        (
            lambda: from_langchain(NodeRetriever(), QUESTIONS),
            "the retriever must be one of LangChain, got an object of type NodeRetriever; .*rm.retrieve",
        ),
        (lambda: from_langchain(DocumentRetriever(), 7), "a dataset is a list of"),
    ],
)
def test_what_is_no_retriever_or_no_dataset_is_refused(make: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make()


PAGE = "The yield expression is used when defining a generator. A lambda is an anonymous function."


CHUNKS = {
    "what makes a generator?": [(56, 90), (0, 55)],
    "what is a lambda?": [(56, 90)],
}


def retrieve_chunks(query: str) -> list[Document]:
    return [
        Document(PAGE[start:end], metadata={"source": "page.txt", "start_index": start, "owner": "docs"})
        for start, end in CHUNKS[query]
    ]


def test_a_function_in_place_of_a_retriever_is_told_what_to_pass() -> None:
    def search(text: str) -> list[str]:
        return [text]

    retriever: Any = search
    message = r"one of LangChain, got the function search; pass RunnableLambda\(function\) if .*rm\.retrieve\("
    with pytest.raises(TypeError, match=message):
        from_langchain(retriever, {"what?": ["d1"]})

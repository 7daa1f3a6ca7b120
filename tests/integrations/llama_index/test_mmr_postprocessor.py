"""The MMR postprocessor: the textbook's order, vectors reused, nothing changed but the order."""

import asyncio
import copy
import json
import pickle
import random
from typing import Any

import pytest
from llama_index.core import MockEmbedding, Settings, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.response.schema import Response
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.evaluation import RetrieverEvaluator as StockRetrieverEvaluator
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]  # the host re-exports it without saying so
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import SimpleFileNodeParser
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers.no_text import NoText
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from llama_index.evaluation.retrieval_metrics import MMRPostprocessor, RetrieverEvaluator, ranking_metrics
from llama_index_hosts import Prepared


class Counting(BaseEmbedding):
    """The vector of a text is written in it; what is asked for is remembered."""

    _texts: list[list[str]] = PrivateAttr(default_factory=list)
    _queries: list[str] = PrivateAttr(default_factory=list)

    def _get_text_embedding(self, text: str) -> list[float]:
        return [float(number) for number in json.loads(text)]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        self._texts.append(texts)
        return [self._get_text_embedding(text) for text in texts]

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._get_text_embeddings(texts)

    def _get_query_embedding(self, query: str) -> list[float]:
        self._queries.append(query)
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class Refusing(Counting):
    """Must not be asked."""

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        raise AssertionError(f"asked for {texts}")

    def _get_query_embedding(self, query: str) -> list[float]:
        raise AssertionError(f"asked for {query}")


def nodes_of(vectors: list[list[float]], *, embedded: bool = True) -> list[NodeWithScore]:
    nodes = []
    for index, vector in enumerate(vectors):
        node = TextNode(id_=str(index), text=json.dumps(vector), embedding=vector if embedded else None)
        nodes.append(NodeWithScore(node=node, score=1.0 - index / 10))
    return nodes


def random_vector(rng: random.Random) -> list[float]:
    return [rng.gauss(0, 1) for _ in range(4)]


def cosine(left: list[float], right: list[float]) -> float:
    lengths = (sum(x * x for x in left) * sum(x * x for x in right)) ** 0.5
    return sum(x * y for x, y in zip(left, right, strict=True)) / lengths if lengths else 0.0


def textbook(relevance: list[float], vectors: list[list[float]], lambda_mult: float, k: int) -> list[int]:
    """The definition, as a loop."""
    remaining = list(range(len(vectors)))
    chosen: list[int] = []

    def value(index: int) -> float:
        if not chosen:
            return relevance[index]
        nearest = max(cosine(vectors[index], vectors[other]) for other in chosen)
        return lambda_mult * relevance[index] - (1 - lambda_mult) * nearest

    while remaining and len(chosen) < k:
        best = max(remaining, key=lambda index: (value(index), -index))
        remaining.remove(best)
        chosen.append(best)
    return chosen


def ids(nodes: list[NodeWithScore]) -> list[int]:
    return [int(node.node_id) for node in nodes]


def reranked(
    rerank: MMRPostprocessor, nodes: list[NodeWithScore], bundle: QueryBundle, *, asynchronous: bool
) -> list[NodeWithScore]:
    if asynchronous:
        return asyncio.run(rerank.apostprocess_nodes(nodes, bundle))
    return rerank.postprocess_nodes(nodes, bundle)


@pytest.mark.parametrize("embedded", [True, False])
@pytest.mark.parametrize("lambda_mult", [0, 0.3, 0.5, 1])
@pytest.mark.parametrize("relevance", ["query", "score", "rank"])
def test_the_order_is_the_textbooks_sync_and_async(*, embedded: bool, lambda_mult: float, relevance: Any) -> None:
    rng = random.Random(7)
    for _ in range(15):
        n = rng.randint(2, 9)
        k = rng.randint(1, 9)
        vectors = [random_vector(rng) for _ in range(n)]
        query = random_vector(rng)
        nodes = nodes_of(vectors, embedded=embedded)
        scores = [1 - index / (n - 1) for index in range(n)]
        relevances = scores if relevance != "query" else [cosine(query, vector) for vector in vectors]
        expected = textbook(relevances, vectors, lambda_mult, k)
        rerank = MMRPostprocessor(top_n=k, lambda_mult=lambda_mult, relevance=relevance, embed_model=Counting())
        assert ids(rerank.postprocess_nodes(nodes, query_str=json.dumps(query))) == expected
        assert ids(asyncio.run(rerank.apostprocess_nodes(nodes, QueryBundle(json.dumps(query))))) == expected


@pytest.mark.parametrize("asynchronous", [False, True])
def test_vectors_that_are_there_are_reused_and_the_others_made_in_one_batch(*, asynchronous: bool) -> None:
    nodes = nodes_of([[1, 0], [0.9, 0.1], [0, 1], [0.5, 0.5]])
    for index in (1, 3):
        nodes[index].node.embedding = None
    model = Counting()
    rerank = MMRPostprocessor(embed_model=model)

    reranked(rerank, nodes, QueryBundle("[1, 0]"), asynchronous=asynchronous)
    assert model._texts == [["[0.9, 0.1]", "[0.5, 0.5]"]]
    assert model._queries == ["[1, 0]"]
    reranked(rerank, nodes, QueryBundle("[1, 0]", embedding=[1.0, 0.0]), asynchronous=asynchronous)
    assert model._queries == ["[1, 0]"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_nobody_is_asked_where_every_vector_is_there(*, asynchronous: bool) -> None:
    nodes = nodes_of([[1, 0], [1, 0], [0, 1]])
    bundle = QueryBundle("q", embedding=[1.0, 0.2])
    rerank = MMRPostprocessor(embed_model=Refusing())
    assert ids(reranked(rerank, nodes, bundle, asynchronous=asynchronous)) == [0, 2, 1]


def test_only_the_order_changes() -> None:
    nodes = nodes_of([[1, 0], [1, 0], [0, 1]], embedded=False)
    before = copy.deepcopy(nodes)
    bundle = QueryBundle("[1, 0.5]")
    reranked = MMRPostprocessor(embed_model=Counting()).postprocess_nodes(nodes, bundle)
    assert nodes == before
    assert bundle == QueryBundle("[1, 0.5]")
    assert [node.score for node in reranked] == [nodes[index].score for index in ids(reranked)]
    assert all(node is nodes[int(node.node_id)] for node in reranked)


def test_the_model_of_the_settings_is_taken_only_where_one_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Counting()
    monkeypatch.setattr(Settings, "_embed_model", model)
    nodes = nodes_of([[1, 0], [0, 1]], embedded=False)
    MMRPostprocessor().postprocess_nodes(nodes, query_str="[1, 0]")
    assert model._queries == ["[1, 0]"]


def test_vectors_of_a_model_that_is_gone_are_not_taken_for_those_of_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = nodes_of([[1, 0], [0, 1]], embedded=False)
    rerank = MMRPostprocessor()
    for _ in range(20):  # some are made where one was that is gone, and have its `id`
        model = Counting()
        with monkeypatch.context() as patched:
            patched.setattr(Settings, "_embed_model", model)
            rerank.postprocess_nodes(nodes, query_str="[1, 0]")
        assert model._texts == [["[1, 0]", "[0, 1]"]]
        del model


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_and_a_single_node_need_no_vector(n: int) -> None:
    nodes = nodes_of([[1, 0]], embedded=False)[:n]
    rerank = MMRPostprocessor(embed_model=Refusing())
    for reranked in (rerank.postprocess_nodes(nodes), asyncio.run(rerank.apostprocess_nodes(nodes))):
        assert reranked == nodes
        assert reranked is not nodes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"top_n": 0}, "top_n\n.*greater than or equal to 1"),
        ({"lambda_mult": 1.5}, "lambda_mult\n.*less than or equal to 1.*input_value=1.5"),
        ({"lambda_mult": float("nan")}, "lambda_mult\n"),
        ({"relevance": "order"}, "relevance\n.*'query', 'score' or 'rank'.*input_value='order'"),
        ({"mmr_threshold": 0.5}, "mmr_threshold\n.*Extra inputs are not permitted"),
    ],
)
def test_a_wrong_argument_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MMRPostprocessor(**arguments)


def test_what_is_missing_is_named() -> None:
    nodes = nodes_of([[1, 0], [0, 1]])
    with pytest.raises(ValueError, match=r"pass query_bundle or query_str, or use relevance='score' or 'rank'"):
        MMRPostprocessor().postprocess_nodes(nodes)
    nodes[1].score = None
    with pytest.raises(ValueError, match="needs a finite score, but node '1' has None"):
        MMRPostprocessor(relevance="score").postprocess_nodes(nodes)
    nodes[1].node.embedding = [1.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="node '1' has a vector of 3 numbers and node '0' one of 2: they come"):
        MMRPostprocessor().postprocess_nodes(nodes, QueryBundle("q", embedding=[1.0, 0.0]))


def test_equal_scores_leave_the_choice_to_diversity() -> None:
    nodes = nodes_of([[1, 0], [1, 0], [0, 1]])
    for scored in nodes:
        scored.score = 0.25
    assert ids(MMRPostprocessor(relevance="score").postprocess_nodes(nodes)) == [0, 2, 1]


@pytest.mark.filterwarnings("error")
def test_scores_whose_difference_overflows_are_scaled_like_any_others() -> None:
    nodes = nodes_of([[1, 0], [0, 1], [1, 1]])
    for scored, score in zip(nodes, [-1e308, 1e308, 0.0], strict=True):
        scored.score = score
    assert ids(MMRPostprocessor(relevance="score", lambda_mult=1).postprocess_nodes(nodes)) == [1, 2, 0]


def index(model: BaseEmbedding) -> VectorStoreIndex:
    nodes = [scored.node for scored in nodes_of([[1, 0], [0.99, 0.01], [0.5, 0.8]])]
    return VectorStoreIndex(nodes, embed_model=model, transformations=[SimpleFileNodeParser()])


@pytest.mark.parametrize("kind", [RetrieverEvaluator, StockRetrieverEvaluator])
def test_it_works_in_both_evaluators(kind: type[StockRetrieverEvaluator]) -> None:
    model = Counting()
    evaluator = kind(
        metrics=ranking_metrics(["mrr"]),
        retriever=index(model).as_retriever(similarity_top_k=3),
        node_postprocessors=[MMRPostprocessor(top_n=2, embed_model=model)],
    )
    assert evaluator.evaluate("[1, 0.1]", ["2"]).retrieved_ids == ["1", "2"]


def test_the_vector_that_the_retriever_made_of_the_query_is_reused() -> None:
    model = Counting()
    retriever = index(model).as_retriever(similarity_top_k=3)
    bundle = QueryBundle("[1, 0.1]")
    reranked = MMRPostprocessor(embed_model=model).postprocess_nodes(retriever.retrieve(bundle), bundle)
    assert ids(reranked) == [1, 2, 0]
    assert model._queries == ["[1, 0.1]"]


def test_it_works_in_a_query_engine_sync_and_async() -> None:
    model = Counting()
    engine = RetrieverQueryEngine(
        index(model).as_retriever(similarity_top_k=3),
        node_postprocessors=[MMRPostprocessor(top_n=2, embed_model=model)],
        response_synthesizer=NoText(llm=MockLLM()),
    )

    def response_ids(response: Any) -> list[int]:
        assert isinstance(response, Response)
        return ids(response.source_nodes)

    assert response_ids(engine.query("[1, 0.1]")) == response_ids(asyncio.run(engine.aquery("[1, 0.1]"))) == [1, 2]


def test_it_is_serialised_and_pickled() -> None:
    rerank = MMRPostprocessor(top_n=3, lambda_mult=0.7, relevance="score")
    assert rerank.to_dict()["class_name"] == "MMRPostprocessor"
    assert MMRPostprocessor.from_json(rerank.to_json()).to_dict() == rerank.to_dict()
    assert pickle.loads(pickle.dumps(rerank)).to_dict() == rerank.to_dict()


def test_a_reranked_retriever_that_is_only_synchronous_is_evaluated() -> None:
    retriever = Prepared({"q": nodes_of([[1, 0], [1, 0], [0, 1]])})
    rerank = MMRPostprocessor(relevance="score", lambda_mult=0.4)
    evaluator = RetrieverEvaluator.from_metric_names(["mrr"], retriever=retriever, node_postprocessors=[rerank])
    assert evaluator.evaluate_dataset([("q", ["2"])])[0].metric_vals_dict == {"mrr": 0.5}


class Counted(BaseEmbedding):
    """Embeds by prepared letters and counts how often it is asked for the query."""

    n_asked: int = 0

    @classmethod
    def class_name(cls) -> str:
        return "Counted"

    def _get_text_embedding(self, text: str) -> list[float]:
        return [1.0 + text.count(letter) for letter in "abc"]

    def _get_query_embedding(self, query: str) -> list[float]:
        self.n_asked += 1
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


def test_it_is_made_again_from_its_dict_with_its_model() -> None:
    original = MMRPostprocessor(top_n=2, lambda_mult=0.3, embed_model=MockEmbedding(embed_dim=3))
    again = MMRPostprocessor.from_dict(original.to_dict())
    assert again.to_dict() == original.to_dict()
    assert isinstance(again.embed_model, MockEmbedding)
    assert isinstance(MMRPostprocessor.from_json(original.to_json()).embed_model, MockEmbedding)
    own = MMRPostprocessor.from_dict(MMRPostprocessor(embed_model=Counted()).to_dict())
    assert isinstance(own.embed_model, Counted)
    with pytest.raises(ValueError, match="the class of embed_model is 'Elsewhere', which no imported class has"):
        MMRPostprocessor.from_dict({"embed_model": {"class_name": "Elsewhere"}})


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_query_is_embedded_once(asynchronous: bool) -> None:
    model = Counted()
    index = VectorStoreIndex([TextNode(id_=text, text=text) for text in ("aa", "ab", "bc")], embed_model=model)
    ours = RetrieverEvaluator.from_metric_names(
        ["mrr"],
        retriever=index.as_retriever(similarity_top_k=3),
        node_postprocessors=[MMRPostprocessor(embed_model=model)],
    )
    rows = [("aa", ["aa"]), ("bc", ["bc"])]
    result = asyncio.run(ours.aevaluate_dataset(rows)) if asynchronous else ours.evaluate_dataset(rows)
    assert (result.errors, model.n_asked) == ({}, len(rows))


def test_the_events_of_a_reranker_are_sent() -> None:
    events: list[BaseEvent] = []

    class Keeps(BaseEventHandler):
        def handle(self, event: BaseEvent, **_: Any) -> None:
            events.append(event)

    root = get_dispatcher()
    handler = Keeps()
    root.add_event_handler(handler)
    try:
        nodes = [NodeWithScore(node=TextNode(id_=text, text=text)) for text in ("aa", "ab", "bc")]
        MMRPostprocessor(top_n=2, embed_model=Counted()).postprocess_nodes(nodes, query_str="aa")
    finally:
        root.event_handlers.remove(handler)
    start, end = [event for event in events if isinstance(event, (ReRankStartEvent, ReRankEndEvent))]
    assert isinstance(start, ReRankStartEvent)
    assert (start.top_n, start.model_name, len(start.nodes)) == (2, "MMRPostprocessor", 3)
    assert isinstance(start.query, QueryBundle)
    assert isinstance(end, ReRankEndEvent)
    assert len(end.nodes) == 2

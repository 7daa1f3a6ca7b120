"""MMR as a ranker: the order of the core, from embeddings that are there or are made."""

import asyncio
from typing import Any

import numpy as np
import pytest
from haystack import Document, Pipeline
from haystack.components.embedders import MockDocumentEmbedder, MockTextEmbedder

import retrieval_metrics as rm
from haystack_hosts import DocumentsEmbedder, Embedder
from haystack_integrations.components.rankers.retrieval_metrics import MMRRanker

RNG = np.random.default_rng(3)
VECTORS = RNG.standard_normal((30, 8))
QUERY = RNG.standard_normal(8).tolist()
DOCUMENTS = [
    Document(id=f"d{number}", content=f"text {number}", embedding=vector.tolist(), score=float(30 - number) ** 2)
    for number, vector in enumerate(VECTORS)
]
WITHOUT_EMBEDDING = [Document(id=document.id, content=document.content) for document in DOCUMENTS]
VECTOR_BY_TEXT = {str(document.content): document.embedding or [] for document in DOCUMENTS} | {"a query": QUERY}


def ids(outputs: dict[str, Any]) -> list[str]:
    return [document.id for document in outputs["documents"]]


def names(selection: Any) -> list[str]:
    return [f"d{index}" for index in selection]


@pytest.mark.parametrize("lambda_mult", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("top_k", [1, 10, None, 99])
def test_the_order_is_that_of_the_core(lambda_mult: float, top_k: int | None) -> None:
    ranker = MMRRanker(top_k=top_k, lambda_mult=lambda_mult)
    expected = names(rm.mmr(QUERY, VECTORS, k=top_k, lambda_mult=lambda_mult))
    assert ids(ranker.run(DOCUMENTS, query_embedding=QUERY)) == expected
    assert ids(asyncio.run(ranker.run_async(DOCUMENTS, query_embedding=QUERY))) == expected


def test_relevance_may_be_the_score_or_the_rank_and_then_no_query_is_needed() -> None:
    scores = np.array([document.score for document in DOCUMENTS])
    by_score = rm.mmr(None, VECTORS, k=5, relevance=(scores - 1) / (900 - 1))
    assert ids(MMRRanker(top_k=5, relevance="score").run(DOCUMENTS)) == names(by_score)
    by_rank = rm.mmr(None, VECTORS, k=5, relevance=np.linspace(1, 0, 30))
    assert ids(MMRRanker(top_k=5, relevance="rank").run(DOCUMENTS)) == names(by_rank)


def test_the_settings_of_one_call_win() -> None:
    outputs = MMRRanker(top_k=5).run(DOCUMENTS, query_embedding=QUERY, top_k=3, lambda_mult=1.0)
    assert ids(outputs) == names(rm.mmr(QUERY, VECTORS, k=3, lambda_mult=1.0))


def test_embedders_embed_what_has_no_vector_and_nothing_else() -> None:
    text_embedder = Embedder(VECTOR_BY_TEXT)
    document_embedder = DocumentsEmbedder(VECTOR_BY_TEXT)
    ranker = MMRRanker(text_embedder, document_embedder, top_k=10)
    mixed = WITHOUT_EMBEDDING[:4] + DOCUMENTS[4:]
    outputs = ranker.run(mixed, query="a query")
    assert ids(outputs) == names(rm.mmr(QUERY, VECTORS, k=10))
    assert (text_embedder.asked, document_embedder.asked) == (["a query"], ["text 0", "text 1", "text 2", "text 3"])
    assert all(returned in mixed for returned in outputs["documents"])  # as they came, those without an embedding too
    assert ids(asyncio.run(ranker.run_async(mixed, query="a query"))) == ids(outputs)


def test_what_was_handed_over_comes_back_and_stays_as_it_was() -> None:
    before = [document.to_dict() for document in DOCUMENTS]
    ranked = MMRRanker(top_k=None).run(DOCUMENTS, query_embedding=QUERY)["documents"]
    assert [document.to_dict() for document in DOCUMENTS] == before
    originals = set(map(id, DOCUMENTS))
    assert originals.issuperset(map(id, ranked))


def test_of_documents_with_one_id_the_highest_score_is_kept() -> None:
    higher = Document(id="d1", content="the same, scored higher", embedding=DOCUMENTS[1].embedding, score=10_000.0)
    lower = Document(id="d0", content="the same, scored lower", embedding=DOCUMENTS[0].embedding)
    ranked = MMRRanker(top_k=None).run([*DOCUMENTS, higher, lower], query_embedding=QUERY)["documents"]
    assert sorted(document.id for document in ranked) == sorted(document.id for document in DOCUMENTS)
    assert {document.content for document in ranked} >= {"the same, scored higher", "text 0"}


def test_nothing_to_rank_is_no_error_and_asks_no_embedder() -> None:
    assert MMRRanker().run([]) == {"documents": []}
    assert asyncio.run(MMRRanker().run_async([])) == {"documents": []}


def test_it_stands_in_a_pipeline_behind_a_retriever_and_survives_saving() -> None:
    pipeline = Pipeline()
    pipeline.add_component("embedder", MockTextEmbedder(dimension=16))
    pipeline.add_component("documents", MockDocumentEmbedder(dimension=16))
    pipeline.add_component("ranker", MMRRanker(top_k=4, lambda_mult=0.3))
    pipeline.connect("documents.documents", "ranker.documents")
    pipeline.connect("embedder.embedding", "ranker.query_embedding")
    data: Any = {"embedder": {"text": "a query"}, "documents": {"documents": WITHOUT_EMBEDDING}}
    embedded = MockDocumentEmbedder(dimension=16).run(documents=WITHOUT_EMBEDDING)["documents"]
    query = MockTextEmbedder(dimension=16).run(text="a query")["embedding"]
    expected = names(rm.mmr(query, [document.embedding for document in embedded], k=4, lambda_mult=0.3))
    for document in (pipeline, Pipeline.loads(pipeline.dumps())):
        assert ids(document.run(data)["ranker"]) == expected
        assert ids(asyncio.run(document.run_async(data))["ranker"]) == expected


def test_embedders_survive_saving() -> None:
    ranker = MMRRanker(
        MockTextEmbedder(dimension=16), MockDocumentEmbedder(dimension=16), relevance="query", top_k=None
    )
    loaded = MMRRanker.from_dict(ranker.to_dict())
    assert loaded.to_dict() == ranker.to_dict()
    assert ids(loaded.run(WITHOUT_EMBEDDING, query="a query")) == ids(ranker.run(WITHOUT_EMBEDDING, query="a query"))
    loaded.warm_up()
    MMRRanker().warm_up()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lambda_mult": 1.5}, r"1\.5"),
        ({"lambda_mult": float("nan")}, "nan"),
        ({"top_k": 0}, "top_k must be a positive integer or None, got 0"),
        ({"relevance": "scores"}, "relevance must be one of 'query', 'score', 'rank', got 'scores'"),
    ],
)
def test_a_wrong_setting_is_refused_when_it_is_made(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MMRRanker(**settings)


LONGER = Document(id="long", content="longer", embedding=[1.0] * 9)
BROKEN = Document(id="nan", content="broken", embedding=[1.0] * 7 + [float("nan")])


@pytest.mark.parametrize(
    ("ranker", "documents", "query", "message"),
    [
        (
            MMRRanker(),
            WITHOUT_EMBEDDING,
            QUERY,
            "document 'd0', text 0, has no embedding, nor have 29 others; .* return_embedding",
        ),
        (MMRRanker(), DOCUMENTS, None, "needs a query_embedding, or a query and a text_embedder"),
        (MMRRanker(relevance="score"), [LONGER], None, "a finite score, but document 'long', longer, has None"),
        (MMRRanker(), [*DOCUMENTS, LONGER], QUERY, "'long', longer, has an embedding of 9 numbers, and document 'd0'"),
        (MMRRanker(), [*DOCUMENTS, BROKEN], QUERY, "the embedding of document 'nan', broken, must hold finite numbers"),
    ],
)
def test_what_is_missing_is_named(ranker: Any, documents: list[Document], query: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ranker.run(documents, query_embedding=query)
    with pytest.raises(ValueError, match=message):
        asyncio.run(ranker.run_async(documents, query_embedding=query))

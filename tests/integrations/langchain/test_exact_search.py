"""The exact modes that the guide to changes names give the neighbours of a matrix product."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm

chance = np.random.default_rng(5)
VECTORS = chance.normal(size=(200, 16)).astype(np.float32)
VECTORS /= np.linalg.norm(VECTORS, axis=1, keepdims=True)
QUESTIONS = VECTORS[:20] + chance.normal(size=(20, 16)).astype(np.float32) / 4


def run_of(scores: Any) -> dict[str, dict[str, float]]:
    run = {}
    for number, row in enumerate(np.asarray(scores)):
        best = np.argsort(-row)[:15]
        run[f"q{number}"] = {f"d{document}": float(row[document]) for document in best}
    return run


def with_faiss() -> dict[str, dict[str, float]]:
    faiss = import_module("faiss")
    index = faiss.IndexFlatIP(16)
    index.add(VECTORS)
    scores, positions = index.search(np.ascontiguousarray(QUESTIONS), 15)
    run = {}
    for number, ranking in enumerate(positions):
        run[f"q{number}"] = {
            f"d{document}": float(score) for document, score in zip(ranking, scores[number], strict=True)
        }
    return run


def with_chroma() -> dict[str, dict[str, float]]:
    collection = import_module("chromadb").EphemeralClient().get_or_create_collection("exact_search")
    collection.upsert(ids=[f"d{number}" for number in range(200)], embeddings=VECTORS.tolist())
    stored = collection.get(include=["embeddings"])
    positions = [stored["ids"].index(f"d{number}") for number in range(200)]
    return run_of(QUESTIONS @ np.asarray(stored["embeddings"])[positions].T)


def with_qdrant() -> dict[str, dict[str, float]]:
    models = import_module("qdrant_client.models")
    client = import_module("qdrant_client").QdrantClient(":memory:")
    client.create_collection("c", models.VectorParams(size=16, distance=models.Distance.DOT))
    client.upsert("c", [models.PointStruct(id=number, vector=vector.tolist()) for number, vector in enumerate(VECTORS)])
    exact = models.SearchParams(exact=True)
    run = {}
    for n, vector in enumerate(QUESTIONS):
        points = client.query_points("c", vector.tolist(), search_params=exact, limit=15).points
        run[f"q{n}"] = {f"d{point.id}": float(point.score) for point in points}
    client.close()
    return run


@pytest.mark.filterwarnings("ignore::UserWarning")  # the local client says that it is one
@pytest.mark.parametrize("search", [with_faiss, with_chroma, with_qdrant])
def test_an_exact_mode_finds_what_the_matrix_product_finds(search: Any) -> None:
    changes = rm.changes(run_of(QUESTIONS @ VECTORS.T), search(), ["overlap@10", "rbo"], tolerance=1e-5)
    assert changes.means["overlap@10"] == 1.0
    assert changes.means["rbo"] > 0.999

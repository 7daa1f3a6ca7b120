"""Texts, and embeddings of LangChain for them, in clusters as those of real texts are."""

import uuid

import numpy as np
from langchain_core.embeddings import Embeddings

N = 200
D = 16


def text_vector(text: str) -> list[float]:
    """Vectors in clusters, as those of texts are."""
    seed = [*text.encode()]
    centre = np.random.default_rng(sum(seed) % 8).normal(size=D)
    vector = centre + 0.7 * np.random.default_rng(seed).normal(size=D)
    return [float(value) for value in vector]


class Counting(Embeddings):
    """Counts what it embeds."""

    def __init__(self) -> None:
        self.texts = 0
        self.queries = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts += len(texts)
        return [text_vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.queries += 1
        return text_vector(text)


NAMES = [str(uuid.UUID(int=number + 1)) for number in range(N)]  # the only ids besides integers that Qdrant takes
TEXTS = [f"text {number}" for number in range(N)]
KINDS = {"integers": [*range(N)], "strings": [f"d{number}" for number in range(N)], "UUIDs": NAMES}

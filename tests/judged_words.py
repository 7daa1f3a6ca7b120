"""Texts of random words and questions about them, judged by the words they share: 20 questions, 40 documents."""

import re

import numpy as np

WORDS = re.findall(
    r"\w+",
    "assert block break bytes class close compare context decorator dict enter except exit finally float format "
    "generator global handler import iterate lambda list method module name object open raise return scope slice",
)
"""No word contains another."""

_RNG = np.random.default_rng(7)
TEXTS = {f"d{at}": " ".join(_RNG.choice(WORDS, size=9)) for at in range(40)}
QUESTIONS = {f"q{at}": " ".join(_RNG.choice(WORDS, size=3, replace=False)) for at in range(20)}


def shared(query: str, text: str) -> int:
    """Return how many words of a query a text has."""
    return len({*query.split()} & {*text.split()})


QRELS = {
    query: {name: shared(asked, text) - 1 for name, text in TEXTS.items() if shared(asked, text) > 1} or {"d0": 1}
    for query, asked in QUESTIONS.items()
}
METRICS = ["hit_rate@3", "recall@5", "precision@5", "mrr@10", "map", "ndcg@10"]


def found(query: str, k: int = 6) -> list[str]:
    """Return the documents that share most words with a query, best first."""
    scores = {name: shared(query, text) / len({*text.split()}) for name, text in TEXTS.items()}
    return sorted(scores, key=lambda name: -scores[name])[:k]


def vector_of(text: str) -> list[float]:
    """Return how often each word occurs, and a little noise, so that no two similarities are equal."""
    noise = np.random.default_rng([*text.encode()]).normal(scale=0.05, size=len(WORDS))
    return [float(value) for value in np.array([text.split().count(word) for word in WORDS]) + noise]

"""Texts of random words and questions about them, judged by the words they share: 20 questions, 40 documents."""

import re

import numpy as np

# No word contains another.
WORDS = re.findall(
    r"\w+",
    "assert block break bytes class close compare context decorator dict enter except exit finally float format "
    "generator global handler import iterate lambda list method module name object open raise return scope slice",
)
_RNG = np.random.default_rng(7)
TEXTS = {f"d{number}": " ".join(_RNG.choice(WORDS, size=9)) for number in range(40)}
QUESTIONS = {f"q{number}": " ".join(_RNG.choice(WORDS, size=3, replace=False)) for number in range(20)}


def count_shared_words(query: str, text: str) -> int:
    """Return how many words of a query a text has."""
    return len({*query.split()} & {*text.split()})


def judge_by_words(question: str) -> dict[str, int]:
    """Return a grade of each document that shares at least two words with a question."""
    grades = {}
    for name, text in TEXTS.items():
        n_shared = count_shared_words(question, text)
        if n_shared > 1:
            grades[name] = n_shared - 1
    return grades or {"d0": 1}


QRELS = {query: judge_by_words(question) for query, question in QUESTIONS.items()}
METRICS = ["hit_rate@3", "recall@5", "precision@5", "mrr@10", "map", "ndcg@10"]


def rank_documents(query: str, k: int = 6) -> list[str]:
    """Return the documents that share most words with a query, best first."""
    scores = {}
    for name, text in TEXTS.items():
        scores[name] = count_shared_words(query, text) / len({*text.split()})
    return sorted(scores, key=lambda name: -scores[name])[:k]


def vector_of(text: str) -> list[float]:
    """Return how often each word occurs, and a little noise, so that no two similarities are equal."""
    noise = np.random.default_rng([*text.encode()]).normal(scale=0.05, size=len(WORDS))
    counts = np.array([text.split().count(word) for word in WORDS])
    return [float(value) for value in counts + noise]

"""Two questions with their judgments and sources."""

from typing import Any

ROWS: list[dict[str, Any]] = [
    {"id": "q1", "query": "How do I reset my password?", "relevant": ["d7", "d8"], "source": "account.md"},
    {"id": "q2", "query": "What does a seat cost?", "relevant": ["d1"], "source": "prices.md"},
]

QUERIES = {"q1": "How do I reset my password?", "q2": "What does a seat cost?"}

QRELS = {"q1": ["d7", "d8"], "q2": ["d1"]}

"""A run as the lines of a TREC file, and what is read from them."""

from collections.abc import Callable
from pathlib import Path

Write = Callable[[str | bytes], Path]

N_LINES = 30
RUN_LINES: list[str] = []
RUN_BY_QUERY: dict[str, dict[str, float]] = {}
for number in range(N_LINES):
    query = f"q{number // 7}"
    score = 20 - number / 7
    RUN_LINES.append(f"{query} Q0 d{number} {number % 7 + 1} {score} bm25")
    RUN_BY_QUERY.setdefault(query, {})[f"d{number}"] = score

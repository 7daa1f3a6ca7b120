"""Words that occur nowhere else, and the evidence of what a lint finds."""

from collections.abc import Mapping
from typing import Any

import retrieval_metrics as rm

WORDS = [f"word{chr(97 + at // 26)}{chr(97 + at % 26)}x" for at in range(200)]
"""Content words that occur nowhere else."""


def text(*parts: slice) -> str:
    return " ".join(word for part in parts for word in WORDS[part])


def evidence(name: str, queries: Mapping[str, str], qrels: Mapping[str, Any], corpus: Any = None) -> list[Any]:
    return [dict(one.evidence) for one in rm.EvaluationSet(queries, qrels).lint(corpus).named(name)]

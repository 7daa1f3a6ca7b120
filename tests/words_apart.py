"""Words that occur nowhere else, and the evidence of what a lint finds."""

from collections.abc import Mapping
from typing import Any

import retrieval_metrics as rm

# Content words that occur nowhere else.
WORDS = [f"word{chr(97 + number // 26)}{chr(97 + number % 26)}x" for number in range(200)]


def text(*parts: slice) -> str:
    words: list[str] = []
    for part in parts:
        words += WORDS[part]
    return " ".join(words)


def evidence(name: str, queries: Mapping[str, str], qrels: Mapping[str, Any], corpus: Any = None) -> list[Any]:
    findings = rm.EvaluationSet(queries, qrels).lint(corpus).named(name)
    return [dict(finding.evidence) for finding in findings]

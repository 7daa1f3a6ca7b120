"""Say in the words of ragas how the ids of rows are changed: its functions take no `match=`."""

from __future__ import annotations

import re
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

import retrieval_metrics as rm
from retrieval_metrics.integration_api import warn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragas_retrieval_metrics.references import References

# The advice of the core for items, whose ids a function passed as match= would shorten.
_MATCH_ADVICE = re.compile(r"pass match=lambda item: (?P<expression>item\.id\b.*?)(?P<end>\.?)$")


def advise_on_rows(message: str, references: References | None) -> str:
    """Return a warning of the core with advice on the ids of the rows instead of `match=`.

    A dataset of `from_langchain` or `from_llama_index` keeps the advice: these functions take `match=`.
    """
    if references is not None and references.retrieved:
        return message
    advice = _MATCH_ADVICE.search(message)
    if advice is None:
        return message
    expression = advice["expression"].replace("item.id", "document_id", 1)
    instruction = f"use {expression} for each document_id in retrieved_context_ids"
    return message[: advice.start()] + instruction + advice["end"]


@contextmanager
def advising_on_rows(references: References | None) -> Iterator[None]:
    """Give the warnings of the core with advice on the ids of the rows."""
    recorded: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as recorded:
            warnings.simplefilter("always")
            yield
    finally:
        for warning in recorded:
            if issubclass(warning.category, rm.RetrievalWarning):
                warn(advise_on_rows(str(warning.message), references), warning.category, host="ragas")
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)

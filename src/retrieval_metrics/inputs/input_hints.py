"""What to say where something else is given in place of judgments or a run."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from os import PathLike
from typing import Any, Literal

RETRIEVING_METHODS = ("invoke", "retrieve", "run")


def refuse_frame(argument: Any, role: str, reader: str) -> None:
    """Raise if a table is given where a mapping is meant."""
    has_columns = hasattr(argument, "columns") or hasattr(argument, "column_names")
    if has_columns and not isinstance(argument, Mapping):
        raise TypeError(
            f"{role} must be a mapping of query ids, got a {type(argument).__name__}; read it with {reader}(frame)"
        )


def wrong_argument_hint(argument: Any, name: Literal["qrels", "run"]) -> str:
    """Return what to add to a message where something else is given in place of judgments or a run by query id."""
    if isinstance(argument, (str, PathLike)):
        return f"; a file is read with read_{name}({str(argument)!r})"
    if callable(getattr(argument, "to_dict", None)):  # as of ranx
        return f"; pass {name}.to_dict()"
    if name == "qrels" and hasattr(type(argument), "qrels"):  # as of labels
        return "; pass its judgments, .qrels"
    if callable(argument) or any(hasattr(argument, method) for method in RETRIEVING_METHODS):
        return "; ask it first: evaluate(questions, retrieve(retriever, questions)), or compare_retrievers for several"
    if isinstance(argument, (list, tuple)) and argument:
        return _rows_hint(argument[0], name)
    return ""


def _rows_hint(first: Any, name: str) -> str:
    if hasattr(first, "query_id") and hasattr(first, "doc_id"):  # as of ir_measures and ir_datasets
        return f"; pass {name.capitalize()}.from_frame(pandas.DataFrame({name}))"
    if isinstance(first, Mapping) or _is_question(first):
        return (
            "; they are questions = EvaluationSet.from_dataset(qrels): "
            "evaluate(questions, retrieve(retriever, questions))"
        )
    if isinstance(first, (list, tuple, set)):
        return "; number the queries: evaluate(dict(enumerate(qrels)), dict(enumerate(run)))"
    return ""


def _is_question(first: Any) -> bool:
    """Return whether a row is a pair of a query and its judgments."""
    if not isinstance(first, (list, tuple)) or len(first) <= 1:
        return False
    return isinstance(first[0], str) and not isinstance(first[1], (str, Real))

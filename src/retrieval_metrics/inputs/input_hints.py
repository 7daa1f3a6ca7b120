"""Hints for error messages about arguments that are neither judgments nor a run."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from retrieval_metrics.inputs.question_columns import QUERY_KEYS

if TYPE_CHECKING:
    from retrieval_metrics.inputs.qrels import Qrels

RETRIEVING_METHODS = ("invoke", "retrieve", "run")


def is_open_file(source: object) -> bool:
    """Return whether something is an open file, of text or of bytes, rather than a path or data."""
    return callable(getattr(source, "read", None)) and not isinstance(source, PathLike)


def refuse_open_file(source: object, reader: str) -> None:
    """Raise if an open file is given to a function that takes a path.

    Args:
        source: What is given.
        reader: The function, for the message.

    Raises:
        TypeError: If it is an open file; the message names its path, if it has one.
    """
    if not is_open_file(source):
        return
    name = getattr(source, "name", None)
    advice = f"pass {name!r}" if isinstance(name, str) else "write its content to a file, and pass its path"
    raise TypeError(f"{reader} takes the path of a file, got an open one ({type(source).__name__}); {advice}")


def refuse_frame(argument: Any, role: str, advice: str) -> None:
    """Raise if a table is given where a mapping is meant.

    Args:
        argument: What is given.
        role: What it should be, such as `"rankings"`.
        advice: The call that reads it, such as `"Run.from_frame(frame)"`.

    Raises:
        TypeError: If it is a table.
    """
    has_columns = hasattr(argument, "columns") or hasattr(argument, "column_names")
    if has_columns and not isinstance(argument, Mapping):
        raise TypeError(
            f"{role} must be a mapping of query IDs, got a {type(argument).__name__}; read it with {advice}"
        )


def wrong_argument_hint(argument: Any, name: Literal["qrels", "run"]) -> str:
    """Return what the user can do with an argument that is neither judgments nor a run; empty if nothing is known."""
    if isinstance(argument, (str, PathLike)):
        return f"; a file is read with read_{name}({str(argument)!r})"
    if is_open_file(argument):
        questions = " or, if it holds questions, with read_questions(file)" if name == "qrels" else ""
        return f"; an open file is read with read_{name}(file){questions}"
    if name == "qrels" and hasattr(type(argument), "qrels"):  # labels of this package
        return "; pass its judgments, .qrels"
    # Before the test for ranx, because the components of Haystack have `to_dict` too.
    if callable(argument) or any(hasattr(argument, method) for method in RETRIEVING_METHODS):
        return "; ask it first: evaluate(questions, retrieve(retriever, questions)), or compare_retrievers for several"
    if callable(getattr(argument, "to_dict", None)):  # ranx
        return f"; pass {name}.to_dict()"
    if isinstance(argument, (list, tuple)) and argument:
        return _rows_hint(argument[0], name)
    return ""


def missing_texts_message(qrels: Qrels) -> str:
    """Return what to write where questions are expected and their judgments are passed."""
    if qrels.texts:
        return "questions were expected, got their judgments, Qrels; pass EvaluationSet(qrels.texts, qrels)"
    return (
        "questions were expected, got Qrels, judgments without the texts of their questions; pass "
        "EvaluationSet(texts, qrels), where texts has the text of each query by ID, such as read_queries(path)"
    )


def _rows_hint(first_row: Any, name: str) -> str:
    if hasattr(first_row, "query_id") and hasattr(first_row, "doc_id"):  # ir_measures and ir_datasets
        return f"; pass {name.capitalize()}.from_frame(pandas.DataFrame({name}))"
    if name == "qrels" and _is_question(first_row):
        return (
            "; they are questions = EvaluationSet.from_dataset(qrels): "
            "evaluate(questions, retrieve(retriever, questions))"
        )
    if isinstance(first_row, tuple) and _is_row_of_table(first_row):
        columns = ["query_id", "doc_id"]
        if len(first_row) > len(columns):
            columns.append("relevance" if name == "qrels" else "score")
        return (
            f"; if each row is a query and a document, write {name.capitalize()}.from_frame(pandas.DataFrame({name}, "
            f"columns={columns}))"
        )
    if isinstance(first_row, (list, tuple, set)) or _maps_to_numbers(first_row):
        return "; number the queries: evaluate(dict(enumerate(qrels)), dict(enumerate(run)))"
    return ""


def _is_question(row: Any) -> bool:
    """Return whether a row is a pair of a query text and its judgments, or has a question under a key."""
    if isinstance(row, Mapping):
        is_langsmith_example = "inputs" in row and "outputs" in row
        return is_langsmith_example or any(key in row for key in QUERY_KEYS)
    if not isinstance(row, (list, tuple)) or len(row) <= 1:
        return False
    return isinstance(row[0], str) and not isinstance(row[1], (str, Real))


def _is_row_of_table(row: tuple[Any, ...]) -> bool:
    """Return whether a row may be a query and a document, with or without a number."""
    return 2 <= len(row) <= 3 and all(isinstance(value, (str, Real)) for value in row)


def _maps_to_numbers(row: Any) -> bool:
    """Return whether a row maps ids to grades or scores."""
    return isinstance(row, Mapping) and all(isinstance(value, Real) for value in row.values())

"""Runs and judgments as rows of tables and TREC files, with errors for what rows cannot hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.files.formats import FORMATS
from retrieval_metrics.inputs.frames import first_repeat

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

    from retrieval_metrics.checks import IntArray
    from retrieval_metrics.inputs.columns import Batch
    from retrieval_metrics.inputs.qrels import Qrels

ONLY_JSON = "write .json or .jsonl"


def judgment_frame(truth: Qrels, kind: str, path: str | PathLike[str]) -> pl.DataFrame:
    """Return flat or grouped judgments as the rows of a file.

    Raises:
        ValueError: If a TREC file cannot hold an id.
    """
    import polars as pl

    order = np.argsort(truth.member_group, kind="stable")
    at = truth.member_document[order]
    query = pl.Series(list(truth.queries)).gather(truth.document_query[at])
    document = pl.Series(list(truth.documents)).gather(at)
    grade = pl.Series(truth.member_grade[order])
    if not (truth.member_grade % 1).any():
        grade = grade.cast(pl.Int64)
    if kind == "trec":
        require_words([*truth.queries, *truth.documents], "an id", path)
        zero = pl.repeat("0", len(grade), eager=True)
        return pl.DataFrame({"query": query, "iteration": zero, "document": document, "grade": grade})
    names = ("query-id", "corpus-id", "score") if kind == "tsv" else ("query", "document", "grade")
    frame = pl.DataFrame(dict(zip(names, (query, document, grade), strict=True)))
    if not truth.is_flat:
        frame.insert_column(1, pl.Series("group", truth.member_group[order]))
    return frame


def trec_frame(batch: Batch, tag: str, path: str | PathLike[str]) -> pl.DataFrame:
    """Return rankings as the lines of a TREC file, in the order of trec_eval.

    Raises:
        ValueError: If a TREC file cannot hold an id, a ranking is empty, or a document appears twice in a query.
    """
    import polars as pl

    sizes = _sizes(batch, "TREC")
    if batch.scores is None and (row := first_repeat(batch)) is not None:
        raise ValueError(f"a TREC file cannot hold a document twice in a query, such as {batch.documents[row]!r}")
    number = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(number)) - batch.bounds[number]
    scores = sizes[number] - place if batch.scores is None else batch.scores
    frame = pl.DataFrame({"number": number, "document": batch.documents.cast(pl.String), "score": scores})
    if batch.scores is not None:
        frame = frame.sort("number", "score", "document", descending=[False, True, True])
    queries = pl.Series(batch.queries, dtype=None).cast(pl.String).gather(number)
    require_words(batch.queries, "an id", path)
    if (blank := frame["document"].str.contains(r"\s") | (frame["document"] == "")).any():
        require_words(frame["document"].filter(blank).to_list(), "an id", path)
    return pl.DataFrame(
        {
            "query": queries,
            "Q0": pl.repeat("Q0", len(frame), eager=True),
            "document": frame["document"],
            "rank": place + 1,
            "score": frame["score"],
            "tag": pl.repeat(tag, len(frame), eager=True),
        }
    )


def table_frame(batch: Batch, kind: str) -> pl.DataFrame:
    """Return rankings as the rows of a table.

    Raises:
        ValueError: If a ranking is empty.
    """
    import polars as pl

    sizes = _sizes(batch, kind)
    number = np.repeat(np.arange(len(sizes)), sizes)
    columns: dict[str, Any] = {"query": pl.Series(batch.queries).gather(number), "document": batch.documents}
    if batch.scores is None:
        columns["rank"] = np.arange(len(number)) - batch.bounds[number] + 1
    else:
        columns["score"] = batch.scores
    return pl.DataFrame(columns)


def _sizes(batch: Batch, kind: str) -> IntArray:
    """Return how many documents each ranking has.

    Raises:
        ValueError: If one has none.
    """
    sizes = np.diff(batch.bounds)
    if not sizes.all():
        query = batch.queries[int(sizes.argmin())]
        raise ValueError(f"a {kind} file cannot hold an empty ranking, such as that of query {query!r}; {ONLY_JSON}")
    return sizes


def require_words(words: list[Any], what: str, path: str | PathLike[str]) -> None:
    """Raise if something is not one word.

    Raises:
        ValueError: If it is not.
    """
    for word in words:
        if len(str(word).split()) != 1 or str(word).split()[0] != str(word):
            raise ValueError(
                f"{what} in {path} must be one word, because blanks separate the columns of a TREC file, got {word!r}"
            )


def require_text(frame: pl.DataFrame, kind: str, path: str | PathLike[str]) -> None:
    """Raise if a text file of this format cannot hold an id.

    Raises:
        ValueError: If there is one.
    """
    import polars as pl

    form = FORMATS[kind]
    if not (form.separator and form.has_names):
        return
    for column in frame.iter_columns():
        if column.dtype != pl.String:
            continue
        if (column == "").any():
            raise ValueError(f"an id in {path} must not be empty")
        if form.quote is None and (wrong := column.str.contains(r"[\t\r\n]")).any():
            raise ValueError(f"an id in {path} must not contain a tab or a line break, got {column.filter(wrong)[0]!r}")

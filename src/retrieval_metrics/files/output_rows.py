"""Convert runs and judgments to the rows of TREC, CSV, TSV, Parquet and Arrow files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from retrieval_metrics.files.formats import FORMATS
from retrieval_metrics.inputs.batch import find_first_duplicate
from retrieval_metrics.inputs.ranking_checks import as_list, require_finite_scores

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    import polars as pl

    from retrieval_metrics._internal.plain_types import IntArray
    from retrieval_metrics.inputs.batch import Batch
    from retrieval_metrics.inputs.qrels import Qrels


# At the beginning of a line, it is refused or removed where a file is read.
BYTE_ORDER_MARK = "\ufeff"
JSON_HINT = "write .json or .jsonl"
# The columns of judgments; those of TSV files are BEIR's.
QRELS_COLUMNS = ("query", "document", "grade")
BEIR_COLUMNS = ("query-id", "corpus-id", "score")


def qrels_to_frame(qrels: Qrels, format: str) -> pl.DataFrame:
    """Return flat or grouped judgments as the rows of a file."""
    import polars as pl

    order = np.argsort(qrels.member_group, kind="stable")
    member_document = qrels.member_document[order]
    queries = pl.Series(list(qrels.queries)).gather(qrels.document_query[member_document])
    documents = pl.Series(list(qrels.documents)).gather(member_document)
    grades = pl.Series(qrels.member_grade[order])
    if not (qrels.member_grade % 1).any():
        grades = grades.cast(pl.Int64)
    names = BEIR_COLUMNS if format == "tsv" else QRELS_COLUMNS
    frame = pl.DataFrame(dict(zip(names, (queries, documents, grades), strict=True)))
    if not qrels.is_flat:
        frame.insert_column(1, pl.Series("group", qrels.member_group[order]))
    return frame


def run_to_trec_frame(batch: Batch, tag: str, path: str | PathLike[str]) -> pl.DataFrame:
    """Return rankings as the lines of a TREC file, in the order of trec_eval."""
    import polars as pl

    sizes = _count_documents(batch, "TREC")
    row_query = np.repeat(np.arange(len(sizes)), sizes)
    row_position = np.arange(len(row_query)) - batch.bounds[row_query]
    if batch.scores is None:
        duplicate = find_first_duplicate(batch)
        if duplicate is not None:
            _refuse_duplicate(batch.documents[duplicate])
        scores = sizes[row_query] - row_position
    else:
        scores = batch.scores
    frame = pl.DataFrame({"number": row_query, "document": batch.documents.cast(pl.String), "score": scores})
    if batch.scores is not None:
        frame = frame.sort("number", "score", "document", descending=[False, True, True])
    queries = pl.Series(batch.queries, dtype=None).cast(pl.String).gather(row_query)
    require_queries(batch.queries, path)
    has_blanks = frame["document"].str.contains(r"\s") | (frame["document"] == "")
    if has_blanks.any():
        require_single_word(frame["document"].filter(has_blanks).to_list(), "an ID", path)
    return pl.DataFrame(
        {
            "query": queries,
            "Q0": pl.repeat("Q0", len(frame), eager=True),
            "document": frame["document"],
            "rank": row_position + 1,
            "score": frame["score"],
            "tag": pl.repeat(tag, len(frame), eager=True),
        }
    )


def format_run_lines(run: Mapping[Any, Any], tag: str, path: str | PathLike[str]) -> Iterator[str]:
    """Yield the lines of a TREC file of rankings in memory, in the order of trec_eval, without polars."""
    require_single_word([tag], "the tag", path)
    require_queries(run, path)
    for query, ranking in run.items():
        if isinstance(ranking, Mapping):
            require_finite_scores(ranking, query)
            scored = [(float(score), str(document)) for document, score in ranking.items()]
            scored.sort(reverse=True)
        else:
            documents = as_list(ranking, query)
            _require_no_duplicates(documents)
            scored = [(len(documents) - index, str(document)) for index, document in enumerate(documents)]
        if not scored:
            _refuse_empty_ranking("TREC", query)
        require_single_word([document for _, document in scored], "an ID", path)
        for rank, (score, document) in enumerate(scored, start=1):
            yield f"{query} Q0 {document} {rank} {score!r} {tag}\n"


def _require_no_duplicates(documents: Sequence[Any]) -> None:
    if len(set(documents)) == len(documents):
        return
    for document in documents:
        if documents.count(document) > 1:
            _refuse_duplicate(document)


def format_qrels_lines(qrels: Qrels, path: str | PathLike[str]) -> Iterator[str]:
    """Yield the lines of a TREC file of flat judgments, without polars."""
    require_queries(qrels.queries, path)
    require_single_word(qrels.documents, "an ID", path)
    has_whole_grades = not (qrels.document_grade % 1).any()
    for query, grades in qrels.as_dict().items():
        for document, grade in grades.items():
            formatted_grade = int(grade) if has_whole_grades else repr(grade)
            yield f"{query} 0 {document} {formatted_grade}\n"


def run_to_frame(batch: Batch, format: str) -> pl.DataFrame:
    """Return rankings as the rows of a table."""
    import polars as pl

    sizes = _count_documents(batch, format)
    row_query = np.repeat(np.arange(len(sizes)), sizes)
    columns: dict[str, Any] = {"query": pl.Series(batch.queries).gather(row_query), "document": batch.documents}
    if batch.scores is None:
        columns["rank"] = np.arange(len(row_query)) - batch.bounds[row_query] + 1
    else:
        columns["score"] = batch.scores
    return pl.DataFrame(columns)


def _count_documents(batch: Batch, format: str) -> IntArray:
    """Return the number of documents in each ranking; raise if a ranking is empty."""
    sizes = np.diff(batch.bounds)
    if not sizes.all():
        _refuse_empty_ranking(format, batch.queries[int(sizes.argmin())])
    return sizes


def _refuse_duplicate(document: Any) -> NoReturn:
    raise ValueError(f"a TREC file cannot hold a document twice in a query, such as {document!r}")


def _refuse_empty_ranking(format: str, query: Any) -> NoReturn:
    raise ValueError(f"a {format} file cannot hold an empty ranking, such as that of query {query!r}; {JSON_HINT}")


def require_single_word(words: Iterable[Any], role: str, path: str | PathLike[str]) -> None:
    """Raise if an id, or the tag, is not one word.

    Args:
        words: The ids or the tag.
        role: What they are, for messages: `an id` or `the tag`.
        path: The file that is written, for messages.
    """
    for word in words:
        if str(word).split() != [str(word)]:
            raise ValueError(
                f"{role} in {path} must be one word, because blanks separate the columns of a TREC file, got {word!r}"
            )


def require_queries(queries: Iterable[Any], path: str | PathLike[str]) -> None:
    """Raise if the id of a query is not one word, or would make a comment of its line in a TREC file."""
    for query in queries:
        require_single_word([query], "an ID", path)
        if str(query).startswith(BYTE_ORDER_MARK):
            raise ValueError(_describe_mark(query, path))
        if str(query).startswith("#"):
            raise ValueError(
                f"the ID of a query in {path} must not begin with #, because such a line is a comment in a TREC file, "
                f"got {query!r}"
            )


def _describe_mark(query: Any, path: str | PathLike[str]) -> str:
    return (
        f"the ID of a query in {path} must not begin with a byte order mark, which is not read as a part of an ID, got "
        f"{query!r}"
    )


def require_text_id(frame: pl.DataFrame, format: str, path: str | PathLike[str]) -> None:
    """Raise if a text file of this format cannot hold one of the ids in a frame."""
    import polars as pl

    layout = FORMATS[format]
    if not (layout.separator and layout.has_names):
        return
    first_column = frame.to_series(0)
    if first_column.dtype == pl.String:
        has_mark = first_column.str.starts_with(BYTE_ORDER_MARK)
        if has_mark.any():
            raise ValueError(_describe_mark(first_column.filter(has_mark)[0], path))
    for column in frame.iter_columns():
        if column.dtype != pl.String:
            continue
        if (column == "").any():
            raise ValueError(f"an ID in {path} must not be empty")
        if layout.quote is not None:
            continue
        has_separator = column.str.contains(r"[\t\r\n]")
        if has_separator.any():
            text_id = column.filter(has_separator)[0]
            raise ValueError(f"an ID in {path} must not contain a tab or a line break, got {text_id!r}")

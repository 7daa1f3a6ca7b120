"""Read the judgments and the ranking of a row in the shapes that the core evaluates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import retrieval_metrics as rm
from ragas_retrieval_metrics.rows import ROW_FIELDS

if TYPE_CHECKING:
    from ragas_retrieval_metrics.metric_names import By
    from ragas_retrieval_metrics.references import References
    from ragas_retrieval_metrics.rows import Row


class JudgedRow(NamedTuple):
    """The judgments and the ranking of a row.

    Attributes:
        kind: What is compared, `ids` or `texts`.
        judgments: The judgments of the row; None if it has none.
        ranking: What was retrieved, best first; None if the row does not say.
    """

    kind: By
    judgments: Any
    ranking: Any


def read_judged_row(row: Row, by: By, references: References | None) -> JudgedRow:
    """Return the judgments and the ranking of a row; they come from `references` if these know them."""
    kind = row.kind(by) if references is None else references.kind(by)
    ranking_field, judgments_field = ROW_FIELDS[kind]
    ranking = getattr(row, ranking_field)
    judgments = getattr(row, judgments_field)
    items = None if references is None else references.retrieved_for(row)
    if items is None:
        _require_fields(row, kind, by, needs_judgments=references is None)
        if references is not None:
            judgments = references.judgments_for(row)
    if kind == "texts":
        if judgments is not None:
            judgments = texts_as_pieces(judgments)
        if ranking is not None:
            ranking = texts_as_items(ranking)
    if references is None or items is None:
        return JudgedRow(kind, judgments, ranking)
    # The retrieved columns are unchanged or absent, so the items of the conversion hold. A reference column may have
    # been changed since, so it counts if it is there.
    if judgments is None:
        judgments = references.judgments_for(row)
    return JudgedRow(kind, judgments, items)


def _require_fields(row: Row, kind: By, by: By, *, needs_judgments: bool) -> None:
    """Raise if a row has only the fields of the other kind; its reference field is checked with `needs_judgments`."""
    other_kind: By = "texts" if kind == "ids" else "ids"
    fields: tuple[str, ...] = ROW_FIELDS[kind]
    if not needs_judgments:
        fields = fields[:1]
    for field, other_field in zip(fields, ROW_FIELDS[other_kind], strict=False):
        if getattr(row, field) is None and getattr(row, other_field) is not None:
            raise ValueError(
                f"row {row.query!r} has {other_field} but no {field}, which {_describe_comparison(kind, by)}; fill "
                f"{field}, or compare {other_kind} on both sides with by={other_kind!r}"
            )


def _describe_comparison(kind: By, by: By) -> str:
    return f"by={by!r} compares" if by == kind else f"by={by!r} compares with its judgments"


def texts_as_pieces(judgments: Mapping[Any, float] | Iterable[Any]) -> dict[Any, float] | list[Any]:
    """Return judgments by texts as pieces of the core: a string is the whole text of a reference."""
    if isinstance(judgments, Mapping):
        return {_text_as_piece(text): grade for text, grade in judgments.items()}
    pieces: list[Any] = []
    for judgment in judgments:
        if isinstance(judgment, (Mapping, list, tuple, set, frozenset)):
            pieces.append(texts_as_pieces(judgment))
        else:
            pieces.append(_text_as_piece(judgment))
    return pieces


def _text_as_piece(text: Any) -> rm.Text | rm.Quote:
    if isinstance(text, (rm.Text, rm.Quote)):
        return text
    if isinstance(text, (rm.Span, rm.Metadata)):
        raise TypeError(
            f"{text!r} is compared with the place or the metadata of what was retrieved, which a row of ragas does "
            "not have; pass the dataset from from_langchain or from_llama_index to the metrics: qrels=dataset"
        )
    if not isinstance(text, str):
        raise TypeError(f"by='texts' compares texts: a reference must be a str, rm.Text or rm.Quote, got {text!r}")
    return rm.Text(text)


def texts_as_items(texts: object) -> list[rm.Retrieved]:
    """Return retrieved texts as items of the core, in which equal texts are repeats."""
    if not isinstance(texts, Sequence):
        raise TypeError(f"retrieved_contexts must be a list of texts, best first, got {type(texts).__name__}")
    for rank, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise TypeError(f"retrieved_contexts must hold texts, got {text!r} ({type(text).__name__}) at rank {rank}")
    return [rm.Retrieved(str(text), str(text)) for text in texts]


def aligned_texts(ids: Sequence[Any], row: Row) -> Sequence[Any] | None:
    """Return the texts of a row if it has one for each id."""
    texts = row.retrieved_contexts
    if isinstance(texts, (list, tuple)) and len(texts) == len(ids):
        return texts
    return None


def ids_as_items(ids: Sequence[Any], texts: Sequence[Any] | None) -> list[rm.Retrieved]:
    """Return retrieved ids as items with these texts; items that are one already stay as they are."""
    items = []
    for index, document_id in enumerate(ids):
        if isinstance(document_id, rm.Retrieved):
            items.append(document_id)
            continue
        text = None if texts is None else texts[index]
        if not isinstance(text, str) or not text:
            text = None
        items.append(rm.Retrieved(document_id, text))
    return items


def require_counted_texts(ranking: Iterable[Any], query: object, budget: rm.Budget) -> None:
    """Raise if an item of a ranking has no text or offsets, which a budget of characters counts."""
    for rank, item in enumerate(ranking, start=1):
        has_length = isinstance(item, rm.Retrieved) and (item.text is not None or item.start is not None)
        if not has_length:
            raise ValueError(
                f"row {query!r} has no text at rank {rank}, and {budget} counts the characters of retrieved_contexts; "
                "fill it with one text for each of retrieved_context_ids"
            )

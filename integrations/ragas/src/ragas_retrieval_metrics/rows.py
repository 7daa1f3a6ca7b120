"""Rows of ragas: their fields, their judgments, and what was retrieved."""

from __future__ import annotations

import ast
import io
import json
import tokenize
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import retrieval_metrics as rm

if TYPE_CHECKING:
    from ragas.dataset_schema import MultiTurnSample
    from ragas.dataset_schema import SingleTurnSample as SingleTurnSample_dataset_schema

    from ragas_retrieval_metrics.metric import By
    from retrieval_metrics.types import QrelsMapping

ROW_FIELDS: Mapping[By, tuple[str, str]] = {
    "ids": ("retrieved_context_ids", "reference_context_ids"),
    "texts": ("retrieved_contexts", "reference_contexts"),
}
"""The fields that are compared, with their names in ragas."""


class Row(NamedTuple):
    """The fields of a ragas row that a retrieval metric reads; None is absent, [] is nothing."""

    retrieved_context_ids: Any = None
    reference_context_ids: Any = None
    retrieved_contexts: Any = None
    reference_contexts: Any = None
    user_input: str | None = None

    @property
    def query(self) -> str:
        """The name of the row in messages."""
        return self.user_input if isinstance(self.user_input, str) else "(this row)"

    def filled(self, other: Row) -> Row:
        """Return the row with missing fields taken from another."""
        return Row(*(there if here is None else here for here, there in zip(self, other, strict=True)))

    def read(self) -> Row:
        """Return the row with its collections parsed, if a file turned them into text."""
        collections = {
            field: read_collection(getattr(self, field), field) for pair in ROW_FIELDS.values() for field in pair
        }
        return Row(**collections, user_input=self.user_input)

    def kind(self, by: By) -> By:
        """Return what is compared, `ids` or `texts`; `auto` takes ids if both sides have them, texts otherwise."""
        if by != "auto":
            return by
        has_ids = self.retrieved_context_ids is not None and self.reference_context_ids is not None
        has_texts = self.retrieved_contexts is not None and self.reference_contexts is not None
        return "texts" if has_texts and not has_ids else "ids"


_LITERAL_STARTS = ("[", "(", "{")


def read_collection(value: Any, field: str) -> Any:
    """Return a field that holds a collection; None if it is empty.

    A CSV file cannot hold lists: `["d1", "d2"]` comes back as the text `"['d1', 'd2']"`, which would be read character
    by character. Such a text is parsed. Any other text is a single id where a list is expected.

    Example:
        >>> read_collection("['d1', 'd7']", "reference_context_ids")
        ['d1', 'd7']
    """
    if value is None or (isinstance(value, str) and not value.strip()) or (isinstance(value, float) and isnan(value)):
        return None
    if isinstance(value, str):
        return _from_text(value, field)
    if hasattr(value, "tolist"):
        return value.tolist()
    if not isinstance(value, (Sequence, Mapping, set, frozenset)):
        raise TypeError(f"{field} must be a list, got {value!r} ({type(value).__name__})")
    return value


def _from_text(text: str, field: str) -> Any:
    if text.strip().startswith(_LITERAL_STARTS):
        _refuse_an_array(text, field)
        try:
            return ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            with suppress(ValueError):
                return json.loads(text)  # such as null, which Python does not know
            raise ValueError(
                f"{field} is the text {_short(text)}, which cannot be read back as a list: {error}"
            ) from error
    raise TypeError(f"{field} is the bare string {_short(text)}; write a list: [{_short(text)}]")


def _refuse_an_array(text: str, field: str) -> None:
    """Raise for `['d1' 'd2']`, which numpy prints and Python reads as the one string 'd1d2'."""
    before = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING == before:
                raise ValueError(
                    f"{field} is the text {_short(text)}, a printed array without separators; save lists "
                    "(array.tolist()), or use the local/jsonl backend"
                )
            if token.type != tokenize.NL:
                before = token.type
    except (tokenize.TokenError, SyntaxError):
        return  # not a Python literal: parsing it raises a better error


def _short(text: str) -> str:
    longest = 60
    return repr(text if len(text) <= longest else text[: longest - 1] + "…")


Judged: TypeAlias = "QrelsMapping | rm.Qrels | rm.EvaluationSet | RetrievedDataset"
"""The values of `qrels=`: judgments by the text of the query, or objects with such judgments."""


class References:
    """The judgments of all queries, by the text of the query."""

    def __init__(self, truth: rm.Qrels, given: Judged) -> None:
        self.given = given
        self.retrieved: Mapping[str, Sequence[rm.Retrieved]] = {}
        self.errors: Mapping[Any, Exception] = {}
        self.provenance: Mapping[Any, rm.Provenance] = {}
        self.match: str | rm.Matching = "id"
        self._names: Mapping[str, Any] = {}
        self.truth = truth
        if isinstance(given, RetrievedDataset):
            questions, run = _of_conversion(given)
            texts: Mapping[Any, str] = questions.queries
            self.retrieved = {text: run[query] for query, text in texts.items() if query in run}
            self.errors = run.errors
        if isinstance(given, (RetrievedDataset, rm.EvaluationSet)):
            self._names = {text: query for query, text in _questions(given).queries.items()}
            self.provenance = _questions(given).provenance
            if (kept := _questions(given).sources) is not None and kept.texts:
                self.match = rm.Matching(sources=kept.texts)

    @classmethod
    def of(cls, qrels: Judged | References | None, by: By) -> References | None:
        """Read judgments, keyed by `user_input`; None if there are none."""
        if qrels is None:
            return None
        if by == "auto":
            raise ValueError(
                "with qrels=, pass by='ids' or by='texts', whichever they hold; by='auto' depends on the row"
            )
        read = qrels if isinstance(qrels, References) else cls(as_references(qrels), qrels)
        if by == "ids" and read.truth.has_pieces and not read.retrieved:
            piece = next(document for document in read.truth.documents if not isinstance(document, (str, int)))
            raise ValueError(f"qrels= holds {piece!r}, which is matched with texts; compare them with by='texts'")
        return read

    @cached_property
    def fingerprint(self) -> str:
        """A short text that differs between other judgments, for the names of metrics."""
        truth, found = self.truth, sha256()
        for part in (truth.queries, truth.documents):
            found.update("\n".join(map(repr, part)).encode(errors="backslashreplace"))
        for column in (truth.member_document, truth.member_group, truth.member_grade):
            found.update(column.tobytes())
        return found.hexdigest()[:8]

    def of_query(self, row: Row) -> Any:
        """Return the judgments of a row; None if its query is not judged."""
        if row.user_input is None:
            raise ValueError("qrels= is keyed by user_input, which this row does not have; pass user_input=...")
        place = self.truth.place.get(row.user_input)
        return None if place is None else self.truth.judgments(place)

    def items_of(self, row: Row) -> Sequence[rm.Retrieved] | None:
        """Return what was retrieved for a row; None if it is unknown, or a column of the row differs."""
        items = None if row.user_input is None else self.retrieved.get(row.user_input)
        if items is None:
            return None
        ids, texts = row.retrieved_context_ids, row.retrieved_contexts
        same = ids is None or list(ids) == [item.id for item in items]
        return items if same and (texts is None or list(texts) == [item.text or "" for item in items]) else None

    def name_of(self, row: Row) -> Any:
        """Return the id of the query of a row, or its text if it has none."""
        return self._names.get(row.user_input, row.user_input) if row.user_input is not None else None

    def warn_of_unjudged(self, queries: Sequence[str | None], stacklevel: int = 2) -> None:
        """Warn of queries without judgments."""
        known = ", ".join(map(repr, islice(self.truth.place, 3)))
        others = f", and {len(queries) - 1} more" if len(queries) > 1 else ""
        warnings.warn(
            f"qrels= has no user_input {queries[0]!r}{others}; they are keyed by the text of the query and "
            f"begin with {known}",
            rm.RetrievalWarning,
            stacklevel=stacklevel + 1,
        )


def as_references(qrels: Judged) -> rm.Qrels:
    """Return judgments by the text of the query, in columns."""
    if isinstance(qrels, (RetrievedDataset, rm.EvaluationSet)):
        return rm.Qrels(_by_text(_questions(qrels)))
    return qrels if isinstance(qrels, rm.Qrels) else rm.Qrels(qrels)


def _questions(given: RetrievedDataset | rm.EvaluationSet) -> rm.EvaluationSet:
    return _of_conversion(given)[0] if isinstance(given, RetrievedDataset) else given


def _of_conversion(dataset: RetrievedDataset) -> tuple[rm.EvaluationSet, rm.RetrievedRun]:
    if dataset.questions is None or dataset.run is None:
        raise ValueError(
            "this RetrievedDataset has only rows; create a whole one with from_langchain or from_llama_index"
        )
    return dataset.questions, dataset.run


def texts_as_pieces(judgments: Any) -> Any:
    """Return judgments by texts as pieces of the core: a string is the whole text of a reference."""
    if isinstance(judgments, Mapping):
        return {_piece(text): grade for text, grade in judgments.items()}
    return [
        texts_as_pieces(entry) if isinstance(entry, (Mapping, list, tuple, set, frozenset)) else _piece(entry)
        for entry in judgments
    ]


def _piece(text: Any) -> rm.Text | rm.Quote:
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


def texts_as_items(texts: Any) -> list[rm.Retrieved]:
    """Return retrieved texts as items of the core, in which equal texts are repeats."""
    if not isinstance(texts, Sequence):
        raise TypeError(f"retrieved_contexts must be a list of texts, best first, got {type(texts).__name__}")
    for rank, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise TypeError(f"retrieved_contexts must hold texts, got {text!r} ({type(text).__name__}) at rank {rank}")
    return [rm.Retrieved(str(text), str(text)) for text in texts]


def _by_text(questions: rm.EvaluationSet) -> dict[str, Any]:
    texts: dict[str, Any] = {}
    queries: dict[Any, str] = dict(questions.queries)
    qrels: dict[Any, Any] = dict(questions.qrels)
    for query, text in queries.items():
        if text in texts and texts[text] != qrels[query]:
            raise ValueError(
                f"two queries with different judgments have the same text {text!r}, which a row cannot tell apart"
            )
        texts[text] = qrels[query]
    return texts


INSTALL = "pip install ragas-retrieval-metrics"
CURE = "pip install 'ragas>=0.4.3,<0.5' 'langchain-community>=0.4,<0.4.2'"


def explanation(error: ImportError) -> str:
    """Return what to do if ragas cannot be imported."""
    if error.name == "ragas":
        return f"ragas_retrieval_metrics needs ragas, which is not installed: {INSTALL}"
    installed = ", ".join(f"{name} {_version(name)}" for name in ("ragas", "langchain-community"))
    return (
        f"ragas is installed but cannot be imported ({error}). Here are {installed}; ragas 0.4.3 needs a module that "
        f"langchain-community 0.4.2 removed. This pair works: {CURE}"
    )


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "(not installed)"


try:
    from ragas.dataset import DataTable
    from ragas.dataset_schema import EvaluationDataset, EvaluationResult, SingleTurnSample
    from ragas.metrics.base import MetricType, SingleTurnMetric
    from ragas.metrics.collections.base import BaseMetric
    from ragas.metrics.result import MetricResult
except ImportError as error:
    raise ImportError(explanation(error), name=error.name) from error


__all__ = [
    "BaseMetric",
    "DataTable",
    "EvaluationDataset",
    "EvaluationResult",
    "MetricResult",
    "MetricType",
    "SingleTurnMetric",
    "SingleTurnSample",
]


@dataclass(repr=False)
class RetrievedDataset(EvaluationDataset):
    """An `EvaluationDataset` that also keeps what the columns of ragas cannot hold, as from `from_langchain`.

    Use it like any other. `evaluate_dataset`, `to_evaluation`, and metrics with `qrels=dataset` take from it the
    grades, groups and spans of the questions, and the sources and offsets of retrieved items. Files and other
    conversions of ragas keep only the columns. If a column was changed later, the column counts.

    Attributes:
        questions: The questions with their judgments; None in a dataset read from elsewhere.
        run: What was retrieved for each query, by query id, with errors and seconds; the id of each item is the one
            chosen by `match`.

    Example:
        >>> import retrieval_metrics as rm
        >>> questions = rm.EvaluationSet.from_dataset([("what does yield do?", [rm.Span("yield.txt", 40, 51)])])
        >>> item = rm.Retrieved("chunk 2", "about yield", source="yield.txt", start=40)
        >>> from ragas import SingleTurnSample
        >>> row = SingleTurnSample(user_input="what does yield do?", retrieved_contexts=["about yield"])
        >>> run = rm.RetrievedRun({"what does yield do?": [item]})
        >>> RetrievedDataset([row], questions=questions, run=run)[:1].run["what does yield do?"][0].start
        40
    """

    questions: rm.EvaluationSet | None = None
    run: rm.RetrievedRun | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it has more than rows."""
        return self.questions is not None and self.run is not None

    @overload
    def __getitem__(self, idx: int) -> SingleTurnSample_dataset_schema | MultiTurnSample: ...
    @overload
    def __getitem__(self, idx: slice) -> RetrievedDataset: ...
    def __getitem__(self, idx: Any) -> Any:
        """Return a row, or some of the rows with everything known of them."""
        if isinstance(idx, slice):
            return type(self)(self.samples[idx], self.backend, self.name, self.questions, self.run)
        return super().__getitem__(idx)

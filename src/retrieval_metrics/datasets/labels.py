"""Labels of people and models: one, many, and what they resolve to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import date
from functools import cached_property
from itertools import combinations, pairwise
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from retrieval_metrics._internal.validation import common_id_type, group_pairs, to_data_frame
from retrieval_metrics.datasets.grader_agreement import Agreement, krippendorff_alpha
from retrieval_metrics.files.saved_format import Lines, SavedFile, write_saved_file
from retrieval_metrics.inputs.items import Piece, Quote
from retrieval_metrics.inputs.json_codec import to_json_value
from retrieval_metrics.inputs.qrels import GradedByRubric, as_qrels
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    import pandas as pd

    from retrieval_metrics._internal.validation import DocumentId, QueryId
    from retrieval_metrics.datasets.grader_agreement import GraderKinds
    from retrieval_metrics.inputs.items import QrelsMapping
    from retrieval_metrics.statistics import AgreementEstimate
    from retrieval_metrics.statistics.kappa import Weights

    Key = tuple[QueryId, DocumentId]


SHOWN = 3


class Labels(Printed):
    """Grades of documents for queries, each with its grader.

    Attributes:
        labels: The grades, in the order in which they were given.
        notes: Sentences with further information, such as the cost of a model's calls.
        scale: The grades of the rubric, and from which one a document is relevant; None if unknown. Metrics and kappas
            that ask whether a document is relevant then take it by themselves.

    Example:
        >>> ada = Labels.from_qrels({"q1": {"d1": 3, "d2": 0}, "q2": {"d1": 1}}, grader="Ada")
        >>> ben = Labels.from_qrels({"q1": {"d1": 3, "d2": 1}}, grader="Ben")
        >>> both = ada.merge(ben)
        >>> both.conflicts
        {('q1', 'd2'): {'Ada': 0.0, 'Ben': 1.0}}
        >>> both.resolved("lowest").qrels
        {'q1': {'d1': 3.0, 'd2': 0.0}, 'q2': {'d1': 1.0}}
    """

    def __init__(self, labels: Iterable[Label], notes: Iterable[str] = (), scale: Scale | None = None) -> None:
        """Take the grades.

        Raises:
            TypeError: If one is not a `Label`.
            ValueError: If a grade is not on the scale, or a grader gave a document two different grades for one query.
        """
        found: dict[tuple[str, QueryId, DocumentId], Label] = {}
        for label in labels:
            if not isinstance(label, Label):
                raise TypeError(f"Labels must be made from Label objects, got {label!r} ({type(label).__name__})")
            known = found.setdefault((label.grader, label.query, label.document), label)
            if known.grade != label.grade:
                raise ValueError(
                    f"{label.grader} graded document {label.document!r} for query {label.query!r} {known.grade} and "
                    f"{label.grade}; remove one of them"
                )
            if scale is not None and label.grade is not None and label.grade not in scale.grades:
                grades = ", ".join(f"{grade:g}" for grade in scale.grades)
                raise ValueError(
                    f"{label.grader} graded document {label.document!r} for query {label.query!r} {label.grade:g}, "
                    f"but the grades of the rubric are {grades}"
                )
        self.labels = tuple(found.values())
        self.notes = tuple(notes)
        self.scale = scale

    @classmethod
    def from_qrels(
        cls, qrels: Any, grader: str, *, kind: Grader = "human", relevant_from: float | None = None
    ) -> Labels:
        """Return judgments as the grades of one person or model.

        Args:
            qrels: Judgments of documents by id, as in `evaluate`.
            grader: The name of the grader.
            kind: `human` or `model`.
            relevant_from: The lowest of the grades 0 to 3 with which a document is relevant. None: not said, which is
                right if the judgments are used alone; to merge them with labels that say so, say it.

        Raises:
            ValueError: If they are groups, quotes, texts or spans, because a label grades a document; or if grades are
                not 0 to 3 though `relevant_from` is given.
        """
        truth = as_qrels(qrels)
        if truth.has_pieces or not truth.is_flat:
            held = next((one for one in truth.documents if isinstance(one, Piece)), "a group")
            raise ValueError(f"labels grade documents by id, but these judgments hold {held!r}; see rm.relabel")
        found = [
            Label(query=query, document=document, grade=grade, grader=grader, kind=kind)
            for query, judged in truth.graded().items()
            for document, grade in judged.items()
        ]
        return cls(found, scale=None if relevant_from is None else Scale.from_grades(relevant_from))

    @cached_property
    def graders(self) -> tuple[str, ...]:
        """The graders, in the order of their first grade."""
        return tuple(dict.fromkeys(label.grader for label in self.labels))

    @cached_property
    def queries(self) -> tuple[QueryId, ...]:
        """The queries with a label."""
        return tuple(dict.fromkeys(label.query for label in self.labels))

    def from_grader(self, grader: str) -> Labels:
        """Return the grades of one person or model.

        Raises:
            KeyError: If there is no such grader.
        """
        if grader not in self.graders:
            raise KeyError(f"{grader!r} graded nothing; the graders are {', '.join(self.graders)}")
        return Labels([label for label in self.labels if label.grader == grader], scale=self.scale)

    @cached_property
    def conflicts(self) -> dict[Key, dict[str, float]]:
        """The documents to which several graders gave different grades, with the grade of each."""
        given = {
            key: {label.grader: float(label.grade) for label in held if label.grade is not None}
            for key, held in self._given.items()
        }
        return {key: grades for key, grades in given.items() if len(set(grades.values())) > 1}

    @cached_property
    def _given(self) -> dict[Key, list[Label]]:
        return group_pairs(((label.query, label.document), label) for label in self.labels)

    @cached_property
    def qrels(self) -> dict[Any, dict[Any, float]]:
        """The grades as judgments, by query and document; a query without grades has no judgments.

        Raises:
            ValueError: If graders gave a document different grades; choose between them with `resolved`. Likewise if
                there are labels and none has a grade.
        """
        if self.labels and all(label.grade is None for label in self.labels):
            raise ValueError(f"none of the {numbers.format_count(len(self), 'label')} of {self.name} has a grade")
        if self.conflicts:
            (query, document), grades = next(iter(self.conflicts.items()))
            said = ", ".join(f"{by} {grade:g}" for by, grade in grades.items())
            raise ValueError(
                f"{numbers.format_count(len(self.conflicts), 'document')} got different grades, for example "
                f"{document!r} for "
                f"query {query!r} ({said}). Choose between them with labels.resolved('lowest'), 'highest', 'majority' "
                "or the name of a grader, or take one grader with labels.from_grader(name)"
            )
        found = GradedByRubric({query: {} for query in self.queries})
        found.relevant_from = None if self.scale is None else self.scale.relevant_from
        for label in self.labels:
            if label.grade is not None:
                found[label.query][label.document] = float(label.grade)
        return found

    @cached_property
    def quotes(self) -> dict[Any, dict[Quote, float]]:
        """The words marked by graders, as judgments that survive re-chunking: each quote has its document's grade.

        Queries without quotes are left out. A quote marked by several graders has the largest of their grades.
        """
        found: dict[Any, dict[Quote, float]] = {}
        for label in self.labels:
            for text in label.quotes if label.grade else ():
                held, quote = found.setdefault(label.query, {}), Quote(text)
                held[quote] = max(float(label.grade or 0), held.get(quote, 0.0))
        return found

    def resolved(self, rule: str) -> Labels:
        """Return one grade per document, and resolve conflicts between graders by a rule.

        Args:
            rule: `lowest`, `highest`, `majority` (the most frequent grade, and the lowest of several), or the name of
                the grader whose grade is used.

        Raises:
            ValueError: If there is no such rule or grader.
        """
        if rule not in {*RULES, *self.graders}:
            raise ValueError(
                f"resolve conflicts by 'lowest', 'highest', 'majority' or one of {', '.join(self.graders)}, got "
                f"{rule!r}"
            )
        note = f"where {self.name} differed, {f'the {rule} grade' if rule in RULES else rule} held"
        one = [replace(one_of(held, rule), grader=self.name) for held in self._given.values()]
        return Labels(one, [*self.notes, note] if self.conflicts else self.notes, self.scale)

    def merge(self, *others: Labels) -> Labels:
        """Merge several sets of labels; conflicts are kept, and `qrels` raises until they are resolved.

        Raises:
            TypeError: If one is not a `Labels`.
            ValueError: If a grader gave a document different grades in two of them, their rubrics differ, or some say
                from which grade a document is relevant and others do not.
        """
        for other in others:
            if not isinstance(other, Labels):
                raise TypeError(
                    f"labels can be merged only with Labels, got {type(other).__name__}; use Labels.from_qrels(qrels, "
                    "grader=...)"
                )
        every = [self, *others]
        scale = Scale.merge(each.scale for each in every)
        if scale is not None and (bare := [each for each in every if each.labels and each.scale is None]):
            raise ValueError(
                f"the labels of {bare[0].name} do not say from which grade a document is relevant; the others say from "
                f"{scale.relevant_from:g}. If that holds for these, too: Labels.from_qrels(qrels, grader=..., "
                f"relevant_from={scale.relevant_from:g})"
            )
        return Labels(
            [label for each in every for label in each.labels],
            dict.fromkeys(note for each in every for note in each.notes),
            scale,
        )

    def of_queries(self, queries: Iterable[Any]) -> Labels:
        """Return the grades of the given queries."""
        wanted = set(queries)
        return Labels([label for label in self.labels if label.query in wanted], self.notes, self.scale)

    def agreement(
        self, other: Labels | QrelsMapping | None = None, *, level: float = 0.95, kinds: GraderKinds | None = None
    ) -> Agreement:
        """Return the agreement of these grades with others, on the documents in both.

        Args:
            other: Other grades, or judgments. None compares the two graders of these grades.
            level: Confidence level of the intervals.
            kinds: The kind of each passage, to see on which kinds they disagree: `pool.kinds`.

        Raises:
            ValueError: If no document is in both, either side has conflicts, or `other` is None and there are not
                exactly two graders.
        """
        if other is None:
            if len(self.graders) != 2:
                raise ValueError(
                    f"these grades come from {numbers.format_count(len(self.graders), 'grader')}, not two; give the "
                    "other "
                    "grades, labels.from_grader(name).agreement(labels.from_grader(another)), or take all together: "
                    "labels.alpha()"
                )
            first, second = (self.from_grader(grader) for grader in self.graders)
            return first.agreement(second, level=level, kinds=kinds)
        others = other if isinstance(other, Labels) else Labels.from_qrels(other, grader="the judgments")
        scale = Scale.merge([self.scale, others.scale])
        threshold = None if scale is None else scale.relevant_from
        return Agreement.from_labels((self.name, others.name), self.graded, others.graded, level, kinds, threshold)

    def alpha(self, weights: Weights = "quadratic", *, level: float = 0.95) -> AgreementEstimate:
        """Return the agreement of all graders beyond chance, however many there are: Krippendorff's alpha.

        Documents with a single grade are left out; see `retrieval_metrics.statistics.krippendorffs_alpha`.

        Args:
            weights: How disagreements count: by the square of their distance, `"linear"`, or None, all alike.
            level: Confidence level of the interval.

        Raises:
            ValueError: If no document has several grades, or the weights are unknown.

        Example:
            >>> import retrieval_metrics as rm
            >>> given = {"Ada": {"d1": 0, "d2": 1}, "Ben": {"d1": 0, "d2": 1}, "Eve": {"d1": 1, "d2": 1}}
            >>> graders = [rm.Labels.from_qrels({"q": grades}, grader=name) for name, grades in given.items()]
            >>> graders[0].merge(*graders[1:]).alpha().value
            0.375
        """
        if not self._several:
            raise ValueError(f"no document has the grades of several graders, of {self.name}; merge theirs first")
        return krippendorff_alpha(self._several, weights, level)

    @property
    def _several(self) -> dict[Key, list[float]]:
        given = {key: [float(one.grade) for one in held if one.grade is not None] for key, held in self._given.items()}
        return {key: grades for key, grades in given.items() if len(grades) > 1}

    @property
    def name(self) -> str:
        """The graders, in words."""
        return numbers.join_names(list(self.graders)) if self.labels else "nobody"

    @property
    def graded(self) -> dict[Key, float]:
        """The grades by (query, document); conflicts raise as in `qrels`."""
        return {(query, document): grade for query, held in self.qrels.items() for document, grade in held.items()}

    def save(self, path: str | PathLike[str]) -> None:
        """Save the grades to a file that `load` reads.

        Args:
            path: The JSON file; a further `.gz` or `.zst` compresses it.

        Raises:
            OSError: If the file cannot be written; an existing file stays as it was.
        """
        held = Lines(label.as_dict() for label in self.labels)
        scale = {} if self.scale is None else {"scale": self.scale._asdict()}
        write_saved_file(path, "labels", {"labels": held, "notes": list(self.notes), **scale})

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per grade and the columns of `Label`.

        Raises:
            ImportError: If pandas is not installed; the message holds the command.
        """
        rows = [[getattr(label, name) for name in FIELDS] for label in self.labels]
        return to_data_frame(rows, FIELDS)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Labels):
            return NotImplemented
        return (self.labels, self.notes, self.scale) == (other.labels, other.notes, other.scale)

    def __hash__(self) -> int:
        return hash(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Label]:
        return iter(self.labels)

    def __repr__(self) -> str:
        return f"<Labels: {len(self)} by {self.name}>"

    def _tables(self) -> list[Table]:
        grades = sorted({float(label.grade) for label in self.labels if label.grade is not None})
        rows = []
        for grader in self.graders:
            own = [label for label in self.labels if label.grader == grader]
            given = Counter(None if label.grade is None else float(label.grade) for label in own)
            queries = len({label.query for label in own})
            counts = [f"{given[grade]:,}" for grade in grades]
            rows.append([grader, own[0].kind, f"{queries:,}", *counts, f"{given[None]:,}"])
        header = ["grader", "kind", "queries", *(f"grade {grade:g}" for grade in grades), "none"]
        title = numbers.format_count(len(self), "label")
        relevant = [] if self.scale is None else [f"relevant: from grade {self.scale.relevant_from:g}"]
        return [Table(header, rows, [*self._failures(), *self._agreements(), *relevant, *self.notes], title, (0, 1))]

    def _failures(self) -> list[str]:
        reasons = Counter(label.reason for label in self.labels if label.grade is None and label.kind == "model")
        return [
            f"not graded: {numbers.format_count(count, 'document')}, {why}" for why, count in reasons.most_common(SHOWN)
        ]

    def _agreements(self) -> list[str]:
        said = []
        for one, other in combinations(self.graders, 2):
            try:
                found = self.from_grader(one).agreement(self.from_grader(other))
            except ValueError:  # they graded nothing in common
                continue
            said.append(
                f"{one} and {other}: weighted kappa {numbers.mean(*found.quadratic_kappa)}, "
                f"{numbers.format_count(found.n, 'document')}"
            )
        if len(self.graders) > 2 and said:
            value, documents = numbers.mean(*self.alpha()), numbers.format_count(len(self._several), "document")
            said.append(f"all {len(self.graders)}: alpha {value}, {documents}")
        if self.conflicts:
            said.append(f"{numbers.format_count(len(self.conflicts), 'document')} with different grades: .conflicts")
        return said


def decode_labels(document: SavedFile) -> Labels:
    """Return the grades that were saved."""
    with document.place("labels"):
        entries = list(document.content["labels"])
    found = []
    for number, entry in enumerate(entries):
        with document.place(f"labels[{number}]"):
            found.append(label_of(entry))
    with document.place("notes"):
        notes = tuple(str(note) for note in document.content.get("notes", ()))
    scale = None
    with document.place("scale"):
        if (held := document.content.get("scale")) is not None:
            scale = Scale.from_grades(held["relevant_from"], held["grades"])
    with document.place("labels"):
        return Labels(found, notes, scale)


# A label: the grade of a document for a query, with its grader, date and reason.

Grader: TypeAlias = Literal["human", "model"]

GRADES = (0, 1, 2, 3)
"""The grades that people and models can give."""
RUBRIC = (
    "does not help to answer the question",
    "is about the subject of the question, but does not answer it",
    "answers a part of the question, or answers it among much else",
    "answers the question",
)
"""The meaning of each grade, for people and models."""
RELEVANT_FROM = 2
"""The lowest grade of a document that answers at least a part of the question."""
_TEXTS = ("prompt", "date", "reason")


class Scale(NamedTuple):
    """The grades that a rubric has.

    Attributes:
        grades: All of them.
        relevant_from: The lowest grade with which a document is relevant.
    """

    grades: tuple[float, ...] = GRADES
    relevant_from: float = RELEVANT_FROM

    @classmethod
    def from_grades(cls, relevant_from: float, grades: Iterable[float] = GRADES) -> Scale:
        """Return the scale of a rubric."""
        known = tuple(grades)
        if any(isinstance(grade, bool) or not isinstance(grade, Real) for grade in known):
            raise TypeError(f"the grades of a rubric must be numbers, got {list(known)}")
        if any(higher <= lower for lower, higher in pairwise(known)):
            raise ValueError(f"the grades of a rubric must rise, got {list(known)}")
        if isinstance(relevant_from, bool) or relevant_from not in known[1:]:
            above = ", ".join(f"{grade:g}" for grade in known[1:])
            raise ValueError(f"relevant_from must be one of the grades {above}, got {relevant_from!r}")
        return cls(known, relevant_from)

    @classmethod
    def merge(cls, scales: Iterable[Scale | None]) -> Scale | None:
        """Return the scale of several labels; those that have none have the scale of the others."""
        known = list(dict.fromkeys(scale for scale in scales if scale is not None))
        if len(known) > 1:
            one, other = known[:2]
            raise ValueError(
                f"these labels were given by different rubrics: a document is relevant from grade "
                f"{one.relevant_from:g} of {len(one.grades)} and from {other.relevant_from:g} of {len(other.grades)}"
            )
        return known[0] if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """The grade of a document for a query, or the fact that it could not be graded.

    Attributes:
        query: The query.
        document: The document.
        grade: The grade; None if the person cannot tell, or the model gave no usable reply.
        grader: The name of the person or the model, without spaces around it.
        kind: `human` or `model`.
        prompt: The version of the model's prompt, or of the rubric shown to the person.
        date: The date, such as `2026-05-31`.
        reason: The reason in the words of the grader; for a model that failed, the error.
        quotes: The exact words of the document that answer the query.

    Raises:
        TypeError: If an attribute has another type.
        ValueError: If the grade is not finite, the kind is unknown, the name is empty, or the date is invalid.
    """

    query: QueryId
    document: DocumentId
    grade: float | None
    grader: str
    kind: Grader = "human"
    prompt: str | None = None
    date: str | None = None
    reason: str | None = None
    quotes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        what = f"the label of document {self.document!r} for query {self.query!r}"
        common_id_type([type(self.query)], "query ids of labels")
        common_id_type([type(self.document)], "document ids of labels")
        if self.grade is not None and (isinstance(self.grade, bool) or not isinstance(self.grade, Real)):
            raise TypeError(f"{what} must have a number as its grade, or None, got {self.grade!r}")
        if self.grade is not None and not isfinite(self.grade):
            raise ValueError(f"{what} has the grade {self.grade!r}, which is not finite")
        if not isinstance(self.grader, str) or not self.grader.strip():
            raise ValueError(f"{what} must have the name of its grader as `grader`, got {self.grader!r}")
        if self.kind not in {"human", "model"}:
            raise ValueError(f"{what} must have 'human' or 'model' as its kind, got {self.kind!r}")
        if odd := [name for name in _TEXTS if not isinstance(getattr(self, name), (str, type(None)))]:
            raise TypeError(f"{what} must have text as its {odd[0]}, got {getattr(self, odd[0])!r}")
        if self.date is not None:
            try:
                date.fromisoformat(self.date[:10])
            except ValueError:
                raise ValueError(f"the date of {what} must be written as 2026-05-31, got {self.date!r}") from None
        if isinstance(self.quotes, str) or not all(isinstance(each, str) and each.strip() for each in self.quotes):
            raise TypeError(f"{what} must have a list of texts as its quotes, got {self.quotes!r}")
        object.__setattr__(self, "quotes", tuple(self.quotes))
        object.__setattr__(self, "grader", self.grader.strip())

    def as_dict(self) -> dict[str, Any]:
        """Return what is known as plain values for JSON; `Label(**entries)` reads them."""
        known = {name: getattr(self, name) for name in FIELDS}
        known["quotes"] = list(self.quotes)
        return {
            name: to_json_value(value, f"{name} of the label of {self.document!r}")
            for name, value in known.items()
            if name == "grade" or value not in (None, [])
        }


FIELDS = tuple(each.name for each in fields(Label))


def label_of(entry: Any) -> Label:
    """Return the label that `Label.as_dict` was written from."""
    if not isinstance(entry, Mapping):
        raise TypeError(f"a label must be an object, got {entry!r}")
    if unknown := [name for name in entry if name not in FIELDS]:
        raise ValueError(f"a label can have {', '.join(FIELDS)}, got {unknown[0]!r}")
    return Label(**entry)


RULES = ("lowest", "highest", "majority")


def one_of(held: Sequence[Label], rule: str) -> Label:
    """Return the label that holds by a rule, or by the name of a grader; see `Labels.resolved`."""
    graded = [label for label in held if label.grade is not None]
    if not graded:
        return held[0]
    if named := [label for label in graded if label.grader == rule]:
        return named[0]
    grades = [float(label.grade or 0) for label in graded]
    if len(set(grades)) == 1:
        return graded[0]
    most = Counter(grades)
    chosen = {
        "lowest": min(grades),
        "highest": max(grades),
        "majority": min(grades, key=lambda grade: (-most[grade], grade)),
    }.get(rule)
    if chosen is None:  # the chosen grader gave none, and the others differ
        (query, document) = held[0].query, held[0].document
        raise ValueError(f"{rule} did not grade document {document!r} for query {query!r}, and the others differ")
    return next(label for label in graded if label.grade == chosen)

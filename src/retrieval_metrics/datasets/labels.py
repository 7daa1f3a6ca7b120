"""The labels of several people and models: their conflicts, their agreement, and the judgments they make."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.grouping import group_pairs
from retrieval_metrics._internal.optional_packages import to_data_frame
from retrieval_metrics._internal.validation import UnknownKeyError
from retrieval_metrics.datasets.argilla import read_argilla
from retrieval_metrics.datasets.exported_labels import ExportOptions
from retrieval_metrics.datasets.grader_agreement import Agreement, krippendorff_alpha
from retrieval_metrics.datasets.label import FIELDS, Label, read_label
from retrieval_metrics.datasets.label_studio import read_label_studio
from retrieval_metrics.datasets.label_wording import format_grades, labels_table
from retrieval_metrics.datasets.quepid import read_quepid
from retrieval_metrics.datasets.rubric import Scale
from retrieval_metrics.files.saved_format import Lines, SavedFile, write_saved_file
from retrieval_metrics.inputs.items import Piece
from retrieval_metrics.inputs.pieces import Quote
from retrieval_metrics.inputs.qrels import GradedByRubric, as_qrels
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    import pandas as pd

    from retrieval_metrics._internal.plain_types import DocumentId, QueryId
    from retrieval_metrics.datasets.exported_labels import ChoiceGrades, ExportedLabels, ExportSource, Unrated
    from retrieval_metrics.datasets.grader_agreement import GraderKinds
    from retrieval_metrics.datasets.label import Grader
    from retrieval_metrics.inputs.items import QrelsMapping
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels
    from retrieval_metrics.reports.tables import Table
    from retrieval_metrics.statistics import AgreementEstimate
    from retrieval_metrics.statistics.agreement import Weights

    Key = tuple[QueryId, DocumentId]


class Labels(Printed):
    """Grades of documents for queries, each with its grader.

    Attributes:
        labels: The grades, in the order in which they were given.
        notes: Sentences with further information, such as the cost of a model's calls.
        scale: The grades of the rubric, and from which one a document is relevant; None if unknown. Metrics and kappas
            that ask whether a document is relevant then take it by themselves.
        unrated: The pairs of a query and a document that were in the export of a labelling tool without a grade; the
            document is None if the query has none.

    Example:
        >>> ada = Labels.from_qrels({"q1": {"d1": 3, "d2": 0}, "q2": {"d1": 1}}, grader="Ada")
        >>> ben = Labels.from_qrels({"q1": {"d1": 3, "d2": 1}}, grader="Ben")
        >>> both = ada.merge(ben)
        >>> both.conflicts
        {('q1', 'd2'): {'Ada': 0.0, 'Ben': 1.0}}
        >>> both.resolved("lowest").qrels
        {'q1': {'d1': 3.0, 'd2': 0.0}, 'q2': {'d1': 1.0}}
    """

    def __init__(
        self,
        labels: Iterable[Label],
        notes: Iterable[str] = (),
        scale: Scale | None = None,
        unrated: Iterable[Unrated] = (),
    ) -> None:
        """Take the grades.

        Raises:
            TypeError: If one is not a `Label`.
            ValueError: If a grade is not on the scale, or a grader gave a document two different grades for one query.
        """
        label_by_key: dict[tuple[str, QueryId, DocumentId], Label] = {}
        for label in labels:
            if not isinstance(label, Label):
                raise TypeError(f"Labels must be made from Label objects, got {label!r} ({type(label).__name__})")
            earlier = label_by_key.setdefault((label.grader, label.query, label.document), label)
            if earlier.grade != label.grade:
                raise ValueError(
                    f"{label.grader} graded document {label.document!r} for query {label.query!r} {earlier.grade} and "
                    f"{label.grade}; remove one of them"
                )
            if scale is not None and label.grade is not None and label.grade not in scale.grades:
                raise ValueError(
                    f"{label.grader} graded document {label.document!r} for query {label.query!r} {label.grade:g}, "
                    f"but the grades of the rubric are {format_grades(scale.grades)}"
                )
        self.labels = tuple(label_by_key.values())
        self.notes = tuple(notes)
        self.scale = scale
        graded = {(label.query, label.document) for label in self.labels}
        self.unrated = tuple(pair for pair in dict.fromkeys(unrated) if pair not in graded)

    @classmethod
    def from_qrels(
        cls, qrels: QuestionsOrQrels, grader: str, *, kind: Grader = "human", relevant_from: float | None = None
    ) -> Labels:
        """Return judgments as the grades of one person or model.

        Args:
            qrels: Judgments of documents by id, as in `evaluate`.
            grader: The name of the grader.
            kind: `human` or `model`.
            relevant_from: The lowest of the grades 0 to 3 with which a document is relevant. None leaves it
                unspecified, which is right if the judgments are used alone; state it before you merge them with labels
                that have one.

        Raises:
            ValueError: If they are groups, quotes, texts or spans, because a label grades a document; or if grades are
                not 0 to 3 though `relevant_from` is given.
        """
        resolved_qrels = as_qrels(qrels)
        if resolved_qrels.has_pieces or not resolved_qrels.is_flat:
            pieces = (document for document in resolved_qrels.documents if isinstance(document, Piece))
            example = next(pieces, "a group")
            raise ValueError(f"labels grade documents by id, but these judgments hold {example!r}; see rm.relabel")
        labels = []
        for query, grades in resolved_qrels.graded().items():
            for document, grade in grades.items():
                labels.append(Label(query=query, document=document, grade=grade, grader=grader, kind=kind))
        scale = None if relevant_from is None else Scale.from_grades(relevant_from)
        return cls(labels, scale=scale)

    @classmethod
    def from_quepid(
        cls, path: str | PathLike[str], *, grader: str = "Quepid", relevant_from: float | None = None
    ) -> Labels:
        r"""Return the ratings in an export of Quepid.

        Args:
            path: Of a case, the export "Basic" (CSV) or "TREC"; of a book, the CSV with a column per judge, or its
                JSON, also zipped. The queries of CSV and JSON are their texts; those of TREC are Quepid's numbers.
            grader: The name of the grader of a case; a book names its judges.
            relevant_from: The lowest rating with which a document is relevant.

        Raises:
            ValueError: If it is another file, a rating is not a number, or a judge gave a document two ratings.
            OSError: If it cannot be opened.

        Example:
            >>> from pathlib import Path
            >>> from tempfile import mkdtemp
            >>> path = Path(mkdtemp()) / "book.csv"
            >>> _ = path.write_text("query,docid,Ada,Ben\nreset,d1,3,2\nreset,d2,,\n")
            >>> labels = Labels.from_quepid(path)
            >>> labels.graders, labels.unrated
            (('Ada', 'Ben'), (('reset', 'd2'),))
        """
        return cls._from_export(read_quepid(path, grader, relevant_from))

    @classmethod
    def from_label_studio(
        cls,
        source: ExportSource,
        *,
        grades: ChoiceGrades | None = None,
        query: str | None = None,
        document: str | None = None,
        question: str | None = None,
        graders: Mapping[Any, str] | None = None,
        relevant_from: float | None = None,
    ) -> Labels:
        """Return the answers in a JSON export of Label Studio: choices, ratings, numbers, buckets or rankings.

        People are `human` graders and predictions `model` graders. A task is a query with a document, or with a list
        whose items have an `id` and are sorted into buckets or ranked. A skipped task of one document is a label
        without a grade.

        Args:
            source: The path of the export, or its tasks.
            grades: The grade of each choice or bucket, `{"Relevant": 1, "Not relevant": 0, "Unclear": None}`; of a
                ranking, the grades of its first places, `[3, 2, 1]`. Not needed if the choices are numbers.
            query: The key of the data that holds the query, by default `query_id`, `query`, `question` or the like.
            document: The key that holds the document, by default `document_id`, `doc_id` or the like.
            question: The name of the control with the grades, if several are answered.
            graders: Names of the annotators, by number; otherwise "annotator 1", or their address if it is there.
            relevant_from: The lowest grade with which a document is relevant.

        Raises:
            TypeError: If the source is neither a path nor a list.
            ValueError: If it is another export, a choice has no grade, or an annotator gave a document two grades.
            OSError: If it cannot be opened.

        Example:
            >>> result = {"from_name": "fits", "to_name": "text", "type": "choices", "value": {"choices": ["yes"]}}
            >>> task = {"id": 1, "data": {"query": "reset", "doc_id": "d1"}}
            >>> task["annotations"] = [{"completed_by": 7, "result": [result]}]
            >>> labels = Labels.from_label_studio([task], grades={"yes": 1, "no": 0}, graders={7: "Ada"})
            >>> labels.graders, labels.qrels
            (('Ada',), {'reset': {'d1': 1.0}})
        """
        options = ExportOptions(
            grades=grades,
            query=query,
            document=document,
            question=question,
            graders=graders,
            relevant_from=relevant_from,
        )
        return cls._from_export(read_label_studio(source, options))

    @classmethod
    def from_argilla(
        cls,
        source: ExportSource,
        *,
        grades: ChoiceGrades | None = None,
        query: str | None = None,
        document: str | None = None,
        question: str | None = None,
        graders: Mapping[Any, str] | None = None,
        relevant_from: float | None = None,
    ) -> Labels:
        """Return the responses of people and the suggestions of models in records of Argilla.

        The question is one of labels, ratings or a ranking. Drafts are left out where the records mark them, which the
        file of `to_json` does not; a discarded record is a label without a grade.

        Args:
            source: `dataset.records`, the path that its `to_json` wrote, or the list that its `to_list` returns.
            grades: The grade of each label, `{"relevant": 1, "not": 0}`; of a ranking, the grades of its first places,
                `[3, 2, 1]`. Not needed if the labels are numbers.
            query: The field or metadata that holds the query, by default `query_id`, `query`, `question` or the like.
            document: The field or metadata that holds the document, by default `document_id`, `doc_id` or the like. For
                a ranking, the metadata `NAME_id` hold the document of the option NAME.
            question: The name of the question with the grades, if several are answered.
            graders: Names of the users, by id.
            relevant_from: The lowest grade with which a document is relevant.

        Raises:
            TypeError: If the source is neither a path nor records.
            ValueError: If it is another export, an answer has no grade, or a user gave a document two grades.
            OSError: If it cannot be opened.

        Example:
            >>> record = {"id": "1", "fields": {"query": "reset"}, "metadata": {"doc_id": "d1"}}
            >>> record["responses"] = {"fit": [{"value": 2, "user_id": "u1"}]}
            >>> record["suggestions"] = {"fit": {"value": 3, "agent": "a model"}}
            >>> [(label.grader, label.kind, label.grade) for label in Labels.from_argilla([record])]
            [('u1', 'human', 2.0), ('a model', 'model', 3.0)]
        """
        options = ExportOptions(
            grades=grades,
            query=query,
            document=document,
            question=question,
            graders=graders,
            relevant_from=relevant_from,
        )
        return cls._from_export(read_argilla(source, options))

    @classmethod
    def _from_export(cls, exported: ExportedLabels) -> Labels:
        return cls(exported.labels, scale=exported.scale, unrated=exported.unrated)

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
            raise UnknownKeyError(f"{grader!r} graded nothing; the graders are {', '.join(self.graders)}")
        return Labels(self._labels_of_grader(grader), scale=self.scale)

    @cached_property
    def conflicts(self) -> dict[Key, dict[str, float]]:
        """The documents to which several graders gave different grades, with the grade of each."""
        conflicts = {}
        for key, labels in self._labels_by_document.items():
            grades = {label.grader: float(label.grade) for label in labels if label.grade is not None}
            if len(set(grades.values())) > 1:
                conflicts[key] = grades
        return conflicts

    @cached_property
    def _labels_by_document(self) -> dict[Key, list[Label]]:
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
            grades_by_grader = ", ".join(f"{grader} {grade:g}" for grader, grade in grades.items())
            raise ValueError(
                f"{numbers.format_count(len(self.conflicts), 'document')} got different grades, for example "
                f"{document!r} for "
                f"query {query!r} ({grades_by_grader}). Choose between them with labels.resolved('lowest'), 'highest', "
                "'majority' or the name of a grader, or take one grader with labels.from_grader(name)"
            )
        qrels = GradedByRubric({query: {} for query in self.queries})
        qrels.relevant_from = None if self.scale is None else self.scale.relevant_from
        for label in self.labels:
            if label.grade is not None:
                qrels[label.query][label.document] = float(label.grade)
        return qrels

    @cached_property
    def quotes(self) -> dict[Any, dict[Quote, float]]:
        """The words marked by graders, as judgments that survive re-chunking: each quote has its document's grade.

        Queries without quotes are left out. A quote marked by several graders has the largest of their grades.
        """
        quotes_by_query: dict[Any, dict[Quote, float]] = {}
        for label in self.labels:
            if not label.grade:
                continue
            for text in label.quotes:
                quote = Quote(text)
                grades = quotes_by_query.setdefault(label.query, {})
                grades[quote] = max(float(label.grade), grades.get(quote, 0.0))
        return quotes_by_query

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
        labels = []
        for labels_of_document in self._labels_by_document.values():
            labels.append(replace(choose_label(labels_of_document, rule), grader=self.name))
        notes = list(self.notes)
        if self.conflicts:
            rule_text = f"the {rule} grade" if rule in RULES else f"the grade of {rule}"
            notes.append(f"conflicts of {self.name} resolved by {rule_text}")
        return Labels(labels, notes, self.scale, self.unrated)

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
        merged_sets = [self, *others]
        scale = Scale.merge(label_set.scale for label_set in merged_sets)
        if scale is not None:
            _require_scale(merged_sets, scale)
        labels: list[Label] = []
        notes: dict[str, None] = {}
        unrated: list[Unrated] = []
        for label_set in merged_sets:
            labels += label_set.labels
            notes |= dict.fromkeys(label_set.notes)
            unrated += label_set.unrated
        return Labels(labels, notes, scale, unrated)

    def for_queries(self, queries: Iterable[Any]) -> Labels:
        """Return the grades of the given queries."""
        selected = set(queries)
        labels = [label for label in self.labels if label.query in selected]
        unrated = [(query, document) for query, document in self.unrated if query in selected]
        return Labels(labels, self.notes, self.scale, unrated)

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
            first_grader, second_grader = self.graders
            second_labels = self.from_grader(second_grader)
            return self.from_grader(first_grader).agreement(second_labels, level=level, kinds=kinds)
        if not isinstance(other, Labels):
            other = Labels.from_qrels(other, grader="the judgments")
        scale = Scale.merge([self.scale, other.scale])
        threshold = None if scale is None else scale.relevant_from
        return Agreement.from_labels((self.name, other.name), self.graded, other.graded, level, kinds, threshold)

    def alpha(self, weights: Weights = "quadratic", *, level: float = 0.95) -> AgreementEstimate:
        """Return the agreement of all graders beyond chance, however many there are: Krippendorff's alpha.

        Documents with a single grade are left out; see `retrieval_metrics.statistics.krippendorffs_alpha`.

        Args:
            weights: How disagreements count: by the square of their distance, `"linear"`, or None, all equally.
            level: Confidence level of the interval.

        Raises:
            ValueError: If no document has several grades, or the weights are unknown.

        Example:
            >>> import retrieval_metrics as rm
            >>> ada = rm.Labels.from_qrels({"q": {"d1": 0, "d2": 1}}, grader="Ada")
            >>> ben = rm.Labels.from_qrels({"q": {"d1": 0, "d2": 1}}, grader="Ben")
            >>> eve = rm.Labels.from_qrels({"q": {"d1": 1, "d2": 1}}, grader="Eve")
            >>> ada.merge(ben, eve).alpha().value
            0.375
        """
        if not self._repeated_grades:
            raise ValueError(
                f"no document has grades from several graders ({self.name} alone); merge the labels of the others first"
            )
        return krippendorff_alpha(self._repeated_grades, weights, level)

    @cached_property
    def _repeated_grades(self) -> dict[Key, list[float]]:
        """The grades of each document that several graders graded."""
        grades_by_document = {}
        for key, labels in self._labels_by_document.items():
            grades = [float(label.grade) for label in labels if label.grade is not None]
            if len(grades) > 1:
                grades_by_document[key] = grades
        return grades_by_document

    @property
    def name(self) -> str:
        """The graders, in words."""
        return numbers.join_names(list(self.graders)) if self.labels else "nobody"

    @property
    def graded(self) -> dict[Key, float]:
        """The grades by (query, document); conflicts raise as in `qrels`."""
        grades_by_document = {}
        for query, grades in self.qrels.items():
            for document, grade in grades.items():
                grades_by_document[query, document] = grade
        return grades_by_document

    def save(self, path: str | PathLike[str]) -> None:
        """Save the grades to a file that `load` reads.

        Args:
            path: The JSON file; a further `.gz` or `.zst` compresses it.

        Raises:
            OSError: If the file cannot be written; an existing file stays as it was.
        """
        sections: dict[str, Any] = {
            "labels": Lines(label.as_dict() for label in self.labels),
            "notes": list(self.notes),
        }
        if self.scale is not None:
            sections["scale"] = self.scale._asdict()
        if self.unrated:
            sections["unrated"] = Lines(list(pair) for pair in self.unrated)
        write_saved_file(path, "labels", sections)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per grade and the columns of `Label`.

        Raises:
            ImportError: If pandas is not installed; the message contains the command.
        """
        rows = [[getattr(label, name) for name in FIELDS] for label in self.labels]
        return to_data_frame(rows, FIELDS)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Labels):
            return NotImplemented
        own = (self.labels, self.notes, self.scale, self.unrated)
        return own == (other.labels, other.notes, other.scale, other.unrated)

    def __hash__(self) -> int:
        return hash(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Label]:
        return iter(self.labels)

    def __repr__(self) -> str:
        return f"<Labels: {len(self)} by {self.name}>"

    def _tables(self) -> list[Table]:
        return [labels_table(self._summary)]

    @cached_property
    def _summary(self) -> LabelsSummary:
        grades = {float(label.grade) for label in self.labels if label.grade is not None}
        failures = Counter(label.reason for label in self.labels if label.grade is None and label.kind == "model")
        agreements = self._pair_agreements()
        alpha = self.alpha() if len(self.graders) > 2 and agreements else None
        return LabelsSummary(
            n_labels=len(self),
            grades=tuple(sorted(grades)),
            graders=tuple(self._count_grades(grader) for grader in self.graders),
            failures=failures,
            agreements=agreements,
            alpha=alpha,
            n_with_several_grades=len(self._repeated_grades),
            n_conflicts=len(self.conflicts),
            n_unrated=len(self.unrated),
            scale=self.scale,
            notes=self.notes,
        )

    def _count_grades(self, grader: str) -> GraderCounts:
        labels = self._labels_of_grader(grader)
        n_by_grade = Counter(float(label.grade) for label in labels if label.grade is not None)
        return GraderCounts(
            grader=grader,
            kind=labels[0].kind,
            n_queries=len({label.query for label in labels}),
            n_by_grade=n_by_grade,
            n_ungraded=len(labels) - n_by_grade.total(),
        )

    def _labels_of_grader(self, grader: str) -> list[Label]:
        return [label for label in self.labels if label.grader == grader]

    def _pair_agreements(self) -> tuple[Agreement, ...]:
        """Return the agreement of each two graders who graded a document in common."""
        agreements = []
        for first_grader, second_grader in combinations(self.graders, 2):
            try:
                agreements.append(self.from_grader(first_grader).agreement(self.from_grader(second_grader)))
            except ValueError:  # they graded nothing in common
                continue
        return tuple(agreements)


def _require_scale(label_sets: Iterable[Labels], scale: Scale) -> None:
    """Refuse labels that do not say from which grade a document is relevant, though others do."""
    for label_set in label_sets:
        if label_set.labels and label_set.scale is None:
            raise ValueError(
                f"the labels of {label_set.name} do not say from which grade a document is relevant; those of the "
                f"others say grade {scale.relevant_from:g}. If that holds for these too, write "
                f"Labels.from_qrels(qrels, grader=..., relevant_from={scale.relevant_from:g})"
            )


@dataclass(frozen=True, slots=True)
class GraderCounts:
    """How many labels one grader gave.

    Attributes:
        grader: The grader.
        kind: `human` or `model`.
        n_queries: The number of queries with a label of this grader.
        n_by_grade: The number of labels with each grade.
        n_ungraded: The number of labels without a grade.
    """

    grader: str
    kind: Grader
    n_queries: int
    n_by_grade: Counter[float]
    n_ungraded: int


@dataclass(frozen=True, slots=True)
class LabelsSummary:
    """The numbers and notes that `labels_table` prints of labels.

    Attributes:
        n_labels: The number of labels.
        grades: The grades that occur, in order.
        graders: The counts of each grader, in the order of their first grade.
        failures: How many times models gave no grade, by reason.
        agreements: The agreement of each two graders who graded a document in common.
        alpha: The agreement of all graders, if there are more than two and some have documents in common; else None.
        n_with_several_grades: The number of documents that several graders graded.
        n_conflicts: The number of documents with different grades.
        n_unrated: The number of rows of an export without a grade.
        scale: The scale of the grades; None if unknown.
        notes: Sentences with further information.
    """

    n_labels: int
    grades: tuple[float, ...]
    graders: tuple[GraderCounts, ...]
    failures: Counter[str | None]
    agreements: tuple[Agreement, ...]
    alpha: AgreementEstimate | None
    n_with_several_grades: int
    n_conflicts: int
    n_unrated: int
    scale: Scale | None
    notes: tuple[str, ...]


def decode_labels(saved_file: SavedFile) -> Labels:
    """Return the labels that were saved to a file."""
    with saved_file.name_place_in_errors("labels"):
        label_entries = list(saved_file.content["labels"])
    labels = []
    for number, label_entry in enumerate(label_entries):
        with saved_file.name_place_in_errors(f"labels[{number}]"):
            labels.append(read_label(label_entry))
    with saved_file.name_place_in_errors("notes"):
        notes = tuple(str(note) for note in saved_file.content.get("notes", ()))
    scale = None
    with saved_file.name_place_in_errors("scale"):
        scale_entry = saved_file.content.get("scale")
        if scale_entry is not None:
            scale = Scale.from_grades(scale_entry["relevant_from"], scale_entry["grades"])
    with saved_file.name_place_in_errors("unrated"):
        unrated = [(query, document) for query, document in saved_file.content.get("unrated", ())]
    with saved_file.name_place_in_errors("labels"):
        return Labels(labels, notes, scale, unrated)


# The rules by which `Labels.resolved` chooses between grades, beside the names of graders.
RULES = ("lowest", "highest", "majority")


def choose_label(labels: Sequence[Label], rule: str) -> Label:
    """Return the label of a document that a rule chooses, or that a grader of that name gave; see `Labels.resolved`."""
    graded = [label for label in labels if label.grade is not None]
    if not graded:
        return labels[0]
    for label in graded:
        if label.grader == rule:
            return label
    grades = [float(label.grade or 0) for label in graded]
    if len(set(grades)) == 1:
        return graded[0]
    if rule not in RULES:  # the chosen grader gave none, and the others differ
        query = labels[0].query
        document = labels[0].document
        raise ValueError(f"{rule} did not grade document {document!r} for query {query!r}, and the others differ")
    chosen_grade = _choose_grade(grades, rule)
    return next(label for label in graded if label.grade == chosen_grade)


def _choose_grade(grades: Sequence[float], rule: str) -> float:
    if rule == "lowest":
        return min(grades)
    if rule == "highest":
        return max(grades)
    counts = Counter(grades)
    largest_count = max(counts.values())
    return min(grade for grade, count in counts.items() if count == largest_count)

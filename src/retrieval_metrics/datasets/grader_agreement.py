"""Measure how far graders agree: two by grade and kind of passage, more than two by one number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics.datasets.agreement_wording import (
    agreement_tables,
    calibration_label,
    chance_text,
    relevance_text,
)
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.charts import ChartRow, ChartRows
from retrieval_metrics.reports.tables import Printed
from retrieval_metrics.statistics import AgreementEstimate, kappa_by_cluster, krippendorffs_alpha, share_by_cluster
from retrieval_metrics.statistics.agreement import MIN_DISAGREEMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from retrieval_metrics._internal.plain_types import DocumentId, FloatArray, QueryId
    from retrieval_metrics.reports.tables import Table
    from retrieval_metrics.statistics.agreement import Weights

    GradesByDocument = Mapping[tuple[QueryId, DocumentId], float]
    # The kind of each passage in several respects: `{"found by": "bm25 alone", "length": "short"}`.
    GraderKinds = Mapping[tuple[QueryId, DocumentId], Mapping[str, str]]


# The largest number of different grades that a table of agreement can show.
MAX_GRADES = 12
# Whole numbers further apart are no scale of grades, so those in between are not listed.
MAX_SCALE = 1_000
# A weighted kappa up to this is hardly better than chance, whatever its interval.
MAX_NEAR_CHANCE = 0.1


@dataclass(frozen=True, eq=False)
class Agreement(Printed):
    """The agreement of two graders on the documents that both graded.

    Attributes:
        names: The two graders.
        pairs: The grades of each document that both graded, the first grader's and the second's.
        level: The level of the intervals.
        kinds: The kind of each document in several respects; None if unknown.
        relevant_from: The grade from which a document is relevant; None: any above 0.
    """

    names: tuple[str, str]
    pairs: Mapping[tuple[QueryId, DocumentId], tuple[float, float]]
    level: float = 0.95
    kinds: GraderKinds | None = None
    relevant_from: float | None = None

    @classmethod
    def from_labels(
        cls,
        names: tuple[str, str],
        first_grades: GradesByDocument,
        second_grades: GradesByDocument,
        level: float,
        kinds: GraderKinds | None,
        relevant_from: float | None = None,
    ) -> Agreement:
        """Compare the grades of two graders.

        Raises:
            ValueError: If they graded no document in common, or there are too many different grades.
        """
        pairs = {}
        for document, grade in first_grades.items():
            if document in second_grades:
                pairs[document] = (grade, second_grades[document])
        if not pairs:
            raise ValueError(
                f"{names[0]} graded {len(first_grades)} documents and {names[1]} {len(second_grades)}, but never "
                "the same document for the same query; check that their IDs agree"
            )
        agreement = cls(names, pairs, level, kinds, relevant_from)
        if len(agreement.grades) > MAX_GRADES:
            raise ValueError(
                f"{len(agreement.grades)} different grades, such as {agreement.grades[:3]}, are too many to compare by "
                "agreement; round them first"
            )
        return agreement

    @cached_property
    def grades(self) -> tuple[float, ...]:
        """All grades that occur, in order; for whole numbers also those in between."""
        return _list_grades(chain.from_iterable(self.pairs.values()))

    @cached_property
    def by_query(self) -> FloatArray:
        """Shape (queries, grades, grades): for each query, how often the first gave grade i and the second grade j."""
        grade_index = {grade: index for index, grade in enumerate(self.grades)}
        query_index: dict[QueryId, int] = {}
        for query, _ in self.pairs:
            query_index.setdefault(query, len(query_index))
        counts = np.zeros((len(query_index), len(grade_index), len(grade_index)))
        for (query, _), (first_grade, second_grade) in self.pairs.items():
            counts[query_index[query], grade_index[first_grade], grade_index[second_grade]] += 1
        return counts

    @property
    def confusion(self) -> FloatArray:
        """Shape (grades, grades): how often the first gave grade i and the second grade j."""
        table: FloatArray = self.by_query.sum(axis=0)
        return table

    @property
    def n(self) -> int:
        """The number of documents that both graded."""
        return len(self.pairs)

    @cached_property
    def raw_agreement(self) -> AgreementEstimate:
        """The share of documents with the same grade, with an interval by query."""
        return share_by_cluster(np.einsum("qii->q", self.by_query), self.by_query.sum(axis=(1, 2)), level=self.level)

    @cached_property
    def kappa(self) -> AgreementEstimate:
        """Cohen's kappa: agreement beyond chance, with equal weights of disagreements and an interval by query.

        The interval is NaN if they disagree in fewer than 3 queries, which do not show how much disagreements vary.
        """
        return kappa_by_cluster(self.by_query, level=self.level)

    @cached_property
    def quadratic_kappa(self) -> AgreementEstimate:
        """Cohen's kappa with disagreements weighted by the square of their distance in grades."""
        return kappa_by_cluster(self.by_query, "quadratic", level=self.level)

    @cached_property
    def linear_kappa(self) -> AgreementEstimate:
        """Cohen's kappa with disagreements weighted by their distance in grades."""
        return kappa_by_cluster(self.by_query, "linear", level=self.level)

    @cached_property
    def binary_kappa(self) -> AgreementEstimate:
        """Cohen's kappa of relevant (a grade of `relevant_from` or more) or not."""
        membership = np.array([self._not_relevant, ~self._not_relevant], dtype=np.float64)
        return kappa_by_cluster(membership @ self.by_query @ membership.T, level=self.level)

    @cached_property
    def calibration(self) -> dict[float, AgreementEstimate]:
        """For each grade of the second grader, the share of its documents that the first grader calls relevant."""
        shares = {}
        for index, grade in enumerate(self.grades):
            counts = self.by_query[:, :, index]
            if counts.any():
                relevant = counts[:, ~self._not_relevant].sum(axis=1)
                shares[grade] = share_by_cluster(relevant, counts.sum(axis=1), level=self.level)
        return shares

    @property
    def _not_relevant(self) -> NDArray[np.bool_]:
        grades = np.array(self.grades)
        if self.relevant_from is None:
            return grades <= 0
        return grades < self.relevant_from

    def plot(self, *, across: int | None = None) -> Figure:
        """Draw for each grade of the second grader how many of its documents the first grader calls relevant.

        Args:
            across: How many panels are in a row; there is one.

        Raises:
            ImportError: If matplotlib is not installed; the message contains the command.
        """
        import_optional("matplotlib", "plot")
        from retrieval_metrics.reports.plots import figure
        from retrieval_metrics.reports.row_panels import rows_panel

        second_name = self.names[1]
        n_by_grade = dict(zip(self.grades, self.confusion.sum(axis=0).astype(int), strict=True))
        rows = []
        for grade, share in reversed(self.calibration.items()):
            size = numbers.format_count(int(n_by_grade[grade]), "document")
            rows.append(
                ChartRow(f"{second_name}: {grade:g}", share.value, share.interval, f"{share.value:.2f} of {size}")
            )
        title = f"calibration of {second_name}'s grades"
        chart = ChartRows.scaled(title, calibration_label(self), rows, least=1.0)
        return figure([rows_panel(chart)], across)

    @property
    def relevant(self) -> str:
        """The two classes of documents that `binary_kappa` compares, in words."""
        return relevance_text(self)

    @property
    def mean_difference(self) -> float:
        """How much higher the second grader grades than the first, on average."""
        grades = np.array(list(self.pairs.values()))
        return float(np.mean(grades[:, 1] - grades[:, 0]))

    @property
    def near_chance(self) -> bool:
        """Whether the agreement is barely better than chance, or not shown to be better."""
        value, (low, _) = self.quadratic_kappa
        if math.isnan(low):
            is_shown = len(self.by_query) >= MIN_DISAGREEMENTS
        else:
            is_shown = low > 0
        return not value > MAX_NEAR_CHANCE or not is_shown

    @property
    def chance_note(self) -> str:
        """How an agreement near chance compares with chance, in words."""
        return chance_text(self)

    @property
    def disagreements(self) -> dict[tuple[QueryId, DocumentId], tuple[float, float]]:
        """The documents with different grades, the largest differences first."""
        different = {document: grades for document, grades in self.pairs.items() if grades[0] != grades[1]}
        distance_by_document = {document: abs(first - second) for document, (first, second) in different.items()}
        largest_first = sorted(different, key=distance_by_document.__getitem__, reverse=True)
        return {document: different[document] for document in largest_first}

    @cached_property
    def by_kind(self) -> list[KindAgreement]:
        """The agreement on each kind of document, in order of respect and kind; empty if no kinds are known."""
        pairs_by_kind: dict[tuple[str, str], list[tuple[float, float]]] = {}
        if self.kinds is not None:
            for document, grades in self.pairs.items():
                for respect_and_kind in self.kinds.get(document, {}).items():
                    pairs_by_kind.setdefault(respect_and_kind, []).append(grades)
        return [KindAgreement.from_pairs(*key, pairs) for key, pairs in sorted(pairs_by_kind.items())]

    def _tables(self) -> list[Table]:
        return agreement_tables(self)

    def __repr__(self) -> str:
        kappa = numbers.format_value(self.kappa.value)
        return f"<Agreement of {self.names[0]} and {self.names[1]}: kappa {kappa}, n={self.n}>"


@dataclass(frozen=True, slots=True)
class KindAgreement:
    """The agreement of two graders on the documents of one kind.

    Attributes:
        respect: The respect in which documents are told apart, such as `length`.
        kind: The kind.
        n: The number of documents of the kind that both graded.
        raw_agreement: The share of them with the same grade.
        mean_difference: How much higher the second grades them than the first, on average.
    """

    respect: str
    kind: str
    n: int
    raw_agreement: float
    mean_difference: float

    @classmethod
    def from_pairs(cls, respect: str, kind: str, pairs: Sequence[tuple[float, float]]) -> KindAgreement:
        """Compare the grades of the documents of a kind, the first grader's and the second's."""
        raw_agreement = np.mean([first == second for first, second in pairs])
        mean_difference = np.mean([second - first for first, second in pairs])
        return cls(respect, kind, len(pairs), float(raw_agreement), float(mean_difference))


def krippendorff_alpha(
    grades_by_document: Mapping[tuple[QueryId, DocumentId], Sequence[float]], weights: Weights, level: float
) -> AgreementEstimate:
    """Return Krippendorff's alpha of the grades of any number of graders, by document."""
    scale = _list_grades(chain.from_iterable(grades_by_document.values()))
    grade_index = {grade: index for index, grade in enumerate(scale)}
    query_index: dict[QueryId, int] = {}
    for query, _ in grades_by_document:
        query_index.setdefault(query, len(query_index))
    tables = np.zeros((len(query_index), len(grade_index), len(grade_index)))
    for (query, _), grades in grades_by_document.items():
        counts = np.bincount([grade_index[grade] for grade in grades], minlength=len(grade_index))
        pair_counts = np.outer(counts, counts) - np.diag(counts)
        tables[query_index[query]] += pair_counts / (len(grades) - 1)
    return krippendorffs_alpha(tables, weights, level=level)


def _list_grades(grades: Iterable[float]) -> tuple[float, ...]:
    """Return all grades that occur, in order; for whole numbers also those in between, unless these are too many."""
    distinct = sorted(set(map(float, grades)))
    is_scale = all(grade.is_integer() for grade in distinct) and distinct[-1] - distinct[0] <= MAX_SCALE
    if is_scale:
        return tuple(float(grade) for grade in range(int(distinct[0]), int(distinct[-1]) + 1))
    return tuple(distinct)

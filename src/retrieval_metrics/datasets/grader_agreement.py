"""The agreement of two graders, by grade and by kind of passage, and of more in one number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics._internal.validation import group_pairs, import_optional
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.charts import ChartRow, ChartRows
from retrieval_metrics.reports.tables import Printed, Table
from retrieval_metrics.statistics import AgreementEstimate, kappa_by_cluster, krippendorffs_alpha, share_by_cluster
from retrieval_metrics.statistics.kappa import MIN_DISAGREEMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from retrieval_metrics._internal.validation import DocumentId, FloatArray, QueryId
    from retrieval_metrics.statistics.kappa import Weights

    Graded = Mapping[tuple[QueryId, DocumentId], float]
    GraderKinds = Mapping[tuple[QueryId, DocumentId], Mapping[str, str]]
    """The kind of each passage in several respects: `{"found by": "bm25 alone", "length": "short"}`."""


MOST_GRADES = 12
NEAR_CHANCE = 0.1
"""A weighted kappa up to this is hardly better than chance, whatever its interval."""


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
        first: Graded,
        second: Graded,
        level: float,
        kinds: GraderKinds | None,
        relevant_from: float | None = None,
    ) -> Agreement:
        """Compare the grades of two graders.

        Raises:
            ValueError: If they graded no document in common, or there are too many different grades.
        """
        pairs = {key: (grade, second[key]) for key, grade in first.items() if key in second}
        if not pairs:
            raise ValueError(
                f"{names[0]} graded {len(first)} documents and {names[1]} {len(second)}, but none of them is the same "
                "document for the same query; do the ids agree?"
            )
        found = cls(names, pairs, level, kinds, relevant_from)
        if len(found.grades) > MOST_GRADES:
            raise ValueError(
                f"{len(found.grades)} different grades, such as {found.grades[:3]}, are too many to compare by "
                "agreement; round them first"
            )
        return found

    @cached_property
    def grades(self) -> tuple[float, ...]:
        """All grades that occur, in order; for whole numbers also those in between."""
        return _scale(grade for pair in self.pairs.values() for grade in pair)

    @cached_property
    def by_query(self) -> FloatArray:
        """Shape (queries, grades, grades): for each query, how often one gave i and the other j."""
        at = {grade: number for number, grade in enumerate(self.grades)}
        queries = {query: number for number, query in enumerate(dict.fromkeys(query for query, _ in self.pairs))}
        counts = np.zeros((len(queries), len(at), len(at)))
        for (query, _), (one, other) in self.pairs.items():
            counts[queries[query], at[one], at[other]] += 1
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
        none = self._not_relevant
        parts = np.array([none, ~none], dtype=np.float64)
        return kappa_by_cluster(parts @ self.by_query @ parts.T, level=self.level)

    @cached_property
    def calibration(self) -> dict[float, AgreementEstimate]:
        """What the grades of the second mean: of the documents with each, the share that the first calls relevant."""
        given = {grade: self.by_query[:, :, at] for at, grade in enumerate(self.grades)}
        return {
            grade: share_by_cluster(of[:, ~self._not_relevant].sum(axis=1), of.sum(axis=1), level=self.level)
            for grade, of in given.items()
            if of.any()
        }

    @property
    def _not_relevant(self) -> NDArray[np.bool_]:
        grades = np.array(self.grades)
        return grades <= 0 if self.relevant_from is None else grades < self.relevant_from

    def plot(self, *, across: int | None = None) -> Figure:
        """Draw what the grades of the second mean: how many of the documents with each the first calls relevant.

        Args:
            across: How many panels are in a row; there is one.

        Raises:
            ImportError: If matplotlib is not installed; the message holds the command.
        """
        import_optional("matplotlib", "plot")
        from retrieval_metrics.reports.plots import figure, rows_panel  # noqa: PLC0415  (matplotlib is an extra)

        first, second = self.names
        given = self.confusion.sum(axis=0).astype(int)
        counts = {grade: numbers.format_count(int(n), "document") for grade, n in zip(self.grades, given, strict=True)}
        rows = [
            ChartRow(f"{second}: {grade:g}", found.value, found.interval, f"{found.value:.2f} of {counts[grade]}")
            for grade, found in reversed(self.calibration.items())
        ]
        relevant = "relevant" if self.relevant_from is None else f"relevant (from grade {self.relevant_from:g})"
        label = f"share that {first} calls {relevant},\nwith its {numbers.level_name(self.level)}"
        return figure([rows_panel(ChartRows.scaled(f"what a grade of {second} means", label, rows, least=1.0))], across)

    @property
    def relevant(self) -> str:
        """What is compared by `binary_kappa`, in words."""
        return "relevant or not" if self.relevant_from is None else f"relevant (from {self.relevant_from:g}) or not"

    @property
    def mean_difference(self) -> float:
        """How much higher the second grades than the first, on average."""
        return float(np.mean([other - one for one, other in self.pairs.values()]))

    @property
    def near_chance(self) -> bool:
        """Whether the agreement is hardly better than chance, or nothing shows that it is."""
        value, (low, _) = self.quadratic_kappa
        shown = len(self.by_query) >= MIN_DISAGREEMENTS if math.isnan(low) else low > 0
        return not value > NEAR_CHANCE or not shown

    @property
    def chance_note(self) -> str:
        """How an agreement near chance compares with it: hardly better, worse, or not to be told."""
        value, (low, high) = self.quadratic_kappa
        if math.isnan(value):
            return "no evidence: both gave every document one and the same grade"
        if math.isnan(low):
            return "not to be told from chance, from so few queries"
        return "worse than chance; is a scale turned round?" if high < 0 else "hardly better than chance"

    @property
    def disagreements(self) -> dict[tuple[QueryId, DocumentId], tuple[float, float]]:
        """The documents with different grades, the largest differences first."""
        different = [(key, pair) for key, pair in self.pairs.items() if pair[0] != pair[1]]
        return dict(sorted(different, key=lambda each: -abs(each[1][0] - each[1][1])))

    def _tables(self) -> list[Table]:
        tables = [self._measures(), self._confusion()]
        return tables if self.kinds is None else [*tables, self._by_kind(self.kinds)]

    def _measures(self) -> Table:
        rows = [
            [name, "-" if np.isnan(found.value) else numbers.value(found.value), numbers.interval(found.interval)]
            for name, found in (
                ("same grade", self.raw_agreement),
                ("kappa", self.kappa),
                ("kappa, weighted by squares", self.quadratic_kappa),
                ("kappa, weighted linearly", self.linear_kappa),
                (f"kappa, {self.relevant}", self.binary_kappa),
            )
        ]
        queries = numbers.format_query_count(len(self.by_query))
        title = f"{self.names[0]} with {self.names[1]}: {numbers.format_count(self.n, 'document')} of {queries}"
        direction = "higher" if self.mean_difference > 0 else "lower"
        notes = [f"{self.names[1]} grades {abs(self.mean_difference):.2f} {direction} on average"]
        if any(cells[1:] != ["-", "-"] and cells[2] == "-" for cells in rows):
            notes.append(f"-: a kappa has no interval if they disagree in fewer than {MIN_DISAGREEMENTS} queries")
        if self.near_chance:
            notes.append(f"this agreement is {self.chance_note}")
        return Table(["agreement", "", numbers.level_name(self.level)], rows, notes, title)

    def _confusion(self) -> Table:
        first, second = self.names
        header = [f"{first} \\ {second}", *(f"{grade:g}" for grade in self.grades)]
        rows = [
            [f"{grade:g}", *(f"{int(count):,}" for count in row)]
            for grade, row in zip(self.grades, self.confusion, strict=True)
        ]
        return Table(header, rows)

    def _by_kind(self, kinds: GraderKinds) -> Table:
        held = group_pairs((kind, pair) for key, pair in self.pairs.items() for kind in kinds.get(key, {}).items())
        rows: list[list[str]] = []
        for (respect, kind), pairs in sorted(held.items()):
            same = np.mean([one == other for one, other in pairs])
            shift = np.mean([other - one for one, other in pairs])
            rows.append([respect, kind, f"{len(pairs):,}", numbers.value(float(same)), numbers.signed(float(shift))])
        header = ["kind of passage", "", "n", "same grade", f"{self.names[1]} higher by"]
        return Table(header, rows, words=(0, 1))

    def __repr__(self) -> str:
        return (
            f"<Agreement of {self.names[0]} and {self.names[1]}: kappa {numbers.value(self.kappa.value)}, n={self.n}>"
        )


def krippendorff_alpha(
    given: Mapping[tuple[QueryId, DocumentId], Sequence[float]], weights: Weights, level: float
) -> AgreementEstimate:
    """Return Krippendorff's alpha of the grades of any number of graders, by document."""
    at = {grade: number for number, grade in enumerate(_scale(one for held in given.values() for one in held))}
    queries = {query: number for number, query in enumerate(dict.fromkeys(query for query, _ in given))}
    tables = np.zeros((len(queries), len(at), len(at)))
    for (query, _), held in given.items():
        counts = np.bincount([at[grade] for grade in held], minlength=len(at))
        tables[queries[query]] += (np.outer(counts, counts) - np.diag(counts)) / (len(held) - 1)
    return krippendorffs_alpha(tables, weights, level=level)


def _scale(grades: Iterable[float]) -> tuple[float, ...]:
    """Return all grades that occur, in order; for whole numbers also those in between."""
    found = sorted(set(map(float, grades)))
    if all(grade.is_integer() for grade in found):
        return tuple(float(grade) for grade in range(int(found[0]), int(found[-1]) + 1))
    return tuple(found)

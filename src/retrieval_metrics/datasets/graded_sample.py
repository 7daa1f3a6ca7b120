"""The judgments of people for a sample of queries and of a model for all, their agreement, and what lacks a grade."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retrieval_metrics.comparison.partly_judged import largest_cutoff
from retrieval_metrics.datasets.grader_agreement import Agreement
from retrieval_metrics.datasets.label_wording import format_grades
from retrieval_metrics.datasets.labels import Labels
from retrieval_metrics.datasets.sample import Sample
from retrieval_metrics.inputs.qrels import Qrels, as_qrels
from retrieval_metrics.matching.ranking_order import OrderedRankings
from retrieval_metrics.metrics.base.rules import STANDARD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import DocumentId, QueryId
    from retrieval_metrics.datasets.rubric import Scale
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels
    from retrieval_metrics.metrics.base.metric import Metric


@dataclass(frozen=True, slots=True)
class UngradedDocuments:
    """How many of the documents that metrics see were not graded.

    Attributes:
        graders: Who did not grade them: people or the model.
        n_ungraded: The number without a grade.
        n_retrieved: The number of documents among the first of the systems.
        depth: How many of the first documents of a ranking the metrics see.
    """

    graders: str
    n_ungraded: int
    n_retrieved: int
    depth: int


@dataclass(frozen=True, slots=True)
class SampleGaps:
    """What was left out of an estimate, and what has no grade.

    Attributes:
        n_outside_sample: How many queries people graded outside the sample.
        queries_without_grade: The sampled queries of which people graded no document.
        n_without_model: How many queries of the population the model did not grade.
        ungraded_documents: How many documents people did not grade, and how many the model did not; empty unless
            documents were judged.
    """

    n_outside_sample: int
    queries_without_grade: tuple[QueryId, ...]
    n_without_model: int
    ungraded_documents: tuple[UngradedDocuments, ...]


@dataclass(frozen=True, slots=True)
class GradedSample:
    """The judgments of people and of a model.

    Attributes:
        human: Those of people, for the sampled queries.
        model: Those of the model, for the queries that the sample was drawn from.
        n_outside_sample: How many queries people graded outside the sample.
    """

    human: Qrels
    model: Qrels
    n_outside_sample: int

    @classmethod
    def from_judgments(
        cls,
        human: Labels | QuestionsOrQrels,
        model: Labels | QuestionsOrQrels,
        sample: Sample,
        scale: Scale | None,
    ) -> GradedSample:
        """Return the judgments of people and model, with one largest grade."""
        human_qrels = _as_qrels(human)
        model_qrels = _as_qrels(model)
        if scale is not None:
            _require_grades_of_scale("humans", human_qrels, scale)
            _require_grades_of_scale("the model", model_qrels, scale)
        human_judgments: dict[Any, Any] = human_qrels.as_dict()
        missing = [query for query in sample.queries if query not in human_judgments]
        if missing:
            raise ValueError(
                f"people graded nothing for {len(missing)} of the {len(sample)} sampled queries, for example "
                f"{missing[0]!r}. Grade these too: easy queries are often graded first, so leaving out the rest would "
                "bias the estimate"
            )
        population = set(sample.population)
        model_judgments: dict[Any, Any] = {
            query: judgments for query, judgments in model_qrels.as_dict().items() if query in population
        }
        if not model_judgments:
            raise ValueError(
                f"the model graded none of the {len(sample.population)} queries that the sample was drawn from, such "
                f"as {sample.population[0]!r}; it graded, for example, {model_qrels.queries[0]!r}"
            )
        sampled_judgments: dict[Any, Any] = {query: human_judgments[query] for query in sample.queries}
        largest_grade = max(human_qrels.largest_grade, model_qrels.largest_grade)
        return cls(
            human=Qrels.unchecked(sampled_judgments).with_largest_grade(largest_grade),
            model=Qrels.unchecked(model_judgments).with_largest_grade(largest_grade),
            n_outside_sample=len(human_judgments.keys() - sampled_judgments.keys()),
        )

    @property
    def has_documents_only(self) -> bool:
        """Whether people and the model both judged documents, each by itself."""
        return all(qrels.is_flat and not qrels.has_pieces for qrels in (self.human, self.model))

    def agreement(self, names: tuple[str, str], level: float, threshold: float | None) -> Agreement | None:
        """Return how far both agree on the documents that both graded; None if they judged anything but documents."""
        if not self.has_documents_only:
            return None
        human_grades = _grades_by_document(self.human)
        model_grades = _grades_by_document(self.model)
        return Agreement.from_labels(names, human_grades, model_grades, level, None, threshold)

    def find_gaps(self, runs: Mapping[str, Any], metrics: Sequence[Metric], sample: Sample, match: Any) -> SampleGaps:
        """Find what was left out, and how many of the documents that metrics see have no grade."""
        ungraded_documents: tuple[UngradedDocuments, ...] = ()
        if self.has_documents_only:
            depth = largest_cutoff(metrics)
            ungraded_documents = (
                _count_ungraded("humans", self.human, runs, depth, match),
                _count_ungraded("the model", self.model, runs, depth, match),
            )
        return SampleGaps(
            n_outside_sample=self.n_outside_sample,
            queries_without_grade=tuple(query for query, grades in self.human.graded().items() if not grades),
            n_without_model=len(sample.population) - len(self.model),
            ungraded_documents=ungraded_documents,
        )


def resolve_sample(sample: Any, model: Labels | QuestionsOrQrels) -> Sample:
    """Return a sample as it is, or make one of probabilities; its population is what the model graded."""
    if isinstance(sample, Sample):
        return sample
    if isinstance(sample, Mapping):
        return Sample.from_probabilities(sample, _as_qrels(model).queries)
    raise TypeError(
        f"sample must say how the human-graded queries were drawn, got {type(sample).__name__}. Draw them with "
        "questions.sample(n): hand-picked queries, such as interesting ones, do not represent the others. If you "
        "know the probability with which each was drawn, pass the probabilities: {'q1': 0.2, ...}"
    )


def find_model_graders(human: Labels | QuestionsOrQrels) -> list[str]:
    """Return the names of the models among the graders of grades that are passed as people's."""
    if not isinstance(human, Labels):
        return []
    return list(dict.fromkeys(label.grader for label in human.labels if label.kind == "model"))


def format_graders(labels: Labels | QuestionsOrQrels, default: str) -> str:
    """Return the names of the graders as labels have them, or a default for judgments without graders."""
    return labels.name if isinstance(labels, Labels) else default


def _as_qrels(judgments: Labels | QuestionsOrQrels) -> Qrels:
    return as_qrels(judgments.qrels if isinstance(judgments, Labels) else judgments)


def _require_grades_of_scale(graders: str, qrels: Qrels, scale: Scale) -> None:
    unknown_grades = set(qrels.document_grade.tolist()).difference(scale.grades)
    if unknown_grades:
        raise ValueError(
            f"{graders} gave the grade {min(unknown_grades):g}, but the grades of the other's rubric are "
            f"{format_grades(scale.grades)}; convert one to the other's"
        )


def _grades_by_document(qrels: Qrels) -> dict[tuple[QueryId, DocumentId], float]:
    grades_by_document: dict[tuple[Any, Any], float] = {}
    for query, grades in qrels.graded().items():
        for document, grade in grades.items():
            grades_by_document[query, document] = grade
    return grades_by_document


def _count_ungraded(graders: str, qrels: Qrels, runs: Mapping[str, Any], depth: int, match: Any) -> UngradedDocuments:
    """Count the documents among the first of the systems, and those without a grade, over the judged queries."""
    grades_by_query = qrels.graded()
    documents_by_query: dict[Any, set[Any]] = {query: set() for query in grades_by_query}
    for run in runs.values():
        rankings = OrderedRankings(run, match, STANDARD.order)
        for query, ranking in rankings.iterate(grades_by_query):
            documents_by_query[query].update(rankings.ids(ranking)[:depth])
    n_retrieved = 0
    n_ungraded = 0
    for query, documents in documents_by_query.items():
        n_retrieved += len(documents)
        n_ungraded += len(documents - grades_by_query[query].keys())
    return UngradedDocuments(graders, n_ungraded, n_retrieved, depth)

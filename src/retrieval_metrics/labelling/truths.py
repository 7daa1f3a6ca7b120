"""What people and a model graded of a sample: the judgments of both, how far they agree, and what neither graded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.comparing.unjudged import depth_of
from retrieval_metrics.inputs.qrels import Qrels, as_qrels
from retrieval_metrics.judging.ranking_order import Rankings
from retrieval_metrics.labelling.labels import Labels
from retrieval_metrics.labelling.people_and_model import Agreement
from retrieval_metrics.presentation import numbers
from retrieval_metrics.questions.sample import Sample
from retrieval_metrics.scoring.rules import STANDARD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retrieval_metrics.inputs.qrels import QuestionsOrQrels
    from retrieval_metrics.labelling.label import Scale
    from retrieval_metrics.scoring.metric import Metric


class Truths(NamedTuple):
    """The judgments of both.

    Attributes:
        people: Those of people, for the sampled queries.
        model: Those of the model, for the queries that the sample was drawn from.
        others: How many queries people graded outside the sample.
    """

    people: Qrels
    model: Qrels
    others: int

    @classmethod
    def of(
        cls,
        people: Labels | QuestionsOrQrels,
        model: Labels | QuestionsOrQrels,
        sample: Sample,
        scale: Scale | None,
    ) -> Truths:
        """Return the judgments of both, with one largest grade.

        Raises:
            ValueError: If people graded nothing for a sampled query, or the model nothing for any query, or a grade is
                not on the scale of either.
        """
        graded, guessed = _judged(people), _judged(model)
        for who, truth in (("people", graded), ("the model", guessed)):
            if scale is not None and (odd := set(truth.document_grade.tolist()).difference(scale.grades)):
                raise ValueError(
                    f"{who} gave the grade {min(odd):g}, but the grades of the other's rubric are "
                    f"{', '.join(f'{grade:g}' for grade in scale.grades)}; convert one to the other's"
                )
        by_people = graded.as_dict()
        if missing := [query for query in sample.queries if query not in by_people]:
            raise ValueError(
                f"people graded nothing for {len(missing)} of the {len(sample)} sampled queries, for example "
                f"{missing[0]!r}. Grade these too: easy queries are often graded first, so leaving out the rest would "
                "bias the estimate"
            )
        wanted = set(sample.of)
        by_model: dict[Any, Any] = {
            query: judgments for query, judgments in guessed.as_dict().items() if query in wanted
        }
        if not by_model:
            raise ValueError(
                f"the model graded none of the {len(sample.of)} queries that the sample was drawn from, such as "
                f"{sample.of[0]!r}; it graded, for example, {guessed.queries[0]!r}"
            )
        of_sample: dict[Any, Any] = {query: by_people[query] for query in sample.queries}
        largest = max(graded.largest_grade, guessed.largest_grade)
        both = (Qrels(of_sample).with_largest_grade(largest), Qrels(by_model).with_largest_grade(largest))
        return cls(*both, len(by_people.keys() - of_sample.keys()))

    @property
    def of_documents(self) -> bool:
        """Whether both judged documents, each by itself."""
        return all(one.is_flat and not one.has_pieces for one in (self.people, self.model))

    def agreement(self, names: tuple[str, str], level: float, threshold: float | None) -> Agreement | None:
        """Return how far both agree on the documents that both graded; None if they judged anything else.

        Args:
            names: What both are called.
            level: The confidence level of its intervals.
            threshold: The grade from which a document is relevant; None if that is not said.
        """
        if not self.of_documents:
            return None
        first, second = (
            {(query, document): grade for query, grades in one.graded().items() for document, grade in grades.items()}
            for one in (self.people, self.model)
        )
        return Agreement.of(names, first, second, level, None, threshold)

    def notes(self, runs: Mapping[str, Any], metrics: Sequence[Metric], sample: Sample, match: Any) -> Iterator[str]:
        """Yield what was left out, and how many of the documents that metrics see have no grade."""
        if self.others:
            yield f"{numbers.queries(self.others)} that people graded are not in the sample and were ignored"
        if untold := [query for query, graded in self.people.graded().items() if not graded]:
            yield (
                f"people gave no grade to any document of {numbers.queries(len(untold))} of the sample, such as "
                f"{untold[0]!r}: these are left out, which biases the estimate if they are the difficult ones"
            )
        if absent := len(sample.of) - len(self.model):
            yield f"the model graded nothing for {numbers.queries(absent)}, which count as the mean of the others"
        if not self.of_documents:
            return
        k = depth_of(metrics)
        for who, truth in (("people", self.people), ("the model", self.model)):
            open_, all_ = _ungraded(runs, truth, k, match)
            if open_:
                yield (
                    f"{who} gave no grade to {open_:,} of {all_:,} documents among the first {k} of the systems; these "
                    "count as not relevant (judgments from before are added by Labels.of(qrels, by=...) and merge; "
                    'rm.compare(..., unjudged="bounds") says what the others could change)'
                )


def drawn_sample(sample: Any, model: Labels | QuestionsOrQrels) -> Sample:
    """Return the sample that people graded; of probabilities, the population are the queries that the model graded.

    Raises:
        TypeError: If it is neither a sample nor a mapping of queries to probabilities.
    """
    if isinstance(sample, Sample):
        return sample
    if isinstance(sample, Mapping):
        return Sample.given(sample, _judged(model).queries)
    raise TypeError(
        f"sample must say how people's queries were drawn, got {type(sample).__name__}. Draw them with "
        "questions.sample(n): hand-picked queries, such as interesting ones, say nothing about the others. If you "
        "know the probability with which each was drawn, pass the probabilities: {'q1': 0.2, ...}"
    )


def _judged(labels: Labels | QuestionsOrQrels) -> Qrels:
    return as_qrels(labels.qrels if isinstance(labels, Labels) else labels)


def models_among(people: Labels | QuestionsOrQrels) -> list[str]:
    """Return a note on the models among those whose grades are taken for people's."""
    held = people.labels if isinstance(people, Labels) else ()
    if names := list(dict.fromkeys(label.by for label in held if label.kind == "model")):
        return [
            f"{numbers.listed(names)} graded as a model, not as a person: what is said of people holds for its grades"
        ]
    return []


def called(labels: Any, otherwise: str) -> str:
    """Return who graded, if labels say it."""
    return labels.name if isinstance(labels, Labels) else otherwise


def _ungraded(runs: Mapping[str, Any], truth: Qrels, k: int, match: Any) -> tuple[int, int]:
    known = truth.graded()
    seen: dict[Any, set[Any]] = {query: set() for query in known}
    for run in runs.values():
        found = Rankings(run, match, STANDARD.order)
        for query, ranking in found.of(known):
            seen[query].update(found.ids(ranking)[:k])
    return sum(len(held - known[query].keys()) for query, held in seen.items()), sum(map(len, seen.values()))

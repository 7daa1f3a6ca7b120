"""What is printed of an estimate."""

from pathlib import Path
from typing import Any

import numpy as np

import retrieval_metrics as rm
from golden_texts import check_golden_texts
from graded_systems import MODEL, PEOPLE, QUERIES, QUESTIONS, RUNS, SAMPLE, TRUTH, estimate, judge, system
from retrieval_metrics.datasets.estimate_wording import gap_notes, look_note, model_graders_note
from retrieval_metrics.datasets.evaluate_with_labels import Look
from retrieval_metrics.datasets.graded_sample import SampleGaps, UngradedDocuments
from retrieval_metrics.datasets.rubric import Scale

GOLDEN = Path(__file__).parent / "golden" / "estimate_wording.txt"
NO_GAPS = SampleGaps(n_outside_sample=0, queries_without_grade=(), n_without_model=0, ungraded_documents=())
GAPS = SampleGaps(
    n_outside_sample=90,
    queries_without_grade=("q1", "q2"),
    n_without_model=1,
    ungraded_documents=(UngradedDocuments("humans", 12, 1_200, 10), UngradedDocuments("the model", 0, 3_000, 10)),
)


def estimate_of_model(grades: dict[Any, dict[str, int]], **options: Any) -> list[str]:
    """Return the printed lines of an estimate with a model's grades."""
    model = rm.Labels.from_qrels(grades, "a model", kind="model")
    return str(estimate(model=model, **options)).splitlines()


def guess() -> dict[Any, dict[str, int]]:
    random = np.random.default_rng(0)
    guesses = {}
    for query, grades in TRUTH.items():
        guesses[query] = {document: int(random.integers(0, 4)) for document in grades}
    return guesses


def reverse_scale() -> dict[Any, dict[str, int]]:
    reversed_grades = {}
    for query, grades in TRUTH.items():
        reversed_grades[query] = {document: 3 - grade for document, grade in grades.items()}
    return reversed_grades


def estimate_few(n: int) -> list[str]:
    """Return the printed lines of an estimate of two systems that hardly differ, from few labels."""
    sample = QUESTIONS.sample(n)
    runs = {"good": RUNS["good"], "other": system(0.88, 9), "third": system(0.89, 10)}
    human = {query: TRUTH[query] for query in sample}
    return estimate_of_model(judge(0.9, lenient=0.5), human=human, sample=sample, runs=runs)


def estimate_extrapolated() -> list[str]:
    """Return the printed lines of an estimate of a difference that only the model sees, on unsampled queries."""
    truth = {query: {"a": 2, "b": 2 + number % 2, "c": 0} for number, query in enumerate(QUERIES)}
    model = {query: dict(grades) for query, grades in truth.items()}
    unsampled = [query for query in QUERIES if query not in SAMPLE]
    for query in unsampled[:4]:
        model[query].update(a=0, b=3)
    human = {query: truth[query] for query in SAMPLE}
    runs = {"old": {query: ["a", "b"] for query in QUERIES}, "new": {query: ["b", "a"] for query in QUERIES}}
    return str(rm.evaluate_with_labels(runs, "ndcg@2", human=human, model=model, sample=SAMPLE)).splitlines()


def make_texts() -> dict[str, list[str]]:
    single = {"runs": RUNS["good"], "metrics": ["hit_rate@1", "mrr"]}
    undefined = {query: dict(TRUTH[query]) for query in SAMPLE}
    undefined[SAMPLE.queries[0]] = dict.fromkeys(TRUTH[SAMPLE.queries[0]], 0)
    return {
        "three systems": str(estimate()).splitlines(),
        "a single system": str(estimate(**single)).splitlines(),
        "a rubric": str(estimate(human=rm.Labels(PEOPLE, scale=Scale()), metrics="mrr")).splitlines(),
        "a model that guesses": estimate_of_model(guess()),
        "a model with its scale reversed": estimate_of_model(reverse_scale()),
        "a strict model": estimate_of_model(judge(0.12, lenient=0.0)),
        "few labels": estimate_few(14),
        "a difference that more labels do not decide": estimate_few(30),
        "a difference that only the model sees": estimate_extrapolated(),
        "a query without anything relevant": str(estimate(human=undefined)).splitlines(),
        "a look": [look_note(Look(number=2, n_looks=3, level=0.98765), 0.95)],
        "models in place of people": [model_graders_note(["Ada", "Ben"])],
        "gaps": gap_notes(GAPS),
        "no gaps": gap_notes(NO_GAPS),
    }


def test_the_texts_are_those_of_the_golden_file() -> None:
    assert MODEL.graders == ("a model",)
    check_golden_texts(GOLDEN, make_texts())

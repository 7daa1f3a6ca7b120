"""What people and a model graded of a sample, and what neither graded."""

from typing import Any

import pytest

import retrieval_metrics as rm
from graded_systems import MODEL, RUNS, SAMPLE, TRUTH, estimate
from retrieval_metrics.datasets.graded_sample import GradedSample, UngradedDocuments


def test_a_sample_that_was_not_drawn_is_refused_unless_its_probabilities_are_given() -> None:
    for chosen in (list(SAMPLE), set(SAMPLE), None, 30):
        with pytest.raises(TypeError, match="must say how the human-graded queries were drawn"):
            estimate(sample=chosen)
    weighted = estimate(sample=dict.fromkeys(SAMPLE, 0.25))
    assert weighted.means["ndcg@10"] == pytest.approx(estimate().means["ndcg@10"])
    with pytest.raises(ValueError, match="must be above 0"):
        estimate(sample=dict.fromkeys(SAMPLE, 0.0))


def test_every_sampled_query_must_be_graded_and_others_are_left_aside() -> None:
    missing = {query: TRUTH[query] for query in list(SAMPLE)[1:]}
    with pytest.raises(
        ValueError, match=rf"nothing for 1 of the 30 sampled queries, for example '{SAMPLE.queries[0]}'"
    ):
        estimate(human=missing)
    estimated = estimate(human=TRUTH)
    assert estimated.means == estimate().means
    assert len(estimated.notes) == 1


def test_what_nobody_graded_is_counted() -> None:
    fewer = {}
    for query in SAMPLE:
        fewer[query] = {document: grade for document, grade in TRUTH[query].items() if document not in {"d4", "d5"}}
    model = {query: grades for query, grades in MODEL.qrels.items() if query not in {"q3", "q4"}}
    graded = GradedSample.from_judgments(fewer, model, SAMPLE, None)
    gaps = graded.find_gaps(RUNS, [rm.Metric.parse("ndcg@10")], SAMPLE, "id")
    n_retrieved = 0
    n_ungraded = 0
    for query in SAMPLE:
        retrieved = set()
        for run in RUNS.values():
            retrieved.update(run[query][:10])
        n_retrieved += len(retrieved)
        n_ungraded += len(retrieved & {"d4", "d5"})
    assert gaps.ungraded_documents[0] == UngradedDocuments("humans", n_ungraded, n_retrieved, 10)
    assert gaps.n_without_model == 2
    assert gaps.queries_without_grade == ()


def test_queries_without_a_grade_and_grades_outside_the_sample_are_counted() -> None:
    first = SAMPLE.queries[0]
    graded = GradedSample.from_judgments(TRUTH | {first: {}}, TRUTH, SAMPLE, None)
    gaps = graded.find_gaps(RUNS, [rm.Metric.parse("mrr")], SAMPLE, "id")
    assert (gaps.queries_without_grade, gaps.n_outside_sample) == ((first,), 90)


def test_of_quotes_no_document_is_counted_and_no_agreement_known() -> None:
    judgments: Any = {query: [rm.Quote("a verbatim quote")] for query in TRUTH}
    graded = GradedSample.from_judgments(judgments, judgments, SAMPLE, None)
    assert not graded.has_documents_only
    assert graded.agreement(("humans", "the model"), 0.95, None) is None
    assert graded.find_gaps(RUNS, [rm.Metric.parse("mrr")], SAMPLE, "id").ungraded_documents == ()

"""What went wrong over all queries, found in one pass, is what the explanations of the single queries say."""

import warnings
from collections import Counter
from math import isnan
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.evaluation.id_granularity import document_of, is_same_document
from retrieval_metrics.evaluation.outcomes import FAILURES

DOCUMENT_IDS = [
    *(f"d{number}" for number in range(6)),
    *(f"d{number // 3}#{number % 3}" for number in range(9)),
    "e 1",
    "e",
    "f/e",
]
METRICS = ["recall@2", "recall(rel=2)@1", "mrr@3", "ndcg", "r_precision", "full_recall@1", "precision@4"]
graded = st.dictionaries(st.sampled_from(DOCUMENT_IDS), st.integers(0, 3), max_size=4)
groups = st.lists(st.dictionaries(st.sampled_from(DOCUMENT_IDS), st.integers(1, 3), min_size=1, max_size=3), max_size=3)
lists = st.lists(st.sampled_from(DOCUMENT_IDS), max_size=8)
scored = st.dictionaries(st.sampled_from(DOCUMENT_IDS), st.sampled_from([0.5, 1.0, 1.5, 2.0]), max_size=8)


@st.composite
def collections(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any], str]:
    names = [f"q{number}" for number in range(draw(st.integers(1, 5)))]
    judgments = draw(st.sampled_from([graded, groups]))
    rankings = draw(st.sampled_from([lists, scored]))
    qrels: dict[str, Any] = {name: draw(judgments) for name in names}
    run: dict[Any, Any] = {name: draw(rankings) for name in names}
    failed: dict[Any, Exception] = {
        name: TimeoutError("slow") for name in names if not run[name] and draw(st.booleans())
    }
    return (
        qrels,
        rm.RetrievedRun(run, failed) if failed and len(failed) < len(names) else run,
        draw(st.sampled_from(METRICS)),
    )


def evaluated(qrels: Any, run: Any, metric: str) -> rm.Evaluation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rm.evaluate(qrels, run, [metric])


@settings(max_examples=100)
@given(collections())
def test_the_counts_of_one_pass_are_those_of_the_explanations(collection: tuple[Any, Any, str]) -> None:
    qrels, run, metric = collection
    evaluation = evaluated(qrels, run, metric)
    worst = evaluation.worst(metric, n=10)
    defined = [query for query, value in evaluation.per_query[metric].items() if not isnan(value)]
    explained = {query: evaluation.explain(query, metric) for query in defined}
    failures: Counter[str] = Counter()
    n_needed = 0
    n_found = 0
    for explanation in explained.values():
        failures.update(finding.kind for finding in explanation.failures)
        n_needed += explanation.n_relevant
        found_groups: set[int] = set()
        for finding in explanation.findings:
            if finding.kind == "found":
                found_groups.update(finding.groups)
        n_found += len(found_groups)
    assert worst.failures == failures
    assert (worst.n_relevant, worst.n_found) == (n_needed, n_found)
    for explanation in worst:
        assert explanation.findings == explained[explanation.query].findings
        assert explanation.failures == explained[explanation.query].failures


@settings(max_examples=100)
@given(collections())
def test_every_outcome_is_that_of_the_rules_read_one_by_one(collection: tuple[Any, Any, str]) -> None:
    qrels, run, metric = collection
    evaluation = evaluated(qrels, run, metric)
    for query in qrels:
        explanation = evaluation.explain(query, metric)
        assert {finding.document: finding.kind for finding in explanation.findings} == outcomes(
            qrels, run, query, metric
        )
        nearest: dict[int, str] = {}
        for finding in explanation.findings:
            for group in finding.groups:
                if finding.kind in FAILURES or finding.kind == "found":
                    order = ["found", *FAILURES]
                    nearest[group] = min(nearest.get(group, finding.kind), finding.kind, key=order.index)
        missing = [kind for _, kind in sorted(nearest.items()) if kind != "found"]
        assert [finding.kind for finding in explanation.failures] == missing


def outcomes(qrels: Any, run: Any, query: str, metric: str) -> dict[str, str]:
    """Return what became of each relevant document, by the rules as a reader would apply them."""
    judgments = qrels[query]
    ranking = run[query]
    threshold = 2 if "rel=2" in metric else 1
    judged_groups = [{name: grade} for name, grade in judgments.items()] if isinstance(judgments, dict) else judgments
    relevant = [above_threshold(group, threshold) for group in judged_groups]
    alternatives = [set(group) for group in relevant if group]
    if metric.startswith("mrr"):
        alternatives = [set().union(*alternatives)]
    grades: dict[str, int] = {}
    for group in relevant:
        grades |= {name: max(grade, grades.get(name, 0)) for name, grade in group.items()}
    by_name = sorted(ranking, reverse=True) if isinstance(ranking, dict) else ranking
    order = sorted(by_name, key=lambda name: -ranking[name]) if isinstance(ranking, dict) else list(ranking)
    k = None
    if "@" in metric:
        k = int(metric.partition("@")[2])
    elif metric == "r_precision":
        k = len(alternatives)
    found_names = {name for name in grades if name in order[:k]}

    def kind(name: str, grade: int) -> str:
        if name in found_names:
            return "found"
        if all(group & found_names for group in alternatives if name in group):
            return "alternative_found"
        if k is not None and len(found_names) == k and all(grades[found_name] >= grade for found_name in found_names):
            return "cutoff_full"
        return too_late(name, order, ranking, k) if name in order else absent(name, order, run, query)

    return {name: kind(name, grade) for name, grade in grades.items()}


def above_threshold(group: dict[str, int], threshold: int) -> dict[str, int]:
    return {name: grade for name, grade in group.items() if grade >= threshold}


def too_late(name: str, order: list[str], ranking: Any, k: Any) -> str:
    """Return what stands in the way of a document below the cutoff."""
    if isinstance(ranking, dict) and sum(score > ranking[name] for score in ranking.values()) < k:
        return "lost_tie"
    above = list(dict.fromkeys(order[: order.index(name)]))
    if len(above) < k:
        return "behind_duplicates"
    documents = {document_of(document) or f"alone {document}" for document in above}
    return "behind_same_document" if len(documents) < k else "below_cutoff"


def absent(name: str, order: list[str], run: Any, query: str) -> str:
    """Return why a document was not retrieved."""
    if query in getattr(run, "errors", {}):
        return "retriever_error"
    if not order:
        return "empty_ranking"
    elsewhere = any(name in other for other in run.values())
    related = not elsewhere and any(is_same_document(name, other) for other in order)
    return "id_granularity" if related else "not_retrieved"

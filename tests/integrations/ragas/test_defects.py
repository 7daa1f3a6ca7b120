"""What the retrieval metrics of ragas itself compute, beside ours: each difference is why these metrics exist.

Where one of these tests fails because ragas has changed, the table in the README of the integration changes with it.
"""

import math
from typing import Any

import pytest
import ragas.metrics
import ragas.metrics.collections
from ragas import EvaluationDataset, SingleTurnSample, evaluate
from ragas.metrics._context_precision import IDBasedContextPrecision, NonLLMContextPrecisionWithReference
from ragas.metrics._context_recall import IDBasedContextRecall, NonLLMContextRecall

import retrieval_metrics as rm
from ragas_retrieval_metrics import MAP, NDCG, HitRate, Precision, Recall, to_evaluation

pytest.importorskip("rapidfuzz")

pytestmark = pytest.mark.filterwarnings("ignore:a?evaluate\\(\\) is deprecated:DeprecationWarning")

A = "alpha alpha alpha alpha alpha"
B = "beta beta beta beta beta"
C = "gamma gamma gamma gamma gamma"


def by_id(metric: Any, retrieved: Any, reference: Any) -> float:
    score: float = metric.single_turn_score(
        SingleTurnSample(retrieved_context_ids=retrieved, reference_context_ids=reference)
    )
    return score


def by_text(metric: Any, retrieved: Any, reference: Any) -> float:
    score: float = metric.single_turn_score(
        SingleTurnSample(retrieved_contexts=retrieved, reference_contexts=reference)
    )
    return score


def test_ragas_has_no_ranking_metric_and_none_on_its_modern_surface() -> None:
    ranking = {"mrr", "map", "ndcg", "hitrate", "precisionatk", "recallatk", "f1"}
    for module in (ragas.metrics, ragas.metrics.collections):
        assert not ranking & {name.lower() for name in dir(module)}
    assert not {"IDBasedContextPrecision", "NonLLMContextRecall"} & set(dir(ragas.metrics.collections))


def test_precision_and_recall_do_not_see_the_order() -> None:
    first = ["r1", "r2", "x", "y"]
    last = ["x", "y", "r1", "r2"]
    for retrieved in (first, last):
        assert by_id(IDBasedContextPrecision(), retrieved, ["r1", "r2"]) == 0.5
        assert by_id(IDBasedContextRecall(), retrieved, ["r1", "r2"]) == 1.0
    assert by_id(NDCG(10), first, ["r1", "r2"]) == 1.0
    assert by_id(NDCG(10), last, ["r1", "r2"]) == pytest.approx(0.5706, abs=1e-4)
    assert by_id(Precision(2), first, ["r1", "r2"]) == 1.0
    assert by_id(Precision(2), last, ["r1", "r2"]) == 0.0


def test_repeats_disappear() -> None:
    assert by_id(IDBasedContextPrecision(), ["r1", "r1", "r1", "x"], ["r1"]) == 0.5
    assert by_id(Precision(4), ["r1", "r1", "r1", "x"], ["r1"]) == 0.25  # three of four places are wasted


def test_the_number_1_and_the_text_1_are_the_same_id() -> None:
    assert by_id(IDBasedContextPrecision(), [1], ["1"]) == 1.0
    with pytest.raises(TypeError, match="IDs in the judgments are str and those in what was retrieved are int"):
        by_id(Precision(1), [1], ["1"])


def test_emptiness_means_four_things() -> None:
    precision = IDBasedContextPrecision()
    recall = IDBasedContextRecall()
    assert math.isnan(by_id(precision, [], ["r1"]))
    assert by_id(recall, [], ["r1"]) == 0.0
    assert by_id(precision, ["r1"], []) == 0.0
    assert math.isnan(by_id(recall, ["r1"], []))
    for metric in (Precision(1), Recall(1)):
        assert by_id(metric, [], ["r1"]) == 0.0
        assert math.isnan(by_id(metric, ["r1"], []))


def test_a_retriever_that_returns_nothing_for_half_of_the_queries_has_precision_1() -> None:
    rows = [
        {"retrieved_context_ids": ["r1"], "reference_context_ids": ["r1"]},
        {"retrieved_context_ids": [], "reference_context_ids": ["r1"]},
    ]
    metrics = [IDBasedContextPrecision(), Precision(1)]
    result: Any = evaluate(EvaluationDataset.from_list(rows), metrics, show_progress=False)
    assert repr(result) == "{'id_based_context_precision': 1.0000, 'precision_at_1': 0.5000}"
    with pytest.warns(rm.RetrievalWarning, match="1 of 2 rows have no value"):
        evaluation = to_evaluation(result)
    assert evaluation.means["precision@1"] == 0.5


def test_average_precision_divides_by_what_was_found_and_is_never_1() -> None:
    theirs = NonLLMContextPrecisionWithReference()
    assert by_text(theirs, [A, "nothing of it"], [A, B, C]) == 0.9999999999
    assert by_text(MAP(by="texts"), [A, "nothing of it"], [A, B, C]) == 1 / 3
    assert by_text(theirs, [A, B, C], [A, B, C]) < 1
    assert by_text(MAP(by="texts"), [A, B, C], [A, B, C]) == 1.0


def test_one_chunk_three_times_is_as_good_as_three_chunks() -> None:
    theirs = NonLLMContextPrecisionWithReference()
    assert by_text(theirs, [A, A, A], [A]) == by_text(theirs, [A, B, C], [A, B, C])
    assert by_text(Precision(3, by="texts"), [A, A, A], [A]) == 1 / 3


def test_a_threshold_on_edit_distance_takes_the_wrong_and_leaves_the_right() -> None:
    theirs = NonLLMContextPrecisionWithReference()
    reference = "The tower was completed in 1889 in Paris"
    denial = "The tower was not completed in 1789 in Rome"
    assert by_text(theirs, [denial], [reference]) == 0.9999999999
    assert by_text(HitRate(by="texts"), [denial], [reference]) == 0.0
    containing = "Many words stand before. " * 8 + reference + ". And many words stand behind it." * 6
    assert by_text(theirs, [containing], [reference]) == 0.0
    assert by_text(HitRate(by="texts"), [containing], [reference]) == 1.0


def test_the_same_similarity_is_relevant_for_precision_and_irrelevant_for_recall() -> None:
    assert by_text(NonLLMContextPrecisionWithReference(), ["aacc"], ["aabb"]) == 0.9999999999
    assert by_text(NonLLMContextRecall(), ["aacc"], ["aabb"]) == 0.0
    for metric in (Precision(1, by="texts"), Recall(1, by="texts")):
        assert by_text(metric, ["aacc"], ["aabb"]) == 0.0


def test_one_chunk_satisfies_three_references_that_resemble_each_other() -> None:
    references = [f"the tower was built in {year}" for year in (1889, 1888, 1887)]
    assert by_text(NonLLMContextRecall(), references[:1], references) == 1.0
    # Whole texts are held at 80% of their characters, so by texts ours is fooled too; what must be there word by word
    # is said with quotes, or with ids.
    assert by_text(Recall(by="texts"), references[:1], references) == 1.0
    quotes = Recall(by="texts", qrels={"when?": [rm.Quote(text) for text in references]})
    assert quotes.single_turn_score(SingleTurnSample(user_input="when?", retrieved_contexts=references[:1])) == 1 / 3
    assert by_id(Recall(), ["1889"], ["1889", "1888", "1887"]) == 1 / 3


def test_empty_texts_raise_or_score_depending_on_the_side() -> None:
    precision = NonLLMContextPrecisionWithReference()
    recall = NonLLMContextRecall()
    assert by_text(precision, [], [A]) == 0.0
    assert math.isnan(by_text(recall, [A], []))
    for metric, retrieved, reference in ((recall, [], [A]), (precision, [A], [])):
        with pytest.raises(ValueError, match="empty"):
            by_text(metric, retrieved, reference)
    for ours in (Precision(1, by="texts"), Recall(1, by="texts")):
        assert by_text(ours, [], [A]) == 0.0
        assert math.isnan(by_text(ours, [A], []))

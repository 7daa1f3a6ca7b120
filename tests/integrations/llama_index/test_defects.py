"""Each defect of the metrics built into llama-index-core, reproduced, beside what is done here: the README's table."""

import asyncio
import math
from typing import Any

import pytest
from llama_index.core.evaluation import MRR, HitRate, RetrievalMetricResult
from llama_index.core.evaluation import RetrieverEvaluator as StockRetrieverEvaluator
from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY, NDCG, AveragePrecision, Precision, Recall
from llama_index.core.schema import Document, NodeWithScore

from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator, metric, ranking_metrics
from llama_index_hosts import Deliver, Prepared, node

BUILT_IN: list[Any] = [HitRate(), MRR(), Precision(), Recall(), AveragePrecision(), NDCG()]
NAMES = ["hit_rate", "mrr", "precision", "recall", "ap", "ndcg"]
ALL_SIX = list(zip(BUILT_IN, NAMES, strict=True))


def theirs(host_metric: Any, expected: Any, retrieved: list[str]) -> float:
    score: float = host_metric.compute(expected_ids=expected, retrieved_ids=retrieved).score
    return score


def ours(name: str, expected: Any, retrieved: list[str]) -> float:
    return metric(name).compute(expected_ids=expected, retrieved_ids=retrieved).score


@pytest.mark.parametrize(("built_in", "name"), ALL_SIX, ids=NAMES)
def test_01_nothing_retrieved_is_an_error_there_and_zero_here(built_in: Any, name: str) -> None:
    with pytest.raises(ValueError, match="must be provided"):
        theirs(built_in, ["a"], [])
    assert ours(name, ["a"], []) == 0.0


@pytest.mark.parametrize(("built_in", "name"), ALL_SIX, ids=NAMES)
def test_02_nothing_relevant_is_an_error_there_and_undefined_here(built_in: Any, name: str) -> None:
    with pytest.raises(ValueError, match="must be provided"):
        theirs(built_in, [], ["a"])
    assert metric(name).compute(expected_ids=[], retrieved_ids=["a"]).metadata["undefined"]


def test_03_one_empty_retrieval_loses_all_queries_there_and_none_here() -> None:
    retriever = Prepared({"q1": ["a"], "q2": [], "q3": ["x", "a"]})

    async def gathered(metrics: list[Any]) -> list[float]:
        evaluator = StockRetrieverEvaluator(metrics=metrics, retriever=retriever)
        results = await asyncio.gather(*(evaluator.aevaluate(query, ["a"]) for query in ("q1", "q2", "q3")))
        return [result.metric_vals_dict["mrr"] for result in results]

    with pytest.raises(ValueError, match="must be provided"):
        asyncio.run(gathered([MRR()]))
    assert asyncio.run(gathered(ranking_metrics(["mrr"]))) == [1.0, 0.0, 0.5]


@pytest.mark.parametrize(
    ("times", "built_in", "wrong", "name"),
    [
        (2, AveragePrecision(), 2.0, "ap"),
        (2, NDCG(), 1 + 1 / math.log2(3), "ndcg"),
        (2, HitRate(use_granular_hit_rate=True), 2.0, "recall"),
        (2, MRR(use_granular_mrr=True), 0.75, "mrr"),
        (3, AveragePrecision(), 3.0, "ap"),
        (3, NDCG(), 1 + 1 / math.log2(3) + 0.5, "ndcg"),
        (3, HitRate(use_granular_hit_rate=True), 3.0, "recall"),
    ],
)
def test_04_05_a_repeat_earns_again_there_and_once_here(times: int, built_in: Any, wrong: float, name: str) -> None:
    assert theirs(built_in, ["a"], ["a"] * times) == pytest.approx(wrong)
    assert ours(name, ["a"], ["a"] * times) == 1.0


def test_06_a_repeat_among_others_lifts_scores_above_one_there() -> None:
    assert theirs(AveragePrecision(), ["a", "b"], ["a", "a", "b"]) == 1.5
    assert theirs(NDCG(), ["a", "b"], ["a", "a", "b"]) == pytest.approx(1.307, abs=1e-3)
    # Here the repeat keeps its place, so b is found at rank 3: the reader had to pass it.
    assert ours("ap", ["a", "b"], ["a", "a", "b"]) == pytest.approx((1 + 2 / 3) / 2)
    assert ours("ndcg", ["a", "b"], ["a", "a", "b"]) == pytest.approx((1 + 0.5) / (1 + 1 / math.log2(3)))


def test_06_it_happens_in_the_evaluator_where_chunks_are_judged_by_their_document() -> None:
    sources = ["cats", "cats", "fish", "dogs", "fish", "dogs"]
    delivered = Deliver(answers={"q": sources})
    stock = StockRetrieverEvaluator(
        metrics=[AveragePrecision(), NDCG()], retriever=Prepared({}), node_postprocessors=[delivered]
    )
    assert stock.evaluate("q", ["cats", "fish"]).metric_vals_dict == pytest.approx({"ap": 1.9, "ndcg": 1.544}, abs=1e-3)
    chunks = [node(str(rank), source=source) for rank, source in enumerate(sources)]
    our_evaluator = RetrieverEvaluator.from_metric_names(
        ["ap", "ndcg"], retriever=Prepared({"q": chunks}), match="source"
    )
    assert our_evaluator.evaluate("q", ["cats", "fish"]).metric_vals_dict == pytest.approx(
        {"ap": 0.833, "ndcg": 0.920}, abs=1e-3
    )


def test_07_a_repeated_expected_id_lowers_scores_there_and_counts_once_here() -> None:
    assert theirs(NDCG(), ["a", "a"], ["a"]) == pytest.approx(0.613, abs=1e-3)
    assert theirs(HitRate(use_granular_hit_rate=True), ["a", "a"], ["a"]) == 0.5
    assert ours("ndcg", ["a", "a"], ["a"]) == ours("recall", ["a", "a"], ["a"]) == 1.0


def test_08_there_is_no_cut_off_there() -> None:
    expected = ["a", "b", "c", "d"]
    retrieved = ["a", "b"]
    assert theirs(NDCG(), expected, retrieved) == pytest.approx(0.637, abs=1e-3) == ours("ndcg", expected, retrieved)
    assert ours("ndcg@2", expected, retrieved) == 1.0


def test_08_a_cut_off_given_to_a_built_in_metric_is_swallowed() -> None:
    host_metric = HitRate(k=1)  # type: ignore[call-arg]  # the point of the line
    assert theirs(host_metric, ["a"], ["x", "a"]) == 1.0
    assert ours("hit_rate@1", ["a"], ["x", "a"]) == 0.0


def test_08_two_instances_of_one_metric_overwrite_each_other_there() -> None:
    retriever = Prepared({"q": ["x", "a"]})
    metrics: list[Any] = [MRR(), MRR(use_granular_mrr=True)]
    assert StockRetrieverEvaluator(metrics=metrics, retriever=retriever).evaluate("q", ["a"]).metric_vals_dict == {
        "mrr": 0.5
    }
    with pytest.raises(ValueError, match="two metrics are named 'mrr'"):
        RetrieverEvaluator(metrics=metrics, retriever=retriever)


def test_09_grades_are_not_known_there() -> None:
    graded = {"a": 3, "b": 2, "c": 1}
    retrieved = ["c", "b", "a"]
    assert theirs(NDCG(), list(graded), retrieved) == theirs(NDCG(), graded, retrieved) == 1.0
    assert ours("ndcg", graded, retrieved) == pytest.approx(0.790, abs=1e-3)
    stock = StockRetrieverEvaluator(metrics=[NDCG()], retriever=Prepared({"q": retrieved}))
    assert stock.evaluate("q", list(graded), relevance=graded).metric_vals_dict == {"ndcg": 1.0}  # swallowed
    our_evaluator = RetrieverEvaluator.from_metric_names(["ndcg"], retriever=Prepared({"q": retrieved}))
    assert our_evaluator.evaluate("q", graded).metric_vals_dict["ndcg"] == pytest.approx(0.790, abs=1e-3)
    with pytest.raises(TypeError, match="unknown argument 'relevance'"):
        our_evaluator.evaluate("q", list(graded), relevance=graded)


def test_10_precision_divides_by_what_came_back_there() -> None:
    assert theirs(Precision(), ["a"], ["a"]) == 1.0
    assert ours("precision@5", ["a"], ["a"]) == 0.2


def test_11_precision_does_not_see_repeats_there() -> None:
    assert theirs(Precision(), ["a"], ["a", "x", "x", "x"]) == 0.5
    assert ours("precision", ["a"], ["a", "x", "x", "x"]) == 0.25


def test_12_granular_mrr_is_perfect_with_a_tenth_of_what_is_relevant_there() -> None:
    expected = [f"d{number}" for number in range(10)]
    assert theirs(MRR(use_granular_mrr=True), expected, ["d0"]) == 1.0
    assert ours("map", expected, ["d0"]) == pytest.approx(0.1)


def test_13_exponential_gain_changes_nothing_there() -> None:
    truth = ["a"]
    retrieved = ["x", "y", "z", "a", "b"]
    linear = theirs(NDCG(mode="linear"), [*truth, "q"], retrieved)
    assert linear == theirs(NDCG(mode="exponential"), [*truth, "q"], retrieved)
    graded = {"a": 3, "b": 1}
    assert ours("ndcg", graded, retrieved) != ours("ndcg(gain=exponential)", graded, retrieved)


@pytest.mark.parametrize("name", ["ndcg@10", "map", "f1"])
def test_14_common_names_are_not_known_there(name: str) -> None:
    with pytest.raises(ValueError, match=f"Invalid metric name: {name}"):
        StockRetrieverEvaluator.from_metric_names([name], retriever=Prepared({}))
    assert name not in METRIC_REGISTRY
    our_evaluator = RetrieverEvaluator.from_metric_names([name], retriever=Prepared({"q": ["a"]}))
    assert our_evaluator.evaluate("q", ["a"]).metric_vals_dict == {name: 1.0}


def test_15_the_right_text_under_a_new_id_is_wrong_there() -> None:
    answer = [node("made-on-the-fly", "the right text")]
    stock = StockRetrieverEvaluator(metrics=[HitRate()], retriever=Prepared({"q": answer}))
    assert stock.evaluate("q", ["old-id"], ["the right text"]).metric_vals_dict == {"hit_rate": 0.0}
    our_evaluator = RetrieverEvaluator.from_metric_names(
        ["hit_rate"], retriever=Prepared({"q": answer}), match=lambda item: item.text
    )
    assert our_evaluator.evaluate("q", ["the right text"]).metric_vals_dict == {"hit_rate": 1.0}


def test_16_a_bare_string_is_taken_letter_by_letter_there() -> None:
    assert theirs(HitRate(), "abc", ["b"]) == 1.0
    assert theirs(Recall(), "abc", ["b"]) == pytest.approx(1 / 3)
    with pytest.raises(TypeError, match="bare string 'abc'"):
        ours("hit_rate", "abc", ["b"])


@pytest.mark.parametrize(("built_in", "name"), ALL_SIX, ids=NAMES)
def test_17_a_score_does_not_say_what_it_rests_on_there(built_in: Any, name: str) -> None:
    assert built_in.compute(expected_ids=["a"], retrieved_ids=["x", "a"]).metadata == {}
    metadata = metric(name).compute(expected_ids=["a"], retrieved_ids=["x", "a"]).metadata
    assert metadata == {"k": None, "relevant_ranks": [2], "num_relevant": 1, "num_retrieved": 2}


def test_18_a_retriever_of_whole_documents_is_an_error_there() -> None:
    retriever = Prepared({"q": [NodeWithScore(node=Document(id_="a", text="all of it"))]})
    with pytest.raises(ValueError, match="Node must be a TextNode"):
        StockRetrieverEvaluator(metrics=[MRR()], retriever=retriever).evaluate("q", ["a"])
    result = RetrieverEvaluator.from_metric_names(["mrr"], retriever=retriever).evaluate("q", ["a"])
    assert (result.metric_vals_dict, result.retrieved_texts) == ({"mrr": 1.0}, ["all of it"])


def test_19_a_result_may_be_nan_there_and_is_then_no_longer_read_back() -> None:
    stored = RetrievalMetricResult(score=math.nan).model_dump_json()
    with pytest.raises(ValueError, match="score"):
        RetrievalMetricResult.model_validate_json(stored)
    for name in NAMES:
        for expected in ([], ["a"]):
            for retrieved in ([], ["a"], ["x"]):
                result = metric(name).compute(expected_ids=expected, retrieved_ids=retrieved)
                assert RetrievalMetricResult.model_validate_json(result.model_dump_json()) == result


class Counting(str):
    """An id that counts how often ids are compared."""

    __slots__ = ()
    __hash__ = str.__hash__
    comparisons = 0

    def __eq__(self, other: object) -> bool:
        Counting.comparisons += 1
        return super().__eq__(other)


@pytest.mark.parametrize(("built_in", "name"), [(HitRate(), "hit_rate"), (MRR(), "mrr")])
def test_20_every_id_is_compared_with_every_other_there(built_in: Any, name: str) -> None:
    n = 200
    expected = [Counting(f"e{number}") for number in range(n)]
    retrieved = [Counting(f"r{number}") for number in range(n)]
    Counting.comparisons = 0
    theirs(built_in, expected, list(retrieved))
    assert Counting.comparisons == n * n
    Counting.comparisons = 0
    ours(name, expected, list(retrieved))
    assert Counting.comparisons < n


def test_expected_texts_without_ids_are_advised_there_and_do_not_run() -> None:
    stock = StockRetrieverEvaluator(metrics=[HitRate()], retriever=Prepared({"q": ["a"]}))
    with pytest.raises(TypeError, match="expected_ids"):
        stock.evaluate("q", expected_texts=["a text"])  # type: ignore[call-arg]  # the point of the line

"""What a metric does with what ragas, its files and its users hand over."""

import asyncio
import copy
import inspect
import math
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ragas import EvaluationDataset, SingleTurnSample, evaluate
from ragas.metrics.base import Metric, MetricType, ModeMetric, SimpleBaseMetric, SingleTurnMetric

import retrieval_metrics as rm
from ragas_retrieval_metrics import F1, MAP, MRR, NDCG, HitRate, Precision, Recall, RetrievalMetric, metric_suite
from ragas_retrieval_metrics.rows import Row
from retrieval_metrics.integration_api import DEFINITIONS

pytestmark = pytest.mark.filterwarnings("ignore:a?evaluate\\(\\) is deprecated:DeprecationWarning")


RANKING = ["d1", "d3", "d7", "d2", "d9"]


def value(metric: RetrievalMetric, retrieved: Any, reference: Any, **fields: Any) -> float:
    result = metric.score(retrieved_context_ids=retrieved, reference_context_ids=reference, **fields)
    score: float = result.value
    return score


def test_the_worked_example() -> None:
    assert value(HitRate(1), RANKING, ["d1", "d7"]) == 1.0
    assert value(MRR(10), RANKING, ["d3", "d7"]) == 1 / 2
    assert value(MAP(), RANKING, ["d1", "d7"]) == (1 / 1 + 2 / 3) / 2
    assert value(NDCG(10), RANKING, ["d1", "d7"]) == pytest.approx(1.5 / (1 + 1 / math.log2(3)))
    assert value(Precision(5), RANKING, ["d1", "d7"]) == 2 / 5
    assert value(Recall(2), RANKING, ["d1", "d7"]) == 1 / 2
    assert value(F1(5), RANKING, ["d1", "d7"]) == pytest.approx(2 * (2 / 5) / (2 / 5 + 1))


@pytest.mark.parametrize("name", sorted(DEFINITIONS))
def test_one_class_serves_every_surface_and_no_attribute_misleads_a_host(name: str) -> None:
    metric = RetrievalMetric(name, by="texts")
    assert isinstance(metric, SingleTurnMetric)
    assert isinstance(metric, Metric)
    assert isinstance(metric, SimpleBaseMetric)
    for misleading in ("mode", "threshold", "llm", "embeddings"):  # rename a column, make it yes/no, ask for a model
        assert not hasattr(metric, misleading)
    assert not isinstance(metric, ModeMetric)


@given(
    st.sampled_from(
        [*metric_suite(k=(1, 3, None)), RetrievalMetric("rbp", max_grade=3), RetrievalMetric("err@3", max_grade=3)]
    ),
    st.lists(st.sampled_from([f"d{number}" for number in range(9)]), max_size=12),
    st.dictionaries(st.sampled_from([f"d{number}" for number in range(9)]), st.integers(1, 3), min_size=1),
)
def test_every_value_is_a_plain_float_between_0_and_1(
    metric: RetrievalMetric, retrieved: list[str], grades: dict[str, int]
) -> None:
    score = metric.score(retrieved_context_ids=retrieved, reference_context_ids=grades).value
    assert type(score) is float
    assert 0 <= score <= 1
    assert metric.validate_result_value(score) is None


def test_an_unbounded_metric_declares_that_it_is() -> None:
    metric = RetrievalMetric("dcg@10")
    score = value(metric, RANKING, {"d1": 3, "d7": 3})
    assert score > 1
    assert metric.validate_result_value(score) is None
    assert NDCG().allowed_values == (0.0, 1.0)


@pytest.mark.parametrize("metric", metric_suite(k=(3, None)))
def test_nothing_retrieved_scores_0_and_counts(metric: RetrievalMetric) -> None:
    assert value(metric, [], ["d1"]) == 0.0


@pytest.mark.parametrize("reference", [[], {}, None, {"d1": 0}])
@pytest.mark.parametrize("retrieved", [RANKING, []])
def test_nothing_relevant_is_undefined_unless_told_otherwise(reference: Any, retrieved: list[str]) -> None:
    for cls in (HitRate, MRR, MAP, NDCG, Precision, Recall, F1):
        assert math.isnan(value(cls(3), retrieved, reference))
        assert value(cls(3, on_unjudged="zero"), retrieved, reference) == 0.0


def test_the_reason_says_what_the_number_rests_on() -> None:
    def reason(metric: RetrievalMetric, reference: Any) -> str | None:
        return metric.score(retrieved_context_ids=RANKING, reference_context_ids=reference).reason

    assert reason(NDCG(3), ["d1", "d7", "x"]) == "2 of 3 relevant in the top 3, at ranks 1, 3"
    assert reason(MRR(), ["x"]) == "0 of 1 relevant in the top 5"
    assert reason(Precision(5, rel=2), {"d1": 1, "d7": 2}) == "1 of 1 relevant in the top 5, at rank 3"
    assert reason(MRR(), []) == "no relevant context"
    assert reason(MRR(), None) == "there are no judgments"


def test_grades_and_groups_in_a_row() -> None:
    graded = {"d7": 3, "d1": 1}
    assert value(NDCG(10), RANKING, graded) == rm.evaluate({"q": graded}, {"q": RANKING}, "ndcg@10").means["ndcg@10"]
    assert value(Recall(), ["d2"], [["d1", "d2"], ["d9"]]) == 1 / 2
    assert value(NDCG(), ["d2", "d9"], [{"d1": 2, "d2": 1}, {"d9": 3}]) < 1


@pytest.mark.parametrize("name", ["err@10", "rbp"])
@pytest.mark.parametrize("reference", [{"d1": 1}, [{"d1": 2}, {"d9": 1}]])
def test_the_grades_of_one_row_do_not_show_the_scale(name: str, reference: Any) -> None:
    with pytest.raises(
        ValueError, match=r"divides by the largest grade of all judgments, which one row does not show; .* max_grade="
    ):
        value(RetrievalMetric(name), ["d1"], reference)
    expected = rm.evaluate({"q": reference}, {"q": ["d1"]}, rm.Metric(name.split("@", maxsplit=1)[0], max_grade=4))
    assert [value(RetrievalMetric(name.split("@", maxsplit=1)[0], max_grade=4), ["d1"], reference)] == list(
        expected.means.values()
    )
    assert value(RetrievalMetric(name), ["d1"], ["d1"]) > 0


def test_required_columns_are_strict_for_ids_and_texts_and_optional_otherwise() -> None:
    def columns(**options: Any) -> set[str]:
        return NDCG(10, **options).required_columns[MetricType.SINGLE_TURN.name]

    assert columns() == set()
    assert columns(by="ids") == {"retrieved_context_ids", "reference_context_ids"}
    assert columns(by="texts") == {"retrieved_contexts", "reference_contexts"}
    assert columns(qrels={"q": ["d1"]}) == {"retrieved_context_ids", "user_input"}
    assert columns(qrels={"q": [rm.Quote("d1")]}) == {"retrieved_contexts", "user_input"}
    with pytest.raises(ValueError, match="Invalid column"):
        NDCG(10).required_columns = {MetricType.SINGLE_TURN: {"retrieved_context_ids"}}


@pytest.mark.parametrize(
    ("options", "lacking"),
    [
        ({"by": "ids"}, "reference_context_ids"),
        ({"by": "texts"}, "reference_contexts"),
        ({"qrels": {"q": ["d1"]}}, "user_input"),
    ],
)
def test_a_missing_column_is_an_error_before_anything_runs(options: dict[str, Any], lacking: str) -> None:
    dataset = EvaluationDataset.from_list([{"retrieved_context_ids": ["d1"], "retrieved_contexts": ["text"]}])
    with pytest.raises(ValueError, match=rf"\[ndcg_at_10.*\] .* \['{lacking}'\]"):
        evaluate(dataset, [NDCG(10, **options)], show_progress=False)


def test_a_dataset_without_any_reference_column_says_so() -> None:
    dataset = EvaluationDataset.from_list([{"user_input": "q", "retrieved_contexts": ["text"]}])
    with pytest.warns(rm.RetrievalWarning, match="neither reference_context_ids nor reference_contexts"):
        result: Any = evaluate(dataset, [MRR()], show_progress=False)
    assert math.isnan(result["mrr"][0])


def test_a_row_with_fields_of_the_other_kind_alone_is_refused() -> None:
    texts: dict[str, Any] = {"retrieved_contexts": ["a text"], "reference_contexts": ["a text"]}
    with pytest.raises(ValueError, match=r"has retrieved_contexts but no retrieved_context_ids, .* with by='texts'"):
        NDCG(10, by="ids").score(**texts)
    with pytest.raises(ValueError, match="no retrieved_context_ids, which by='auto' compares with its judgments"):
        NDCG(10).score(retrieved_contexts=["a text"], reference_context_ids=["d1"])
    with pytest.raises(ValueError, match="has retrieved_contexts but no retrieved_context_ids"):
        NDCG(10, qrels={"q": ["d1"]}).score(**texts, user_input="q")
    with pytest.raises(ValueError, match=r"has reference_context_ids but no reference_contexts, .* with by='ids'"):
        NDCG(10, by="texts").score(retrieved_contexts=["a"], reference_context_ids=["d1"])


def test_a_host_that_could_not_retrieve_scores_0_and_is_heard() -> None:
    rows: list[dict[str, Any]] = [
        {"user_input": "found", "retrieved_context_ids": ["d1"], "reference_context_ids": ["d1"]},
        {"user_input": "failed", "retrieved_context_ids": None, "reference_context_ids": ["d1"]},
    ]
    with pytest.warns(rm.RetrievalWarning, match="row 'failed' has no retrieved_context_ids: .* scores 0"):
        result: Any = evaluate(EvaluationDataset.from_list(rows), [MRR()], show_progress=False)
    assert result["mrr"] == [1.0, 0.0]


def test_ragas_passes_both_arguments_of_a_legacy_metric_by_name() -> None:
    sample = SingleTurnSample(retrieved_context_ids=["x", "d1"], reference_context_ids=["d1"])
    assert asyncio.run(MRR()._single_turn_ascore(sample=sample, callbacks=[])) == 0.5
    MRR().init(run_config=None)  # type: ignore[arg-type]  # only the name of the argument matters


def test_hosts_can_read_from_the_signature_what_a_metric_takes() -> None:
    *columns, other = inspect.signature(NDCG(10).ascore).parameters.values()
    assert [parameter.name for parameter in columns] == list(Row._fields)
    assert all(parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in columns)
    assert other.kind is other.VAR_KEYWORD  # which hosts that read the signature skip


def test_rows_may_have_other_columns() -> None:
    row: dict[str, Any] = {
        "id": 7,
        "response": "a cell is ...",
        "retrieved_context_ids": ["x", "d1"],
        "reference_context_ids": ["d1"],
    }
    assert MRR().score(**row).value == 0.5
    assert asyncio.run(MRR().ascore(**row)).value == 0.5
    assert [result.value for result in MRR().batch_score([row, row])] == [0.5, 0.5]
    assert [result.value for result in asyncio.run(MRR().abatch_score([row]))] == [0.5]


def test_a_suite_is_a_list_because_evaluate_takes_nothing_else() -> None:
    assert type(metric_suite()) is list
    dataset = EvaluationDataset.from_list([{"retrieved_context_ids": ["d1"], "reference_context_ids": ["d1"]}])
    with pytest.raises(TypeError, match="should be provided in a list"):
        evaluate(dataset, tuple(metric_suite()), show_progress=False)


def test_unknown_fields_are_refused_where_they_would_be_lost() -> None:
    with pytest.raises(TypeError, match=r"reference_context_relevance is not a column .* would be ignored"):
        NDCG(10).score(retrieved_context_ids=["d1"], reference_context_relevance={"d1": 3})


def test_metrics_are_copied_and_pickled() -> None:
    metric = NDCG(10, qrels={"q": {"d1": 2}})
    for again in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        assert again.name == metric.name
        assert value(again, ["x", "d1"], None, user_input="q") == value(metric, ["x", "d1"], None, user_input="q")
    assert repr(metric).startswith("NDCG(name='ndcg_at_10-qrels-")


def any_of(wrong: Any) -> Any:
    """Return what the type checker would refuse, as a user without one may pass it."""
    return wrong


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: NDCG(name="mrr_at_10"),
            ValueError,
            r"not one of NDCG; rebuild it with RetrievalMetric\('mrr_at_10'\)",
        ),
        (lambda: NDCG(name="my favourite"), ValueError, "'my favourite' is not a metric name"),
        (lambda: NDCG(5, name="ndcg_at_10"), ValueError, "has k=10, but k=5 is passed too"),
        (lambda: NDCG(k=0), ValueError, "k of ndcg must be a positive integer"),
        (lambda: NDCG(k=any_of(2.5)), TypeError, "k of ndcg must be a positive integer or None, got 2.5"),
        (lambda: NDCG(by=any_of("text")), ValueError, "by must be one of 'ids', 'texts', 'auto', got 'text'"),
        (lambda: NDCG(on_unjudged=any_of("drop")), ValueError, "on_unjudged must be one of 'nan', 'zero', got 'drop'"),
        (lambda: NDCG(name="ndcg_at_10-by-vibes"), ValueError, "by must be one of"),
        (lambda: NDCG(rel=2), ValueError, "ndcg has no parameter 'rel'"),
        (
            lambda: NDCG(rm.Budget(800, "chars")).score(["d1"], ["d1"]),
            ValueError,
            r"no text at rank 1, and 800chars counts the characters of retrieved_contexts",
        ),
        (lambda: NDCG(rm.Budget(800, "tokens"), by="texts"), ValueError, "counts tokens, but rows of ragas have none"),
        (lambda: RetrievalMetric("coverage@3", by="auto"), ValueError, "needs the texts that were retrieved"),
        (lambda: RetrievalMetric("context_precision"), ValueError, "unknown metric 'context_precision'"),
        (lambda: RetrievalMetric(any_of(10)), TypeError, "must be a str"),
        (lambda: metric_suite(k=()), ValueError, "at least one cutoff"),
    ],
)
def test_what_cannot_be_meant_is_refused(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()

"""Texts compared with texts, by the matching of the core."""

import math
import subprocess
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import pytest
from ragas import EvaluationDataset, evaluate

import retrieval_metrics as rm
from conformance import CASES, NO_IDS_IN_LISTS, Case, Conformance, Rankings, Scores, Truth
from ragas_retrieval_metrics import (
    MAP,
    MRR,
    NDCG,
    HitRate,
    Precision,
    Recall,
    RetrievalMetric,
    evaluate_dataset,
    to_evaluation,
)

pytestmark = pytest.mark.filterwarnings("ignore:a?evaluate\\(\\) is deprecated:DeprecationWarning")


REFERENCE = "The with statement wraps the execution of a block with methods defined by a context manager."


HALVES = [
    "8.5 The with statement wraps the execution of a block with",
    "a block with methods defined by a context manager. This allows",
]


OTHER = "A try statement specifies exception handlers and cleanup code for a group of statements."


CASES_OF_WORDS = [case for case in CASES if case.name != "ids of every script, and that differ little"]


class TestTextsScoredOneByOne(Conformance):
    """The ids of the cases are texts of one word here, which are compared as words: in any case and form of letters."""

    cannot_express = NO_IDS_IN_LISTS

    @pytest.mark.parametrize("case", CASES_OF_WORDS, ids=lambda case: case.name)
    def test_the_numbers_are_the_cores_and_what_was_given_stays(self, case: Case) -> None:
        super().test_the_numbers_are_the_cores_and_what_was_given_stays(case)

    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        def score_query(metric: RetrievalMetric, query: str) -> float:
            value: float = metric.score(
                retrieved_contexts=run.get(query, []),
                reference_contexts=qrels[query],
                user_input=query,
            ).value
            return value

        scores: dict[str, dict[Any, float]] = {}
        for name in metrics:
            metric = RetrievalMetric(name, by="texts")
            scores[name] = {query: score_query(metric, query) for query in qrels}
        return scores


class TestTextsInEvaluate(TestTextsScoredOneByOne):
    metrics = ("ndcg@3", "map", "mrr", "precision@3")

    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        rows = [{"user_input": query, "retrieved_contexts": run.get(query, [])} for query in qrels]
        chosen = [RetrievalMetric(name, by="texts", qrels=qrels) for name in metrics]
        result: Any = evaluate(EvaluationDataset.from_list(rows), chosen, show_progress=False)
        return to_evaluation(result).per_query


def score(metric: RetrievalMetric, retrieved: Any, reference: Any, **fields: Any) -> float:
    value: float = metric.score(retrieved_contexts=retrieved, reference_contexts=reference, **fields).value
    return value


def test_a_reference_cut_by_a_chunk_boundary_is_found_when_both_parts_are() -> None:
    assert score(Recall(1, by="texts"), HALVES, [REFERENCE]) == 0.0
    assert score(Recall(2, by="texts"), HALVES, [REFERENCE]) == 1.0
    assert score(HitRate(by="texts"), [OTHER], [REFERENCE]) == 0.0


def test_the_numbers_are_those_of_texts_in_the_core() -> None:
    retrieved = [OTHER, *HALVES, OTHER]
    reference = [REFERENCE, OTHER]
    items = [rm.Retrieved(text, text) for text in retrieved]
    for metric in (MAP(by="texts"), NDCG(3, by="texts"), Precision(3, by="texts"), MRR(by="texts")):
        name = str(metric.metric)
        expected = rm.evaluate({"q": [rm.Text(text) for text in reference]}, {"q": items}, name).means[name]
        assert score(metric, retrieved, reference).hex() == expected.hex()


def test_a_repeated_text_earns_nothing() -> None:
    assert score(Precision(3, by="texts"), [OTHER, OTHER, OTHER], [OTHER]) == 1 / 3


def test_metric_level_references_may_be_graded_grouped_or_quotes() -> None:
    qrels: Any = {
        "graded": {REFERENCE: 3, OTHER: 1},
        "grouped": [[REFERENCE, OTHER], ["Something that nobody retrieved."]],
        "quoted": [rm.Quote("exception handlers")],
    }
    rows = [{"user_input": query, "retrieved_contexts": [OTHER]} for query in qrels]
    chosen = [NDCG(by="texts", qrels=qrels), Recall(by="texts", qrels=qrels)]
    result: Any = evaluate(EvaluationDataset.from_list(rows), chosen, show_progress=False)
    assert result[chosen[1].name] == [0.5, 0.5, 1.0]
    assert result[chosen[0].name][0] == pytest.approx(1 / (3 + 1 / math.log2(3)))


@pytest.mark.parametrize("name", ["recall@130chars", "ndcg@200chars", "coverage", "density@3"])
def test_budgets_and_coverage_are_those_of_the_core(name: str) -> None:
    retrieved = [*HALVES, OTHER]
    reference = [REFERENCE, OTHER]
    items = [rm.Retrieved(text, text) for text in retrieved]
    expected = rm.evaluate({"q": [rm.Text(text) for text in reference]}, {"q": items}, name).means[name]
    metric = RetrievalMetric(name, by="texts")
    assert score(metric, retrieved, reference).hex() == expected.hex()
    assert RetrievalMetric(metric.name).metric == metric.metric
    assert 0 < expected <= 1


@pytest.mark.parametrize("by", ["auto", "ids"])
def test_rows_compared_by_ids_are_cut_at_a_budget_by_their_texts(by: Any) -> None:
    rows: list[dict[str, Any]] = []
    for number in range(3):
        ids = {"retrieved_context_ids": ["x", "d1"], "reference_context_ids": ["d1"]}
        rows.append({"user_input": f"q{number}", "retrieved_contexts": ["x" * 90 * number + ".", OTHER], **ids})
    budget = rm.Budget(len(OTHER) + 100, "chars")
    run = {}
    for row in rows:
        ids_and_texts = zip(row["retrieved_context_ids"], row["retrieved_contexts"], strict=True)
        run[row["user_input"]] = [rm.Retrieved(*pair) for pair in ids_and_texts]
    name = f"recall@{budget}"
    expected = rm.evaluate({f"q{number}": ["d1"] for number in range(3)}, run, name)
    assert expected.means[name] == pytest.approx(2 / 3)
    assert evaluate_dataset(rows, name, by=by).per_query == expected.per_query
    metric = Recall(budget, by=by)
    assert [metric.score(**row).value for row in rows] == [1.0, 1.0, 0.0]
    result: Any = evaluate(EvaluationDataset.from_list(rows), [metric], show_progress=False)
    assert to_evaluation(result).per_query == expected.per_query
    rows[0]["retrieved_contexts"] = None
    with pytest.warns(rm.RetrievalWarning, match="no text at rank 1, and .* counts the characters"):
        assert evaluate_dataset(rows, name, by=by).per_query[name]["q0"] == 0.0


def test_texts_that_a_csv_file_made_text_of_are_read_back() -> None:
    retrieved = str([OTHER, 'It\'s the "other"'])
    reference = str([OTHER])
    assert score(Precision(2, by="texts"), retrieved, reference) == 0.5


def test_auto_takes_ids_where_both_sides_have_them_and_texts_otherwise() -> None:
    metric = MRR()
    ids: dict[str, Any] = {"retrieved_context_ids": ["x", "d1"], "reference_context_ids": ["d1"]}
    texts: dict[str, Any] = {"retrieved_contexts": [OTHER], "reference_contexts": [OTHER]}
    assert metric.score(**ids).value == 0.5
    assert metric.score(**texts).value == 1.0
    assert metric.score(**ids, **texts).value == 0.5
    assert metric.score(**texts, retrieved_context_ids=["x"]).value == 1.0
    with pytest.raises(ValueError, match="has retrieved_contexts but no retrieved_context_ids"):
        metric.score(retrieved_contexts=[OTHER], reference_context_ids=["d1"])
    rows = [{"user_input": "ids", **ids}, {"user_input": "texts", **texts}]
    dataset = EvaluationDataset.from_list(rows)
    result: Any = evaluate(dataset, [metric], show_progress=False)
    assert result["mrr"] == [0.5, 1.0]
    mixed = r"1 of 2 rows \('texts'\) is compared by texts"
    with pytest.warns(rm.RetrievalWarning, match=mixed) as caught:
        assert evaluate_dataset(dataset, "mrr").per_query["mrr"] == {"ids": 0.5, "texts": 1.0}
    assert caught[0].filename == __file__
    for source in (None, dataset):
        with pytest.warns(rm.RetrievalWarning, match=mixed) as caught:
            to_evaluation(result, source)
        assert {warning.filename for warning in caught} == {__file__}


def test_a_row_without_references_is_not_taken_for_one_compared_by_texts() -> None:
    rows: list[dict[str, Any]] = []
    for query in "abc":
        ids = {"retrieved_context_ids": ["d1"], "reference_context_ids": ["d1"]}
        rows.append({"user_input": query, "retrieved_contexts": [OTHER], **ids})
    rows[1]["reference_context_ids"] = None
    with pytest.warns(rm.RetrievalWarning) as warned:
        evaluation = evaluate_dataset(rows, "mrr")
    messages = [str(warning.message) for warning in warned]
    assert not any("compared by texts" in message for message in messages)
    assert any("1 of 3 rows have neither reference_context_ids nor" in message for message in messages)
    assert (evaluation.n["mrr"], evaluation.counts["no_relevant"]) == (2, 1)
    rows[1]["reference_context_ids"] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error", rm.RetrievalWarning)
        assert evaluate_dataset(rows, "mrr").counts["no_relevant"] == 1


def test_a_failed_row_of_texts_is_judged_by_its_texts() -> None:
    with pytest.warns(rm.RetrievalWarning, match="1 of 2 judged queries"):
        evaluation = evaluate_dataset(
            [
                {"user_input": "found", "retrieved_contexts": [OTHER], "reference_contexts": [OTHER]},
                {"user_input": "failed", "reference_contexts": [OTHER]},
            ],
            "mrr",
        )
    assert evaluation.per_query["mrr"] == {"found": 1.0, "failed": 0.0}


@pytest.mark.parametrize(
    ("retrieved", "reference", "error", "message"),
    [
        (OTHER, [OTHER], TypeError, "retrieved_contexts is the bare string 'A try statement"),
        ([OTHER], OTHER, TypeError, "reference_contexts is the bare string"),
        ([OTHER, 3], [OTHER], TypeError, r"retrieved_contexts must hold texts, got 3 \(int\) at rank 2"),
        ([OTHER], [3], TypeError, "a reference must be a str, rm.Text or rm.Quote, got 3"),
        ([OTHER], [rm.Span("a.md", 0, 9)], TypeError, "compared with the place .* from_langchain .*qrels=dataset"),
        ({OTHER}, [OTHER], TypeError, "must be a list of texts, best first, got set"),
        ([OTHER], [" "], ValueError, "needs a text"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(
    retrieved: Any, reference: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        score(MRR(by="texts"), retrieved, reference)


def test_quotes_are_not_compared_with_ids() -> None:
    with pytest.raises(ValueError, match=r"qrels= holds Quote\(text='a quote'\), .* by='texts'"):
        MRR(by="ids", qrels={"q": [rm.Quote("a quote")]})


BLOCK = """
import importlib.abc, sys
class Block(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Block())
"""


def run(code: str, blocked: str = "") -> str:
    """Run code in a new interpreter in which one module cannot be imported, and return its last line."""
    done = subprocess.run(
        [sys.executable, "-c", BLOCK.format(blocked=blocked) + code], capture_output=True, text=True, check=False
    )
    return (done.stdout + done.stderr).strip().splitlines()[-1]

"""A metric that a user defines is one of every host's metrics."""

import pickle
from typing import Any

import pytest

import retrieval_metrics as rm

pytest_plugins = ["pytester"]

ROW = {"expected_ids": ["a", "b"], "retrieved_ids": ["x", "b", "a"]}
CONFTEST = """
    import retrieval_metrics as rm

    def first(grades, *, rank=1):
        return float(len(grades) >= rank and grades[int(rank) - 1] > 0)

    rm.define_metric("relevant_at", first, binary=True)
"""
SUITE = """
    import pytest

    @pytest.mark.parametrize("rank", [2, 3])
    def test_words(retrieval_check, rank):
        retrieval_check({"q": ["a", "b"]}, {"q": ["x", "b", "a"]}, at_least={f"relevant_at(rank={rank})@3": 1.0})

    def test_first(retrieval_check):
        retrieval_check({"q": ["a", "b"]}, {"q": ["x", "b", "a"]}, at_least={"relevant_at": 0.5})
"""


def relevant_at(grades: Any, *, rank: int = 1) -> float:
    """Return 1 if the document at that rank is relevant."""
    return float(len(grades) >= rank and grades[int(rank) - 1] > 0)


@pytest.fixture(autouse=True)
def own() -> rm.Metric:
    return rm.define_metric("relevant_at", relevant_at, binary=True)


def test_llama_index() -> None:
    hosts = pytest.importorskip("llama_index.evaluation.retrieval_metrics")
    metric = hosts.metric("relevant_at(rank=2)@3")
    assert [hosts.metric("relevant_at").compute(**ROW).score, metric.compute(**ROW).score] == [0.0, 1.0]
    assert pickle.loads(pickle.dumps(metric)).compute(**ROW).score == 1.0


def test_ragas() -> None:
    names = pytest.importorskip("ragas_retrieval_metrics.metric")
    from ragas_retrieval_metrics import RetrievalMetric

    named = names.MetricName(rm.Metric.parse("relevant_at(rank=2)@3"))
    assert str(named) == "relevant_at_at_3-rank-2"
    assert names.MetricName.parse(str(named)) == named
    row: dict[str, Any] = {"reference_context_ids": ROW["expected_ids"], "retrieved_context_ids": ROW["retrieved_ids"]}
    assert RetrievalMetric("relevant_at(rank=2)@3").score(**row).value == 1.0
    assert RetrievalMetric("relevant_at").score(**row).value == 0.0


def test_langchain() -> None:
    host = pytest.importorskip("langchain_retrieval_metrics")
    from langchain_core.documents import Document
    from langchain_core.runnables import RunnableLambda

    retriever: Any = RunnableLambda(lambda _: [Document("text", id=name) for name in ROW["retrieved_ids"]])
    result = host.evaluate_retriever(retriever, [("why?", ROW["expected_ids"])], ["relevant_at(rank=2)", "relevant_at"])
    assert list(result.means.values()) == [1.0, 0.0]


def test_haystack() -> None:
    host = pytest.importorskip("haystack_integrations.components.evaluators.retrieval_metrics")
    from haystack import Document

    rows = [[Document(id=name) for name in ROW[key]] for key in ("expected_ids", "retrieved_ids")]
    host_evaluator = host.RetrievalEvaluator("relevant_at(rank=2)@3", document_comparison_field="id")
    for evaluator in (host_evaluator, host.RetrievalEvaluator.from_dict(host_evaluator.to_dict())):
        assert evaluator.run([rows[0]], [rows[1]])["score"] == 1.0
    assert (
        host.RetrievalEvaluator("relevant_at", document_comparison_field="id").run([rows[0]], [rows[1]])["score"] == 0.0
    )


@pytest.mark.thorough
@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["one process", "xdist"])
def test_pytest(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, options: list[str]) -> None:
    builds = pytest.importorskip("retrieval_builds").Builds(pytester, monkeypatch)
    pytester.makeconftest(CONFTEST)
    builds.write(SUITE)
    builds.run_alone("xdist.plugin", *options).assert_outcomes(passed=2, failed=1)

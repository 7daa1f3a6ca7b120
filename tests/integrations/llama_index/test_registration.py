"""Metrics registered by name are found by the evaluator of LlamaIndex, until the undo."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from llama_index.core.evaluation import MRR, HitRate
from llama_index.core.evaluation import RetrieverEvaluator as StockRetrieverEvaluator
from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY
from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import (
    RetrievalMetric,
    register,
)
from llama_index_hosts import Prepared

STOCK_NAMES = {"hit_rate", "mrr", "precision", "recall", "ap", "ndcg", "cohere_rerank_relevancy"}


@pytest.fixture(autouse=True)
def registry() -> Iterator[dict[str, type[BaseRetrievalMetric]]]:
    before = dict(METRIC_REGISTRY)
    assert set(before) == STOCK_NAMES
    yield before
    left = dict(METRIC_REGISTRY)
    METRIC_REGISTRY.clear()
    METRIC_REGISTRY.update(before)
    assert left == before, "a test left metrics registered"


def evaluator(names: list[str]) -> StockRetrieverEvaluator:
    stock_evaluator = StockRetrieverEvaluator.from_metric_names(names, retriever=Prepared({"q": ["x", "a"]}))
    assert isinstance(stock_evaluator, StockRetrieverEvaluator)
    return stock_evaluator


@pytest.mark.thorough
def test_importing_registers_nothing() -> None:
    code = (
        "from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY as r; before = dict(r);"
        "import llama_index.evaluation.retrieval_metrics; assert r == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("names", [None, ["mrr@10", "map", "ndcg@10", "hit_rate@5", "f1@5"]])
def test_the_stock_evaluator_finds_registered_names_and_no_longer_after_the_undo(names: list[str] | None) -> None:
    names = ["mrr@10", "map", "ndcg@10", "hit_rate@5", "f1@5"]
    with pytest.raises(ValueError, match="Invalid metric name"):
        evaluator(names)
    undo = register(names)
    values = evaluator([*names, "hit_rate"]).evaluate("q", ["a"]).metric_vals_dict
    assert list(values) == [*names, "hit_rate"]
    assert (values["mrr@10"], values["map"], values["f1@5"]) == (0.5, 0.5, rm.f1([0, 1], n_relevant=1, k=5))
    undo()
    with pytest.raises(ValueError, match="Invalid metric name"):
        evaluator(names)


def test_without_names_what_core_has_stays(registry: dict[str, type[BaseRetrievalMetric]]) -> None:
    with register() as registered:
        assert {name: METRIC_REGISTRY[name] for name in registry} == registry
        assert {"map", "ndcg@1", "ndcg@100", "bpref", "r_precision", "judged@10"} <= set(registered.names)
        assert not STOCK_NAMES & set(registered.names)
        assert repr(registered) == f"<Registration of {len(registered.names)} metric names>"


def test_a_name_of_cores_is_refused_and_nothing_is_registered() -> None:
    with pytest.raises(ValueError, match=r"has metrics named mrr, ndcg, .* pass override=True .* 'mrr@10'"):
        register(["map", "mrr", "ndcg"])
    assert set(METRIC_REGISTRY) == STOCK_NAMES


def test_override_replaces_and_the_undo_restores() -> None:
    undo = register(["hit_rate", "mrr"], override=True)
    values = evaluator(["hit_rate", "mrr"]).evaluate("q", [])
    assert values.metric_dict["mrr"].metadata["undefined"]
    undo()
    assert (METRIC_REGISTRY["hit_rate"], METRIC_REGISTRY["mrr"]) == (HitRate, MRR)


def test_override_without_names_replaces_all_but_what_nobody_here_knows() -> None:
    with register(override=True):
        foreign = {name for name, cls in METRIC_REGISTRY.items() if not issubclass(cls, RetrievalMetric)}
        assert foreign == {"cohere_rerank_relevancy"}
        assert evaluator(["ap"]).evaluate("q", ["a"]).metric_vals_dict == {"ap": 0.5}


def test_registering_again_changes_nothing_and_only_the_first_undo_takes_it_back() -> None:
    first = register(["mrr@10"])
    again = register(["mrr@10", " mrr@10 "])
    assert (first.names, again.names) == (("mrr@10",), ())
    again()
    assert "mrr@10" in METRIC_REGISTRY
    first()
    first()
    assert "mrr@10" not in METRIC_REGISTRY


def test_undo_leaves_what_somebody_else_registered_since() -> None:
    undo = register(["mrr@10"])
    METRIC_REGISTRY["mrr@10"] = MRR
    undo()
    assert METRIC_REGISTRY.pop("mrr@10") is MRR


def test_an_undo_in_another_order_restores_what_was_there() -> None:
    undos = [register(["mrr@10", "map"]), register(["map", "f1@5"])]
    undos[0]()
    assert "f1@5" in METRIC_REGISTRY
    undos[1]()


def test_unknown_names_and_bare_strings_are_refused() -> None:
    with pytest.raises(ValueError, match="did you mean ndcg"):
        register(["map", "ndgc@3"])
    with pytest.raises(TypeError, match=r"write \['map'\]"):
        register("map")

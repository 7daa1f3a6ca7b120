"""Mistakes that are easily made are answered by what to write instead."""

from typing import Any

import pytest
from llama_index.core import SummaryIndex
from llama_index.core.schema import TextNode

from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator, metric, register
from llama_index_hosts import Prepared, node


def test_a_metric_where_its_name_is_expected() -> None:
    with pytest.raises(TypeError, match=r"takes names, got metric\('mrr'\); write RetrieverEvaluator\(metrics="):
        RetrieverEvaluator.from_metric_names([metric("mrr")], retriever=Prepared({}))  # type: ignore[list-item]  # the point


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (
            ["mrr@3"],
            r"holds the name 'mrr@3'; write RetrieverEvaluator\.from_metric_names\(\[\.\.\.\]\), or",
        ),
        ([], r"at least one metric, got \[\]"),
        ("mrr", "at least one metric, got 'mrr'"),
    ],
)
def test_names_or_nothing_where_metrics_are_expected(metrics: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RetrieverEvaluator(metrics=metrics, retriever=Prepared({}))


def test_an_empty_list_of_names() -> None:
    with pytest.raises(ValueError, match="at least one metric"):
        RetrieverEvaluator.from_metric_names([], retriever=Prepared({}))


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("entry", [TextNode(id_="n1", text="a text"), node("n1")])
@pytest.mark.parametrize("name", ["mrr", "err"])
def test_a_node_where_its_id_is_expected(entry: Any, nested: bool, name: str) -> None:  # noqa: FBT001  (of the test)
    ours = RetrieverEvaluator.from_metric_names([name], retriever=Prepared({}))
    truth = [[entry], ["n2"]] if nested else [entry]
    with pytest.raises(TypeError, match="is among the judgments of query 'q'; pass its id, 'n1', or its text as rm"):
        ours.evaluate("q", truth)
    with pytest.raises(TypeError, match="pass its id, 'n1'"):
        ours.evaluate_dataset([("q", truth)])


def test_options_of_the_hosts_metrics_are_metrics_here() -> None:
    with register(["hit_rate", "mrr"], override=True):
        for name, option, instead in (
            ("hit_rate", "use_granular_hit_rate", "use 'recall' or 'recall@10'"),
            ("mrr", "use_granular_mrr", "'map'"),
            ("ndcg", "mode", r"'ndcg\(gain=exponential\)'"),
        ):
            arguments: dict[str, Any] = {option: True}
            with pytest.raises(TypeError, match=f"{option} is not an option here; .*{instead}"):
                type(metric(name))(**arguments)
            with pytest.raises(TypeError, match=instead):
                setattr(metric(name), option, True)
            with pytest.raises(TypeError, match=instead):
                metric(name).compute(expected_ids=["a"], retrieved_ids=["a"], **arguments)
            if option != "mode":  # the evaluator has one of its own: texts or images
                ours = RetrieverEvaluator.from_metric_names([name], retriever=Prepared({}))
                with pytest.raises(TypeError, match=instead):
                    ours.evaluate("q", ["a"], **arguments)


def test_an_index_is_no_retriever_but_has_one() -> None:
    index = SummaryIndex([TextNode(id_="n1", text="a text")])
    with pytest.raises(ValueError, match=r"got <llama_index.*>; write index\.as_retriever\(\)"):
        RetrieverEvaluator.from_metric_names(["mrr"], retriever=index)

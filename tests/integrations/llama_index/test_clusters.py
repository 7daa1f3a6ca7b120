"""Intervals of whole datasets know which queries belong together, as those of the core do."""

import asyncio
from typing import Any

import pytest

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator
from llama_index_hosts import Deliver, Prepared, PreparedAsync

TEXTS = [f"question {at}" for at in range(66)]
QRELS: Any = {text: ["d"] for text in TEXTS}
RUN: Any = {text: ["d", "x"] if at // 3 % 2 else ["x", "d"] for at, text in enumerate(TEXTS)}
CLUSTERS = {text: at // 3 for at, text in enumerate(TEXTS)}


def evaluator(retriever: type[Prepared] = Prepared, **arguments: Any) -> RetrieverEvaluator:
    return RetrieverEvaluator.from_metric_names(["mrr"], retriever=retriever(RUN), **arguments)


@pytest.mark.parametrize("clusters", [CLUSTERS, CLUSTERS.get, None, "source"])
def test_clusters_are_those_of_the_core(clusters: Any) -> None:
    core = rm.evaluate(QRELS, RUN, "mrr", clusters=clusters)
    ours = evaluator().evaluate_dataset(QRELS, clusters=clusters)
    waited_for = asyncio.run(evaluator(PreparedAsync).aevaluate_dataset(QRELS, clusters=clusters))
    for result in (ours, waited_for):
        assert dict(result.evaluation.intervals()) == dict(core.intervals())
    independent = rm.evaluate(QRELS, RUN, "mrr", clusters=None)
    assert (dict(core.intervals()) == dict(independent.intervals())) == (clusters is None or clusters == "source")


def test_questions_of_one_source_are_a_cluster_at_every_stage() -> None:
    rows = [{"query": text, "relevant": ["d"], "source": f"{CLUSTERS[text]}.md"} for text in TEXTS]
    result = evaluator(node_postprocessors=[Deliver(answers=RUN)]).evaluate_dataset(rows, stages=True)
    core = rm.evaluate(QRELS, RUN, "mrr", clusters=CLUSTERS)
    assert dict(result.evaluation.intervals()) == dict(core.intervals())
    assert [dict(stage.intervals()) for stage in result.stages.values()] == [dict(core.intervals())] * 2
    assert dict(evaluator().evaluate_dataset(rows, clusters=None).evaluation.intervals()) != dict(core.intervals())


def test_a_comparison_takes_the_clusters_of_its_results() -> None:
    rows = [{"query": text, "relevant": ["d"], "source": f"{CLUSTERS[text]}.md"} for text in TEXTS]
    result = evaluator().evaluate_dataset(rows)
    backwards = {text: ranking[::-1] for text, ranking in RUN.items()}
    comparison = result.comparison(evaluator(node_postprocessors=[Deliver(answers=backwards)]).evaluate_dataset(rows))
    core = rm.compare(QRELS, {"this": RUN, "other": backwards}, "mrr", clusters=CLUSTERS)
    assert comparison.difference("mrr").interval == core.difference("mrr").interval
    assert "queries in 22 clusters" in str(comparison)
    with pytest.raises(ValueError, match="clusters cannot be changed for evaluations"):
        result.comparison(result, clusters=None)


def test_clusters_that_know_no_query_are_refused_before_anything_is_retrieved() -> None:
    asked: list[str] = []
    never = RetrieverEvaluator.from_metric_names(["mrr"], retriever=asked.append)
    with pytest.raises(ValueError, match="clusters= has none of the judged queries, such as 'question 0'"):
        never.evaluate_dataset(QRELS, clusters={"other": 1})
    assert not asked

# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics", "llama-index-evaluation-retrieval-metrics"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# llama-index-evaluation-retrieval-metrics = { path = "../../integrations/llama_index", editable = true }
# ///
"""What our RetrieverEvaluator costs beside that of llama-index-core.

Run it with `uv run tests/benchmarks/llama_index_evaluation.py`.

Two retrievers answer at once: one makes its nodes for every query, as stores do, and one has them at hand, so that
nothing hides what the rest costs. Every node has a text of its own, in which the quotes are found. Each way is called
in turn, in one process, and the medians are compared within the run.
"""

import argparse
import asyncio
import gc
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from measure import machine, use_one_thread

use_one_thread()

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.evaluation import RetrieverEvaluator as StockRetrieverEvaluator
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator
from retrieval_metrics.reports.tables import Table

QUERIES = 1_000
DEPTH = 20
CORPUS = 5_000
STOCK = "llama-index-core, one after another"
PROMISES = {"ours, ids": 2.0, "ours, ids, asynchronous": 2.0, "ours, quotes": 2.1}
"""Times the stock evaluator, for hit_rate and mrr.

Ours reads text, source, offsets and metadata of every node when it comes back, some 3 microseconds each: a later
postprocessor may change the node in place, and results, stages and explanations must not change with it.
"""


def make_node(number: int) -> NodeWithScore:
    """Return a node with a text of its own and the place that it was cut from."""
    node = TextNode(
        id_=f"node-{number}",
        text=f"Passage {number} says that value {number * 7919 % 10007} was seen. "
        + f"It is about topic {number % 97}. " * 12,
        metadata={"file_name": f"{number % 50}.md"},
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"document-{number % 50}")},
    )
    return NodeWithScore(node=node, score=1.0)


NODES = [make_node(number) for number in range(CORPUS)]
RETRIEVED = {
    f"question {query}?": [(query * 31 + rank * 17) % CORPUS for rank in range(DEPTH)] for query in range(QUERIES)
}
"""The numbers of the nodes that each query retrieves."""
RELEVANT = {
    text: [retrieved[query % DEPTH], (query * 13) % CORPUS] for query, (text, retrieved) in enumerate(RETRIEVED.items())
}
IDS = {text: [f"node-{number}" for number in relevant] for text, relevant in RELEVANT.items()}
QUOTES: dict[str, Any] = {
    text: [rm.Quote(f"Passage {number} says that value {number * 7919 % 10007} was seen") for number in relevant]
    for text, relevant in RELEVANT.items()
}


class Instant(BaseRetriever):
    """Answers at once, in both forms, with the nodes that a function gives."""

    def __init__(self, node: Callable[[int], NodeWithScore]) -> None:
        super().__init__()
        self._node = node

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [self._node(number) for number in RETRIEVED[query_bundle.query_str]]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._retrieve(query_bundle)


async def evaluate_serially(evaluator: StockRetrieverEvaluator) -> list[float]:
    results = [await evaluator.aevaluate(text, relevant) for text, relevant in IDS.items()]
    return [result.metric_vals_dict["mrr"] for result in results]


async def gathered(evaluator: StockRetrieverEvaluator) -> list[float]:
    results = await asyncio.gather(*(evaluator.aevaluate(text, relevant) for text, relevant in IDS.items()))
    return [result.metric_vals_dict["mrr"] for result in results]


RETRIEVERS = {"nodes made for every query": Instant(make_node), "nodes at hand": Instant(NODES.__getitem__)}


def ways(retriever: BaseRetriever) -> dict[str, Callable[[], list[float]]]:
    """Return each way to the reciprocal ranks of all queries."""
    names = ["hit_rate", "mrr"]
    stock = StockRetrieverEvaluator.from_metric_names(names, retriever=retriever)
    ours = RetrieverEvaluator.from_metric_names(names, retriever=retriever)

    def values(results: Any) -> list[float]:
        return [result.metric_vals_dict["mrr"] for result in results]

    return {
        STOCK: lambda: asyncio.run(evaluate_serially(stock)),
        "llama-index-core, gathered": lambda: asyncio.run(gathered(stock)),
        "ours, ids": lambda: values(ours.evaluate_dataset(IDS)),
        "ours, ids, asynchronous": lambda: values(asyncio.run(ours.aevaluate_dataset(IDS))),
        "ours, quotes": lambda: values(ours.evaluate_dataset(QUOTES)),
    }


def measured(retriever: BaseRetriever, rounds: int) -> dict[str, float]:
    """Return the median CPU seconds of each way, after a first call."""
    seconds: dict[str, list[float]] = {}
    expected = None
    for number in range(rounds + 1):
        for name, way in ways(retriever).items():
            gc.collect()  # what another way left behind is not its cost
            started = time.process_time()
            retrieved = way()
            if number:
                seconds.setdefault(name, []).append(time.process_time() - started)
            expected = expected or retrieved
            if retrieved != expected:
                raise AssertionError(f"{name} gives other numbers; it is not timed")
    return {name: statistics.median(spent) for name, spent in seconds.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=5, help="calls of each way after the first (default: %(default)s)"
    )
    warnings.simplefilter("ignore", rm.RetrievalWarning)
    rounds = parser.parse_args().rounds
    print(f"{machine()}; {QUERIES:,} queries x {DEPTH} nodes, hit_rate and mrr, CPU time of one thread")
    outcomes = []
    for title, retriever in RETRIEVERS.items():
        medians = measured(retriever, rounds)
        rows = []
        for name, median in medians.items():
            ratio = median / medians[STOCK]
            bound = PROMISES.get(name)
            bound_text = "" if bound is None else f"at most {bound:g}: {'yes' if ratio <= bound else 'NO'}"
            rows.append([name, f"{median:.3f}", f"{ratio:.2f}", bound_text])
            outcomes.append(bound is None or ratio <= bound)
        print(f"\n{Table([title, 's', '/ stock', 'promise'], rows).markdown()}")
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())

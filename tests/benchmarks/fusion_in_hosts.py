"""What LangChain, LlamaIndex, Haystack and ranx do when they fuse rankings, each asked; and `fuse` beside them.

    python tests/benchmarks/fusion_in_hosts.py

A host that is not installed is named and left out.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Mapping
from typing import Any

import retrieval_metrics as rm

Ranking = Mapping[str, float]
LEFT: Ranking = {"a": 12.0, "b": 9.0, "d": 1.0}
OTHER: Ranking = {"b": 0.9, "a": 0.8, "e": 0.1}


def format_scores(scores: Mapping[str, float] | list[str]) -> str:
    if isinstance(scores, list):
        return " ".join(scores)
    return " ".join(f"{document} {score:.4f}" for document, score in scores.items())


def row(case: str, tool: str, scores: Mapping[str, float] | list[str]) -> None:
    print(f"{case:34} {tool:18} {format_scores(scores)}", flush=True)


def ours(*rankings: Ranking, **options: Any) -> dict[str, float]:
    fused: dict[str, float] = rm.fuse(
        {str(number): {"q": scores} for number, scores in enumerate(rankings)}, **options
    )["q"]
    return fused


def langchain(rankings: list[list[Any]], weights: list[float]) -> list[str]:
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_core.runnables import RunnableLambda

    retrievers: Any = [RunnableLambda(lambda _, documents=documents: list(documents)) for documents in rankings]
    documents = EnsembleRetriever(retrievers=retrievers, weights=weights).invoke("q")
    return [document.id or "" for document in documents]


def print_langchain() -> None:
    from langchain_core.documents import Document

    def documents(ids: Any, texts: Mapping[str, str] | None = None) -> list[Document]:
        return [Document((texts or {}).get(id_, id_), id=id_) for id_ in ids]

    left = documents(LEFT)
    right = documents(OTHER)
    row("ties, two rankings", "LangChain", langchain([left, right], [0.5, 0.5]))
    row("ties, the two exchanged", "LangChain", langchain([right, left], [0.5, 0.5]))
    same_texts = {"a": "the same text", "b": "the same text"}
    row(
        "a and b have the same text",
        "LangChain",
        langchain([documents("ab", same_texts), documents("cb", same_texts)], [0.5, 0.5]),
    )
    row("c twice in the first ranking", "LangChain", langchain([documents("acc"), documents("bd")], [0.5, 0.5]))


def llama_index(mode: str, weights: list[float] | None = None) -> tuple[dict[str, float], list[float]]:
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    class Fixed(BaseRetriever):
        def __init__(self, nodes: list[NodeWithScore]) -> None:
            super().__init__()
            self.nodes = nodes

        def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
            return self.nodes

    def nodes(ranking: Ranking) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text=id_, id_=id_), score=score) for id_, score in ranking.items()]

    lists = [nodes(LEFT), nodes(OTHER)]
    fusion = QueryFusionRetriever(
        [Fixed(node) for node in lists], llm=MockLLM(), mode=mode, num_queries=1, use_async=False, similarity_top_k=10,
        retriever_weights=weights,
    )  # fmt: skip
    fused = {node.node.node_id: float(node.score or 0.0) for node in fusion.retrieve("q")}
    return fused, [float(node.score or 0.0) for node in lists[0]]


def print_llama_index() -> None:
    from llama_index.core.retrievers.fusion_retriever import FUSION_MODES

    equal, after = llama_index(FUSION_MODES.RECIPROCAL_RANK)
    row("RRF", "LlamaIndex", equal)
    row("RRF, weights .9 and .1", "LlamaIndex", llama_index(FUSION_MODES.RECIPROCAL_RANK, [0.9, 0.1])[0])
    row("the first ranking's scores after", "LlamaIndex", [f"{score:.4f}" for score in after])
    row("min-max, weights .5 and .5", "LlamaIndex", llama_index(FUSION_MODES.RELATIVE_SCORE, [0.5, 0.5])[0])


def haystack(mode: str, weights: list[float] | None = None) -> dict[str, float]:
    from haystack import Document
    from haystack.components.joiners import DocumentJoiner

    lists = [
        [Document(id=document, score=score) for document, score in scores_by_id.items()]
        for scores_by_id in (LEFT, OTHER)
    ]
    joined = DocumentJoiner(join_mode=mode, weights=weights).run(documents=copy.deepcopy(lists))["documents"]
    return {document.id: float(document.score or 0.0) for document in joined}


def print_haystack() -> None:
    row("RRF", "Haystack", haystack("reciprocal_rank_fusion"))
    row("RRF, weights .9 and .1", "Haystack", haystack("reciprocal_rank_fusion", [0.9, 0.1]))
    row("merge, weights .5 and .5", "Haystack", haystack("merge", [0.5, 0.5]))
    row("by distribution", "Haystack", haystack("distribution_based_rank_fusion"))
    row("by distribution, weights .9 and .1", "Haystack", haystack("distribution_based_rank_fusion", [0.9, 0.1]))


def ranx(rankings: list[Ranking], **options: Any) -> dict[str, float]:
    from ranx import Run, fuse

    fused = fuse(runs=[Run({"q": dict(scores)}) for scores in rankings], **options)
    return {str(document): float(score) for document, score in fused.run["q"].items()}


def print_ranx() -> None:
    row("RRF", "ranx", ranx([LEFT, OTHER], method="rrf"))
    row("RRF, the two exchanged", "ranx", ranx([OTHER, LEFT], method="rrf"))
    row(
        "min-max of a list of one document",
        "ranx",
        ranx([{"a": 7.0}, {"b": 2.0, "c": 1.0}], norm="min-max", method="sum"),
    )


def print_ours() -> None:
    row("RRF", "fuse", ours(LEFT, OTHER))
    row("RRF, the two exchanged", "fuse", ours(OTHER, LEFT))
    row("RRF, weights .9 and .1", "fuse", ours(LEFT, OTHER, weights=[0.9, 0.1]))
    row("min-max, weights .5 and .5", "fuse", ours(LEFT, OTHER, method="scores", weights=[0.5, 0.5]))
    row("min-max of a list of one document", "fuse", ours({"a": 7.0}, {"b": 2.0, "c": 1.0}, method="scores"))


def main() -> None:
    asyncio.set_event_loop(asyncio.new_event_loop())  # LlamaIndex asks for one
    parts: tuple[Callable[[], None], ...] = (print_ours, print_langchain, print_llama_index, print_haystack, print_ranx)
    for part in parts:
        try:
            part()
        except ImportError as error:
            print(f"{part.__name__.removeprefix('of_')} is left out: {error}")


if __name__ == "__main__":
    main()

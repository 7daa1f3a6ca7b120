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
ONE: Ranking = {"a": 12.0, "b": 9.0, "d": 1.0}
OTHER: Ranking = {"b": 0.9, "a": 0.8, "e": 0.1}


def said(scores: Mapping[str, float] | list[str]) -> str:
    if isinstance(scores, list):
        return " ".join(scores)
    return " ".join(f"{document} {score:.4f}" for document, score in scores.items())


def row(case: str, tool: str, found: Mapping[str, float] | list[str]) -> None:
    print(f"{case:34} {tool:18} {said(found)}", flush=True)


def ours(*rankings: Ranking, **options: Any) -> dict[str, float]:
    fused: dict[str, float] = rm.fuse({str(at): {"q": one} for at, one in enumerate(rankings)}, **options)["q"]
    return fused


def langchain(rankings: list[list[Any]], weights: list[float]) -> list[str]:
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_core.runnables import RunnableLambda

    retrievers: Any = [RunnableLambda(lambda _, found=found: list(found)) for found in rankings]
    found = EnsembleRetriever(retrievers=retrievers, weights=weights).invoke("q")
    return [document.id or "" for document in found]


def of_langchain() -> None:
    from langchain_core.documents import Document

    def documents(ids: Any, texts: Mapping[str, str] | None = None) -> list[Document]:
        return [Document((texts or {}).get(each, each), id=each) for each in ids]

    one, other = documents(ONE), documents(OTHER)
    row("ties, two rankings", "LangChain", langchain([one, other], [0.5, 0.5]))
    row("ties, the two exchanged", "LangChain", langchain([other, one], [0.5, 0.5]))
    same = {"a": "the same text", "b": "the same text"}
    row(
        "a and b have the same text", "LangChain", langchain([documents("ab", same), documents("cb", same)], [0.5, 0.5])
    )
    row("c twice in the first ranking", "LangChain", langchain([documents("acc"), documents("bd")], [0.5, 0.5]))


def llama_index(mode: str, weights: list[float] | None = None) -> tuple[dict[str, float], list[float]]:
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    class Fixed(BaseRetriever):
        def __init__(self, found: list[NodeWithScore]) -> None:
            super().__init__()
            self.found = found

        def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:  # noqa: ARG002  (the name is given)
            return self.found

    def nodes(ranking: Ranking) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text=each, id_=each), score=score) for each, score in ranking.items()]

    given = [nodes(ONE), nodes(OTHER)]
    fusion = QueryFusionRetriever(
        [Fixed(each) for each in given], llm=MockLLM(), mode=mode, num_queries=1, use_async=False, similarity_top_k=10,
        retriever_weights=weights,
    )  # fmt: skip
    fused = {each.node.node_id: float(each.score or 0.0) for each in fusion.retrieve("q")}
    return fused, [float(each.score or 0.0) for each in given[0]]


def of_llama_index() -> None:
    from llama_index.core.retrievers.fusion_retriever import FUSION_MODES

    equal, after = llama_index(FUSION_MODES.RECIPROCAL_RANK)
    row("RRF", "LlamaIndex", equal)
    row("RRF, weights .9 and .1", "LlamaIndex", llama_index(FUSION_MODES.RECIPROCAL_RANK, [0.9, 0.1])[0])
    row("the first ranking's scores after", "LlamaIndex", [f"{score:.4f}" for score in after])
    row("min-max, weights .5 and .5", "LlamaIndex", llama_index(FUSION_MODES.RELATIVE_SCORE, [0.5, 0.5])[0])


def haystack(mode: str, weights: list[float] | None = None) -> dict[str, float]:
    from haystack import Document
    from haystack.components.joiners import DocumentJoiner

    given = [[Document(id=each, score=score) for each, score in one.items()] for one in (ONE, OTHER)]
    joined = DocumentJoiner(join_mode=mode, weights=weights).run(documents=copy.deepcopy(given))["documents"]
    return {each.id: float(each.score or 0.0) for each in joined}


def of_haystack() -> None:
    row("RRF", "Haystack", haystack("reciprocal_rank_fusion"))
    row("RRF, weights .9 and .1", "Haystack", haystack("reciprocal_rank_fusion", [0.9, 0.1]))
    row("merge, weights .5 and .5", "Haystack", haystack("merge", [0.5, 0.5]))
    row("by distribution", "Haystack", haystack("distribution_based_rank_fusion"))
    row("by distribution, weights .9 and .1", "Haystack", haystack("distribution_based_rank_fusion", [0.9, 0.1]))


def ranx(rankings: list[Ranking], **options: Any) -> dict[str, float]:
    from ranx import Run, fuse

    fused = fuse(runs=[Run({"q": dict(one)}) for one in rankings], **options)
    return {str(document): float(score) for document, score in fused.run["q"].items()}


def of_ranx() -> None:
    row("RRF", "ranx", ranx([ONE, OTHER], method="rrf"))
    row("RRF, the two exchanged", "ranx", ranx([OTHER, ONE], method="rrf"))
    row(
        "min-max of a list of one document",
        "ranx",
        ranx([{"a": 7.0}, {"b": 2.0, "c": 1.0}], norm="min-max", method="sum"),
    )


def of_ours() -> None:
    row("RRF", "fuse", ours(ONE, OTHER))
    row("RRF, the two exchanged", "fuse", ours(OTHER, ONE))
    row("RRF, weights .9 and .1", "fuse", ours(ONE, OTHER, weights=[0.9, 0.1]))
    row("min-max, weights .5 and .5", "fuse", ours(ONE, OTHER, method="scores", weights=[0.5, 0.5]))
    row("min-max of a list of one document", "fuse", ours({"a": 7.0}, {"b": 2.0, "c": 1.0}, method="scores"))


def main() -> None:
    asyncio.set_event_loop(asyncio.new_event_loop())  # LlamaIndex asks for one
    parts: tuple[Callable[[], None], ...] = (of_ours, of_langchain, of_llama_index, of_haystack, of_ranx)
    for part in parts:
        try:
            part()
        except ImportError as error:
            print(f"{part.__name__.removeprefix('of_')} is left out: {error}")


if __name__ == "__main__":
    main()

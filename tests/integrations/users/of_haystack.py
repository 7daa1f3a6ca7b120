"""What a user of Haystack writes: a pipeline with MMR judged by files after each step, and the component."""

import asyncio

from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

import retrieval_metrics as rm
from haystack_integrations.components.evaluators.retrieval_metrics import (
    PipelineRetriever,
    RetrievalEvaluator,
    RetrievalRunResult,
    aevaluate_pipeline,
    evaluate_pipeline,
    record,
)
from haystack_integrations.components.rankers.retrieval_metrics import MMRRanker

DOCUMENTS = [
    Document(id=f"d{number}", content=f"text {number}", meta={"file_path": f"{number}.md"}, embedding=[1.0, number])
    for number in range(9)
]


def pipeline() -> Pipeline:
    store = InMemoryDocumentStore()
    store.write_documents(DOCUMENTS)
    mmr_pipeline = Pipeline()
    mmr_pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=5))
    mmr_pipeline.add_component("mmr", MMRRanker(top_k=3, lambda_mult=0.5, relevance="rank"))
    mmr_pipeline.connect("retriever.documents", "mmr.documents")
    return mmr_pipeline


async def main() -> None:
    questions = [("text 1", ["1.md"]), ("text 2", {"2.md": 2, "3.md": 1}), ("text 3", [["4.md", "5.md"], ["6.md"]])]
    stages = evaluate_pipeline(pipeline(), questions, ["mrr", "ndcg@10"], match="metadata:file_path")
    means: dict[str, float] = {name: stage.means["mrr"] for name, stage in stages.items()}
    again = await aevaluate_pipeline(pipeline(), questions, "mrr", match="metadata:file_path")
    evaluator = RetrievalEvaluator(["mrr@10", "recall@5"], document_comparison_field="meta.file_path")
    outcome = evaluator.run([DOCUMENTS[:1], DOCUMENTS[1:2]], [DOCUMENTS[:2], DOCUMENTS[:2]])
    evaluation: rm.Evaluation = outcome["evaluation"]
    report = RetrievalRunResult("run", {"question": ["a", "c"]}, outcome["results"])
    run: rm.RetrievedRun = rm.retrieve(PipelineRetriever(pipeline(), output="retriever.documents"), {"q": "text"})
    compared: rm.Comparison = rm.compare(stages, baseline="retriever")
    with record() as recorded, recorded.question("q"):
        pipeline().run({"retriever": {"query": "text"}})
    print(means, [*again], evaluation.means, report.aggregated_report(), run, compared.summary, recorded.trajectories)


if __name__ == "__main__":
    asyncio.run(main())

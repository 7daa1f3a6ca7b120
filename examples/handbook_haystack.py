# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "retrieval-metrics",
#   "retrieval-metrics-haystack",
# ]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# retrieval-metrics-haystack = { path = "../integrations/haystack", editable = true }
# ///
"""The pipeline with which the Haystack page was made: BM25 over the handbook of a ferry line, and a ranker.

Run it with `uv run examples/handbook_haystack.py`. It needs no network.
"""

import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # otherwise Haystack sends usage data to its developers
os.environ["TQDM_DISABLE"] = "1"  # BM25 in memory shows a progress bar otherwise

from haystack import Document, Pipeline
from haystack.components.rankers import LostInTheMiddleRanker
from haystack.components.retrievers import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from handbook_search import chunks, questions
from haystack_integrations.components.evaluators.retrieval_metrics import evaluate_pipeline


def load_documents() -> list[Document]:
    """Return the paragraphs of the handbook, with the file of each as converters write it."""
    return [Document(content=text, meta={"file_path": file}) for file, text in chunks()]


def make_pipeline() -> Pipeline:
    """Return a pipeline that retrieves 5 paragraphs and keeps 3 of them."""
    store = InMemoryDocumentStore()
    store.write_documents(load_documents())
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=5))
    pipeline.add_component("ranker", LostInTheMiddleRanker(top_k=3))
    pipeline.connect("retriever.documents", "ranker.documents")
    return pipeline


def yours() -> dict[str, object]:
    """Return what the page calls yours, by name."""
    return {"documents": load_documents(), "pipeline": make_pipeline()}


def main() -> None:
    """Print the metrics of each stage of the pipeline."""
    print(evaluate_pipeline(make_pipeline(), questions(), ["recall@5", "ndcg@5"], match="filename"))


if __name__ == "__main__":
    main()

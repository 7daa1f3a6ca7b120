"""Words that people type into the search, and the pages that answer them in other words.

They become entries of an index, which the search reads, as do the public names. A page that does not exist is left
out.
"""

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

WORDS = {
    "concepts": ["document ids", "qrels format"],
    "explanation/speed": ["benchmark"],
    "guides/choosing-metrics": ["which metric", "metrics for rag"],
    "guides/command-line": ["gate", "cli", "exit code", "typescript"],
    "guides/comparing": [
        *("compare two embeddings", "compare embeddings", "compare two retrievers", "which embedding is better"),
        *("significance", "significance test", "statistical significance", "p value", "t-test", "a/b test"),
    ],
    "guides/coming-from": ["trec_eval", "why is my number different"],
    "guides/errors": ["distances", "distance"],
    "guides/evaluation-sets": ["lint"],
    "guides/evaluating": ["judged@10"],
    "guides/files": [
        *("latex", "to latex", "csv", "export csv", "export results", "dataframe"),
        *("trec files", "parquet", "jsonl", "beir"),
    ],
    "guides/labelling": ["annotate", "llm as a judge", "llm judge", "relevance judgments"],
    "guides/mmr": ["mmr", "diversity", "near duplicates"],
    "guides/models": ["openai", "anthropic", "ollama"],
    "guides/over-time": ["save results", "drift", "regression"],
    "guides/questions": ["golden dataset", "golden set", "test set", "ground truth"],
    "guides/reports": ["html report", "read a report"],
    "guides/rechunking": ["chunk ids", "chunk size", "splitter"],
    "guides/running-retrievers": ["openai embeddings", "chroma", "faiss", "pgvector"],
    "integrations/haystack": ["haystack"],
    "integrations/langchain": ["langchain", "vectorstore", "as_retriever", "langsmith"],
    "integrations/llama_index": ["llamaindex", "llama_index", "simpledirectoryreader", "file name", "vectorstoreindex"],
    "integrations/mlflow": ["mlflow"],
    "integrations/pytest": ["pytest"],
    "integrations/ragas": ["ragas"],
    "integrations/ray": ["ray"],
    "reference/metrics/hit_rate": ["success@k", "hit@k"],
    "reference/metrics/mrr": ["mrr", "mean reciprocal rank"],
    "reference/metrics/ndcg": ["ndcg@10"],
    "reference/metrics/precision": ["precision at k", "precision@k"],
    "reference/metrics/recall": ["recall at k", "recall@k"],
}
"""The words are in lower case: the search looks for what was typed in lower case."""


def _enter(app: Sphinx, tree: nodes.document) -> None:
    words = [(word, "") for word in WORDS.get(app.env.docname, [])]
    if app.env.docname.startswith("api/"):
        signatures = [entry[0] for entry in tree.findall(addnodes.desc) if entry[0]["module"] == "retrieval_metrics"]
        words += [(f"rm.{each['fullname'].lower()}", each["ids"][0]) for each in signatures if not each["class"]]
    if words:
        entries = [("single", word, place, "main", None) for word, place in words]
        next(iter(tree.findall(nodes.section))).append(addnodes.index(entries=entries))


def setup(app: Sphinx) -> dict[str, bool]:
    """Enter the words when a page is read."""
    app.connect("doctree-read", _enter)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

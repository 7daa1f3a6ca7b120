"""Words that people type into the search, and the pages that answer them in other words.

They become entries of an index, which the search reads. A page that does not exist is left out.
"""

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

WORDS = {
    "api/evaluate": ["latex", "export csv", "to latex", "dataframe", "export results"],
    "concepts": ["chunk ids", "document ids", "qrels format"],
    "explanation/speed": ["benchmark", "performance"],
    "guides/choosing-metrics": ["which metric", "metrics for rag"],
    "guides/command-line": ["gate", "cli", "exit code", "typescript"],
    "guides/comparing": [
        *("compare two embeddings", "compare embeddings", "compare two retrievers", "significance", "a/b test"),
        *("significance test", "statistical significance", "which embedding is better", "judged@10", "t-test"),
    ],
    "guides/coming-from": ["trec_eval", "why is my number different"],
    "guides/errors": ["distances", "distance", "warning"],
    "guides/evaluation-sets": ["lint"],
    "guides/files": ["trec files", "csv", "parquet", "jsonl", "beir"],
    "guides/labelling": ["annotate", "llm as a judge", "llm judge", "relevance judgments"],
    "guides/mmr": ["mmr", "diversity", "near duplicates"],
    "guides/models": ["openai", "anthropic", "ollama"],
    "guides/over-time": ["save results", "drift", "regression"],
    "guides/questions": ["golden dataset", "golden set", "test set", "ground truth"],
    "guides/reports": ["html report", "read a report"],
    "guides/rechunking": ["chunk size", "splitter"],
    "guides/running-retrievers": ["openai embeddings", "chroma", "faiss", "pgvector"],
    "integrations/langchain": ["vectorstore", "as_retriever", "langsmith"],
    "integrations/llama_index": ["simpledirectoryreader", "file name", "vectorstoreindex"],
    "integrations/ragas": ["ragas"],
    "reference/metrics/hit_rate": ["success@k", "hit@k"],
    "reference/metrics/mrr": ["mrr", "mean reciprocal rank"],
    "reference/metrics/ndcg": ["ndcg@10"],
    "reference/metrics/precision": ["precision at k", "precision@k"],
    "reference/metrics/recall": ["recall at k", "recall@k"],
}
"""The words are in lower case: the search looks for what was typed in lower case."""


def _enter(app: Sphinx, tree: nodes.document) -> None:
    if words := WORDS.get(app.env.docname):
        section = next(iter(tree.findall(nodes.section)))
        entries = [("single", word, section["ids"][0], "main", None) for word in words]
        section += addnodes.index(entries=entries)


def setup(app: Sphinx) -> dict[str, bool]:
    """Enter the words when a page is read."""
    app.connect("doctree-read", _enter)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

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
    "explanation/statistics": ["bootstrap", "multiple testing"],
    "guides/agents": ["tool calls", "agentic rag"],
    "guides/articles": ["retrieval_gt", "order aware", "order unaware", "hitrate@k", "autorag"],
    "guides/changes": ["without judgments", "monitor production"],
    "guides/choosing-metrics": ["which metric", "which k", "metrics for rag", "graded relevance"],
    "guides/command-line": ["gate", "cli", "exit code", "typescript"],
    "guides/comparing": [
        "margin",
        *("compare two embeddings", "compare embeddings", "compare two retrievers", "which embedding is better"),
        *("significance", "significance test", "statistical significance", "p value", "t-test", "a/b test"),
        *(
            "embedding better",
            "retriever better",
            "multiple comparisons",
            "reranker worth",
            "reranker better",
            "margin",
        ),
    ],
    "guides/coming-from": ["trec_eval", "ndcg trec_eval", "why is my number different"],
    "guides/errors": ["distances", "distance", "ids match", "always 0", "always zero", "recall always"],
    "guides/evaluation-sets": ["lint"],
    "guides/evaluating": ["judged@10", "per query", "by category"],
    "guides/explaining": ["query fail", "failed query"],
    "guides/files": [
        *("latex", "to latex", "csv", "export csv", "export results", "dataframe"),
        *("trec files", "trec run", "parquet", "jsonl", "beir"),
    ],
    "guides/forbidden": ["unanswerable questions", "no answer", "access control"],
    "guides/fusing": ["hybrid search", "hybrid retriever"],
    "guides/generating-questions": ["synthetic questions", "generate questions"],
    "guides/labelling": ["annotate", "llm as a judge", "llm judge", "llm judgments", "relevance judgments"],
    "guides/mmr": ["mmr", "diversity", "near duplicates", "duplicate results"],
    "guides/models": ["openai", "anthropic", "ollama", "rate limit"],
    "guides/other-scores": ["latency", "faithfulness"],
    "guides/over-time": ["save results", "drift", "regression"],
    "guides/own-metrics": ["custom metric", "own metric"],
    "guides/planning": ["how many questions", "sample size"],
    "guides/plots": ["plot", "plot paper", "figure", "figure paper", "chart"],
    "guides/questions": ["golden dataset", "golden set", "test set", "ground truth", "hugging face dataset"],
    "guides/reports": ["html report", "read a report"],
    "guides/rechunking": ["chunk ids", "chunk size", "splitter"],
    "guides/running-retrievers": ["openai embeddings", "chroma", "faiss", "pgvector", "async retriever"],
    "guides/tuning": ["overfitting", "cross validation", "hyperparameter"],
    "integrations/haystack": ["haystack"],
    "integrations/ir_measures": ["pyterrier"],
    "integrations/langchain": ["langchain", "vectorstore", "as_retriever", "langsmith", "pinecone"],
    "integrations/llama_index": ["llamaindex", "llama_index", "simpledirectoryreader", "file name", "vectorstoreindex"],
    "integrations/mlflow": ["mlflow"],
    "integrations/pytest": ["pytest"],
    "integrations/ragas": ["ragas"],
    "integrations/ray": ["ray", "large data", "million queries", "out of memory"],
    "reference/metrics/full_recall": ["documents needed", "multi hop"],
    "reference/metrics/hit_rate": ["success@k", "hit@k"],
    "reference/metrics/mrr": ["mrr", "mean reciprocal rank"],
    "reference/metrics/ndcg": ["ndcg@10", "ndcg above 1"],
    "reference/metrics/precision": ["precision at k", "precision@k"],
    "reference/metrics/recall": ["recall at k", "recall@k"],
    "tutorial/5-gate": ["ci", "continuous integration", "github actions", "fail ci"],
    "tutorial/index": ["install", "quickstart", "getting started", "notebook"],
}
"""The words are in lower case: the search looks for what was typed in lower case."""


def _enter(app: Sphinx, tree: nodes.document) -> None:
    words = [(word, "") for word in WORDS.get(app.env.docname, [])]
    if app.env.docname.startswith("api/"):
        signatures = [entry[0] for entry in tree.findall(addnodes.desc) if entry[0]["module"] == "retrieval_metrics"]
        words += [
            (f"rm.{signature['fullname'].lower()}", signature["ids"][0])
            for signature in signatures
            if not signature["class"]
        ]
    if words:
        entries = [("single", word, place, "main", None) for word, place in words]
        next(iter(tree.findall(nodes.section))).append(addnodes.index(entries=entries))


def setup(app: Sphinx) -> dict[str, bool]:
    """Enter the words when a page is read."""
    app.connect("doctree-read", _enter)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

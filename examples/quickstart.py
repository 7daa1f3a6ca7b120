# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics", "bm25s>=0.2.14", "scikit-learn>=1.4"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# ///
"""Evaluate two retrievers on real questions about a real text: the language reference that comes with every Python.

Run it with `uv run examples/quickstart.py`. It reads nothing from the network and takes a few seconds.
"""

import questions
from corpus import passages
from retrievers import BM25, Dense

import retrieval_metrics as rm

MEANING = {
    "hit_rate@5": "share of the questions with something relevant among the first 5 passages",
    "full_recall@5": "share of the questions with everything they need among the first 5",
    "recall@10": "how much of what is relevant is among the first 10",
    "precision@5": "how much of the first 5 is relevant; few questions have 5 relevant passages, so 1 is out of reach",
    "mrr@10": "1 / rank of the first relevant passage: 0.5 is second place",
    "map": "whether everything relevant is near the top",
    "ndcg@10": "whether the best passages come first; uses the grades, 3 for a full answer down to 1 for help",
}


def main() -> None:
    """Print one table: what each retriever reaches in each metric, and what the metric says."""
    pieces = passages()
    texts, qrels = questions.queries(), questions.qrels(pieces)
    print(f"{len(texts)} questions about Python, {len(pieces)} passages of its reference; retrieving ...\n")

    results = {}
    for name, retriever in {"BM25": BM25(pieces), "dense": Dense(pieces)}.items():
        run = rm.retrieve(lambda text, search=retriever.search: search(text, 100), texts)
        results[name] = rm.evaluate(qrels, run, list(MEANING))

    print(f"{'':<14}" + "".join(f"{name:>8}" for name in results))
    for metric, meaning in MEANING.items():
        print(f"{metric:<14}" + "".join(f"{result.means[metric]:8.4f}" for result in results.values()) + f"   {meaning}")

    best = max(results, key=lambda name: results[name].means["ndcg@10"])
    per_query = results[best].per_query["ndcg@10"]
    worst = min(per_query, key=lambda query: per_query[query])
    print(f"\nThe better one, {best}, does worst on: {texts[worst]!r} (ndcg@10 {per_query[worst]:.4f})")


if __name__ == "__main__":
    main()

# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics", "bm25s>=0.2.14", "scikit-learn>=1.4"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# ///
"""Evaluate two retrievers on real questions about a real text: the language reference that comes with every Python.

Run it with `uv run examples/quickstart.py`. It needs no network and takes a few seconds.
"""

from functools import partial

import questions
import retrieval_metrics as rm
from corpus import passages
from retrievers import BM25, Dense, Retriever

DEPTH = 100

MEANING = {
    "hit_rate@5": "share of questions with something relevant among the first 5 passages",
    "full_recall@5": "share of questions with everything they need among the first 5",
    "recall@10": "share of the relevant passages that are among the first 10",
    "precision@5": "share of the first 5 that are relevant; few questions have 5 relevant passages, so 1 is rare",
    "mrr@10": "1 / rank of the first relevant passage: 0.5 is rank 2",
    "map": "whether everything relevant is near the top",
    "ndcg@10": "whether the best passages come first, by their grades from 3 (full answer) to 1 (helps)",
}


def main() -> None:
    """Print one table: each metric of each retriever, and what the metric means."""
    pieces = passages()
    texts = questions.queries()
    qrels = questions.qrels(pieces)
    print(f"{len(texts)} questions about Python, {len(pieces)} passages of its reference; retrieving ...\n")

    retrievers: dict[str, Retriever] = {"BM25": BM25(pieces), "dense": Dense(pieces)}
    results = {}
    for name, retriever in retrievers.items():
        run = rm.retrieve(partial(retriever.search, k=DEPTH), texts)
        results[name] = rm.evaluate(qrels, run, list(MEANING))

    print(f"{'':<14}" + "".join(f"{name:>8}" for name in results))
    for metric, meaning in MEANING.items():
        means = "".join(f"{result.means[metric]:8.3f}" for result in results.values())
        print(f"{metric:<14}{means}   {meaning}")

    best = max(results, key=lambda name: results[name].means["ndcg@10"])
    value, text = min((results[best].per_query["ndcg@10"][query], text) for query, text in texts.items())
    print(f"\nThe worst question of {best}, the better one: {text!r} (ndcg@10 {value:.3f})")


if __name__ == "__main__":
    main()

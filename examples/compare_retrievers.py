# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics[plot]", "bm25s>=0.2.14", "scikit-learn>=1.4"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# ///
"""Compare two retrievers, BM25 and dense: which is better, how sure is that, and which questions fail?

Run it with `uv run examples/compare_retrievers.py`. Add `--report report.html` for a page to send to a colleague.
It needs no network and takes a few seconds.
"""

import argparse
from functools import partial

import questions
import retrieval_metrics as rm
from corpus import passages
from retrievers import BM25, Dense, Retriever

DEPTH = 100
METRICS = ["ndcg@10", "recall@10", "full_recall@10", "mrr@10"]


def main() -> None:
    """Print the comparison, a table for each kind of question, and the worst questions."""
    options = argparse.ArgumentParser()
    options.add_argument("--picture", help="the file to write the plots to, such as comparison.png")
    options.add_argument("--report", help="the HTML file to write the report to")
    chosen = options.parse_args()

    pieces = passages()
    texts = questions.queries()
    qrels = questions.qrels(pieces)
    retrievers: dict[str, Retriever] = {"BM25": BM25(pieces), "dense": Dense(pieces)}
    searches = {name: partial(retriever.search, k=DEPTH) for name, retriever in retrievers.items()}
    evaluation_set = rm.EvaluationSet(texts, qrels)
    comparison = rm.compare_retrievers(searches, evaluation_set, METRICS)
    print(comparison)

    dense = comparison.evaluations["dense"]
    kinds = {query: "several at once" if isinstance(truth, list) else "one suffices" for query, truth in qrels.items()}
    print("\ndense, by what a question needs", dense.group_by(kinds), sep="\n")
    corpus = {piece.id: piece.text for piece in pieces}
    print("\ndense, where it does worst", dense.worst("ndcg@10", 5, queries=texts, corpus=corpus), sep="\n")

    if chosen.picture:
        # Stacked, it can be read on a phone too.
        rm.compare_retrievers(searches, evaluation_set, METRICS[0]).plot(across=1).savefig(chosen.picture, dpi=120)
    if chosen.report:
        comparison.report(
            chosen.report, title="BM25 against dense retrieval", queries=texts, corpus=corpus, slices=kinds
        )


if __name__ == "__main__":
    main()

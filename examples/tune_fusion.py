# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics[plot]", "bm25s>=0.2.14", "scikit-learn>=1.4"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# ///
"""Tune the fusion of BM25 and dense retrieval without fooling yourself: what is the winner worth on new questions?

Run it with `uv run examples/tune_fusion.py`. Each retriever is asked once; the 54 settings are then made from what they
returned. Add `--picture tuning.png` for the gain of every setting. It needs no network and takes a few seconds.
"""

import argparse
from functools import partial

import questions
import retrieval_metrics as rm
from corpus import passages
from retrievers import BM25, Dense, Retriever

DEPTH = 50
GRID: dict[str, list[float]] = {"share": [0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1], "k": [1, 5, 10, 30, 60, 100]}
USUAL = {"share": 0.5, "k": 60}


def main() -> None:
    """Print what tuning finds on all questions, and on a third of them."""
    options = argparse.ArgumentParser()
    options.add_argument("--picture", help="the file to write the plot to, such as tuning.png")
    chosen = options.parse_args()

    pieces = passages()
    judged = questions.qrels(pieces)
    evaluation_set = rm.EvaluationSet(questions.queries(), judged)
    retrievers: dict[str, Retriever] = {"BM25": BM25(pieces), "dense": Dense(pieces)}
    runs = {
        name: rm.retrieve(partial(retriever.search, k=DEPTH), evaluation_set) for name, retriever in retrievers.items()
    }

    def fused(share: float, k: float) -> dict[str, dict[str, float]]:
        """Return the fusion in which BM25 has a share of the weight, and the dense retriever the rest."""
        return rm.fuse(runs, k=k, weights={"BM25": share, "dense": 1 - share})

    tuned = rm.tune(fused, evaluation_set, "ndcg@10", default=USUAL, parameters=GRID)
    print(tuned)

    small_set = evaluation_set.sample(len(evaluation_set.queries) // 3, seed=1)
    part = rm.EvaluationSet(
        {query: evaluation_set.queries[query] for query in small_set}, {query: judged[query] for query in small_set}
    )
    print(
        f"\nthe same on {len(small_set)} questions",
        rm.tune(fused, part, "ndcg@10", default=USUAL, parameters=GRID),
        sep="\n",
    )

    if chosen.picture:
        tuned.plot().savefig(chosen.picture, dpi=90)


if __name__ == "__main__":
    main()

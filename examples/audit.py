# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics", "bm25s>=0.2.14", "scikit-learn>=1.4"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# ///
"""Why is my number different? Score one retriever on real questions by the rules of six libraries.

The retriever finds passages, but its users want whole pages, so each passage is mapped to its page. A page can then
occur several times in a ranking, which is where libraries disagree most.

Run it with `uv run examples/audit.py`. It needs no network and takes a few seconds.
"""

from collections import Counter

import questions
import retrieval_metrics as rm
from corpus import passages
from retrievers import BM25

DEPTH = 10
METRICS = ["ndcg@10", "map@10", "mrr@10", "precision@10", "recall@10"]


def page(passage: str) -> str:
    """Return the page of a passage: "with#2" is the second passage of the page "with"."""
    return passage.partition("#")[0]


def page_grades(grades: dict[str, int]) -> dict[str, int]:
    """Return the grade of each page, which is that of its best passage."""
    ascending = sorted(grades.items(), key=lambda graded: graded[1])
    return {page(passage): grade for passage, grade in ascending}


def main() -> None:
    """Print the table, the rule behind each difference, and what the order of equal scores decides."""
    pieces = passages()
    texts = questions.queries()
    qrels: dict[str, dict[str, int] | list[dict[str, int]]] = {
        query: [page_grades(part) for part in judged] if isinstance(judged, list) else page_grades(judged)
        for query, judged in questions.qrels(pieces).items()
    }
    retriever = BM25(pieces)
    candidates = {query: retriever.search(text, k=DEPTH) for query, text in texts.items()}
    run = {query: [page(passage) for passage in ranking] for query, ranking in candidates.items()}
    print(rm.audit(qrels, run, METRICS, corpus={page(piece.id) for piece in pieces}, queries=texts))

    print("\nEach page once, by the number of its passages among the first 10, over all orders of equal numbers:\n")
    counted = {query: dict(Counter(pages)) for query, pages in run.items()}
    print(rm.evaluate(qrels, counted, METRICS, ties="expected"))


if __name__ == "__main__":
    main()

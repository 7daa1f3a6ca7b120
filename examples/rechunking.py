# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics", "bm25s>=0.2.14", "scikit-learn>=1.4"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# ///
"""Compare three chunkings of one text with the same questions and the same judgments.

Run it with `uv run examples/rechunking.py`. Judgments by chunk id hold only for one chunking. Here the judgments are
places in the sources (`rm.Span`), so they hold for every chunking.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import questions
import retrieval_metrics as rm
from corpus import Passage, passages, topics
from retrievers import BM25

DEPTH = 50
WINDOW = 500
OVERLAP = 50

METRICS = (
    "recall@5",
    "recall@2000chars",
    "full_recall@2000chars",
    "ndcg@2000chars",
    "coverage@2000chars",
    "density@2000chars",
)


def windows(pieces: Sequence[Passage], size: int, overlap: int) -> Iterator[Passage]:
    """Cut the same text into windows of `size` characters, regardless of words and sentences."""
    runs: list[tuple[str, int, int]] = []
    for piece in pieces:
        if runs and runs[-1][0] == piece.topic and piece.start - runs[-1][2] < size:
            runs[-1] = (piece.topic, runs[-1][1], piece.end)
        else:
            runs.append((piece.topic, piece.start, piece.end))
    for topic, start, end in runs:
        text = topics()[topic]
        for left in range(start, end, size - overlap):
            right = min(left + size, end)
            yield Passage(f"{topic}@{left}", topic, topic, text[left:right], left, right)


def retrieved(pieces: Sequence[Passage], texts: Mapping[str, str]) -> dict[str, list[rm.Retrieved]]:
    """Return the chunks that BM25 finds for every question, each with its offsets in its source."""
    index = BM25(pieces)
    by_id = as_items(pieces)
    return {query: [by_id[name] for name in index.search(text, DEPTH)] for query, text in texts.items()}


def as_items(pieces: Sequence[Passage]) -> dict[str, rm.Retrieved]:
    """Return passages as items for `evaluate`, by id."""
    return {piece.id: rm.Retrieved(piece.id, piece.text, piece.topic, piece.start, piece.end) for piece in pieces}


def judged(judgments: Mapping[str, Any], piece: Callable[[Any], Any]) -> dict[str, Any]:
    """Return judgments, flat or in groups, with `piece` applied to every key."""

    def page_grades(grades: Mapping[Any, int]) -> dict[Any, int]:
        return {piece(key): grade for key, grade in grades.items()}

    return {
        query: page_grades(grades) if isinstance(grades, Mapping) else [page_grades(group) for group in grades]
        for query, grades in judgments.items()
    }


def main() -> None:
    """Print a table with a column per chunking, and what becomes of judgments by chunk id."""
    texts = questions.queries()
    match = rm.Matching(sources=topics())
    truth = judged(questions.spans(), lambda place: rm.Span(*place))
    all_passages = passages()
    chunkings = {
        "paragraphs": all_passages,
        "short": passages(60),
        "windows": list(windows(all_passages, WINDOW, OVERLAP)),
    }
    runs = {name: retrieved(pieces, texts) for name, pieces in chunkings.items()}
    results = {name: rm.evaluate(truth, run, METRICS, match=match) for name, run in runs.items()}

    print(f"{len(texts)} questions, judged once; BM25 over three chunkings of the same text\n")
    rows = {
        "chunks": [str(len(pieces)) for pieces in chunkings.values()],
        "characters each": [f"{sum(len(p.text) for p in pieces) / len(pieces):.0f}" for pieces in chunkings.values()],
        **{metric: [f"{result.means[metric]:.3f}" for result in results.values()] for metric in METRICS},
    }
    print(f"{'':<24}" + "".join(f"{name:>12}" for name in chunkings))
    for name, cells in rows.items():
        print(f"{name:<24}" + "".join(f"{cell:>12}" for cell in cells))

    print("\nAmong 5 chunks, long chunks have an advantage; within 2000 characters they have none.")
    quoted = rm.evaluate(judged(questions.quotes(), rm.Quote), runs["windows"], "recall")
    placed = rm.evaluate(truth, runs["windows"], "recall", match=match)
    print(
        f"Judged by quotes, the windows reach a recall of {quoted.means['recall']:.0%}, because some quotes are cut. "
        f"Judged by places, they reach {placed.means['recall']:.0%}: two halves complete a place."
    )

    by_id = questions.qrels(all_passages)
    print("\nJudgments by the IDs of the paragraphs, carried over to the windows:\n")
    print(rm.relabel(by_id, as_items(all_passages).values(), as_items(chunkings["windows"]).values(), match=match))


if __name__ == "__main__":
    main()

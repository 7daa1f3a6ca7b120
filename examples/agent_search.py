# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics[plot]", "bm25s>=0.2.14", "scikit-learn>=1.4"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# ///
"""Which step of an agent loses the evidence?

Run it with `uv run examples/agent_search.py`. A scripted agent answers questions about the Python reference: it asks
the whole question, then its halves, reads what fits into 6,000 characters, and cites the first two of that. No model is
called. The views of its searches are compared with the same judgments.
"""

from collections.abc import Sequence

import questions
import retrieval_metrics as rm
from corpus import Passage, passages
from retrievers import BM25

MAX_RETRIEVED = 5
CONTEXT = 6_000
"""Characters that the answering model is given."""


def searches(question: str) -> list[str]:
    """Return what the agent asks for: the question, then its halves."""
    words = question.split()
    middle = len(words) // 2
    return list(dict.fromkeys([question, " ".join(words[:middle]), " ".join(words[middle:])]))


def answered(question: str, index: BM25, texts: dict[str, str]) -> rm.Trajectory:
    """Let the agent search, read and cite."""
    calls = [
        rm.SearchCall(query, list(index.search(query, MAX_RETRIEVED)), turn=min(turn, 2))
        for turn, query in enumerate(searches(question), start=1)
    ]
    read: list[str] = []
    for document_id in dict.fromkeys(document_id for call in calls for document_id in call.ranking):
        if sum(len(texts[document_id]) for document_id in [*read, str(document_id)]) <= CONTEXT:
            read.append(str(document_id))
    return rm.Trajectory(calls, context=read, citations=read[:2])


def trajectories(pieces: Sequence[Passage]) -> rm.Trajectories:
    """Return what the agent did for every question."""
    index = BM25(pieces)
    texts = {piece.id: piece.text for piece in pieces}
    return rm.Trajectories({query: answered(text, index, texts) for query, text in questions.queries().items()})


def main() -> None:
    """Print what each step keeps of the evidence, and what the agent did to find it."""
    pieces = passages()
    qrels = questions.qrels(pieces)
    t = trajectories(pieces)
    print(t, end="\n\n")
    print(rm.evaluate(qrels, t.union(), ["recall@1calls", "recall@2calls", "recall@3calls"]), end="\n\n")
    steps = {"first call": t.first(), "all calls": t.union(), "read": t.context(), "cited": t.cited()}
    print(rm.compare(qrels, steps, "recall", baseline="all calls"), end="\n\n")
    print(t.properties(), end="\n\n")
    lost = rm.evaluate(qrels, t.context(), "recall").worst("recall", 1)
    print(lost[0])


if __name__ == "__main__":
    main()

"""How hard a question is: does it repeat its answer, is something relevant always first, is it never found?"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.definition.metric import Metric
from retrieval_metrics.inputs.pieces import Piece
from retrieval_metrics.inputs.retrieved import Retrieved
from retrieval_metrics.judging.matching.texts import words
from retrieval_metrics.questions.linting.findings import LintFinding
from retrieval_metrics.questions.linting.wording import (
    FUNCTION_WORDS,
    content_words,
    longest_shared_run,
    sentences,
    shortened,
    stem,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from retrieval_metrics.questions.linting.passages import Passages
    from retrieval_metrics.questions.linting.subject import Subject
    from retrieval_metrics.types import FloatArray, QueryId

LONGEST_RUN = 6
"""So many words of its answer in a row make a question an echo, if they are also ..."""
RUN_SHARE = 0.65
"""... this share of its words."""
WORD_SHARE = 0.95
"""A question is also an echo if so many of its telling words stand in one sentence of its answer ..."""
FEWEST_TELLING = 6
"""... and it has at least so many."""
DEPTH = 100
SHARE_OF_CORPUS = 0.1
"""How deep BM25 looks: to rank 100, but no further than this share of the passages."""
FEWEST_PASSAGES = 20
LONG = 400
"""Documents of more words are cut into windows for BM25, where what is judged is not the document itself."""
WINDOW, STRIDE = 200, 100
RECIPROCAL_RANK = Metric("mrr")


def echoes(subject: Subject) -> Iterator[LintFinding]:
    """Yield the questions that repeat the words of what answers them."""
    sentence_words: dict[Any, list[tuple[list[str], set[str]]]] = {}
    for query in subject.queries:
        asked, telling = subject.words[query], set(subject.content[query])
        for judged in sorted(subject.relevant[query], key=repr):
            if judged not in sentence_words:
                cut = [words(one) for one in sentences(subject.text_of(judged) or "")]
                sentence_words[judged] = [(tokens, set(content_words(tokens))) for tokens in cut]
            found = _echo(asked, telling, sentence_words[judged])
            if found is not None:
                at, run, share = found
                said = " ".join(asked[at : at + run])
                yield LintFinding(
                    "echo",
                    query,
                    f"{shortened(subject.texts[query])} shares {share:.0%} of its telling words with one sentence of "
                    f"{shortened(repr(judged) if isinstance(judged, Piece) else str(judged))}, and {run} words in a "
                    f"row, {said!r}: whoever asks does not know the answer's words",
                    {"relevant": judged, "run": said, "longest_run": run, "share": share},
                )
                break


def _echo(
    asked: list[str], telling: set[str], answer: list[tuple[list[str], set[str]]]
) -> tuple[int, int, float] | None:
    for tokens, content in answer:
        share = len(telling & content) / max(len(telling), 1)
        if share < RUN_SHARE:
            continue
        at, run = longest_shared_run(asked, tokens)
        if (run >= LONGEST_RUN and run >= RUN_SHARE * len(asked)) or (
            share >= WORD_SHARE and len(telling) >= FEWEST_TELLING
        ):
            return at, run, share
    return None


def hard_and_easy(subject: Subject, ranks: Mapping[str, FloatArray]) -> Iterator[LintFinding]:
    """Yield the questions to which no run has anything relevant, and those to which every run has it first."""
    names = " and ".join(ranks)
    values = np.column_stack(list(ranks.values()))
    for query, of_query in zip(subject.qrels.queries, values, strict=True):
        if query not in subject.texts or np.isnan(of_query).any():
            continue
        text = shortened(subject.texts[query])
        if (of_query == 0).all():
            yield LintFinding(
                "unanswered",
                query,
                f"{names} finds nothing that is relevant to {text}: its judgments may belong to another question",
                {"runs": list(ranks)},
            )
        elif (of_query == 1).all():
            yield LintFinding(
                "easy",
                query,
                f"{names} has something relevant to {text} first, so it tells no retriever from a better one",
                {"runs": list(ranks)},
            )


def can_search() -> bool:
    """Return whether BM25 is installed."""
    return find_spec("bm25s") is not None


def bm25(subject: Subject, passages: Passages) -> dict[QueryId, list[Retrieved]] | None:
    """Return what BM25 finds in the corpus; None if that is too small for a rank to mean anything."""
    import bm25s  # noqa: PLC0415  (an extra: imported where it is used)

    items = passages.items if not _by_piece(subject) else [part for item in passages.items for part in _windows(item)]
    if len(items) < FEWEST_PASSAGES:
        return None
    depth = max(1, min(DEPTH, int(SHARE_OF_CORPUS * len(items))))
    index = bm25s.BM25()
    index.index([_searched(words(item.text or "")) or [""] for item in items], show_progress=False)
    run: dict[QueryId, list[Retrieved]] = {}
    for query in subject.queries:
        known = [word for word in _searched(subject.words[query]) if word in index.vocab_dict]
        scores = index.get_scores(known) if known else np.zeros(len(items))
        best = np.argpartition(-scores, depth - 1)[:depth]
        best = best[np.argsort(-scores[best], kind="stable")]
        run[query] = [items[at] for at in best.tolist() if scores[at] > 0]
    return run


def _searched(tokens: list[str]) -> list[str]:
    return [stem(token) for token in tokens if token not in FUNCTION_WORDS]


def _by_piece(subject: Subject) -> bool:
    return subject.qrels.has_pieces and subject.qrels.document_kind is None


def _windows(item: Retrieved) -> Iterator[Retrieved]:
    """Yield the parts of a long document, which overlap; a shorter one as it is."""
    text = item.text or ""
    if len(text.split()) <= LONG:
        yield item
        return
    starts = []
    at = 0
    for word in text.split():
        at = text.index(word, at)
        starts.append(at)
        at += len(word)
    for first in range(0, len(starts), STRIDE):
        end = starts[first + WINDOW] if first + WINDOW < len(starts) else len(text)
        start = starts[first]
        offset = None if item.start is None else item.start + start
        yield Retrieved(f"{item.id}#{first}", text[start:end], source=item.source, start=offset)

"""Check how hard questions are: whether they repeat their answer, and are always or never answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.definition.metric import Metric
from retrieval_metrics.inputs.pieces import Piece
from retrieval_metrics.judging.matching.texts import words
from retrieval_metrics.questions.linting.findings import LintFinding
from retrieval_metrics.questions.linting.wording import (
    content_words,
    longest_shared_run,
    sentences,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from retrieval_metrics.aliases import FloatArray
    from retrieval_metrics.questions.linting.subject import Subject

LONGEST_RUN = 6
"""A question is an echo if it has this many words of its answer in a row, and these are ..."""
RUN_SHARE = 0.65
"""... at least this share of its words."""
WORD_SHARE = 0.95
"""A question is also an echo if this share of its content words is in one sentence of its answer ..."""
FEWEST_TELLING = 6
"""... and it has at least this many."""
LONGEST_SENTENCE = 60
"""A longer sentence is a table or lacks punctuation, and has enough words to contain any question."""
RECIPROCAL_RANK = Metric("mrr")


def echoes(subject: Subject) -> Iterator[LintFinding]:
    """Yield the questions that repeat the words of their answer."""
    sentence_words: dict[Any, list[tuple[list[str], set[str]]]] = {}
    for query in subject.queries:
        parts = _parts(subject.texts[query], subject.words[query], subject.content[query])
        for judged in sorted(subject.relevant[query], key=repr):
            if judged not in sentence_words:
                cut = [words(one) for one in sentences(subject.text_of(judged) or "")]
                sentence_words[judged] = [(tokens, set(content_words(tokens))) for tokens in cut]
            found = next(
                ((asked, one) for asked, telling in parts if (one := _echo(asked, telling, sentence_words[judged]))),
                None,
            )
            if found is not None:
                asked, (at, run, share) = found
                said = " ".join(asked[at : at + run])
                yield LintFinding(
                    "echo",
                    query,
                    f"{shortened(subject.texts[query])} shares {share:.0%} of its content words with one sentence of "
                    f"{shortened(repr(judged) if isinstance(judged, Piece) else str(judged))}, and {run} words in a "
                    f"row, {said!r}: users do not know the words of the answer",
                    {"relevant": judged, "run": said, "longest_run": run, "share": share},
                )
                break


def _parts(text: str, asked: list[str], telling: list[str]) -> list[tuple[list[str], set[str]]]:
    """Return words and content words of a question, and of each of its sentences if it has several."""
    cut = [words(one) for one in sentences(text)]
    parts = [(tokens, set(content_words(tokens))) for tokens in cut] if len(cut) > 1 else []
    return [(asked, set(telling)), *parts]


def _echo(
    asked: list[str], telling: set[str], answer: list[tuple[list[str], set[str]]]
) -> tuple[int, int, float] | None:
    for tokens, content in answer:
        share = len(telling & content) / max(len(telling), 1)
        if share < RUN_SHARE:
            continue
        at, run = longest_shared_run(asked, tokens)
        if (run >= LONGEST_RUN and run >= RUN_SHARE * len(asked)) or (
            share >= WORD_SHARE and len(telling) >= FEWEST_TELLING and len(tokens) <= LONGEST_SENTENCE
        ):
            return at, run, share
    return None


def hard_and_easy(subject: Subject, ranks: Mapping[str, FloatArray]) -> Iterator[LintFinding]:
    """Yield the questions for which no run finds anything relevant, or every run ranks it first."""
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
                f"{names} finds nothing that is relevant to {text}: it may have no answer, or the judgments of another "
                "question",
                {"runs": list(ranks)},
            )
        elif (of_query == 1).all():
            yield LintFinding(
                "easy",
                query,
                f"{names} ranks something relevant to {text} first, so it does not tell retrievers apart",
                {"runs": list(ranks)},
            )

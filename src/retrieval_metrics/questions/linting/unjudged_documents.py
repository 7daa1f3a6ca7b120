"""Find unjudged passages that resemble a relevant one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.checks import argument
from retrieval_metrics.inputs.items import Quote, Span
from retrieval_metrics.judging.ranking_order import Matching, Rankings
from retrieval_metrics.questions.linting.findings import Change, LintFinding
from retrieval_metrics.questions.words.wording import shortened
from retrieval_metrics.scoring.rules import STANDARD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.questions.linting.subject import Subject
    from retrieval_metrics.questions.words.passages import Passages

COPY = 0.8
"""A passage that shares this share of the shorter one's runs of words is a copy."""
ALIKE = 0.5
"""A passage that shares this much probably answers too."""
REWORDED = 0.65
"""A passage that shares this share of the rare words is probably a reworded copy."""
FEWEST_RUNS = 4
"""Shorter passages resemble each other by chance."""
SHORTEST_SPAN = 40  # characters
RUNS, WORDS = "runs of words", "rare words"
"""What passages share that are like each other."""

TOP = 3
"""A document that every run ranks this high is probably relevant."""
FEWEST_RUNS_TO_AGREE = 2


def at_top(subject: Subject) -> Iterator[LintFinding | str]:
    """Yield the unjudged documents that every run ranks among the first three, one finding for each question."""
    runs, pieces = subject.runs, subject.qrels.has_pieces
    if pieces or len(runs) < FEWEST_RUNS_TO_AGREE:
        needs = "judgments by id and " if pieces else ""
        yield (
            f"whether documents that retrievers agree on are relevant too, which needs {needs}at least two "
            f"{argument('runs')}"
        )
        return
    found_by: dict[Any, list[list[Any]]] = {query: [] for query in subject.queries}
    for rankings in (Rankings(run, Matching(collapse=True), STANDARD.order) for run in runs.values()):
        for query, ranking in rankings.of(found_by):
            found_by[query].append(rankings.ids(ranking)[:TOP])
    if not any(one in subject.graded[query] for query, tops in found_by.items() for top in tops for one in top):
        return  # the judgments are of other ids, or the runs of other questions
    for query, tops in found_by.items():
        found = [one for one in tops[0] if one not in subject.graded[query] and all(one in top for top in tops[1:])]
        if found:
            yield LintFinding(
                "unjudged_at_top",
                query,
                f"{' and '.join(runs)} all rank {found[0]!r} among the first {TOP} for "
                f"{shortened(subject.texts[query])}, but it is not judged, so it counts as not relevant",
                {"document": found[0], "documents": found, "runs": list(runs)},
            )


def resembling(subject: Subject) -> Iterator[LintFinding]:
    """Yield the unjudged passages that resemble a relevant one, question by question."""
    if subject.passages is not None:
        yield from _Resembling(subject, subject.passages).findings()


class _Likeness(NamedTuple):
    """The share of something that two passages have in common; of copies that is everything, and `what` is None."""

    share: float
    what: str | None


class _Resembling:
    """Finds passages that resemble relevant ones; each passage is compared once."""

    def __init__(self, subject: Subject, passages: Passages) -> None:
        self._subject = subject
        self._passages = passages
        self._likenesses: dict[int, dict[int, _Likeness]] = {}

    def findings(self) -> Iterator[LintFinding]:
        """Yield the unjudged passages that resemble a relevant one, question by question."""
        for query, relevant in self._subject.relevant.items():
            reported: set[int] = set()
            for judged in sorted(relevant, key=repr):
                if isinstance(judged, Span):
                    yield from self._elsewhere(query, judged)
                elif judged in self._passages.place:
                    yield from self._like(query, judged, reported)

    def _like(self, query: QueryId, document: Any, reported: set[int]) -> Iterator[LintFinding]:
        graded, at = self._subject.graded[query], self._passages.place[document]
        for other, (share, what) in self._like_passage(at).items():
            name = self._passages.items[other].id
            if other in reported or name is None or name in graded or self._passages.overlap(at, other):
                continue
            reported.add(other)
            change = None
            if what is None:
                done = f"{name!r} is an alternative to {document!r}, of which it is a copy"
                change = Change(done, document, (document, name))
            like = "is the same as" if what is None else f"shares {share:.0%} of its {what} with"
            yield LintFinding(
                "unjudged_duplicate" if share >= COPY and what != WORDS else "possible_answer",
                query,
                f"{name!r} {like} {document!r}, which is relevant, but is not judged, so it counts as not relevant",
                {"document": name, "like": document, "share": share},
                change,
            )

    def _like_passage(self, at: int) -> dict[int, _Likeness]:
        passages = self._passages
        if at not in self._likenesses:
            found = {other: _Likeness(1.0, None) for other in passages.copies(at)}
            if len(passages.shingles[at]) >= FEWEST_RUNS:
                for other, share in passages.alike(at, ALIKE).items():
                    if len(passages.shingles[other]) >= FEWEST_RUNS:
                        found.setdefault(other, _Likeness(share, RUNS))
                for other, share in passages.alike_in_words(at, REWORDED).items():
                    found.setdefault(other, _Likeness(share, WORDS))
            self._likenesses[at] = found
        return self._likenesses[at]

    def _elsewhere(self, query: QueryId, span: Span) -> Iterator[LintFinding]:
        """Yield a finding if the text of a span is also in other places, and no alternative covers them."""
        text = self._subject.text_of(span)
        if text is None or len(text) < SHORTEST_SPAN:
            return
        for group in self._subject.groups(query):
            if span in group and any(isinstance(other, Quote) for other in group):
                return
        places = self._passages.places(text)
        judged = {other.source for other in self._subject.relevant[query] if isinstance(other, Span)}
        others = [name for name, count in places.items() if name not in judged or count > 1]
        if others:
            yield LintFinding(
                "possible_answer",
                query,
                f"the text of {span!r}, {shortened(text)}, is also in {others[0]!r}, which is not judged",
                {"document": others[0], "like": span, "documents": others},
            )

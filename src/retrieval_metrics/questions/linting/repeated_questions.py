"""Find questions that repeat each other exactly or nearly, and check whether they are judged alike."""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import grouped
from retrieval_metrics.questions.linting.findings import Change, LintFinding
from retrieval_metrics.questions.words.wording import shortened, stem

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.questions.linting.subject import Subject

ALIKE = 0.8
"""The share of content words that two questions must have in common."""
ALIKE_IF_SHARED = 0.7
"""The same if they share a relevant document."""
KEYS = 16
"""The number of its rarest trigrams by which a question is looked up."""
MOST_PER_KEY = 40
"""The largest number of questions looked up by one trigram, the latest first."""
SAME_WORD = 0.75
SHORTEST_FUZZY = 4
ASKED_FOR = frozenset({"who", "when", "where", "why", "how"})
DENIALS = frozenset({"no", "not", "never", "without", "t"})
_TRIGRAM = 3


def repeated(subject: Subject, among: Container[QueryId] | None = None) -> Iterator[LintFinding]:
    """Yield the questions that repeat an earlier one, and those of them that are judged differently.

    Args:
        subject: The questions.
        among: The questions to compare with earlier ones; None for all.
    """
    of_words = grouped(
        (tuple(subject.words[query]) or (subject.texts[query].strip(),), query) for query in subject.queries
    )
    for first, *others in of_words.values():
        for other in others:
            if among is not None and other not in among:
                continue
            yield _duplicate(subject, first, other)
            yield from _contradiction(subject, first, other)
    yield from _nearly(subject, [same[0] for same in of_words.values()], among)


def _duplicate(subject: Subject, first: QueryId, other: QueryId) -> LintFinding:
    alike = subject.groups(first) == subject.groups(other)
    done = f"question {other!r} is removed, because {first!r} asks the same and is judged alike"
    return LintFinding(
        "duplicate_question",
        other,
        f"{shortened(subject.texts[other])} is already asked as {first!r}, so it counts twice",
        {"other": first, "judged_alike": alike},
        Change(done) if alike else None,
    )


def _nearly(subject: Subject, queries: Sequence[QueryId], among: Container[QueryId] | None) -> Iterator[LintFinding]:
    for first, other in _candidates(subject, queries):
        if among is not None and other not in among:
            continue
        shared = _something_relevant_to_both(subject, first, other)
        share = _likeness(subject, first, other, shared=shared)
        if share >= (ALIKE_IF_SHARED if shared else ALIKE):
            yield LintFinding(
                "near_duplicate_question",
                other,
                f"{shortened(subject.texts[other])} is nearly {shortened(subject.texts[first])} of {first!r}: "
                f"{share:.0%} of the content words are the same",
                {"other": first, "share": share},
            )
            if _likeness(subject, first, other, shared=False) >= ALIKE:
                yield from _contradiction(subject, first, other)


def _candidates(subject: Subject, queries: Sequence[QueryId]) -> list[tuple[QueryId, QueryId]]:
    """Return pairs that share a rare trigram; their number grows with that of the questions."""
    trigrams = [_trigrams(subject.content[query] or subject.words[query]) for query in queries]
    frequency = Counter(trigram for of_question in trigrams for trigram in of_question)
    bit = {trigram: 1 << at for at, (trigram, _) in enumerate(frequency.most_common())}
    # As whole numbers, two sets are compared in one step, which a set of many questions needs millions of times.
    sets = [sum(map(bit.__getitem__, of_question)) for of_question in trigrams]
    places: dict[str, list[int]] = {}
    pairs: list[tuple[QueryId, QueryId]] = []
    for at, of_question in enumerate(trigrams):
        earlier: dict[int, None] = {}
        for key in sorted(of_question, key=lambda trigram: (frequency[trigram], trigram))[:KEYS]:
            before = places.setdefault(key, [])
            earlier.update(dict.fromkeys(before[-MOST_PER_KEY:]))
            before.append(at)
        pairs += (
            (queries[other], queries[at])
            for other in earlier
            if (sets[at] & sets[other]).bit_count() * 2 >= min(len(of_question), len(trigrams[other]))
        )
    return pairs


def _trigrams(tokens: Iterable[str]) -> set[str]:
    return {
        padded[at : at + _TRIGRAM]
        for token in tokens
        for padded in (f" {token} ",)
        for at in range(max(len(padded) - _TRIGRAM + 1, 1))
    }


def _likeness(subject: Subject, first: QueryId, other: QueryId, *, shared: bool) -> float:
    """Return the share of content words in common; 0 if the questions differ in an important word.

    Numbers and negations must be the same. Unless they share a relevant document, they must ask for the same thing, and
    neither may replace a content word by another: "the capital of Peru" is not "the capital of Chile".
    """
    left, right = subject.words[first], subject.words[other]
    if _kept(left, str.isdigit) != _kept(right, str.isdigit) or DENIALS & {*left} != DENIALS & {*right}:
        return 0.0
    if not shared and ASKED_FOR & {*left} != ASKED_FOR & {*right}:
        return 0.0
    one, two = Counter(subject.content[first]), Counter(subject.content[other])
    if not one or not two:
        return 0.0
    only_left, only_right = one - two, two - one
    common = (one & two).total()
    for word in list(only_left.elements()):
        close = next((candidate for candidate in only_right.elements() if _same_word(word, candidate)), None)
        if close is not None:
            only_left[word] -= 1
            only_right[close] -= 1
            common += 1
    if not shared and only_left.total() and only_right.total():
        return 0.0
    return common / (common + only_left.total() + only_right.total())


def _kept(tokens: Iterable[str], wanted: Any) -> list[str]:
    return sorted(token for token in tokens if wanted(token))


def _same_word(left: str, right: str) -> bool:
    """Return whether two words differ only by a typo."""
    shorter, longer = sorted((left, right), key=len)
    if len(shorter) < SHORTEST_FUZZY or longer.endswith(shorter):  # "indirect" is not "direct"
        return False
    alike = SequenceMatcher(None, stem(left), stem(right), autojunk=False)
    # The first two are upper bounds of the third, and far cheaper.
    return all(ratio() >= SAME_WORD for ratio in (alike.real_quick_ratio, alike.quick_ratio, alike.ratio))


def _something_relevant_to_both(subject: Subject, first: QueryId, other: QueryId) -> bool:
    return not subject.relevant[first].keys().isdisjoint(subject.relevant[other])


def _contradiction(subject: Subject, first: QueryId, other: QueryId) -> Iterator[LintFinding]:
    """Yield a finding if the judgments of the two questions contradict each other."""
    one, two = subject.graded[first], subject.graded[other]
    opposed = [judged for judged in one if judged in two and (one[judged] > 0) != (two[judged] > 0)]
    ours, theirs = subject.relevant[first].keys(), subject.relevant[other].keys()
    if opposed:
        said = f"{opposed[0]!r} is relevant to one of them and not to the other"
    elif ours - theirs and theirs - ours:
        here, there = (min(map(repr, only)) for only in (ours - theirs, theirs - ours))
        said = f"{here} is relevant only to {first!r}, {there} only to {other!r}"
    else:
        return
    yield LintFinding(
        "contradicting_judgments",
        other,
        f"{shortened(subject.texts[other])} asks the same as {first!r}, but is judged differently: {said}",
        {"other": first, "opposed": opposed, "only_other": sorted(ours - theirs, key=repr)},
    )

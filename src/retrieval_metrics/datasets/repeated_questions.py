"""Find questions that repeat an earlier one, exactly or nearly, and whether their judgments agree."""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from retrieval_metrics.datasets import lint_wording as wording
from retrieval_metrics.datasets.content_words import stem
from retrieval_metrics.datasets.lint_fixes import LintFix
from retrieval_metrics.datasets.lint_report import LintFinding

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.datasets.lint_input import LintInput


# Two questions are near duplicates if they share at least this part of their content words; less is enough if
# something is relevant to both.
MIN_SHARE = 0.8
MIN_SHARE_IF_JUDGED_ALIKE = 0.7

# By how many of its rarest trigrams a question is looked up.
MAX_KEYS = 16

# How many questions with one trigram are compared at most, the latest ones.
MAX_QUESTIONS_PER_KEY = 40

# Two words differ only by a typo if their stems are this alike, and neither word is shorter than this.
MIN_WORD_LIKENESS = 0.75
MIN_FUZZY_LENGTH = 4

# Two questions that differ in one of these words ask different things, however alike they are.
QUESTION_WORDS = frozenset({"who", "when", "where", "why", "how"})
NEGATIONS = frozenset({"no", "not", "never", "without", "t"})
_TRIGRAM_LENGTH = 3


def find_repeated_questions(
    subject: LintInput, checked_queries: Container[QueryId] | None = None
) -> Iterator[LintFinding]:
    """Yield the questions that repeat an earlier one, and those of them that are judged differently."""
    queries_by_words: dict[tuple[str, ...], list[QueryId]] = {}
    for query in subject.queries:
        key = tuple(subject.words[query]) or (subject.texts[query].strip(),)
        queries_by_words.setdefault(key, []).append(query)
    for first, *repeats in queries_by_words.values():
        for repeat in repeats:
            if checked_queries is None or repeat in checked_queries:
                yield _duplicate_finding(subject, first, repeat)
                yield from _find_contradiction(subject, first, repeat)
    distinct_queries = [queries[0] for queries in queries_by_words.values()]
    yield from _find_near_duplicates(subject, distinct_queries, checked_queries)


def _duplicate_finding(subject: LintInput, first: QueryId, repeat: QueryId) -> LintFinding:
    is_judged_alike = subject.groups(first) == subject.groups(repeat)
    fix = LintFix(wording.format_duplicate_question_fix(first)) if is_judged_alike else None
    message = wording.format_duplicate_question(subject.texts[repeat], first)
    return LintFinding("duplicate_question", repeat, message, {"other": first, "judged_alike": is_judged_alike}, fix)


def _find_near_duplicates(
    subject: LintInput, queries: Sequence[QueryId], checked_queries: Container[QueryId] | None
) -> Iterator[LintFinding]:
    for first, repeat in _find_similar_pairs(subject, queries):
        if checked_queries is not None and repeat not in checked_queries:
            continue
        shares_relevant = not subject.relevant[first].keys().isdisjoint(subject.relevant[repeat])
        share = _measure_likeness(subject, first, repeat, shares_relevant=shares_relevant)
        min_share = MIN_SHARE_IF_JUDGED_ALIKE if shares_relevant else MIN_SHARE
        if share >= min_share:
            message = wording.format_near_duplicate_question(subject.texts[repeat], first, subject.texts[first], share)
            yield LintFinding("near_duplicate_question", repeat, message, {"other": first, "share": share})
            if _measure_likeness(subject, first, repeat, shares_relevant=False) >= MIN_SHARE:
                yield from _find_contradiction(subject, first, repeat)


def _find_similar_pairs(subject: LintInput, queries: Sequence[QueryId]) -> list[tuple[QueryId, QueryId]]:
    """Return the pairs of questions that share a rare trigram and half of the trigrams of the shorter.

    The number of pairs grows only in proportion to the number of questions.
    """
    trigrams = [_trigrams(subject.content[query] or subject.words[query]) for query in queries]
    frequency: Counter[str] = Counter()
    for trigrams_of_question in trigrams:
        frequency.update(trigrams_of_question)
    bit_by_trigram = {trigram: 1 << index for index, (trigram, _) in enumerate(frequency.most_common())}
    # Sets of trigrams as the bits of whole numbers: millions of pairs are compared, each by one operation.
    bits = [sum(map(bit_by_trigram.__getitem__, trigrams_of_question)) for trigrams_of_question in trigrams]
    positions_by_key: dict[str, list[int]] = {}
    pairs: list[tuple[QueryId, QueryId]] = []
    for position, trigrams_of_question in enumerate(trigrams):
        earlier_positions: dict[int, None] = {}
        # Trigrams of equal frequency in a fixed order, so that the result does not depend on the order of a set.
        rarest_first = sorted(trigrams_of_question, key=lambda trigram: (frequency[trigram], trigram))
        for key in rarest_first[:MAX_KEYS]:
            positions_of_key = positions_by_key.setdefault(key, [])
            earlier_positions.update(dict.fromkeys(positions_of_key[-MAX_QUESTIONS_PER_KEY:]))
            positions_of_key.append(position)
        for earlier in earlier_positions:
            n_shared = (bits[position] & bits[earlier]).bit_count()
            if n_shared * 2 >= min(len(trigrams_of_question), len(trigrams[earlier])):
                pairs.append((queries[earlier], queries[position]))
    return pairs


def _trigrams(tokens: Iterable[str]) -> set[str]:
    """Return the runs of three characters of some words, with a blank before and after each word."""
    trigrams: set[str] = set()
    for token in tokens:
        padded_token = f" {token} "
        n_trigrams = max(len(padded_token) - _TRIGRAM_LENGTH + 1, 1)
        trigrams.update(padded_token[start : start + _TRIGRAM_LENGTH] for start in range(n_trigrams))
    return trigrams


def _measure_likeness(subject: LintInput, first: QueryId, repeat: QueryId, *, shares_relevant: bool) -> float:
    """Return the share of content words in common; 0 if the questions differ in a number, negation or question word."""
    left_words = subject.words[first]
    right_words = subject.words[repeat]
    if _sorted_numbers(left_words) != _sorted_numbers(right_words):
        return 0.0
    if NEGATIONS.intersection(left_words) != NEGATIONS.intersection(right_words):
        return 0.0
    if not shares_relevant and QUESTION_WORDS.intersection(left_words) != QUESTION_WORDS.intersection(right_words):
        return 0.0
    left_stems = Counter(subject.content[first])
    right_stems = Counter(subject.content[repeat])
    if not left_stems or not right_stems:
        return 0.0
    only_left = left_stems - right_stems
    only_right = right_stems - left_stems
    n_common = (left_stems & right_stems).total()
    for word in list(only_left.elements()):
        misspelling = _find_misspelling(word, only_right)
        if misspelling is not None:
            only_left[word] -= 1
            only_right[misspelling] -= 1
            n_common += 1
    if not shares_relevant and only_left.total() and only_right.total():
        return 0.0
    return n_common / (n_common + only_left.total() + only_right.total())


def _sorted_numbers(tokens: Iterable[str]) -> list[str]:
    return sorted(token for token in tokens if token.isdigit())


def _find_misspelling(word: str, candidates: Counter[str]) -> str | None:
    for candidate in candidates.elements():
        if _differ_by_typo(word, candidate):
            return candidate
    return None


def _differ_by_typo(left: str, right: str) -> bool:
    """Return whether two words differ only by a typo."""
    shorter, longer = sorted((left, right), key=len)
    if len(shorter) < MIN_FUZZY_LENGTH or longer.endswith(shorter):  # "indirect" is not "direct"
        return False
    matcher = SequenceMatcher(None, stem(left), stem(right), autojunk=False)
    # The first two are upper bounds of the third and far cheaper to compute, so most pairs are dismissed early.
    ratios = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)
    return all(ratio() >= MIN_WORD_LIKENESS for ratio in ratios)


def _find_contradiction(subject: LintInput, first: QueryId, repeat: QueryId) -> Iterator[LintFinding]:
    """Yield a finding if the judgments of the two questions contradict each other."""
    opposed = _find_opposed(subject, first, repeat)
    only_first = subject.relevant[first].keys() - subject.relevant[repeat].keys()
    only_repeat = subject.relevant[repeat].keys() - subject.relevant[first].keys()
    if opposed:
        contradiction = wording.format_opposed_grades(opposed[0])
    elif only_first and only_repeat:
        contradiction = wording.format_different_relevant(
            first, min(map(repr, only_first)), repeat, min(map(repr, only_repeat))
        )
    else:
        return
    yield LintFinding(
        "conflicting_judgments",
        repeat,
        wording.format_conflicting_judgments(subject.texts[repeat], first, contradiction),
        {"other": first, "opposed": opposed, "only_other": sorted(only_first, key=repr)},
    )


def _find_opposed(subject: LintInput, first: QueryId, repeat: QueryId) -> list[Any]:
    """Return what is relevant to one of two questions and judged as not relevant to the other."""
    other_grades = subject.graded[repeat]
    opposed = []
    for judged, grade in subject.graded[first].items():
        if judged in other_grades and (grade > 0) != (other_grades[judged] > 0):
            opposed.append(judged)
    return opposed

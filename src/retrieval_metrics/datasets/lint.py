"""Find what is wrong with the questions of a set: one by one, repeated, or as a whole."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import group_pairs, proportion
from retrieval_metrics.comparison.plan import plan
from retrieval_metrics.datasets import lint_judgments as judged_quotes
from retrieval_metrics.datasets import lint_judgments as judged_spans
from retrieval_metrics.datasets import lint_judgments as judgments
from retrieval_metrics.datasets import lint_judgments as unjudged_documents
from retrieval_metrics.datasets import retrievability as search
from retrieval_metrics.datasets.bm25 import (
    COMMON_WORDS,
    CorpusIndex,
    content_words,
    find_longest_shared_run,
    find_pointing_words,
    is_unknown_language,
    sentences,
    shortened,
    stem,
)
from retrieval_metrics.datasets.lint_report import Lint, LintFinding, LintFix, LintInput
from retrieval_metrics.inputs.conversations import texts_with_conversation
from retrieval_metrics.inputs.items import Piece, Span
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.run import name_runs
from retrieval_metrics.matching.words import words
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.progress import track_steps
from retrieval_metrics.statistics.power import queries_needed

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from retrieval_metrics._internal.validation import FloatArray, QueryId
    from retrieval_metrics.inputs.questions import QuestionsT

    Check = Callable[[LintInput], Iterable[LintFinding | str]]


# Check each question by itself: whether it makes sense alone, says enough, and does not tell its answer.

FEWEST_WORDS = 3
FEWEST_CONTENT_WORDS = 1
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
_TOKEN = re.compile(r"[^\s()\[\]{}<>\"',;?!]*[^\s()\[\]{}<>\"',;:?!.]")
_ID = re.compile(r"[\d_#/:.-]")
"""Characters of ids; an id that is a plain word may well be the word."""


def dependent(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the questions that refer to something unseen: "this section", "laut dem Text", "selon l'auteur"."""
    for query in subject.queries:
        if (said := find_pointing_words(subject.texts[query])) is not None:
            yield LintFinding(
                "dependent_question",
                query,
                f"{shortened(subject.texts[query])} says {said!r}, which cannot be understood without the passage",
                {"words": said},
            )


def unknown_languages(subject: LintInput) -> Iterator[str]:
    """Say for how many questions it is unknown whether they make sense alone."""
    foreign = [query for query, tokens in subject.words.items() if is_unknown_language(tokens)]
    if foreign:
        *others, last = COMMON_WORDS
        yield (
            f"whether {len(foreign):,} of {len(subject.queries):,} questions make sense without their passage, such as "
            f"{foreign[0]!r}, because their language seems to be none of {', '.join(others)} and {last}"
        )


def short(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the questions that have too few words to say what is wanted."""
    for query in subject.queries:
        count, telling = len(subject.words[query]), len(subject.content[query])
        if count < FEWEST_WORDS or telling < FEWEST_CONTENT_WORDS:
            yield LintFinding(
                "short_question",
                query,
                f"{subject.texts[query]!r} has {count} {'word' if count == 1 else 'words'}, {telling} of them "
                "content words: many passages would match",
                {"words": count, "telling": telling},
            )


def leaked(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the questions that name the id of a document that is relevant to them."""
    for query in subject.queries:
        named = set(_TOKEN.findall(subject.texts[query]))
        for judged in sorted((str(one) for one in subject.relevant[query] if isinstance(one, str)), key=len):
            if judged in named and _ID.search(judged):
                yield LintFinding(
                    "leaked_id",
                    query,
                    f"{shortened(subject.texts[query])} names {judged!r}, the id of a document that is relevant to it",
                    {"document": judged},
                )
                break


def echoes(subject: LintInput) -> Iterator[LintFinding]:
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
        at, run = find_longest_shared_run(asked, tokens)
        if (run >= LONGEST_RUN and run >= RUN_SHARE * len(asked)) or (
            share >= WORD_SHARE and len(telling) >= FEWEST_TELLING and len(tokens) <= LONGEST_SENTENCE
        ):
            return at, run, share
    return None


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


def find_repeated_questions(subject: LintInput, among: Container[QueryId] | None = None) -> Iterator[LintFinding]:
    """Yield the questions that repeat an earlier one, and those of them that are judged differently."""
    of_words = group_pairs(
        (tuple(subject.words[query]) or (subject.texts[query].strip(),), query) for query in subject.queries
    )
    for first, *others in of_words.values():
        for other in others:
            if among is not None and other not in among:
                continue
            yield _duplicate(subject, first, other)
            yield from _contradiction(subject, first, other)
    yield from _nearly(subject, [same[0] for same in of_words.values()], among)


def _duplicate(subject: LintInput, first: QueryId, other: QueryId) -> LintFinding:
    alike = subject.groups(first) == subject.groups(other)
    done = f"question {other!r} is removed, because {first!r} asks the same and is judged alike"
    return LintFinding(
        "duplicate_question",
        other,
        f"{shortened(subject.texts[other])} is already asked as {first!r}, so it counts twice",
        {"other": first, "judged_alike": alike},
        LintFix(done) if alike else None,
    )


def _nearly(subject: LintInput, queries: Sequence[QueryId], among: Container[QueryId] | None) -> Iterator[LintFinding]:
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


def _candidates(subject: LintInput, queries: Sequence[QueryId]) -> list[tuple[QueryId, QueryId]]:
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


def _likeness(subject: LintInput, first: QueryId, other: QueryId, *, shared: bool) -> float:
    """Return the share of content words in common; 0 if the questions differ in an important word."""
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


def _something_relevant_to_both(subject: LintInput, first: QueryId, other: QueryId) -> bool:
    return not subject.relevant[first].keys().isdisjoint(subject.relevant[other])


def _contradiction(subject: LintInput, first: QueryId, other: QueryId) -> Iterator[LintFinding]:
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


# Check the set as a whole: whether it has too few documents or too few questions.

FEWEST_SOURCES = 10
"""With fewer documents of equal share, intervals over documents mean little."""
FEWEST_QUESTIONS = 10
TWO_RUNS = 2
"""With so many runs their differences show how much retrievers vary; without, the published spreads do."""


def few_sources(subject: LintInput) -> Iterator[LintFinding]:
    """Yield a finding if the questions come from few documents."""
    source_of = {query: source for query in subject.queries if (source := _source(subject, query)) is not None}
    if len(source_of) < FEWEST_QUESTIONS:
        return
    counts = Counter(source_of.values())
    effective = len(source_of) ** 2 / sum(count**2 for count in counts.values())
    if effective >= FEWEST_SOURCES:
        return
    largest, count = counts.most_common(1)[0]
    yield LintFinding(
        "few_sources",
        None,
        f"{len(source_of)} questions come from {numbers.format_count(len(counts), 'document')}, {count} of them from "
        f"{largest!r}, and tell as much as questions from {effective:.1f} would in equal shares. Questions about one "
        "document depend on each other: evaluate and compare take them as clusters, so intervals are wide",
        {"sources": dict(counts.most_common()), "effective": effective},
    )


def _source(subject: LintInput, query: QueryId) -> Any:
    if query in subject.sources:
        return subject.sources[query]
    for judged in subject.relevant[query]:
        if isinstance(judged, Span):
            return judged.source
        if subject.passages is not None and isinstance(judged, (str, int)):
            item = subject.passages.by_id.get(judged)
            if item is not None:
                return item.source
    return None


def too_few_questions(subject: LintInput, metric: Metric, difference: float) -> Iterator[LintFinding]:
    """Yield a finding if a difference of means needs more questions than there are."""
    values = subject.values(metric)
    count = sum(bool(relevant) for relevant in subject.relevant.values())
    differences = _of_two_runs(values)
    if differences is None:
        planned = plan(difference, str(metric))
        enough, needed, spread = planned.n_questions, planned.range, planned.scenarios[1].sd
        where = "how much retrievers usually differ"
    else:
        needed, spread = queries_needed(differences, difference), float(differences.std(ddof=1))
        enough, where = needed[0], f"how much {' and '.join(list(values)[:2])} differ"
    if count < enough:
        yield LintFinding(
            "too_few_questions",
            None,
            f"to find a difference of {difference:g} in {metric} in four of five cases takes {needed[0]:,} to "
            f"{needed[1]:,} questions, by {where} ({numbers.value(spread)}); {count:,} have something relevant",
            {"needed": tuple(needed), "questions": count, "difference": difference, "spread": spread},
        )


def _of_two_runs(values: Mapping[str, FloatArray]) -> FloatArray | None:
    """Return the differences of the first two runs; None if they show no spread."""
    if len(values) < TWO_RUNS:
        return None
    one, other = list(values.values())[:TWO_RUNS]
    paired = (one - other)[~np.isnan(one - other)]
    return paired if len(paired) >= TWO_RUNS and paired.any() else None


CHECKS: tuple[Check, ...] = (
    dependent,
    unknown_languages,
    short,
    leaked,
    echoes,
    find_repeated_questions,
    judgments.forbidden,
    judgments.without_relevant,
    judgments.unknown_documents,
    judgments.impossible_groups,
    judged_quotes.short_quotes,
    judged_quotes.quotes_in_corpus,
    judged_spans.spans_in_corpus,
    unjudged_documents.resembling,
    search.hard_and_easy,
    unjudged_documents.at_top,
    few_sources,
)
"""A check yields what it finds in its subject, and as text what it could not check and what that needs; MEANING says
what each finding means."""


def lint(
    questions: QuestionsT,
    corpus: Any = None,
    runs: Any = None,
    *,
    metric: str | Metric = "ndcg@10",
    difference: float = 0.05,
    show_progress: bool = False,
) -> Lint[QuestionsT]:
    """Find problems in an evaluation set; `EvaluationSet.lint` documents the arguments."""
    wanted = Metric.parse(metric) if isinstance(metric, str) else metric
    proportion(difference, "difference", allow_one=True)
    truth = as_qrels(questions)
    subject = LintInput(
        texts_with_conversation(questions.queries, questions.conversation),
        truth,
        None if corpus is None else CorpusIndex.of(corpus),
        {} if runs is None else name_runs(runs, truth.queries, "judged"),
        {query: made.source for query, made in questions.provenance.items() if made.source is not None},
    )
    checks: list[Check] = [*CHECKS, partial(too_few_questions, metric=wanted, difference=difference)]
    doing, less = f"checking {numbers.format_query_count(len(subject.queries))}", "a sample of the questions takes less"
    found: list[LintFinding | str] = []
    with track_steps("linting", len(checks), doing, less, show_progress=show_progress) as advance:
        for done, check in enumerate(checks, start=1):
            found += check(subject)
            advance(done)
    return Lint(
        questions,
        [one for one in found if not isinstance(one, str)],
        [one for one in found if isinstance(one, str)],
    )

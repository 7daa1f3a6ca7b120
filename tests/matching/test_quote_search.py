"""Quotes are found as words: against a naive reference, and by what typography may not change."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quote_reference as naive
import retrieval_metrics as rm
from retrieval_metrics import Quote, Retrieved, Text
from retrieval_metrics.matching.quote_search import as_searched_text, find_range, find_ranges, is_separate_part
from retrieval_metrics.matching.text_normalisation import normalise

unfound = pytest.mark.filterwarnings("ignore:no retrieved document is judged:retrieval_metrics.RetrievalWarning")


def recall(judged: Any, text: str, **options: Any) -> float:
    match = rm.Matching(min_quote_length=1, **options)
    return rm.evaluate({"q": [judged]}, {"q": [Retrieved("a", text)]}, "recall", match=match).means["recall"]


NUMBERS = ["5", "15", "2.5", "1,100", "100", "-5", "\u22125", "10-15", "10\u201315", "2 500", "500", "3.", "5%"]
NUMBERS += ["\u20ac20", "1'000", "12:30", "5/12", "...5"]
WORDS = ["mg", "km\u00b2", "legal", "illegal", "il-\nlegal", "non-legal", "legally", "well-known", "well-\nknown"]
WORDS += ["of-\n  fice", "of\u00adfice", "of\u00ad\nfice", "office", "unsigned", "signed", "can", "can't", "can\u2019t"]
WORDS += ["l'or", "company", "company's", "user\u2014friendly", "a -- b", "a\u2013b", "caf\u00e9", "cafe\u0301"]
WORDS += ["stra\u00dfe", "\ufb01ne", "fine", "wo\u200brd", "word", "\u200fword", "snake_case", "case", "days", "day"]
WORDS += ["&nbsp;", "&amp;", "&eacute;t\u00e9", "\u201cyes\u201d", '"yes"', "(so)", "and", "the", "policy\u00b9"]
SCRIPTS = [
    "\u4e2d\u6587\u5b57",
    "\u6587\u5b57",
    "\u7b2c15\u65e5",
    "5\u65e5",
    "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22",
]
SCRIPTS += ["\u0e44\u0e17\u0e22", "\u0643\u062a\u0627\u0628", "\u0627\u0644\u0643\u062a\u0627\u0628"]
SCRIPTS += [
    "\u0643\u0640\u062a\u0627\u0628",
    "\u0643\u0650\u062a\u0627\u0628",
    "\ud55c\uad6d\uc5b4",
    "\u0939\u093f\u0928",
]
GAPS = [" "] * 5 + ["", "\n", "\r\n", "  ", "\u00a0", ", ", ". ", "\u202f"]


def make_text(rng: random.Random, parts: int) -> str:
    return "".join(rng.choice(NUMBERS + WORDS + SCRIPTS) + rng.choice(GAPS) for _ in range(parts))


@unfound
@pytest.mark.parametrize("seed", range(10))
def test_a_quote_is_found_where_the_naive_reference_finds_it(seed: int) -> None:
    rng = random.Random(seed)
    n_found = n_refused = 0
    for _ in range(1_000):
        text = make_text(rng, rng.randint(2, 8))
        quote = make_text(rng, rng.randint(1, 3)).strip()
        if rng.random() < 2 / 3:
            start = rng.randrange(len(text))
            quote = text[start : rng.randint(start + 1, len(text))]
        if plain := normalise(quote):
            expected = naive.holds(text, quote)
            assert as_searched_text(text).holds(plain) == expected, (text, quote)
            assert expected or not is_separate_part(quote, text), (text, quote)
            assert (find_range(quote, text) is not None) == expected, (text, quote)
            n_found, n_refused = n_found + expected, n_refused + (plain in normalise(text) and not expected)
    assert min(n_found, n_refused) > 100


@unfound
@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("5 working days after delivery", "Refunds take 15 working days after delivery."),
        ("100 euro per year", "The fee is 2100 euro per year."),
        ("legal under this policy", "Gifts are illegal under this policy."),
        ("legal under this policy", "Gifts are il-\nlegal under this policy."),
        ("legal under this policy", "Gifts are il\u00ad\nlegal under this policy."),
        ("legal advice is", "Non-legal advice is free."),
        ("signed by both", "It was unsigned by both."),
        ("5 mg every day", "Take 2.5 mg every day."),
        ("5 mg every day", "Take .5 mg every day."),
        ("5 degrees at night", "It is -5 degrees at night."),
        ("5 degrees at night", "It is \u22125 degrees at night."),
        ("500 euro per year", "The fee is 2 500 euro per year."),
        ("500 euro per year", "The fee is 2,500 euro per year."),
        ("500 euro per year", "The fee is 2\u202f500 euro per year."),
        ("the fee is 2", "The fee is 2,500 euro."),
        ("the fee is 2", "The fee is 2.50 euro."),
        ("it takes 10", "It takes 10-15 days."),
        ("the dose is 5 m", "The dose is 5 mg."),
        ("an area of 5 m", "An area of 5 m\u00b2."),
        ("employees can", "Employees can't leave."),
        ("employees can", "Employees can\u2019t leave."),
        ("the bonus is tax", "The bonus is tax-free."),
        ("id of the user", "The user_id of the user."),
    ],
)
def test_no_end_of_a_quote_continues_a_word_or_a_number(quote: str, text: str) -> None:
    assert recall(Quote(quote), text) == 0
    assert find_range(quote, text) is None
    assert recall(Quote(quote), f"{text} But {quote}, too.") == 1
    assert find_range(quote, f"{text} But {quote}, too.") == (len(text) + 5, len(text) + 5 + len(quote))


@unfound
@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("under this policy", "It is legal under this policy\u00b9 and others."),
        ("entreprise doit payer", "Donc, l\u2019entreprise doit payer."),
        ("5 items", "- 5 items"),
        ("5 items", "and so on ... 5 items"),
        ("version 5", "It is version 5."),
        ("another way", "one\u2014another way"),
        ("\u6587\u5b57\u5316", "\u4e2d\u6587\u5b57\u5316\u3051"),
        ("5\u65e5\u4ee5\u5185", "\u7d045\u65e5\u4ee5\u5185\u306b"),
        ("\u0e44\u0e17\u0e22", "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22\u0e19\u0e35\u0e49"),
        ("and post-war", "pre- and post-war"),
    ],
)
def test_what_does_not_continue_a_word_is_found(quote: str, text: str) -> None:
    assert recall(Quote(quote), text) == 1
    start, end = find_range(quote, text) or (0, 0)
    assert normalise(text[start:end]) == normalise(quote)


@unfound
def test_every_place_is_one_that_cuts_no_word() -> None:
    text = "Legal, illegal, LEGAL and paralegal; legal."
    assert [text[start:end] for start, end in find_ranges("legal", text)] == ["Legal", "LEGAL", "legal"]


SENTENCE = (
    "Every well-known office keeps the official figures of a coffee house, \u201cas agreed\u201d, and doesn't hand "
    "them over before the first of next month because nobody asked for them in writing"
)


def typeset(rng: random.Random, text: str) -> str:
    """The text as other programs write it: with what nobody sees, other spaces, and words broken over lines."""
    written = []
    for word in text.split(" "):
        split = rng.randint(1, max(len(word) - 1, 1))
        inner = word[split - 1 : split + 1].isalpha() and len(word[split - 1 : split + 1]) > 1
        mark = rng.choice(
            ["\u00ad", "\u200b", "\u200d", "\u2060", "\u200e", "-\n", "\u00ad\n   ", "\u2010\r\n", "", "", ""]
        )
        written.append(word[:split] + mark + word[split:] if inner else word)
    other = {"\u201c": '"', "\u201d": "&quot;", "'": "\u2019", "ffi": "\ufb03", "-k": "\u2011k"}
    result = "".join(
        written_word + rng.choice([" ", "\n", "\u00a0", "&nbsp;", "  ", "\u2009", " \u200f"])
        for written_word in written
    )
    for plain, odd in other.items():
        if rng.random() < 1 / 2:
            result = result.replace(plain, odd)
    return result


@unfound
@given(seed=st.integers(0, 10**6))
def test_a_text_is_read_as_a_quote_is(seed: int) -> None:
    """Typography that a quote survives, a reference text survives in full, with any run of words."""
    rng = random.Random(seed)
    judged = typeset(rng, SENTENCE)
    retrieved = typeset(rng, SENTENCE)
    assert recall(Quote(judged), retrieved) == 1
    assert recall(Text(judged), retrieved, min_coverage=1.0, min_common_words=rng.randint(1, 30)) == 1
    assert find_range(judged, f"So: {retrieved}") is not None


def test_a_word_broken_by_a_hyphen_is_marked_where_it_stands() -> None:
    text = "watches that can be cre-\n  ated per user"
    assert [text[start:end] for start, end in find_ranges("be created", text)] == ["be cre-\n  ated"]


@unfound
@pytest.mark.parametrize(
    ("judged", "retrieved"), [("\u0643\u062a\u0627\u0628", "\u0643\u0640\u0640\u062a\u0627\u0628")]
)
def test_the_stroke_of_arabic_words_does_not_count(judged: str, retrieved: str) -> None:
    assert recall(Quote(judged), retrieved) == 1
    assert recall(Text(judged), retrieved, min_coverage=1.0) == 1

"""Quotes are found as words: against a naive reference, and by what typography may not change."""

import random
from itertools import product
from math import prod
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quote_reference as naive
import retrieval_metrics as rm
from retrieval_metrics import Quote, Retrieved, Text
from retrieval_metrics.judging import pieces_met as alternatives
from retrieval_metrics.judging.normalised import everywhere, normalised, reading, stands_alone, where
from retrieval_metrics.judging.pieces_met import Atoms, Group, best_choice

pytestmark = pytest.mark.filterwarnings("ignore:none of the retrieved:retrieval_metrics.RetrievalWarning")


def recall(judged: Any, text: str, **options: Any) -> float:
    match = rm.Matching(shortest_quote=1, **options)
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


def some_text(rng: random.Random, parts: int) -> str:
    return "".join(rng.choice(NUMBERS + WORDS + SCRIPTS) + rng.choice(GAPS) for _ in range(parts))


@pytest.mark.parametrize("seed", range(10))
def test_a_quote_is_found_where_the_naive_reference_finds_it(seed: int) -> None:
    rng = random.Random(seed)
    found = refused = 0
    for _ in range(1_000):
        text = some_text(rng, rng.randint(2, 8))
        quote = some_text(rng, rng.randint(1, 3)).strip()
        if rng.random() < 2 / 3:
            start = rng.randrange(len(text))
            quote = text[start : rng.randint(start + 1, len(text))]
        if plain := normalised(quote):
            expected = naive.holds(text, quote)
            assert reading(text).holds(plain) == expected, (text, quote)
            assert expected or not stands_alone(quote, text), (text, quote)
            assert (where(quote, text) is not None) == expected, (text, quote)
            found, refused = found + expected, refused + (plain in normalised(text) and not expected)
    assert min(found, refused) > 100


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
    assert where(quote, text) is None
    assert recall(Quote(quote), f"{text} But {quote}, too.") == 1
    assert where(quote, f"{text} But {quote}, too.") == (len(text) + 5, len(text) + 5 + len(quote))


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
    start, end = where(quote, text) or (0, 0)
    assert normalised(text[start:end]) == normalised(quote)


def test_every_place_is_one_that_cuts_no_word() -> None:
    text = "Legal, illegal, LEGAL and paralegal; legal."
    assert [text[start:end] for start, end in everywhere("legal", text)] == ["Legal", "LEGAL", "legal"]


SENTENCE = (
    "Every well-known office keeps the official figures of a coffee house, \u201cas agreed\u201d, and doesn't hand "
    "them over before the first of next month because nobody asked for them in writing"
)


def typeset(rng: random.Random, text: str) -> str:
    """The text as other programs write it: with what nobody sees, other spaces, and words broken over lines."""
    written = []
    for word in text.split(" "):
        at = rng.randint(1, max(len(word) - 1, 1))
        inner = word[at - 1 : at + 1].isalpha() and len(word[at - 1 : at + 1]) > 1
        mark = rng.choice(
            ["\u00ad", "\u200b", "\u200d", "\u2060", "\u200e", "-\n", "\u00ad\n   ", "\u2010\r\n", "", "", ""]
        )
        written.append(word[:at] + mark + word[at:] if inner else word)
    other = {"\u201c": '"', "\u201d": "&quot;", "'": "\u2019", "ffi": "\ufb03", "-k": "\u2011k"}
    result = "".join(one + rng.choice([" ", "\n", "\u00a0", "&nbsp;", "  ", "\u2009", " \u200f"]) for one in written)
    for plain, odd in other.items():
        if rng.random() < 1 / 2:
            result = result.replace(plain, odd)
    return result


@given(seed=st.integers(0, 10**6))
def test_a_text_is_read_as_a_quote_is(seed: int) -> None:
    """Typography that a quote survives, a reference text survives in full, with any run of words."""
    rng = random.Random(seed)
    judged, found = typeset(rng, SENTENCE), typeset(rng, SENTENCE)
    assert recall(Quote(judged), found) == 1
    assert recall(Text(judged), found, share=1.0, text_run=rng.randint(1, 30)) == 1
    assert where(judged, f"So: {found}") is not None


@pytest.mark.parametrize(("judged", "found"), [("\u0643\u062a\u0627\u0628", "\u0643\u0640\u0640\u062a\u0627\u0628")])
def test_the_stroke_of_arabic_words_does_not_count(judged: str, found: str) -> None:
    assert recall(Quote(judged), found) == 1
    assert recall(Text(judged), found, share=1.0) == 1


def drawn(seed: int) -> tuple[list[Group], Atoms]:
    """Groups whose alternatives share atoms."""
    random, atoms = Random(seed), Atoms()
    pieces = range(6)
    for _ in range(8):
        size = random.randint(1, 9)
        atoms.add(random.sample(pieces, random.randint(1, 3)), random.randint(0, size), size)
    held = [atoms.of[piece] for piece in pieces if piece in atoms.of]
    return [random.sample(held, random.randint(1, 3)) for _ in range(4)], atoms


def share(choice: tuple[int, int]) -> float:
    return choice[0] / choice[1]


@pytest.mark.parametrize("seed", range(50))
def test_no_choice_covers_a_larger_share(seed: int) -> None:
    groups, atoms = drawn(seed)
    assert share(best_choice(groups, atoms)) == max(share(atoms.sums(pieces)) for pieces in product(*groups))


def test_exactly_so_many_choices_are_still_searched_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []
    for groups, atoms in map(drawn, range(50)):
        best = max(share(atoms.sums(pieces)) for pieces in product(*groups))
        monkeypatch.setattr(alternatives, "MOST_CHOICES", prod(map(len, groups)))
        assert share(best_choice(groups, atoms)) == best
        monkeypatch.setattr(alternatives, "MOST_CHOICES", 1)
        searched.append(share(best_choice(groups, atoms)) < best)
    assert any(searched)  # some need the search


@pytest.mark.parametrize("seed", range(50))
def test_beyond_so_many_choices_no_change_of_a_single_group_covers_more(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alternatives, "MOST_CHOICES", 1)
    groups, atoms = drawn(seed)
    found = best_choice(groups, atoms)
    choices = [pieces for pieces in product(*groups) if atoms.sums(pieces) == found]
    assert any(
        all(
            share(atoms.sums([*pieces[:at], other, *pieces[at + 1 :]])) <= share(found)
            for at, group in enumerate(groups)
            for other in group
        )
        for pieces in choices
    )

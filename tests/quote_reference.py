"""A naive reference for quotes: character by character, in plain Python. Shares nothing with the package.

Texts are read as a list of characters that are no white space, each with what stands before it: nothing, a space, or a
line break. A quote is found where its characters follow one another and neither end continues a word or a number.
"""

import html
import re
import unicodedata
from typing import NamedTuple

INVISIBLE = set("\u00ad\u200b\u200c\u200d\u2060\ufeff\u200e\u200f\u0640\u202a\u202c\u2066\u2069\u061c")
SINGLE, DOUBLE, HYPHENS = (
    set("\u2018\u2019`\u00b4\u2032"),
    set("\u201c\u201d\u201e\u00ab\u00bb"),
    set("-\u2010\u2011\u2212"),
)
SUPERSCRIPTS = set("\u00b9\u00b2\u00b3\u2070\u2074\u2075\u2076\u2077\u2078\u2079")
UNSPACED = [(0x0E00, 0x0FFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF)]


class Character(NamedTuple):
    key: str
    gap: str  # "", " " or "\n": what stands between it and the character before


def unspaced(key: str) -> bool:
    return any(low <= ord(key) <= high for low, high in UNSPACED)


def read(text: str) -> list[Character]:
    found: list[Character] = []
    gap = ""
    for one in re.sub("&#?[A-Za-z0-9]+;", lambda entity: html.unescape(entity[0]), unicodedata.normalize("NFC", text)):
        if one in INVISIBLE and one != "\u00ad":
            continue
        if one.isspace():
            gap = "\n" if "\n" in gap + one else " "
            continue
        if one in SUPERSCRIPTS and len(found) > 2 and all(each.key.isalpha() for each in found[-3:]):  # a footnote
            gap = gap or ("" if found[-1].gap or found[-2].gap else " ")
        if one == "\u00ad":
            found.append(Character(one, gap))
            gap = ""
            continue
        key = "'" if one in SINGLE else '"' if one in DOUBLE else "-" if one in HYPHENS else one
        for letter in unicodedata.normalize("NFKC", key).casefold():
            found.append(Character(letter, gap))
            gap = ""
    kept: list[Character] = []
    for at, this in enumerate(found):
        after = found[at + 1] if at + 1 < len(found) else None
        breaks = (
            after is not None and after.gap == "\n" and after.key.isalpha() and bool(kept) and kept[-1].key.isalpha()
        )
        if this.key in {"-", "\u00ad"} and this.gap == "" and breaks and after is not None:
            found[at + 1] = Character(after.key, "")  # the word goes on in the next line
            continue
        if this.key == "\u00ad":
            continue
        kept.append(this)
    return kept


def letters(characters: list[Character]) -> list[tuple[str, int]]:
    """The characters that are compared, with their places: without hyphens between letters, white space aside."""
    keys = [one.key for one in characters]
    compared = []
    for at, key in enumerate(keys):
        if key in {"-", "\u2013", "\u2014"}:
            left, right = at - 1, at + 1
            while left >= 0 and keys[left] in {"-", "\u2013", "\u2014"}:
                left -= 1
            while right < len(keys) and keys[right] in {"-", "\u2013", "\u2014"}:
                right += 1
            if (left < 0 or keys[left].isalpha()) and (right == len(keys) or keys[right].isalpha()):
                continue
        compared.append(("-" if key in {"\u2013", "\u2014"} else key, at))
    return compared


def word_character(key: str) -> bool:
    return (key.isalnum() or unicodedata.category(key) in {"Mn", "Mc"}) and not unspaced(key)


def continues(text: list[Character], at: int, *, begins: bool) -> bool:
    """Whether a word or a number goes on from the character before `at` to the one at it, where a quote begins."""
    if not 0 < at < len(text):
        return False
    left, right = text[at - 1], text[at]
    before = text[at - 2] if at > 1 else Character(" ", "")
    after = text[at + 1] if at + 1 < len(text) else Character(" ", "")
    if right.gap:
        return left.key.isdigit() and thousands(text, at)
    near, far = left.gap == "", after.gap == ""
    word, number = word_character, str.isdigit
    inside = [
        word(left.key) and word(right.key),
        left.key in "-_" and near and word(before.key) and word(right.key),
        right.key in "-_" and far and word(left.key) and word(after.key),
        left.key in ".,:/'" and near and number(before.key) and number(right.key),
        right.key in ".,:/'-\u2013" and far and number(left.key) and number(after.key),
    ]
    beginning = [
        left.key in "-\u2013" and number(right.key) and not (near and left.key == before.key == "-"),
        left.key == "." and number(right.key) and not (near and before.key == "."),
    ]
    return any(inside) or (begins and any(beginning))


def contracted(text: list[Character], at: int) -> bool:
    """Whether an apostrophe and a letter follow the letter before `at`, as in "can't"."""
    if not (0 < at < len(text) - 1) or text[at].gap or text[at + 1].gap:
        return False
    return text[at].key == "'" and text[at - 1].key.isalpha() and text[at + 1].key.isalpha()


def thousands(text: list[Character], at: int) -> bool:
    """Whether a space parts the thousands of a number: one to three digits before it, three behind."""
    left = right = 0
    while at - 1 - left >= 0 and text[at - 1 - left].key.isdigit() and (left == 0 or not text[at - left].gap):
        left += 1
    while at + right < len(text) and text[at + right].key.isdigit() and (right == 0 or not text[at + right].gap):
        right += 1
    before = text[at - 1 - left] if at - 1 - left >= 0 and not text[at - left].gap else Character(" ", "")
    return 1 <= left <= 3 and right == 3 and not (before.key.isalnum() or before.key in "_.,")


def holds(text: str, quote: str) -> bool:
    there = read(text)
    compared, wanted = letters(there), [key for key, _ in letters(read(quote))]
    keys = [key for key, _ in compared]
    for at in range(len(keys) - len(wanted) + 1):
        if keys[at : at + len(wanted)] == wanted:
            first, last = compared[at][1], compared[at + len(wanted) - 1][1]
            if not (
                continues(there, first, begins=True)
                or continues(there, last + 1, begins=False)
                or contracted(there, last + 1)
            ):
                return True
    return False

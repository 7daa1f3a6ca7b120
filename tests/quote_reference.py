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
    characters: list[Character] = []
    gap = ""
    for character in re.sub(
        "&#?[A-Za-z0-9]+;", lambda entity: html.unescape(entity[0]), unicodedata.normalize("NFC", text)
    ):
        if character in INVISIBLE and character != "\u00ad":
            continue
        if character.isspace():
            gap = "\n" if "\n" in gap + character else " "
            continue
        if (
            character in SUPERSCRIPTS
            and len(characters) > 2
            and all(before.key.isalpha() for before in characters[-3:])
        ):  # a footnote
            gap = gap or ("" if characters[-1].gap or characters[-2].gap else " ")
        if character == "\u00ad":
            characters.append(Character(character, gap))
            gap = ""
            continue
        key = "'" if character in SINGLE else '"' if character in DOUBLE else "-" if character in HYPHENS else character
        for letter in unicodedata.normalize("NFKC", key).casefold():
            characters.append(Character(letter, gap))
            gap = ""
    kept_characters: list[Character] = []
    for position, character in enumerate(characters):
        after = characters[position + 1] if position + 1 < len(characters) else None
        breaks = (
            after is not None
            and after.gap == "\n"
            and after.key.isalpha()
            and bool(kept_characters)
            and kept_characters[-1].key.isalpha()
        )
        if character.key in {"-", "\u00ad"} and character.gap == "" and breaks and after is not None:
            characters[position + 1] = Character(after.key, "")  # the word goes on in the next line
            continue
        if character.key == "\u00ad":
            continue
        kept_characters.append(character)
    return kept_characters


def letters(characters: list[Character]) -> list[tuple[str, int]]:
    """The characters that are compared, with their places: without hyphens between letters, white space aside."""
    keys = [character.key for character in characters]
    compared = []
    for position, key in enumerate(keys):
        if key in {"-", "\u2013", "\u2014"}:
            left, right = position - 1, position + 1
            while left >= 0 and keys[left] in {"-", "\u2013", "\u2014"}:
                left -= 1
            while right < len(keys) and keys[right] in {"-", "\u2013", "\u2014"}:
                right += 1
            if (left < 0 or keys[left].isalpha()) and (right == len(keys) or keys[right].isalpha()):
                continue
        compared.append(("-" if key in {"\u2013", "\u2014"} else key, position))
    return compared


def word_character(key: str) -> bool:
    return (key.isalnum() or unicodedata.category(key) in {"Mn", "Mc"}) and not unspaced(key)


def continues(text: list[Character], position: int, *, begins: bool) -> bool:
    """Whether a word or a number goes on from the character before `position` to that at it, where a quote begins."""
    if not 0 < position < len(text):
        return False
    left, right = text[position - 1], text[position]
    before = text[position - 2] if position > 1 else Character(" ", "")
    after = text[position + 1] if position + 1 < len(text) else Character(" ", "")
    if right.gap:
        return left.key.isdigit() and thousands(text, position)
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


def contracted(text: list[Character], position: int) -> bool:
    """Whether an apostrophe and a letter follow the letter before `position`, as in "can't"."""
    if not (0 < position < len(text) - 1) or text[position].gap or text[position + 1].gap:
        return False
    return text[position].key == "'" and text[position - 1].key.isalpha() and text[position + 1].key.isalpha()


def thousands(text: list[Character], position: int) -> bool:
    """Whether a space parts the thousands of a number: one to three digits before it, three behind."""
    left = right = 0
    while (
        position - 1 - left >= 0
        and text[position - 1 - left].key.isdigit()
        and (left == 0 or not text[position - left].gap)
    ):
        left += 1
    while (
        position + right < len(text)
        and text[position + right].key.isdigit()
        and (right == 0 or not text[position + right].gap)
    ):
        right += 1
    before = (
        text[position - 1 - left] if position - 1 - left >= 0 and not text[position - left].gap else Character(" ", "")
    )
    return 1 <= left <= 3 and right == 3 and not (before.key.isalnum() or before.key in "_.,")


def holds(text: str, quote: str) -> bool:
    characters = read(text)
    compared, quoted = letters(characters), [key for key, _ in letters(read(quote))]
    keys = [key for key, _ in compared]
    for start in range(len(keys) - len(quoted) + 1):
        if keys[start : start + len(quoted)] == quoted:
            first, last = compared[start][1], compared[start + len(quoted) - 1][1]
            if not (
                continues(characters, first, begins=True)
                or continues(characters, last + 1, begins=False)
                or contracted(characters, last + 1)
            ):
                return True
    return False

"""A naive reference for quotes: character by character, in plain Python. Shares nothing with the package.

Texts are read as a list of characters that are no white space, each with what stands before it: nothing, a space, or a
line break. A quote is found where its characters follow one another and neither end continues a word or a number.
"""

import html
import re
import unicodedata
from typing import NamedTuple

INVISIBLE = set("\u00ad\u200b\u200c\u200d\u2060\ufeff\u200e\u200f\u0640\u202a\u202c\u2066\u2069\u061c")
SINGLE_QUOTES = set("\u2018\u2019`\u00b4\u2032")
DOUBLE_QUOTES = set("\u201c\u201d\u201e\u00ab\u00bb")
HYPHENS = set("-\u2010\u2011\u2212")
SUPERSCRIPTS = set("\u00b9\u00b2\u00b3\u2070\u2074\u2075\u2076\u2077\u2078\u2079")
UNSPACED = [(0x0E00, 0x0FFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF)]


class Character(NamedTuple):
    key: str
    gap: str  # "", " " or "\n": what stands between it and the character before


def unspaced(key: str) -> bool:
    return any(low <= ord(key) <= high for low, high in UNSPACED)


def read(text: str) -> list[Character]:
    return join_broken_words(read_characters(text))


def read_characters(text: str) -> list[Character]:
    """The characters that are no white space, each with the gap before it; soft hyphens are still among them."""
    composed = unicodedata.normalize("NFC", text)
    without_entities = re.sub("&#?[A-Za-z0-9]+;", lambda entity: html.unescape(entity[0]), composed)
    characters: list[Character] = []
    gap = ""
    for symbol in without_entities:
        if symbol in INVISIBLE and symbol != "\u00ad":
            continue
        if symbol.isspace():
            gap = "\n" if "\n" in gap + symbol else " "
            continue
        if symbol in SUPERSCRIPTS and is_footnote(characters):
            gap = gap or ("" if characters[-1].gap or characters[-2].gap else " ")
        if symbol == "\u00ad":
            characters.append(Character(symbol, gap))
            gap = ""
            continue
        for letter in unicodedata.normalize("NFKC", plain(symbol)).casefold():
            characters.append(Character(letter, gap))
            gap = ""
    return characters


def is_footnote(characters_before: list[Character]) -> bool:
    return len(characters_before) > 2 and all(character.key.isalpha() for character in characters_before[-3:])


def plain(symbol: str) -> str:
    if symbol in SINGLE_QUOTES:
        return "'"
    if symbol in DOUBLE_QUOTES:
        return '"'
    return "-" if symbol in HYPHENS else symbol


def join_broken_words(characters: list[Character]) -> list[Character]:
    """The characters without soft hyphens, and without the hyphens of words that go on in the next line."""
    joined: list[Character] = []
    for index, character in enumerate(characters):
        after = characters[index + 1] if index + 1 < len(characters) else Character(" ", "")
        is_between_letters = after.key.isalpha() and bool(joined) and joined[-1].key.isalpha()
        if character.key in {"-", "\u00ad"} and character.gap == "" and after.gap == "\n" and is_between_letters:
            characters[index + 1] = Character(after.key, "")
            continue
        if character.key != "\u00ad":
            joined.append(character)
    return joined


def letters(characters: list[Character]) -> list[tuple[str, int]]:
    """The characters that are compared, with their places: without hyphens between letters, white space aside."""
    keys = [one.key for one in characters]
    compared = []
    for index, key in enumerate(keys):
        if key in {"-", "\u2013", "\u2014"}:
            left = index - 1
            right = index + 1
            while left >= 0 and keys[left] in {"-", "\u2013", "\u2014"}:
                left -= 1
            while right < len(keys) and keys[right] in {"-", "\u2013", "\u2014"}:
                right += 1
            if (left < 0 or keys[left].isalpha()) and (right == len(keys) or keys[right].isalpha()):
                continue
        compared.append(("-" if key in {"\u2013", "\u2014"} else key, index))
    return compared


def word_character(key: str) -> bool:
    return (key.isalnum() or unicodedata.category(key) in {"Mn", "Mc"}) and not unspaced(key)


def continues(text: list[Character], index: int, *, begins: bool) -> bool:
    """Whether a word or a number goes on from the character before `index` to the one at it, where a quote begins."""
    if not 0 < index < len(text):
        return False
    left = text[index - 1]
    right = text[index]
    before = text[index - 2] if index > 1 else Character(" ", "")
    after = text[index + 1] if index + 1 < len(text) else Character(" ", "")
    if right.gap:
        return left.key.isdigit() and thousands(text, index)
    near = left.gap == ""
    far = after.gap == ""
    inside = [
        word_character(left.key) and word_character(right.key),
        left.key in "-_" and near and word_character(before.key) and word_character(right.key),
        right.key in "-_" and far and word_character(left.key) and word_character(after.key),
        left.key in ".,:/'" and near and str.isdigit(before.key) and str.isdigit(right.key),
        right.key in ".,:/'-\u2013" and far and str.isdigit(left.key) and str.isdigit(after.key),
    ]
    beginning = [
        left.key in "-\u2013" and str.isdigit(right.key) and not (near and left.key == before.key == "-"),
        left.key == "." and str.isdigit(right.key) and not (near and before.key == "."),
    ]
    return any(inside) or (begins and any(beginning))


def contracted(text: list[Character], index: int) -> bool:
    """Whether an apostrophe and a letter follow the letter before `index`, as in "can't"."""
    if not (0 < index < len(text) - 1) or text[index].gap or text[index + 1].gap:
        return False
    return text[index].key == "'" and text[index - 1].key.isalpha() and text[index + 1].key.isalpha()


def thousands(text: list[Character], index: int) -> bool:
    """Whether a space parts the thousands of a number: one to three digits before it, three behind."""
    left = right = 0
    while index - 1 - left >= 0 and text[index - 1 - left].key.isdigit() and (left == 0 or not text[index - left].gap):
        left += 1
    while (
        index + right < len(text) and text[index + right].key.isdigit() and (right == 0 or not text[index + right].gap)
    ):
        right += 1
    before = text[index - 1 - left] if index - 1 - left >= 0 and not text[index - left].gap else Character(" ", "")
    return 1 <= left <= 3 and right == 3 and not (before.key.isalnum() or before.key in "_.,")


def holds(text: str, quote: str) -> bool:
    characters = read(text)
    compared = letters(characters)
    keys = [key for key, _ in compared]
    quote_keys = [key for key, _ in letters(read(quote))]
    for start in range(len(keys) - len(quote_keys) + 1):
        end = start + len(quote_keys)
        if keys[start:end] != quote_keys:
            continue
        _, first = compared[start]
        _, last = compared[end - 1]
        if continues(characters, first, begins=True) or continues(characters, last + 1, begins=False):
            continue
        if not contracted(characters, last + 1):
            return True
    return False

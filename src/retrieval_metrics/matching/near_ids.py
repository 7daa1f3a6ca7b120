"""Recognise ids that are nearly equal: one document, spelt in two ways, as after a file was read by another program."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias
from unicodedata import normalize

from retrieval_metrics._internal.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

NearIdKind: TypeAlias = Literal[
    "unicode_form",
    "invisible_characters",
    "blanks",
    "case",
    "percent_encoding",
    "slashes",
    "markup",
    "quotation_marks",
    "underscores",
    "uuid_form",
    "url_form",
    "leading_zeros",
    "decimal_point",
    "number_form",
    "several",
    "prefix",
    "path",
    "part",
    "numbered_part",
    "file_extension",
    "same_text",
]

# Soft hyphens, zero-width characters, marks of direction, byte order marks and control characters other than blanks.
_INVISIBLE = lazy_pattern("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\x00-\x08\x0e-\x1f\x7f]")
_BLANKS = lazy_pattern(r"\s+")
_BLANKS_WITHIN_LINES = lazy_pattern(r"[^\S\n]+")
_LEADING_ZEROS = lazy_pattern(r"(?<!\d)(?<!\d[.,])0+(?=\d)")
_DECIMAL_ZERO = lazy_pattern(r"(\d+)\.0+")

# The marks around a text that Python or a CSV file wrote, also around bytes.
_QUOTED = lazy_pattern(r"""b?(["'])(.*)\1""")
_QUOTATION_MARKS = "'\""
_UUID = lazy_pattern(r"(?:urn:uuid:)?\{?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})\}?")
# The scheme of a URL and the "www." behind it, or a slash at its end.
_URL_ENDS = lazy_pattern(r"^(?:https?|ftp|file):/{2,3}(?:www\.)?|(?<=.)/$")
# A number with commas between thousands, or as a spreadsheet writes a large one.
_THOUSANDS = lazy_pattern(r"\d{1,3}(?:,\d{3})+")
_SCIENTIFIC = lazy_pattern(r"\d(?:\.\d+)?e\+?\d{1,2}")
_SCIENTIFIC_LINE = lazy_pattern(r"(?mi)^\d(?:\.\d+)?e\+?\d{1,2}$")
# What a database or a framework writes before an id, such as `doc_` or `wiki:`.
_PREFIX = lazy_pattern(r"[^\W\d_]+(?:[-_.:][^\W\d_]+)*[-_.:]")

# What follows the id of a document in that of a part: `d7#3`, `d7::intro`, `d7/3`, `d7:3`, `d7-chunk-3`, `d7 (part 3)`.
_PART_WORDS = "chunk|part|page|passage|node|section"
_PART = lazy_pattern(
    rf"#.|::.|[/:@|~](?:{_PART_WORDS})?[-_ ]?\d+$|[-_.](?:{_PART_WORDS})[-_ ]?\d+$| ?\((?:{_PART_WORDS}) ?\d+\)$"
)
# `d7_3` or `d7.3`: also the form of many ids of whole documents, but not behind a file extension, as in `d7.md_3`.
_NUMBERED_PART = lazy_pattern(r"[-_.][pcs]?[-_ ]?\d+$")
_EXTENSIONS = "md|txt|pdf|html?|json|csv|docx?|rst|xml"
_EXTENSION = lazy_pattern(rf"\.(?:{_EXTENSIONS})$")
_EXTENSION_LINE = lazy_pattern(rf"(?mi)\.({_EXTENSIONS})$")

_NO_WORD_CHARACTER = lazy_pattern(r"[^\w\n]|_")
# Typographic marks, and what is typed in their place.
_PLAIN_MARKS = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u02bc\u00b4`"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e"), '"'),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-"),
}
# How many ids that end with a judged one are compared with it.
MAX_SUFFIXES = 8

# Separators of a path or a part.
_SEPARATORS = "-_:/|.@#~"
# A parenthesis begins a part as well, as in `d7 (part 3)`.
_PART_BEGINNINGS = _SEPARATORS + "("
_SEPARATOR = lazy_pattern(f"[{re.escape(_PART_BEGINNINGS)}]")
# How many of the separators of an id, from its end, may begin what the other side lacks.
_MAX_SEPARATORS = 8


def _strip_blanks(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()


def _remove_invisible(text: str) -> str:
    return _INVISIBLE.sub("", text)


def _compose(text: str) -> str:
    return normalize("NFKC", text)


def _unquote(text: str) -> str:
    if "%" not in text:
        return text
    # Imported here because few ids are encoded, and importing it takes as long as an evaluation.
    from urllib.parse import unquote

    return unquote(text)


def _unescape(text: str) -> str:
    if "&" not in text:
        return text
    # Imported here because few ids hold entities.
    from html import unescape

    return unescape(text)


def _unify_slashes(text: str) -> str:
    return text.replace("\\", "/")


def _strip_leading_zeros(text: str) -> str:
    return _LEADING_ZEROS.sub("", text)


def _drop_decimal_zero(text: str) -> str:
    match = _DECIMAL_ZERO.fullmatch(text)
    return text if match is None else match[1]


def _unquote_marks(text: str) -> str:
    """Return a text without quotation marks around it, and with plain apostrophes and hyphens in it."""
    match = _QUOTED.fullmatch(text)
    return (text if match is None else match[2]).translate(_PLAIN_MARKS)


def _unify_underscores(text: str) -> str:
    return _strip_blanks(text.replace("_", " ").replace("+", " "))


def _unify_uuid(text: str) -> str:
    match = _UUID.fullmatch(text.lower())
    return text if match is None else "".join(match.groups())


def _strip_url_ends(text: str) -> str:
    return _URL_ENDS.sub("", text)


def _unify_number(text: str) -> str:
    if _THOUSANDS.fullmatch(text):
        return text.replace(",", "")
    if _SCIENTIFIC.fullmatch(text.lower()):
        return str(int(float(text)))
    return text


# What makes two spellings equal; the first that does gives the kind.
_SPELLINGS: Sequence[tuple[NearIdKind, Callable[[str], str]]] = (
    ("blanks", _strip_blanks),
    ("invisible_characters", _remove_invisible),
    ("unicode_form", _compose),
    ("case", str.casefold),
    ("percent_encoding", _unquote),
    ("slashes", _unify_slashes),
    ("markup", _unescape),
    ("quotation_marks", _unquote_marks),
    ("underscores", _unify_underscores),
    ("uuid_form", _unify_uuid),
    ("url_form", _strip_url_ends),
    ("leading_zeros", _strip_leading_zeros),
    ("decimal_point", _drop_decimal_zero),
    ("number_form", _unify_number),
)


def unify_spelling(document_id: str) -> str:
    r"""Return an id without anything in which two spellings of it may differ.

    Example:
        >>> unify_spelling("Docs%5CCafe\u0301 007.MD ")
        'docs/café 7.md'
    """
    text = _unquote(document_id)
    text = _compose(_remove_invisible(text)).casefold()
    text = _compose(text)
    return _drop_decimal_zero(_strip_leading_zeros(_unify_slashes(_strip_blanks(text))))


def unify_loosely(document_id: str) -> str:
    """Return an id without what `unify_spelling` unifies, and without marks, schemes and forms that tools add.

    Example:
        >>> unify_loosely("https://www.a.org/R&amp;D_7/"), unify_loosely("b'd7'"), unify_loosely("1,300")
        ('a.org/r&d 7', 'd7', '1300')
    """
    text = _strip_url_ends(_unify_uuid(_unquote_marks(_unescape(_unquote(document_id)))).casefold())
    return unify_spelling(_unify_underscores(_unify_number(text)))


def find_near_kind(first: str, second: str) -> NearIdKind | None:
    """Return in what two different ids differ, if they may be one document; None if they may not.

    Example:
        >>> find_near_kind("a.md", "docs/a.md"), find_near_kind("7", "007"), find_near_kind("d7", "d70")
        ('path', 'leading_zeros', None)
        >>> find_near_kind("d7#3", "d7"), find_near_kind("d7", "d7_3"), find_near_kind("d7#1", "d7#2")
        ('part', 'numbered_part', None)
        >>> find_near_kind("d7", "d7.md"), find_near_kind("d7.md", "d7.txt"), find_near_kind("d7.md", "d7.md_3")
        ('file_extension', 'file_extension', 'part')
        >>> find_near_kind("d 7", "d_7"), find_near_kind("7", "doc_7"), find_near_kind("1-2", "2")
        ('underscores', 'prefix', None)
    """
    for kind, unify in _SPELLINGS:
        if unify(first) == unify(second):
            return kind
    first_unified = unify_spelling(first)
    second_unified = unify_spelling(second)
    if first_unified == second_unified or unify_loosely(first) == unify_loosely(second):
        return "several"
    short, long = sorted((first_unified, second_unified), key=len)
    if not short:
        return None
    if long.endswith(f"/{short}"):
        return "path"
    if long.startswith(short):
        kind_of_rest = _find_kind_of_rest(long[len(short) :])
        if kind_of_rest == "numbered_part" and remove_extension(short) is not None:
            return "part"
        return kind_of_rest
    short_stem = remove_extension(short)
    long_stem = remove_extension(long)
    if short_stem and long_stem:
        if short_stem == long_stem:
            return "file_extension"
        has_same_extension = short[len(short_stem) :] == long[len(long_stem) :]
        if has_same_extension and long_stem.startswith(short_stem):
            return _find_kind_of_rest(long_stem[len(short_stem) :])
    if long.endswith(short) and _PREFIX.fullmatch(long[: -len(short)]):
        return "prefix"
    _, separator, rest = long.rpartition(f"/{short}")
    if separator and _find_kind_of_rest(rest) is not None:
        return "several"
    return None


def _find_kind_of_rest(rest: str) -> NearIdKind | None:
    """Return whether what follows the id of a document makes it that of a part."""
    if _EXTENSION.match(rest):
        return "file_extension"
    if _PART.match(rest):
        return "part"
    if _NUMBERED_PART.match(rest):
        return "numbered_part"
    return None


def remove_extension(document_id: str) -> str | None:
    """Return what precedes the file extension of an id, such as `d7` in `d7.md`; None if it has none."""
    match = _EXTENSION.search(document_id)
    return None if match is None else document_id[: match.start()]


def remove_prefix(document_id: str) -> str | None:
    """Return what follows the prefix of an id, such as `7` in `doc_7`; None if it has none."""
    match = _PREFIX.match(document_id)
    if match is None or match.end() == len(document_id):
        return None
    return document_id[match.end() :]


def list_wholes(document_id: str) -> list[str]:
    """Return what an id may be a part or a path of: what precedes its last separators, or follows a slash.

    Example:
        >>> list_wholes("docs/a.md#3")
        ['docs', 'a.md#3', 'docs/a', 'docs/a.md']
    """
    wholes = []
    for separator in list(_SEPARATOR.finditer(document_id))[-_MAX_SEPARATORS:]:
        wholes.append(document_id[: separator.start()].rstrip())
        if separator[0] == "/":
            wholes.append(document_id[separator.end() :])
    return [whole for whole in wholes if whole]


# A search in many ids at once: what cannot be a near miss is ruled out in one pass over their text.

# The classes of characters in which ids are compared at once: most collections hold ids of one form, such as `d17` or
# `doc-17`, and no two of these are near misses.
_ODD = b"!"
_LOWER_CASE = b"a"
_UPPER_CASE = b"A"
_MARK = b"+"
_CLASS_BY_CHARACTER = {
    **dict.fromkeys("abcdefghijklmnopqrstuvwxyz", _LOWER_CASE),
    **dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", _UPPER_CASE),
    **dict.fromkeys("!$()*;<=>?[]^", _MARK),
    **dict.fromkeys("123456789", b"9"),
    **dict.fromkeys("\n0" + _SEPARATORS),
}


def _make_byte_table(class_by_character: Mapping[str, bytes | None], default: bytes) -> bytes:
    """Return what each byte is translated to: the class of its character, itself, or the default."""
    table = bytearray(default * 256)
    for character, byte_class in class_by_character.items():
        table[ord(character)] = (byte_class or character.encode())[0]
    return bytes(table)


# Blanks, control characters, backslashes, percent signs and marks that one spelling may lack (entities, quotation
# marks, plus signs, commas, braces) are odd; line ends, zeros and separators stay.
_CLASSES = _make_byte_table(_CLASS_BY_CHARACTER, _ODD)
_DIGIT_CLASSES = _make_byte_table({**dict.fromkeys("123456789", b"9"), "0": None}, _MARK)
_SEPARATOR_CLASSES = _make_byte_table(dict.fromkeys("\n", None), b"-")
_ZEROS_AS_DIGITS = bytes.maketrans(b"0", b"9")
_ALL_BUT_SEPARATORS = _LOWER_CASE + _UPPER_CASE + _MARK + b"90"


def may_hold_near_ids(ids: Collection[str]) -> bool:
    """Return whether two different ids could be near misses: never wrong if it says no, and much cheaper than a search.

    Two ids without blanks and the like, whose letters are all of one case, are near misses only if one has more
    separators than the other, because a part or a path begins at one; or fewer zeros, which numbers of one width show.

    Example:
        >>> may_hold_near_ids(["d7", "d10"]), may_hold_near_ids(["d7", "d7#1"]), may_hold_near_ids(["d7", "d07"])
        (False, True, True)
    """
    text = "\n".join(ids)
    if not text.isascii():
        return True
    lines = f"\n{text}\n".encode()
    classes = lines.translate(_CLASSES)
    if _ODD in classes or (_LOWER_CASE in classes and _UPPER_CASE in classes):
        return True
    digits = lines.translate(_DIGIT_CLASSES)
    # A zero that begins a number can be left out before another digit; after a point, with the point. Schemes of URLs
    # differ in letters, and a number may be written with an exponent.
    if b"." in lines and len({extension.lower() for extension in _EXTENSION_LINE.findall(text)}) > 1:
        return True
    # One character is found much faster than two.
    if (b"." in lines and b".0" in lines) or (b":" in lines and b"://" in lines):
        return True
    if (b"e" in lines or b"E" in lines) and b"9a" in classes and _SCIENTIFIC_LINE.search(text):
        return True
    if b"+0" in digits and (b"+00" in digits or b"+09" in digits):
        return not _are_alike(classes.translate(_ZEROS_AS_DIGITS), len(ids))
    return not _are_alike(classes.translate(_SEPARATOR_CLASSES, _ALL_BUT_SEPARATORS), len(ids))


def _are_alike(lines: bytes, n_ids: int) -> bool:
    """Return whether there are as many lines as ids, which a line end in an id prevents, and all are like the first."""
    first_line = lines[: lines.index(b"\n", 1)]
    return lines == first_line * n_ids + b"\n"


# Zeros, blanks and control characters but line ends.
_DELETED_CODES = [*range(10), *range(11, 33), ord("0"), 127]
_REDUCED = {**dict.fromkeys(_DELETED_CODES), ord("\\"): "/"}
# The same for bytes, which is many times as fast.
_DELETED_BYTES = bytes(_DELETED_CODES)
_UNIFIED_SLASHES = bytes.maketrans(b"\\", b"/")


def _reduce(text: str) -> str:
    """Return a text in lower case without zeros, blanks and invisible characters, but with its line ends."""
    text = _unquote(text)
    if text.isascii():
        return text.lower().encode("ascii").translate(_UNIFIED_SLASHES, _DELETED_BYTES).decode("ascii")
    text = _BLANKS_WITHIN_LINES.sub("", _remove_invisible(normalize("NFKC", text)).casefold())
    return normalize("NFKC", text).lower().translate(_REDUCED)


# Separators, blanks and marks, without which two spellings of an id are often equal.
_MARK_CODES = [code for code in range(128) if not chr(code).isalnum() and chr(code) != "\n"]
_MARK_BYTES = bytes(_MARK_CODES)
_SCHEMES = ("https://www.", "http://www.", "https://", "http://", "file://", "ftp://")


def _keep_letters(text: str) -> str:
    """Return a text in lower case with letters, digits and line ends alone, and without schemes of URLs."""
    text = _unescape(text)
    text = text.lower() if text.isascii() else _compose(_remove_invisible(text)).casefold()
    if "://" in text:
        for scheme in _SCHEMES:
            text = text.replace(scheme, "")
    if text.isascii():
        return text.encode("ascii").translate(None, _MARK_BYTES).decode("ascii")
    return _NO_WORD_CHARACTER.sub("", text)


class NearIdIndex:
    """The ids of one ranking, among which near misses of other ids are found quickly."""

    __slots__ = ("_ids", "_letter_lines", "_lines", "_position_by_number")

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = ids
        self._letter_lines: str | None = None
        self._position_by_number: dict[str, int] | None = None
        self._lines = _reduce("\n" + "\n".join(ids) + "\n")
        if self._lines.count("\n") != len(ids) + 1:  # an id holds a line end
            self._lines = "\n" + "".join(_reduce(text).replace("\n", "") + "\n" for text in ids)

    def find(self, judged_id: str) -> Iterator[str]:
        """Yield the ids of the ranking that may be near misses of another id, in rank order within each form."""
        reduced = _reduce(judged_id).replace("\n", "")
        if not reduced:
            return
        lines = self._lines
        length = len(reduced)
        # Lines that are equal, or go on with a separator, and those in which it follows a slash.
        for start in ("\n", "/"):
            position = lines.find(start + reduced)
            while position >= 0:
                follower = lines[position + 1 + length]
                if follower == "\n" or follower in _PART_BEGINNINGS:
                    yield self._id_at(position)
                position = lines.find(start + reduced, position + 1)
        stem = remove_extension(reduced)
        if stem:
            yield from self._find_stem(stem)
            for whole in list_wholes(stem):
                position = lines.find(f"\n{whole}{reduced[len(stem) :]}\n")
                if position >= 0:
                    yield self._id_at(position)
        for whole in list_wholes(reduced):
            position = lines.find(f"\n{whole}\n")
            if position >= 0:
                yield self._id_at(position)
        for candidate in self._find_by_letters(judged_id):
            if candidate != judged_id:
                yield candidate

    def _find_stem(self, stem: str) -> Iterator[str]:
        """Yield the ids that begin with the stem of a file name, such as `d7.txt` and `d7-1.md` for `d7`."""
        lines = self._lines
        position = lines.find(f"\n{stem}")
        n_found = 0
        while position >= 0 and n_found < MAX_SUFFIXES:
            if lines[position + 1 + len(stem)] in _PART_BEGINNINGS:
                yield self._id_at(position)
                n_found += 1
            position = lines.find(f"\n{stem}", position + 1)

    def _find_by_letters(self, judged_id: str) -> Iterator[str]:
        """Yield the ids whose letters and digits are those of another id, or end with them, as behind a prefix."""
        if self._letter_lines is None:
            self._letter_lines = _keep_letters("\n" + "\n".join(self._ids) + "\n")
            if self._letter_lines.count("\n") != len(self._ids) + 1:  # an id holds a line end
                self._letter_lines = "\n" + "".join(_keep_letters(text).replace("\n", "") + "\n" for text in self._ids)
        lines = self._letter_lines
        searched = {_keep_letters(judged_id).replace("\n", "")}
        if judged_id[0].isdigit():
            searched.add(_keep_letters(_unify_number(judged_id)))
        for letters in searched - {""}:
            position = lines.find(f"{letters}\n")
            n_found = 0
            while position >= 0 and n_found < MAX_SUFFIXES:
                yield self._ids[lines.count("\n", 0, position) - 1]
                n_found += 1
                position = lines.find(f"{letters}\n", position + 1)
        suffixes = [remove_prefix(judged_id)]
        if judged_id[-1] in _QUOTATION_MARKS:
            suffixes.append(_unquote_marks(judged_id))
        for suffix in suffixes:
            letters = "" if suffix is None else _keep_letters(suffix)
            if letters and letters not in searched:
                position = lines.find(f"\n{letters}\n")
                if position >= 0:
                    yield self._ids[lines.count("\n", 0, position)]
        yield from self._find_number(judged_id)

    def _find_number(self, judged_id: str) -> Iterator[str]:
        """Yield the id that is the same number, as a spreadsheet writes a large one."""
        if self._position_by_number is None:
            self._position_by_number = {}
            if "e+" in self._lines or "e1" in self._lines or "e2" in self._lines:
                for position, text in enumerate(self._ids):
                    if _SCIENTIFIC.fullmatch(text.lower()):
                        self._position_by_number[_unify_number(text)] = position
        number_position = self._position_by_number.get(judged_id)
        if number_position is not None:
            yield self._ids[number_position]

    def _id_at(self, position: int) -> str:
        """Return the id in whose line a position is, or whose line begins after it."""
        n_line_ends = self._lines.count("\n", 0, position)
        if self._lines[position] == "\n":  # the line begins after it
            return self._ids[n_line_ends]
        return self._ids[n_line_ends - 1]

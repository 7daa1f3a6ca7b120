"""Recognise ids that are nearly equal: one document, spelt in two ways, as after a file was read by another program."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias
from unicodedata import normalize

import numpy as np

from retrieval_metrics._internal.patterns import lazy_pattern
from retrieval_metrics.inputs.id_checks import holds_a_list

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
    "separators",
    "encoding",
    "diacritics",
    "uuid_form",
    "url_form",
    "leading_zeros",
    "decimal_point",
    "number_form",
    "several",
    "printed",
    "joined",
    "prefix",
    "query_prefix",
    "path",
    "part",
    "numbered_part",
    "version",
    "truncated",
    "file_extension",
    "same_text",
]

# Soft hyphens, zero-width characters, marks of direction, byte order marks and control characters other than blanks.
_INVISIBLE = lazy_pattern("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\x00-\x08\x0e-\x1f\x7f]")
_BLANKS = lazy_pattern(r"\s+")
_BLANKS_WITHIN_LINES = lazy_pattern(r"[^\S\n]+")
_LEADING_ZEROS = lazy_pattern(r"(?<!\d)(?<!\d[.,])0+(?=\d)")
_DECIMAL_ZERO = lazy_pattern(r"(\d+)\.0+")

# The marks around a text that Python or a CSV file wrote, also around bytes; the printed form of an object, such as
# `ObjectId('d7')`; and brackets.
_QUOTED = lazy_pattern(r"""(?:b|[^\W\d]\w*\()?(["'])(.*)\1\)?""")
_BRACKETED = lazy_pattern(r"<(.+)>|\[(.+)\]|\((.+)\)")
_CLOSING_MARKS = "'\">)]"
_UUID = lazy_pattern(r"(?:urn:uuid:)?\{?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})\}?")
# The scheme of a URL and the "www." behind it, or a slash at its end.
_URL_ENDS = lazy_pattern(r"^(?:https?|ftp|file):/{2,3}(?:www\.)?|(?<=.)/$")
# What a link to a page adds to its URL: other parameters tell pages apart.
_URL_REST = lazy_pattern(r"\?utm_.|/?index\.html?$")
# Two of the characters that UTF-8 becomes if it is read as another encoding, such as `Ã©` for `é`.
_MOJIBAKE = lazy_pattern("[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u2122]{1,3}")
_DIACRITICS = lazy_pattern("[\u0300-\u036f]")
_BETWEEN_WORDS = lazy_pattern(r"[-_+\s]+")
_BEFORE_A_NUMBER = lazy_pattern(r"(?<=[^\W\d_])[-_+\s]+(?=\d)")
# What a database or a tool cut off, as of `f3a9c0b7e21d`: as much as no number or ending is, behind enough of the id.
_MIN_CUT_ID = 8
_MIN_CUT_OFF = 4
_CUT_OFF = lazy_pattern(r"(?=.*[^\W\d_])[^\W_].{3,}")
# What stands between several ids in one cell.
_BETWEEN_IDS = lazy_pattern(r"\s*[,;]\s*")
# A number that a float cannot hold exactly.
_MIN_LONG_NUMBER = 16
_LONG_NUMBER = lazy_pattern(rf"\d{{{_MIN_LONG_NUMBER},}}")
_MAX_DECIMALS = 6
# A number with commas between thousands, or as a spreadsheet writes a large one.
_THOUSANDS = lazy_pattern(r"\d{1,3}(?:,\d{3})+")
_SCIENTIFIC = lazy_pattern(r"\d(?:\.\d+)?e\+?\d{1,2}")
_SCIENTIFIC_LINE = lazy_pattern(r"(?mi)^\d(?:\.\d+)?e\+?\d{1,2}$")
# What a database or a framework writes before an id, such as `doc_` or `wiki:`.
_PREFIX = lazy_pattern(r"[^\W\d_]+(?:[-_.:][^\W\d_]+)*[-_.:]")
# The letters before a number, such as `PMC`.
_LETTERS_BEFORE_NUMBER = lazy_pattern(r"[^\W\d_]+(?=\d+$)")

# What follows the id of a document in that of a part: `d7#3`, `d7::intro`, `d7/3`, `d7:3`, `d7-chunk-3`, `d7 (part 3)`.
_PART_WORDS = "chunk|part|page|passage|node|section"
_PART = lazy_pattern(
    rf"#.|::.|[/:@|~](?:{_PART_WORDS})?[-_ ]?\d+$|[-_.](?:{_PART_WORDS})[-_ ]?\d+$| ?\((?:{_PART_WORDS})? ?\d+\)$"
    r"|\[\d+\]$|:[lL]?\d+-[lL]?\d+$"
)
# `d7_3` or `d7.3`: also the form of many ids of whole documents, but not behind a file extension, as in `d7.md_3`.
_NUMBERED_PART = lazy_pattern(r"[-_.][pcs]?[-_ ]?\d+$")
# A later version, as in `2101.00001v2`.
_VERSION = lazy_pattern(r"[-_. ]?v\d+$")
_EXTENSIONS = "md|txt|pdf|html?|json|csv|docx?|rst|xml"
_EXTENSION = lazy_pattern(rf"\.(?:{_EXTENSIONS})$")
_VERSION_LINE = lazy_pattern(r"(?m)[vV]\d+$")
_EXTENSION_LINE = lazy_pattern(rf"(?mi)\.({_EXTENSIONS})$")

_QUOTATION_MARKS = ("'", '"')
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
_PART_BEGINNINGS = _SEPARATORS + "([?"
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
    """Return a text without quotation marks or brackets around it, and with plain apostrophes and hyphens in it."""
    match = _QUOTED.fullmatch(text)
    if match is not None:
        return match[2].translate(_PLAIN_MARKS)
    match = _BRACKETED.fullmatch(text)
    if match is not None and match.lastindex is not None:
        text = match[match.lastindex]
    return text.translate(_PLAIN_MARKS)


def _unify_separators(text: str) -> str:
    """Return a text with one blank for what stands between its words, and none between a word and its number."""
    return _BETWEEN_WORDS.sub(" ", _BEFORE_A_NUMBER.sub("", text)).strip()


def _repair_encoding(text: str) -> str:
    """Return a text in which UTF-8 that was read as another encoding is what it was."""
    return text if text.isascii() else _MOJIBAKE.sub(_decode_again, text)


def _decode_again(match: re.Match[str]) -> str:
    for encoding in ("cp1252", "latin-1"):
        try:
            return match[0].encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
    return match[0]


def _strip_diacritics(text: str) -> str:
    """Return a text without accents and the like, as some tools write it in ASCII."""
    return text if text.isascii() else normalize("NFC", _DIACRITICS.sub("", normalize("NFD", text)))


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
    ("separators", _unify_separators),
    ("encoding", _repair_encoding),
    ("diacritics", _strip_diacritics),
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
        ('a.org/r&d7', 'd7', '1300')
    """
    text = _strip_diacritics(_repair_encoding(_unescape(_unquote(document_id))))
    text = _strip_url_ends(_unify_uuid(_unquote_marks(text)).casefold())
    return unify_spelling(_unify_separators(_unify_number(text)))


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
        ('separators', 'prefix', None)
        >>> find_near_kind("d7", "('d7', 0.9)"), find_near_kind("d7,d8", "d8"), find_near_kind("d7", "d7v2")
        ('printed', 'joined', 'version')
    """
    first_unified = unify_spelling(first)
    second_unified = unify_spelling(second)
    kind = _find_kind_of_same_length(first, second, first_unified, second_unified)
    if kind is not None:
        return kind
    short, long = sorted((first_unified, second_unified), key=len)
    if not short:
        return None
    kind = _find_kind_of_longer(short, long)
    if kind is None and is_cut_off(first, second):
        return "truncated"
    return kind


def _find_kind_of_same_length(first: str, second: str, first_unified: str, second_unified: str) -> NearIdKind | None:
    """Return in what two ids differ of which neither is a part of a document; None if that is not so."""
    for kind, unify in _SPELLINGS:
        if unify(first) == unify(second):
            return kind
    if first_unified == second_unified or unify_loosely(first) == unify_loosely(second):
        return "several"
    if _are_one_rounded_number(first, second):
        return "number_form"
    if _holds_value(first, second) or _holds_value(second, first):
        return "printed"
    if _holds_part(first_unified, second_unified) or _holds_part(second_unified, first_unified):
        return "joined"
    return None


def _find_kind_of_longer(short: str, long: str) -> NearIdKind | None:
    """Return what a longer id has that a shorter one lacks, if they may be one document; None if they may not."""
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
    if long.endswith(short):
        prefix = long[: -len(short)]
        if _PREFIX.fullmatch(prefix) or (short.isdigit() and prefix.isalpha()):
            return "prefix"
    _, separator, rest = long.rpartition(f"/{short}")
    if separator and _find_kind_of_rest(rest) is not None:
        return "several"
    return None


def find_query_prefix(judged_id: str, retrieved_id: str, query: object) -> str:
    """Return the ID of the query, with a separator, where only one of two ids begins with it; else an empty text.

    Example:
        >>> find_query_prefix("d7", "q1_d7", "q1"), find_query_prefix("d7", "q1_d7", "q2")
        ('q1_', '')
    """
    short, long = sorted((judged_id, retrieved_id), key=len)
    prefix = long.removesuffix(short)
    if len(prefix) > 1 and prefix + short == long and prefix[:-1] == str(query) and prefix[-1] in _SEPARATORS:
        return prefix
    return ""


def is_cut_off(first: str, second: str) -> bool:
    """Return whether one of two ids is the beginning of the other, cut within a word.

    Example:
        >>> is_cut_off("f3a9c0b7e21d", "f3a9c0b7e21d4456aa10"), is_cut_off("document1", "document10")
        (True, False)
    """
    short, long = sorted((first, second), key=len)
    if len(short) < _MIN_CUT_ID or not short[-1].isalnum() or not long.startswith(short):
        return False
    return _CUT_OFF.fullmatch(long[len(short) :]) is not None


def _are_one_rounded_number(first: str, second: str) -> bool:
    """Return whether one of two ids is the other after a program read it as a float, as a long number."""
    short, long = sorted((first.lower(), second.lower()), key=len)
    if not _LONG_NUMBER.fullmatch(long) or not long.isascii():
        return False
    if _LONG_NUMBER.fullmatch(short):
        return int(float(long)) == int(short) or int(float(short)) == int(long)
    if not _SCIENTIFIC.fullmatch(short):
        return False
    n_decimals = len(short.partition("e")[0]) - 2
    return short == f"{float(long):.{max(n_decimals, 0)}e}"


def _holds_value(printed: str, document_id: str) -> bool:
    """Return whether a text is a list, pair or dict that holds an id, as Python or JSON prints it."""
    if len(printed) < len(document_id) or not holds_a_list(printed):
        return False
    return f"'{document_id}'" in printed or f'"{document_id}"' in printed


def _holds_part(cell: str, document_id: str) -> bool:
    """Return whether a text is several ids in one, of which another id is one."""
    if ("," not in cell and ";" not in cell) or _THOUSANDS.fullmatch(cell):
        return False
    return document_id in _BETWEEN_IDS.split(cell)


def _find_kind_of_rest(rest: str) -> NearIdKind | None:
    """Return whether what follows the id of a document makes it that of a part."""
    if _URL_REST.match(rest):
        return "url_form"
    if _VERSION.match(rest):
        return "version"
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
    """Return what follows the prefix of an id, such as `7` in `doc_7` or `doc7`; None if it has none."""
    match = _PREFIX.match(document_id) or _LETTERS_BEFORE_NUMBER.match(document_id)
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
_LINE_END = ord("\n")
# Brackets are kept apart: an id may be in brackets, or a part follows one.
_BRACKETS = "<>[]()?"
_CLASS_BY_CHARACTER = {
    **dict.fromkeys("abcdefghijklmnopqrstuvwxyz", _LOWER_CASE),
    **dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", _UPPER_CASE),
    **dict.fromkeys("!$*=^", _MARK),
    **dict.fromkeys("123456789", b"9"),
    **dict.fromkeys("\n0" + _SEPARATORS + _BRACKETS),
}


def _make_byte_table(class_by_character: Mapping[str, bytes | None], default: bytes) -> bytes:
    """Return what each byte is translated to: the class of its character, itself, or the default."""
    table = bytearray(default * 256)
    for character, byte_class in class_by_character.items():
        table[ord(character)] = (byte_class or character.encode())[0]
    return bytes(table)


# Blanks, control characters, backslashes, percent signs and marks that one spelling may lack (entities, quotation
# marks, plus signs, commas, braces) are odd; line ends, zeros, separators and brackets stay.
_CLASSES = _make_byte_table(_CLASS_BY_CHARACTER, _ODD)
_DIGIT_CLASSES = _make_byte_table({**dict.fromkeys("123456789", b"9"), "0": None}, _MARK)
_SEPARATOR_CLASSES = _make_byte_table(dict.fromkeys("\n_" + _BRACKETS, None), b"-")
_ZEROS_AS_DIGITS = bytes.maketrans(b"0", b"9")
_ALL_BUT_SEPARATORS = _LOWER_CASE + _UPPER_CASE + _MARK + b"90"


def may_hold_near_ids(ids: Collection[str]) -> bool:
    """Return whether two different ids could be near misses: never wrong if it says no, and much cheaper than a search.

    Two ids without blanks and the like, whose letters are all of one case, are near misses only if one has more
    separators than the other, because a part or a path begins at one; or fewer zeros, which numbers of one width show;
    or where one begins with letters before a number, or ends in a version, or is too long a number for a float.

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
    line_ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == _LINE_END)
    lengths = np.diff(line_ends) - 1
    longest = int(lengths.max())
    if ((lengths >= _MIN_CUT_ID) & (lengths <= longest - _MIN_CUT_OFF)).any():
        return True
    if _holds_numbers_and_words(classes):
        return True
    # One character is found much faster than a pattern.
    if (b"v" in lines or b"V" in lines) and _VERSION_LINE.search(text):
        return True
    if longest >= _MIN_LONG_NUMBER and _LONG_NUMBER.search(text):
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


def _holds_numbers_and_words(classes: bytes) -> bool:
    """Return whether some ids begin with a digit and others with a letter."""
    has_number = b"\n9" in classes or b"\n0" in classes
    return has_number and (b"\n" + _LOWER_CASE in classes or b"\n" + _UPPER_CASE in classes)


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
    if not text.isascii():
        text = _strip_diacritics(_compose(_remove_invisible(_repair_encoding(text)))).casefold()
    text = text.lower()
    if "://" in text:
        for scheme in _SCHEMES:
            text = text.replace(scheme, "")
    if text.isascii():
        return text.encode("ascii").translate(None, _MARK_BYTES).decode("ascii")
    return _NO_WORD_CHARACTER.sub("", text)


def list_short_forms(reduced: str) -> list[str]:
    """Return what an id may be without its version, as one of several in one cell, or as the page of a folder."""
    short_forms = []
    if reduced.endswith("/"):
        short_forms.append(f"{reduced}index.html")
    page = _URL_REST.sub("", reduced)
    if page != reduced:
        short_forms += [page, f"{page}/"]
    version = _VERSION.search(reduced)
    if version is not None:
        short_forms.append(reduced[: version.start()])
    if "," in reduced or ";" in reduced:
        short_forms += _BETWEEN_IDS.split(reduced)
    return [short for short in short_forms if short.strip("/")]


def _list_number_forms(text: str) -> list[str]:
    """Return the forms under which a large number is looked up: what a float holds, and as a spreadsheet writes it."""
    lower = text.lower()
    if _SCIENTIFIC.fullmatch(lower):
        return [lower, _unify_number(text)]
    if _LONG_NUMBER.fullmatch(text) and text.isascii():
        rounded = [f"{float(text):.{n_decimals}e}" for n_decimals in range(_MAX_DECIMALS + 1)]
        return [f"{float(text)!r}", *rounded]
    return []


class NearIdIndex:
    """The ids of one ranking, among which near misses of other ids are found quickly."""

    __slots__ = ("_ids", "_letter_lines", "_lines", "_longest", "_position_by_id", "_position_by_number")

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = ids
        self._letter_lines: str | None = None
        self._position_by_number: dict[str, int] | None = None
        self._position_by_id: dict[str, int] | None = None
        self._longest = 0
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
                if follower in "\nv" or follower in _PART_BEGINNINGS:
                    yield self._id_at(position)
                position = lines.find(start + reduced, position + 1)
        stem = remove_extension(reduced)
        if stem:
            yield from self._find_stem(stem)
            for whole in list_wholes(stem):
                position = lines.find(f"\n{whole}{reduced[len(stem) :]}\n")
                if position >= 0:
                    yield self._id_at(position)
        for whole in [*list_wholes(reduced), *list_short_forms(reduced)]:
            position = lines.find(f"\n{whole}\n")
            if position >= 0:
                yield self._id_at(position)
        yield from self._find_quoted(reduced)
        yield from self._find_cut_off(judged_id, reduced)
        for candidate in self._find_by_letters(judged_id):
            if candidate != judged_id:
                yield candidate

    def _find_quoted(self, reduced: str) -> Iterator[str]:
        """Yield the ids that hold another one in quotation marks, as a printed pair does."""
        for mark in _QUOTATION_MARKS:
            position = self._lines.find(f"{mark}{reduced}{mark}")
            if position >= 0:
                yield self._id_at(self._lines.rindex("\n", 0, position))

    def _find_cut_off(self, judged_id: str, reduced: str) -> Iterator[str]:
        """Yield the ids that another one begins with, or that begin with it, without a separator."""
        if len(judged_id) < _MIN_CUT_ID:
            return
        if self._position_by_id is None:
            self._position_by_id = {document_id: position for position, document_id in enumerate(self._ids)}
            self._longest = max(map(len, self._ids), default=0)
        # A cut id is as long as any can be.
        if len(judged_id) > self._longest and judged_id[: self._longest] in self._position_by_id:
            yield judged_id[: self._longest]
        position = self._lines.find(f"\n{reduced}")
        n_found = 0
        while position >= 0 and n_found < MAX_SUFFIXES:
            if self._lines[position + 1 + len(reduced)].isalnum():
                yield self._id_at(position)
                n_found += 1
            position = self._lines.find(f"\n{reduced}", position + 1)

    def _find_stem(self, stem: str) -> Iterator[str]:
        """Yield the ids that begin with the stem of a file name, such as `d7.txt` and `d7-1.md` for `d7`."""
        lines = self._lines
        position = lines.find(f"\n{stem}")
        n_found = 0
        while position >= 0 and n_found < MAX_SUFFIXES:
            follower = lines[position + 1 + len(stem)]
            if follower == "v" or follower in _PART_BEGINNINGS:
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
        if judged_id[-1] in _CLOSING_MARKS:
            suffixes.append(_unquote_marks(judged_id))
        for suffix in suffixes:
            letters = "" if suffix is None else _keep_letters(suffix)
            if letters and letters not in searched:
                position = lines.find(f"\n{letters}\n")
                if position >= 0:
                    yield self._ids[lines.count("\n", 0, position)]
        yield from self._find_number(judged_id)

    def _find_number(self, judged_id: str) -> Iterator[str]:
        """Yield the ids that are the same number, as a spreadsheet writes a large one, or as a float holds it."""
        if self._position_by_number is None:
            self._position_by_number = {}
            if "e+" in self._lines or "e1" in self._lines or "e2" in self._lines or _LONG_NUMBER.search(self._lines):
                for position, text in enumerate(self._ids):
                    for number in _list_number_forms(text):
                        self._position_by_number[number] = position
        if not self._position_by_number:
            return
        numbers = [judged_id, *_list_number_forms(judged_id)]
        for number in numbers:
            position_of_number = self._position_by_number.get(number)
            if position_of_number is not None:
                yield self._ids[position_of_number]

    def _id_at(self, position: int) -> str:
        """Return the id in whose line a position is, or whose line begins after it."""
        n_line_ends = self._lines.count("\n", 0, position)
        if self._lines[position] == "\n":  # the line begins after it
            return self._ids[n_line_ends]
        return self._ids[n_line_ends - 1]

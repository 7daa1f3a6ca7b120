"""Find what to write so that ids which nearly match do match."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias
from unicodedata import name as name_character
from unicodedata import normalize

from retrieval_metrics._internal.patterns import lazy_pattern
from retrieval_metrics.evaluation.shared_file_names import is_file_name_shared
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.match_key import FILE_NAME, FILE_NAME_KEYS, name_path_match
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.matching.near_ids import find_query_prefix

if TYPE_CHECKING:
    from retrieval_metrics.evaluation.scores import Origin
    from retrieval_metrics.matching.near_ids import NearIdKind
    from retrieval_metrics.matching.near_misses import NearMiss

Side: TypeAlias = Literal["both", "judgments", "run"]


class IdChange(NamedTuple):
    """A change of ids after which they match.

    Attributes:
        side: Whose ids to change.
        expression: The Python expression that changes an id, called `id`; None if there is no simple one.
        match: The option that compares items so; None if there is none.
        is_read_as_number: Whether the ids were read as numbers, so that they have to be read as text.
        characters: The names of the characters to remove.
        is_by_text: Whether no change of ids helps, because the index was rebuilt, so that texts are to be judged.
        is_by_whole_path: Whether files share their names, so that whole paths are to be judged, under `match`.
    """

    side: Side = "both"
    expression: str | None = None
    match: str | None = None
    is_read_as_number: bool = False
    characters: tuple[str, ...] = ()
    is_by_text: bool = False
    is_by_whole_path: bool = False


_EXPRESSIONS: Mapping[NearIdKind, str] = {
    "blanks": "' '.join(id.split())",
    "case": "id.casefold()",
    "percent_encoding": "urllib.parse.unquote(id)",
    "slashes": r"id.replace('\\', '/')",
    "markup": "html.unescape(id)",
    "diacritics": "re.sub('[\\u0300-\\u036f]', '', unicodedata.normalize('NFD', id))",
    "uuid_form": "uuid.UUID(id).hex",
    "url_form": r"re.sub(r'^\w+://(www\.)?|/$', '', id)",
}


_BETWEEN_WORDS = lazy_pattern(r"[-_+\s]+")
_DIGITS = lazy_pattern(r"\d+")
# If an id names the page of a folder, or says where a link to it stands.
_LONG_URL_EXPRESSION = r"re.sub(r'^\w+://(www\.)?|/?(index\.html?)?(\?utm_.*)?$', '', id)"
# The number of a part.
_NUMBER = lazy_pattern(r"\d+(?=\D*$)")


# Kinds whose change leaves an id as it is if it lacks what is cut off.
_CUT_KINDS: frozenset[NearIdKind] = frozenset(
    {"path", "part", "numbered_part", "version", "prefix", "query_prefix", "truncated", "quotation_marks"}
)


def find_id_change(near_miss: NearMiss, origin: Origin | None) -> IdChange:
    """Return what to change in the ids of a near miss; without its origin, a run of ids is meant.

    Where other judged ids were found as they are, the retrieved ids may have the longer form as well, so both sides are
    changed rather than the judgments alone.
    """
    change = _find_change(near_miss, origin)
    if change.side != "judgments" or change.expression is None or near_miss.kind not in _CUT_KINDS:
        return change
    if origin is None or origin.match != "id" or not len(origin.judged.items.document):
        return change
    return change._replace(side="both")


def _find_change(near_miss: NearMiss, origin: Origin | None) -> IdChange:
    """Return what to change in the ids of one near miss."""
    if near_miss.kind == "same_text":
        return IdChange(is_by_text=True)
    if near_miss.kind == "file_extension":
        return _find_extension_change(near_miss.judged_id, near_miss.retrieved_id)
    if near_miss.kind in {"path", "part", "numbered_part", "version", "prefix"}:
        return _find_shorter_id(near_miss, origin)
    if near_miss.kind == "query_prefix":
        separator = find_query_prefix(near_miss.judged_id, near_miss.retrieved_id, near_miss.query)[-1]
        is_judged = len(near_miss.judged_id) > len(near_miss.retrieved_id)
        side: Side = "judgments" if is_judged else "run"
        return IdChange(side, f"id.removeprefix(f'{{query_id}}{separator}')")
    return find_spelling_change(near_miss.judged_id, near_miss.retrieved_id, near_miss.kind)


def find_spelling_change(judged_id: str, retrieved_id: str, kind: NearIdKind | None) -> IdChange:
    """Return what makes two spellings of an id equal."""
    match kind:
        case "leading_zeros" | "decimal_point" | "number_form":
            return IdChange(is_read_as_number=True)
        case "unicode_form":
            is_canonical = normalize("NFC", judged_id) == normalize("NFC", retrieved_id)
            form = "NFC" if is_canonical else "NFKC"
            return IdChange(expression=f"unicodedata.normalize({form!r}, id)")
        case "invisible_characters":
            different = sorted(set(judged_id) ^ set(retrieved_id))
            return IdChange(characters=tuple(map(_describe_character, different)))
        case "separators":
            return IdChange(expression=_find_separator_change(judged_id, retrieved_id))
        case "url_form" if "index.htm" in judged_id + retrieved_id or "?utm_" in judged_id + retrieved_id:
            return IdChange(expression=_LONG_URL_EXPRESSION)
        case "encoding":
            return _change_longer_id(judged_id, retrieved_id, "id.encode('cp1252').decode('utf-8')")
        case "truncated":
            return _change_longer_id(judged_id, retrieved_id, f"id[:{min(len(judged_id), len(retrieved_id))}]")
        case "printed" | "joined" | "quotation_marks":
            return _find_id_within(judged_id, retrieved_id, kind)
        case "file_extension":
            return _find_extension_change(judged_id, retrieved_id)
        case None:
            return IdChange()
        case _:
            return IdChange(expression=_EXPRESSIONS.get(kind))


def _find_extension_change(judged_id: str, retrieved_id: str) -> IdChange:
    """Return how both sides lose the file extensions; an id without one stays as it is."""
    short = min(judged_id, retrieved_id, key=len)
    long = max(judged_id, retrieved_id, key=len)
    if long.startswith(short):
        return IdChange(expression=f"id.removesuffix({long[len(short) :]!r})")
    extensions = sorted({judged_id.rpartition(".")[2], retrieved_id.rpartition(".")[2]})
    pattern = rf"\.({'|'.join(extensions)})$"
    return IdChange(expression=f"re.sub(r'{pattern}', '', id)")


def _change_longer_id(judged_id: str, retrieved_id: str, expression: str) -> IdChange:
    return IdChange("judgments" if len(judged_id) > len(retrieved_id) else "run", expression)


def _find_separator_change(judged_id: str, retrieved_id: str) -> str:
    """Return the simplest expression that unifies what stands between the words of two ids."""
    first, second = (id_.replace("_", " ").replace("+", " ") for id_ in (judged_id, retrieved_id))
    if first == second:
        return "id.replace('_', ' ').replace('+', ' ')"
    expression = r"re.sub(r'[-_+\s]+', ' ', id)"
    if _BETWEEN_WORDS.sub(" ", judged_id) == _BETWEEN_WORDS.sub(" ", retrieved_id):
        return expression
    return expression.replace("id)", r"re.sub(r'(?<=[^\W\d_])[-_+\s]+(?=\d)', '', id))")


def _find_id_within(judged_id: str, retrieved_id: str, kind: NearIdKind) -> IdChange:
    """Return how an id is taken out of what stands around it."""
    if kind == "printed":
        return _find_place_of_id(judged_id, retrieved_id)
    if kind == "quotation_marks":
        return _find_quoted_side(judged_id, retrieved_id)
    separator = "," if "," in judged_id else ";"
    return IdChange("judgments", f"id.split({separator!r})")


def _find_place_of_id(judged_id: str, retrieved_id: str) -> IdChange:
    """Return how the longer of two ids, a printed list, pair or dict, becomes the id that it holds."""
    side: Side = "judgments" if len(judged_id) > len(retrieved_id) else "run"
    short = min(judged_id, retrieved_id, key=len)
    value: Any = literal_eval(max(judged_id, retrieved_id, key=len))
    if isinstance(value, Mapping):
        for key, part in value.items():
            if part == short:
                return IdChange(side, f"ast.literal_eval(id)[{key!r}]")
        return IdChange(side)
    parts = list(value)
    if isinstance(value, (list, tuple)) and short in parts:
        return IdChange(side, f"ast.literal_eval(id)[{parts.index(short)}]")
    return IdChange(side)


def _find_quoted_side(judged_id: str, retrieved_id: str) -> IdChange:
    """Return how the longer of two ids loses the marks around it, and others stay as they are, if that is all."""
    side: Side = "judgments" if len(judged_id) > len(retrieved_id) else "run"
    long = max(judged_id, retrieved_id, key=len)
    short = min(judged_id, retrieved_id, key=len)
    opening, found, closing = long.partition(short)
    if not found or not opening or not closing:
        return IdChange()
    return IdChange(side, f"id.removeprefix({opening!r}).removesuffix({closing!r})")


def _describe_character(character: str) -> str:
    return f"U+{ord(character):04X} ({name_character(character, 'a control character')})"


def _find_shorter_id(near_miss: NearMiss, origin: Origin | None) -> IdChange:
    """Return how the shorter of two ids is cut out of the longer one."""
    if len(near_miss.retrieved_id) < len(near_miss.judged_id):
        if near_miss.kind == "path" and origin is not None and is_file_name_shared(origin):
            # The paths of the judgments tell these files apart, and their names do not.
            if origin.match == FILE_NAME:
                return IdChange("judgments", match=_find_path_match(origin), is_by_whole_path=True)
            return IdChange("run")
        expression = _cut_out(near_miss.judged_id, near_miss.retrieved_id)
        return IdChange("judgments", expression)
    expression = _cut_out(near_miss.retrieved_id, near_miss.judged_id)
    item = None if origin is None else _find_first_item(origin)
    if origin is None or item is None:
        return IdChange("run", expression)
    is_file_name = near_miss.kind == "path" and "/" not in near_miss.judged_id
    if is_file_name and origin.match in ("source", *(f"metadata:{name}" for name in FILE_NAME_KEYS)):
        return IdChange("run", expression, FILE_NAME)
    if near_miss.kind != "path" and origin.match == "id" and item.source is not None:
        return IdChange("run", expression, "source")
    return IdChange("run", expression)


def _cut_out(long: str, short: str) -> str | None:
    """Return the expression that makes the longer id the shorter one; None if no simple one does.

    It leaves an id that lacks what is cut off as it is, because often only some ids have it.
    """
    if long.endswith(short):
        prefix = long.removesuffix(short)
        if prefix.endswith("/") and "/" not in short:
            return "id.rpartition('/')[2]"
        return f"id.removeprefix({prefix!r})"
    if long.startswith(short):
        rest = long[len(short) :]
        if rest.startswith(("#", "::")):
            return cut_at("id", long, "::" if rest.startswith("::") else "#", short)
        return _remove_number(rest, "$")
    extension_start = short.rfind(".")
    extension = short[extension_start:]
    if extension_start > 0 and long.endswith(extension) and long.startswith(short[:extension_start]):
        rest = long[extension_start : len(long) - len(extension)]
        return _remove_number(rest, f"(?={re.escape(extension)}$)")
    return None


def cut_at(name: str, long: str, separator: str, short: str) -> str | None:
    """Return the expression that cuts an id off at a separator, and leaves an id without it as it is.

    Args:
        name: The expression of the id.
        long: An id that holds the separator.
        separator: The separator.
        short: What is to remain.
    """
    # A hyphen or an underscore often stands in a name as well, so the last one counts.
    if separator not in "-_" and long.partition(separator)[0] == short:
        return f"{name}.partition({separator!r})[0]"
    if separator in long and long.rsplit(separator, 1)[0] == short:
        return f"{name}.rsplit({separator!r}, 1)[0]"
    if long.partition(separator)[0] == short:
        return f"{name}.partition({separator!r})[0]"
    return None


def _remove_number(rest: str, end: str) -> str | None:
    """Return the expression that removes the number of a part and what stands around it; None if there is none."""
    match = _NUMBER.search(rest)
    if match is None:
        return None
    before = re.escape(rest[: match.start()]).replace(r"\ ", " ").replace(r"\-", "-")
    before = _DIGITS.sub(lambda _: r"\d+", before)  # they differ from part to part
    after = re.escape(rest[match.end() :])
    pattern = rf"{before}\d+{after}{end}"
    return f"re.sub(r{pattern!r}, '', id)".replace("\\\\", "\\")


def _find_path_match(origin: Origin) -> str:
    """Return the option that compares whole paths of the items."""
    item = _find_first_item(origin)
    return "source" if item is None else name_path_match(item)


def _find_first_item(origin: Origin) -> Retrieved | None:
    """Return the first retrieved item; None if the run holds ids."""
    if isinstance(origin.run, Run):
        return None
    for ranking in origin.run.values():
        if isinstance(ranking, Mapping):
            return None
        first: Any = next(iter(ranking), None)
        if first is not None:
            return first if isinstance(first, Retrieved) else None
    return None

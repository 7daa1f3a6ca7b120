"""Check that what is judged is among the documents, because a mistyped name is never found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.inputs.documents import DOCUMENTS_REQUIREMENT, documents_as_items
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.match_key import FILE_NAME, get_file_path, get_match_key, name_path_match
from retrieval_metrics.inputs.pieces import Quote, Span
from retrieval_metrics.matching.near_ids import NearIdIndex, find_near_kind
from retrieval_metrics.matching.text_normalisation import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.matching_options import Matching

# How many missing names, and characters of a missing quote, an error shows.
MAX_SHOWN_NAMES = 3
MAX_SHOWN_CHARACTERS = 60


def require_judged_names(qrels: Qrels, documents: Any, match: str | Key | Matching) -> None:
    """Raise if something judged is not among the documents that the caller passed.

    Judged ids are looked for under `match`. Where it is `"id"`, they may be ids of chunks, so they are looked for only
    if some are names of documents. Sources of spans and texts of quotes are looked for whatever `match` is; of
    alternatives, one suffices. Judgments of grade 0 are not looked for.

    Args:
        qrels: The judgments.
        documents: Texts by name, or documents, in a list.
        match: What judged ids are compared with.

    Raises:
        ValueError: If a name, a source or a quote is missing, or two documents have a judged file name.
    """
    items = _list_items(documents)
    is_judged = qrels.document_grade != 0
    judged = [document for document, counts in zip(qrels.documents, is_judged.tolist(), strict=True) if counts]
    by = getattr(match, "by", match)
    names = _list_names(items, match)
    judged_ids = dict.fromkeys(document for document in judged if isinstance(document, str))
    known_names = {name for name in names if name is not None}
    if by == FILE_NAME:
        _require_unique_names(judged_ids, names, items)
    if by != "id" or known_names & judged_ids.keys():
        _require_known(judged_ids, known_names, "ID" if by == "id" else "name")
    sources = {item.source if item.source is not None else str(item.id) for item in items}
    spans_and_quotes = _list_lonely_pieces(qrels)
    judged_sources = dict.fromkeys(piece.source for piece in spans_and_quotes if isinstance(piece, Span))
    _require_known(judged_sources, sources, "span source")
    quotes = dict.fromkeys(piece.text for piece in spans_and_quotes if isinstance(piece, Quote))
    _require_quotes(quotes, items)


def _list_items(documents: Any) -> list[Retrieved]:
    if isinstance(documents, Mapping):
        return [Retrieved(name, text, source=name) for name, text in documents.items()]
    return documents_as_items(documents, DOCUMENTS_REQUIREMENT)


def _list_names(items: Sequence[Retrieved], match: str | Key | Matching) -> list[Any]:
    """Return what judged ids are compared with in each document; a document without a source is named by its id."""
    key = get_match_key(match)
    names = []
    for item in items:
        name = key(item)
        if name is None and item.source is None and item.id is not None:
            name = key(Retrieved(item.id, source=str(item.id)))
        names.append(name)
    return names


def _list_lonely_pieces(qrels: Qrels) -> list[Any]:
    """Return the relevant and forbidden pieces that are alone in their group, so that nothing stands in for them."""
    if not qrels.has_pieces:
        return []
    group_sizes = np.bincount(qrels.member_group)
    is_alone = (group_sizes[qrels.member_group] == 1) & (qrels.member_grade != 0)
    positions = np.unique(qrels.member_document[is_alone])
    return [qrels.documents[position] for position in positions.tolist()]


def _require_known(judged: Iterable[str], known: set[Any], kind: str) -> None:
    """Raise if a judged name is not known, unless no name is known at all."""
    missing = [name for name in judged if name not in known]
    if not missing or not known:
        return
    subject = f"1 judged {kind} is" if len(missing) == 1 else f"{len(missing)} judged {kind}s are"
    raise ValueError(f"{subject} not among the documents: {_format_missing(missing, known)}")


def find_nearest_name(name: Any, known: Iterable[Any]) -> str | None:
    """Return the known name that is another spelling of a name, or else looks most like it; None if none does.

    Example:
        >>> find_nearest_name("db", ["backup.md", "db.md"]), find_nearest_name("lapptop.md", ["db.md", "laptop.md"])
        ('db.md', 'laptop.md')
    """
    from difflib import get_close_matches  # here because only a name that is not found needs it

    if not isinstance(name, str) or not name.strip():
        return None
    names = sorted(other for other in known if isinstance(other, str) and other.strip())
    for candidate in NearIdIndex(names).find(name):
        if find_near_kind(name, candidate) is not None:
            return candidate
    close = get_close_matches(name, names, n=1)
    return close[0] if close else None


def _format_missing(missing: Sequence[str], known: set[Any]) -> str:
    shown = []
    for name in missing[:MAX_SHOWN_NAMES]:
        nearest = find_nearest_name(name, known)
        shown.append(repr(name) if nearest is None else f"{name!r} (did you mean {nearest!r}?)")
    if len(missing) > MAX_SHOWN_NAMES:
        shown.append(f"{len(missing) - MAX_SHOWN_NAMES} more")
    return ", ".join(shown)


def _require_unique_names(judged: Mapping[str, None], names: Sequence[Any], items: Sequence[Retrieved]) -> None:
    """Raise if two documents in different folders have a judged file name."""
    path_by_name: dict[Any, str | None] = {}
    for name, item in zip(names, items, strict=True):
        if name not in judged:
            continue
        path = get_file_path(item)  # pages of a file share it
        first_path = path_by_name.setdefault(name, path)
        if first_path != path:
            raise ValueError(
                f"two documents are named {name!r}: {first_path!r} and {path!r}; judge by full path, with "
                f"match={name_path_match(item)!r}"
            )


def _require_quotes(quotes: Iterable[str], items: Sequence[Retrieved]) -> None:
    quotes = list(quotes)
    if not quotes:
        return
    texts = [normalise(item.text or "") for item in items]
    missing = []
    for quote in quotes:
        normal_quote = normalise(quote)
        if not any(normal_quote in text for text in texts):
            missing.append(quote)
    if missing:
        first = missing[0]
        shown = first if len(first) <= MAX_SHOWN_CHARACTERS else first[:MAX_SHOWN_CHARACTERS] + "..."
        subject = "1 judged quote is" if len(missing) == 1 else f"{len(missing)} judged quotes are"
        raise ValueError(f"{subject} in none of the documents, such as {shown!r}")

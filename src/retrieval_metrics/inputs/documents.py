"""The texts of sources, from whatever holds them: a mapping, items, or documents of a framework."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import argument
from retrieval_metrics.inputs.hosts import host_of
from retrieval_metrics.inputs.retrieved import Retrieved

if TYPE_CHECKING:
    from collections.abc import Collection

WANTED = (
    "documents must be texts by the name of their source, as in {'guide.md': text}, or a list of documents of a "
    "framework or of Retrieved(id, text=..., source=...)"
)
BEGINNING = 30
"""How many characters of a document without an id an error shows."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources that questions were made from.

    Attributes:
        texts: The text of each source; empty if only the digests were kept.
        digests: The digest of each text, by which a changed source is recognised.
    """

    texts: Mapping[str, str] = field(repr=False)
    digests: Mapping[str, str]

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> Sources:
        """Return texts with their digests."""
        return cls(texts, {name: digest_of(text) for name, text in texts.items()})

    def changed(self, texts: Mapping[str, str]) -> list[str]:
        """Return the names of sources whose text is another one now, sorted."""
        return sorted(
            name for name, digest in self.digests.items() if name in texts and digest_of(texts[name]) != digest
        )


def source_texts(documents: Any, judged: Collection[str] = ()) -> dict[str, str]:
    """Return the text of each source by its name in spans and in retrieved items.

    A document is named by its source, as its chunks are, and else by its id.

    Args:
        documents: Texts by name; or whole documents: `Retrieved` with texts, or those of an installed host.
        judged: The sources of judged spans. Other documents may share a name, and are then left out.

    Raises:
        TypeError: If they are anything else.
        ValueError: If two different documents have the name of a judged source, or none has such a name.

    Example:
        >>> source_texts([Retrieved("doc7", "Keys are hashed.", source="keys.md")])
        {'keys.md': 'Keys are hashed.'}
    """
    if isinstance(documents, Mapping):
        stray = next((name for name, text in documents.items() if not isinstance(text, str)), None)
        if stray is not None:
            raise TypeError(f"documents must map the name of each source to its text, got {documents[stray]!r}")
        texts = dict(documents)
    elif isinstance(documents, (str, bytes)) or not isinstance(documents, Iterable):
        raise TypeError(f"{WANTED}, got {type(documents).__name__}")
    else:
        texts = _named(as_items(documents, WANTED), set(judged))
    if judged and not set(judged) & texts.keys():
        raise ValueError(
            f"{argument('documents')} has no text of {min(judged)!r}, nor of any other source of the judged spans; it "
            f"has {', '.join(map(repr, list(texts)[:3])) or 'none'}"
        )
    return texts


def as_items(documents: Iterable[Any], wanted: str) -> list[Retrieved]:
    """Return documents, of an installed host or of the core, as items of the core.

    Args:
        documents: The documents.
        wanted: What is expected, for the message.

    Raises:
        TypeError: If one is neither.
    """
    items: list[Retrieved] = []
    for one in documents:
        host = None if isinstance(one, Retrieved) else host_of(one)
        if isinstance(one, Retrieved):
            items.append(one)
        elif host is not None and host.documents is not None:
            items.extend(host.documents([one]))
        else:
            raise TypeError(f"{wanted}; the list holds {one!r:.80}")
    return items


def _named(items: list[Retrieved], judged: set[str]) -> dict[str, str]:
    first: dict[str, Retrieved] = {}
    shared: set[str] = set()
    for item in items:
        if item.text is None:
            raise TypeError(f"document {item.id!r} has no text")
        if item.start:
            raise ValueError(
                f"document {item.id!r} begins at {item.start} of {item.source!r}, so it is a chunk; pass the documents "
                "that the chunks were cut from"
            )
        name = str(item.id) if item.source is None else item.source
        other = first.setdefault(name, item)
        if other.text != item.text:
            if name in judged:
                raise ValueError(
                    f"two documents, {_named_alone(other)} and {_named_alone(item)}, are both named {name!r}, as "
                    "the pages of one file are, so a span of it could be in either; give each its own source, such as "
                    "its doc_id, in spans, chunks and documents"
                )
            shared.add(name)
    return {name: item.text for name, item in first.items() if item.text is not None and name not in shared}


def _named_alone(item: Retrieved) -> str:
    """Return how to tell a document from another of its source: its id, or how it begins."""
    return repr(item.id) if item.id is not None else f"one that begins with {(item.text or '')[:BEGINNING]!r}"


def digest_of(text: str) -> str:
    r"""Return the digest by which a changed source is recognised; "\r\n" and "\n" are one newline."""
    from hashlib import sha256  # noqa: PLC0415  (only sets that keep their sources need it)

    return sha256(text.replace("\r\n", "\n").encode("utf-8", "surrogatepass")).hexdigest()

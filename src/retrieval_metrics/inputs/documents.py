"""Read the documents that questions were made from: the text of each source by its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from retrieval_metrics.inputs.items import Retrieved

if TYPE_CHECKING:
    from collections.abc import Collection

    # Texts by the names of their sources, or whole documents: `Retrieved` with texts, or those of an installed host.
    Documents: TypeAlias = Mapping[str, str] | Iterable[object]


DOCUMENTS_REQUIREMENT = (
    "documents must be texts by the name of their source, as in {'guide.md': text}, or a list of documents of a "
    "framework or of Retrieved(id, text=..., source=...)"
)
# How many characters of a document without an id an error shows.
MAX_SHOWN_CHARACTERS = 30
# How many names of documents an error lists.
MAX_SHOWN_NAMES = 3


@dataclass(frozen=True, slots=True)
class SourceDocuments:
    """The sources that questions were made from.

    Attributes:
        texts: The text of each source; empty if only the digests were kept.
        digests: The digest of each text, by which a changed source is recognised.
    """

    texts: Mapping[str, str] = field(repr=False)
    digests: Mapping[str, str]

    @classmethod
    def from_documents(cls, texts: Mapping[str, str]) -> SourceDocuments:
        """Return texts with their digests."""
        return cls(texts, {name: digest_text(text) for name, text in texts.items()})

    def find_changed(self, texts: Mapping[str, str]) -> list[str]:
        """Return the names of the sources whose text in `texts` has another digest, sorted."""
        changed = []
        for name, digest in self.digests.items():
            if name in texts and digest_text(texts[name]) != digest:
                changed.append(name)
        return sorted(changed)


def source_text_by_name(documents: Documents, judged: Collection[str] = ()) -> dict[str, str]:
    """Return the text of each source by its name in spans and in retrieved items.

    A document is named by its source, as its chunks are, and else by its id.

    Args:
        documents: Texts by name; or whole documents: `Retrieved` with texts, or those of an installed host.
        judged: The sources of judged spans. Several documents may share any other name; they are then left out.

    Raises:
        TypeError: If they are anything else.
        ValueError: If two different documents have the name of a judged source, or none has such a name.

    Example:
        >>> source_text_by_name([Retrieved("doc7", "Keys are hashed.", source="keys.md")])
        {'keys.md': 'Keys are hashed.'}
    """
    if isinstance(documents, Mapping):
        for text in documents.values():
            if not isinstance(text, str):
                raise TypeError(f"documents must map the name of each source to its text, got {text!r}")
        texts = dict(documents)
    elif isinstance(documents, (str, bytes)) or not isinstance(documents, Iterable):
        raise TypeError(f"{DOCUMENTS_REQUIREMENT}, got {type(documents).__name__}")
    else:
        texts = _name_texts(documents_as_items(documents, DOCUMENTS_REQUIREMENT), set(judged))
    if judged and not set(judged) & texts.keys():
        first_names = list(texts)[:MAX_SHOWN_NAMES]
        raise ValueError(
            f"documents= has no text of {min(judged)!r}, nor of any other source of the judged spans; it "
            f"has {', '.join(map(repr, first_names)) or 'none'}"
        )
    return texts


def keep_for_rereading(documents: Documents | None) -> Documents | None:
    """Return documents so that they can be read several times: a generator as a list, all others as they are.

    What cannot be iterated over is returned as well; `source_text_by_name` refuses it by name.
    """
    if isinstance(documents, (Mapping, str, bytes)) or not isinstance(documents, Iterable):
        return documents
    return list(documents)


def documents_as_items(documents: Iterable[Any], requirement: str) -> list[Retrieved]:
    """Return documents, of an installed host or of the core, as items of the core."""
    # Imported here because few evaluations are given documents.
    from retrieval_metrics.inputs.hosts import find_host

    items: list[Retrieved] = []
    for document in documents:
        if isinstance(document, Retrieved):
            items.append(document)
            continue
        host = find_host(document)
        if host is None or host.documents is None:
            raise TypeError(f"{requirement}; the list holds {document!r:.80}")
        items.extend(host.documents([document]))
    return items


def _name_texts(documents: list[Retrieved], judged: set[str]) -> dict[str, str]:
    """Return the text of each document by its name, without the names that several share."""
    first_by_name: dict[str, Retrieved] = {}
    shared_names: set[str] = set()
    for document in documents:
        if document.text is None:
            raise TypeError(f"document {document.id!r} has no text")
        if document.start:
            raise ValueError(
                f"document {document.id!r} begins at {document.start} of {document.source!r}, so it is a chunk; pass "
                "the documents that the chunks were cut from"
            )
        name = str(document.id) if document.source is None else document.source
        first = first_by_name.setdefault(name, document)
        if first.text != document.text:
            if name in judged:
                raise ValueError(
                    f"two documents, {_describe(first)} and {_describe(document)}, are both named {name!r}, as "
                    "the pages of one file are, so a span of it could be in either; give each its own source, such as "
                    "its doc_id, in spans, chunks and documents"
                )
            shared_names.add(name)
    texts = {}
    for name, document in first_by_name.items():
        if document.text is not None and name not in shared_names:
            texts[name] = document.text
    return texts


def _describe(document: Retrieved) -> str:
    """Return the name of a document in an error message: its id, or how its text begins."""
    if document.id is not None:
        return repr(document.id)
    return f"one that begins with {(document.text or '')[:MAX_SHOWN_CHARACTERS]!r}"


def digest_text(text: str) -> str:
    r"""Return the digest by which a changed source is recognised; "\r\n" and "\n" give the same digest."""
    from hashlib import sha256

    return sha256(text.replace("\r\n", "\n").encode("utf-8", "surrogatepass")).hexdigest()

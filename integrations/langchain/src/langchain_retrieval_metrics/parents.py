"""Find out which chunks a ParentDocumentRetriever or MultiVectorRetriever answers with their parent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from langchain_retrieval_metrics.documents import as_retrieved

if TYPE_CHECKING:
    from collections.abc import Callable

    from langchain_core.runnables import Runnable

# What such a retriever has: a store of chunks, one of parents, and the key of the metadata that holds the parent's id.
CHUNK_STORE = "vectorstore"
PARENT_STORE = "docstore"
PARENT_KEY = "id_key"


class ParentRecorder:
    """Asks a copy of a retriever of parents one question, and records the chunks behind each parent.

    The retriever and its stores are not changed: its copy has stores that pass every call on.

    Attributes:
        retriever: The retriever to ask.
    """

    def __init__(self, retriever: Runnable[Any, Any]) -> None:
        self.retriever = retriever
        self._parent_key: str | None = None
        self._chunks: list[Document] = []
        self._parents: list[tuple[Any, Any]] = []
        if not _answers_with_parents(retriever):
            return
        self._parent_key = getattr(retriever, PARENT_KEY)
        stores = {
            CHUNK_STORE: _PassOn(getattr(retriever, CHUNK_STORE), "search", self._record_chunks),
            PARENT_STORE: _PassOn(getattr(retriever, PARENT_STORE), "mget", self._record_parents),
        }
        self.retriever = retriever.model_copy(update=stores)

    def _record_chunks(self, _: tuple[Any, ...], found: Any) -> None:
        for entry in found:
            chunk = entry[0] if isinstance(entry, tuple) else entry  # some searches return scores as well
            if isinstance(chunk, Document):
                self._chunks.append(chunk)

    def _record_parents(self, arguments: tuple[Any, ...], parents: Any) -> None:
        (keys,) = arguments
        self._parents += zip(keys, parents, strict=True)

    def add_chunks(self, answer: object) -> object:
        """Return an answer as items that say which chunks they contain; anything but parents as it is."""
        if self._parent_key is None or not isinstance(answer, list) or not self._parents:
            return answer
        ids_by_parent: dict[Any, list[str]] = {}
        for chunk in self._chunks:
            if chunk.id is not None:
                ids_by_parent.setdefault(chunk.metadata.get(self._parent_key), []).append(chunk.id)
        items = []
        for document in answer:
            item = as_retrieved(document)
            for key, parent in self._parents:
                if parent is document and key in ids_by_parent:
                    chunk_ids = tuple(dict.fromkeys(ids_by_parent[key]))
                    item = replace(item, contains=chunk_ids)
            items.append(item)
        return items


def _answers_with_parents(retriever: object) -> TypeGuard[BaseRetriever]:
    has_stores = all(hasattr(retriever, name) for name in (CHUNK_STORE, PARENT_STORE, PARENT_KEY))
    return has_stores and isinstance(retriever, BaseRetriever)


class _PassOn:
    """A store that passes every call on, and hands the results of some to a recorder."""

    def __init__(self, store: Any, recorded_name: str, record: Callable[[tuple[Any, ...], Any], None]) -> None:
        self._store = store
        self._recorded_name = recorded_name
        self._record = record

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._store, name)
        if self._recorded_name not in name or not callable(attribute):
            return attribute
        # The asynchronous methods of stores have the names of the synchronous ones with an "a" before them.
        is_asynchronous = name.startswith("a")

        def call(*arguments: Any, **options: Any) -> Any:
            result = attribute(*arguments, **options)
            self._record(arguments, result)
            return result

        async def acall(*arguments: Any, **options: Any) -> Any:
            result = await attribute(*arguments, **options)
            self._record(arguments, result)
            return result

        return acall if is_asynchronous else call

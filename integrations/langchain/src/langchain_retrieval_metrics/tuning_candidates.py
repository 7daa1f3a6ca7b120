"""Ask a retriever for the candidates of each question once, and select from them by any setting of MMR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from langchain_retrieval_metrics.documents import convert_items
from retrieval_metrics import mmr
from retrieval_metrics.integration_api import RetrieverFunctions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.documents import Document
    from langchain_core.runnables import RunnableConfig

    from langchain_retrieval_metrics.retriever import MMRRetriever
    from langchain_retrieval_metrics.vectors import Vector
    from retrieval_metrics import Retrieved


class Setting(NamedTuple):
    """A setting that was tried; a `fetch_k` of None takes all documents."""

    lambda_mult: float
    fetch_k: int | None

    def __str__(self) -> str:
        n_candidates = "all" if self.fetch_k is None else self.fetch_k
        return f"lambda {self.lambda_mult:g} ({n_candidates} candidates)"


@dataclass(frozen=True, slots=True)
class _Candidates:
    """The candidates of one question, with all that MMR needs to choose among them."""

    documents: list[Document]
    items: list[Retrieved]
    vectors: Vector
    query_vector: Vector | None


@dataclass(frozen=True, slots=True)
class _CandidateKey:
    """Candidates are kept by question and by how many were asked for."""

    text: str
    fetch_k: int | None


class CandidateSource:
    """Asks a retriever for the candidates of each question, and keeps them for every setting."""

    def __init__(self, retriever: MMRRetriever, settings: Sequence[Setting], config: RunnableConfig | None) -> None:
        """Take the retriever, the settings that will be tried, and LangChain's config for its calls."""
        self._retriever = retriever
        self._config = config
        self._requested_sizes = _find_requested_sizes(retriever, settings)
        self._candidates: dict[_CandidateKey, _Candidates] = {}

    @property
    def functions(self) -> RetrieverFunctions:
        """How a question is asked; the candidates of every size are kept, those of the largest returned."""
        return RetrieverFunctions(self._ask, self._aask)

    def _ask(self, text: str) -> list[Document]:
        documents: list[Document] = []
        for fetch_k in self._requested_sizes:
            documents = self._retriever.candidates(text, fetch_k, self._config)
            if documents:
                vectors, query_vector = self._retriever.find_vectors(documents, text)
                self._keep_candidates(text, fetch_k, documents, vectors, query_vector)
        return documents

    async def _aask(self, text: str) -> list[Document]:
        documents: list[Document] = []
        for fetch_k in self._requested_sizes:
            documents = await self._retriever.acandidates(text, fetch_k, self._config)
            if documents:
                vectors, query_vector = await self._retriever.afind_vectors(documents, text)
                self._keep_candidates(text, fetch_k, documents, vectors, query_vector)
        return documents

    def _keep_candidates(
        self,
        text: str,
        fetch_k: int | None,
        documents: list[Document],
        vectors: Vector,
        query_vector: Vector | None,
    ) -> None:
        items = convert_items(documents)
        self._candidates[_CandidateKey(text, fetch_k)] = _Candidates(documents, items, vectors, query_vector)

    @property
    def largest_count(self) -> int:
        """The largest number of candidates of a question."""
        return max((len(candidates.items) for candidates in self._candidates.values()), default=0)

    def select(self, text: str, setting: Setting) -> list[Retrieved]:
        """Return what MMR with a setting selects for a question."""
        max_documents = None
        size = setting.fetch_k
        if size not in self._requested_sizes:
            # The first candidates of the largest search are those of a smaller one.
            max_documents = size
            size = self._requested_sizes[-1]
        candidates = self._candidates.get(_CandidateKey(text, size))
        if candidates is None:
            return []
        selection = mmr(
            candidates.query_vector,
            candidates.vectors[:max_documents],
            k=self._retriever.k,
            lambda_mult=setting.lambda_mult,
            relevance=self._retriever.read_relevance(candidates.documents[:max_documents]),
        )
        return [candidates.items[index] for index in selection]

    def select_first(self, text: str) -> list[Retrieved]:
        """Return what the base retriever ranks first for a question, as many as MMR selects."""
        candidates = self._candidates.get(_CandidateKey(text, self._requested_sizes[-1]))
        if candidates is None:
            return []
        return candidates.items[: self._retriever.k]


def _find_requested_sizes(retriever: MMRRetriever, settings: Sequence[Setting]) -> list[int | None]:
    """Return the numbers of candidates to ask for, ascending; None alone asks for all of them."""
    sizes = sorted({setting.fetch_k for setting in settings if setting.fetch_k is not None})
    if not sizes:
        return [None]
    # What a search for fewer would find need not be the first of a search for more; a list only has to be cut.
    if retriever.passes_fetch_k(sizes[-1]):
        return [*sizes]
    return [sizes[-1]]

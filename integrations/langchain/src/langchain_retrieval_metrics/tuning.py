"""Choose lambda and fetch_k of an MMRRetriever on your questions, or learn that MMR does not help."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_retrieval_metrics.evaluating import choose_n_workers
from langchain_retrieval_metrics.host import convert_items
from langchain_retrieval_metrics.retriever import MMRRetriever
from retrieval_metrics import RetrievalWarning, RetrievedRun, aretrieve, mmr, retrieve, tune
from retrieval_metrics.integration_api import EvaluationTask, RetrieverFunctions
from retrieval_metrics.integration_api.async_support import (
    WORKERS,
    forward_arguments,
    positive_integer,
    takes_arguments_of,
)
from retrieval_metrics.types import Tuning

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from langchain_core.documents import Document
    from langchain_core.runnables import RunnableConfig

    from langchain_retrieval_metrics.evaluating import Retriever
    from langchain_retrieval_metrics.vectors import Vector
    from retrieval_metrics import Evaluation, Retrieved, Rules
    from retrieval_metrics.types import ClustersBy, MatchBy

LAMBDAS = tuple(step / 10 for step in range(11))
BASE = "as retrieved"
"""The name of the base retriever's own order among the settings."""


class Setting(NamedTuple):
    """A setting that was tried; a `fetch_k` of None takes all documents."""

    lambda_mult: float
    fetch_k: int | None

    def __str__(self) -> str:
        return f"lambda {self.lambda_mult:g} of {'all' if self.fetch_k is None else self.fetch_k} candidates"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MMRTuning(Tuning):
    """The core's `Tuning` of MMR settings, with the retriever that follows from it.

    The default is `"as retrieved"`, the order of the base retriever.

    Attributes:
        best: The setting to switch to; None if the conclusion is to keep the base retriever.
        retriever: The MMRRetriever with that setting, or None. `better` says whether the questions show that it is
            better; otherwise switching is right on average, and may not be here.
    """

    best: Setting | None
    retriever: MMRRetriever | None


class _Candidates(NamedTuple):
    documents: list[Document]
    items: list[Retrieved]
    vectors: Vector
    of_query: Vector | None


class _Tuning:
    """The settings to try, checked before anything is asked."""

    def __init__(
        self,
        retriever: Retriever,
        questions: Any,
        *,
        lambdas: Iterable[float] = LAMBDAS,
        fetch_ks: Iterable[int] | None = None,
        metric: str | None = None,
        match: MatchBy = "id",
        rules: str | Rules = "standard",
        clusters: ClustersBy = "source",
        max_concurrency: int = WORKERS,
        timeout: float | None = None,
        retries: int = 0,
        show_progress: bool = False,
        config: RunnableConfig | None = None,
        documents: Any = None,
        **settings: Any,
    ) -> None:
        if not isinstance(retriever, MMRRetriever):
            given: Any = retriever
            retriever = MMRRetriever(base_retriever=given, **settings)
        elif settings:
            raise TypeError(f"the retriever is an MMRRetriever and has its own {', '.join(settings)}; set them on it")
        self._retriever: MMRRetriever = retriever
        self._metric = f"recall@{retriever.k}" if metric is None else metric
        weights = list(dict.fromkeys(lambdas))
        for weight in weights:
            mmr(None, [[1.0]], relevance=[1.0], lambda_mult=weight)  # refuses what is not a lambda
        if all(weight == 1 for weight in weights):
            raise ValueError("there is no lambda below 1 to try; pass for example lambdas=[0.3, 0.5, 0.7]")
        sizes: list[int | None] = [retriever.fetch_k]
        if fetch_ks is not None:
            sizes = [positive_integer(each, "fetch_k") for each in dict.fromkeys(fetch_ks)]
        if not sizes:
            raise ValueError("there is no fetch_k to try; pass for example fetch_ks=[20, 50]")
        if any(size is not None and size < retriever.k for size in sizes):
            raise ValueError(f"fetch_k={min(filter(None, sizes))} is less than the retriever's k={retriever.k}")
        tried = [Setting(weight, size) for size in sizes for weight in weights]
        if fetch_ks is None or retriever.fetch_k is not None:
            tried.append(Setting(retriever.lambda_mult, retriever.fetch_k))
        self._settings = {str(setting): setting for setting in tried}
        self._asked = EvaluationTask(
            questions, self._metric, match, rules=rules, clusters=clusters, documents=documents
        )
        self._config = config
        self.asking = self._asked.retrieve_arguments | {
            "convert": convert_items,
            "workers": choose_n_workers(max_concurrency, config),
            "timeout": timeout,
            "retries": retries,
            "show_progress": show_progress,
        }
        self.ways = RetrieverFunctions(self._ask, self._aask)
        wanted = sorted({setting.fetch_k for setting in tried}, key=lambda size: size or 0)
        # What a search for fewer would find need not be the first of a search for more; a list only has to be cut.
        self._asks = wanted if self._retriever.is_told(wanted[-1]) else wanted[-1:]
        self._found: dict[tuple[str, int | None], _Candidates] = {}

    def _ask(self, text: str) -> list[Document]:
        """Ask a question, and keep the candidates of every size with their vectors; return those of the largest."""
        documents: list[Document] = []
        for size in self._asks:
            documents = self._retriever.candidates(text, size, self._config)
            if documents:
                vectors = self._retriever._vectors(documents, text)  # noqa: SLF001  (same package)
                self._found[text, size] = _Candidates(documents, convert_items(documents), *vectors)
        return documents

    async def _aask(self, text: str) -> list[Document]:
        documents: list[Document] = []
        for size in self._asks:
            documents = await self._retriever.acandidates(text, size, self._config)
            if documents:
                vectors = await self._retriever._avectors(documents, text)  # noqa: SLF001  (as above)
                self._found[text, size] = _Candidates(documents, convert_items(documents), *vectors)
        return documents

    def result(self, run: RetrievedRun) -> MMRTuning:
        """Choose among the settings."""
        evaluations: dict[str, Evaluation] = {}
        with warnings.catch_warnings():
            for name, setting in [(BASE, None), *self._settings.items()]:
                evaluations[name] = self._asked.evaluation(self._run(run, setting))
                warnings.simplefilter("ignore", RetrievalWarning)  # of the same failures, once is enough
            few = self._without_choice(evaluations)
            parameters = {name: setting._asdict() for name, setting in self._settings.items()}
            chosen = tune(evaluations, metric=self._metric, default=BASE, parameters=parameters)
        if few:
            warnings.warn(few, RetrievalWarning, stacklevel=2)
        known = {one.name: getattr(chosen, one.name) for one in fields(chosen)}
        switch = chosen.winner != BASE and (chosen.is_significant or chosen.expected_gain > 0)
        best = self._settings[chosen.winner] if switch else None
        retriever = None if best is None else self._retriever.model_copy(update=best._asdict())
        return MMRTuning(**known, best=best, retriever=retriever)

    def _without_choice(self, evaluations: Mapping[str, Evaluation]) -> str:
        """Say that no question has more candidates than MMR returns, or raise if the metric cannot notice an order."""
        most, k = max((len(found.documents) for found in self._found.values()), default=0), self._retriever.k
        if not 0 < most <= k:
            return ""
        cure = (
            f"the base retriever returned at most {most} documents, and MMR selects k={k} of them, so it can only "
            "reorder them: pass a larger fetch_k=, such as fetch_k=20, and let the base retriever return as many"
        )
        as_retrieved = evaluations[BASE].per_query[self._metric]
        if all(one.per_query[self._metric] == as_retrieved for one in evaluations.values()):
            raise ValueError(f"no setting changes {self._metric} in any question: {cure}")
        return cure

    def _run(self, run: RetrievedRun, setting: Setting | None) -> RetrievedRun:
        texts = self._asked.texts
        # Without the seconds: all settings share the same retrieval.
        return RetrievedRun({query: self._selected(texts[query], setting) for query in run}, run.errors)

    def _selected(self, text: str, setting: Setting | None) -> list[Retrieved]:
        asked = setting is not None and setting.fetch_k in self._asks
        found = self._found.get((text, setting.fetch_k if setting is not None and asked else self._asks[-1]))
        if found is None:
            return []
        if setting is None:
            return found.items[: self._retriever.k]
        most = None if asked else setting.fetch_k
        documents = found.documents[:most]
        selection = mmr(
            found.of_query,
            found.vectors[:most],
            k=self._retriever.k,
            lambda_mult=setting.lambda_mult,
            relevance=self._retriever._relevance(documents),  # noqa: SLF001  (same package)
        )
        return [found.items[at] for at in selection]


@takes_arguments_of(_Tuning)
def tune_mmr(*args: Any, **options: Any) -> MMRTuning:  # noqa: D417  (they are those of _Tuning)
    """Try MMR with several lambdas and numbers of candidates, and say whether to prefer one to the base retriever.

    Each setting has the candidates that the retriever so configured would have: a store is searched for each `fetch_k`,
    anything else is asked once, and every text is embedded once. The bar to beat is the base retriever: its first `k`
    documents, in its own order. The core's `tune` chooses and says what the choice is worth on new questions, corrected
    for the number of settings.

    Args:
        retriever: An MMRRetriever, whose own setting is tried too; or any other retriever or function that
            MMRRetriever wraps, with `embeddings` or other settings of MMRRetriever.
        questions: Questions with judgments, as in `evaluate_retriever`.
        lambdas: The lambdas to try, from 0 to 1.
        fetch_ks: The numbers of candidates to try; None tries that of the retriever.
        metric: The metric to improve; None takes recall at the retriever's `k`.
        match: What identifies a document, as in `evaluate_retriever`.
        rules: The rules, as in `evaluate_retriever`.
        clusters: The clusters of the questions, as in `evaluate_retriever`.
        max_concurrency: How many questions may be under way at once.
        timeout: Seconds that one attempt may take, as in `evaluate_retriever`.
        retries: How often a failed question is repeated, as in `evaluate_retriever`.
        show_progress: Show a progress bar on stderr.
        config: The config of LangChain for every call of the base retriever.
        documents: The Documents that the chunks were cut from, as in `evaluate_retriever`.
        **settings: Settings of MMRRetriever, such as `embeddings` and `k`, if `retriever` is none yet.

    Returns:
        The choice, which you can print and plot.

    Raises:
        TypeError: If there are settings for an MMRRetriever, or as in `evaluate_retriever`.
        ValueError: If there is no lambda below 1, no `fetch_k`, one of them is smaller than `k`, the base retriever
            returns no more than `k` documents and no setting changes the metric, or as in `evaluate_retriever`.
        Exception: The first failure, if every question failed.

    Warns:
        RetrievalWarning: If the base retriever returns no more than `k` documents, or as in `evaluate_retriever`.

    Example:
        >>> from langchain_core.documents import Document
        >>> vectors = {"a": [1.0, 0.0], "same": [1.0, 0.0], "other": [0.0, 1.0]}
        >>> found = [Document(text, id=text, metadata={"vector": vector}) for text, vector in vectors.items()]
        >>> asked = [(f"{number}?", ["a", "other"]) for number in range(20)]
        >>> how = {"embedding_key": "vector", "relevance": "rank", "k": 2}
        >>> tuned = tune_mmr(lambda query: found, asked, lambdas=[0.3], **how)
        >>> print(tuned.conclusion)  # recall 1/2 as retrieved, 1 with MMR
        lambda 0.3 of all candidates is better than as retrieved in recall@2; expect +0.500 on new questions.
        >>> [document.id for document in tuned.retriever.invoke("0?")]
        ['a', 'other']
    """
    tuning = forward_arguments("tune_mmr", _Tuning, args, options)
    return tuning.result(retrieve(tuning.ways, **tuning.asking))


@takes_arguments_of(_Tuning)
async def atune_mmr(*args: Any, **options: Any) -> MMRTuning:
    """Try MMR with several settings; the asynchronous twin of `tune_mmr`, with its arguments, result and errors."""
    tuning = forward_arguments("atune_mmr", _Tuning, args, options)
    return tuning.result(await aretrieve(tuning.ways, **tuning.asking))

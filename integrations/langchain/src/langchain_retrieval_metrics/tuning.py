"""Choose lambda and fetch_k of an MMRRetriever on your questions, or learn that MMR does not help."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Unpack

from langchain_retrieval_metrics.documents import convert_items
from langchain_retrieval_metrics.evaluation import choose_n_workers
from langchain_retrieval_metrics.retriever import MMRRetriever
from langchain_retrieval_metrics.tuning_candidates import CandidateSource, Setting
from retrieval_metrics import RetrievalWarning, RetrievedRun, aretrieve, mmr, retrieve, tune
from retrieval_metrics.integration_api import EvaluationTask, warn
from retrieval_metrics.integration_api.async_support import (
    WORKERS,
    forward_arguments,
    positive_integer,
    takes_arguments_of,
)
from retrieval_metrics.types import Tuning

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from langchain_core.runnables import RunnableConfig

    from langchain_retrieval_metrics.evaluation import LangChainRetriever, LoadedDocuments
    from langchain_retrieval_metrics.retriever import RetrieverOptions
    from retrieval_metrics import Evaluation, Retrieved, Rules
    from retrieval_metrics.types import ClustersBy, MatchBy, QuestionDataset

DEFAULT_LAMBDAS = tuple(step / 10 for step in range(11))

# The name of the base retriever's own order among the settings.
BASE = "plain retrieval"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MMRTuning(Tuning):
    """The core's `Tuning` of MMR settings, with the retriever that follows from it.

    The default is `"plain retrieval"`, the order of the base retriever.

    Attributes:
        best: The setting to switch to; None if the conclusion is to keep the base retriever.
        retriever: The MMRRetriever with that setting, or None. `is_significant` says whether the questions show that it
            is better; otherwise the switch is a gain on average, but not shown to be one here.
    """

    best: Setting | None
    retriever: MMRRetriever | None


class _TuningTask:
    """Compares what every setting selects, and chooses among them."""

    def __init__(
        self,
        retriever: MMRRetriever,
        settings: Sequence[Setting],
        metric: str,
        evaluation: EvaluationTask,
        config: RunnableConfig | None,
    ) -> None:
        self._retriever = retriever
        self._setting_by_name = {str(setting): setting for setting in settings}
        self._metric = metric
        self._evaluation = evaluation
        self.candidates = CandidateSource(retriever, settings, config)

    def choose(self, run: RetrievedRun) -> MMRTuning:
        """Choose among the settings."""
        evaluations: dict[str, Evaluation] = {}
        with warnings.catch_warnings():
            evaluations[BASE] = self._evaluation.evaluation(self._select_run(run, None))
            warnings.simplefilter("ignore", RetrievalWarning)  # of the same failures, once is enough
            for name, setting in self._setting_by_name.items():
                evaluations[name] = self._evaluation.evaluation(self._select_run(run, setting))
            too_few_note = self._too_few_note(evaluations)
            parameters = {name: setting._asdict() for name, setting in self._setting_by_name.items()}
            tuning = tune(evaluations, metric=self._metric, default=BASE, parameters=parameters)
        if too_few_note:
            warn(too_few_note)
        values = {field.name: getattr(tuning, field.name) for field in fields(tuning)}
        best = None
        retriever = None
        if tuning.winner != BASE and (tuning.is_significant or tuning.expected_gain > 0):
            best = self._setting_by_name[tuning.winner]
            retriever = self._retriever.model_copy(update=best._asdict())
        return MMRTuning(**values, best=best, retriever=retriever)

    def _too_few_note(self, evaluations: Mapping[str, Evaluation]) -> str:
        """Return a warning if no question has more candidates than MMR returns; "" if one has.

        Raises:
            ValueError: If, in addition, the metric does not depend on the order.
        """
        k = self._retriever.k
        max_candidates = self.candidates.largest_count
        if not 0 < max_candidates <= k:
            return ""
        note = (
            f"the base retriever returned at most {max_candidates} documents, and MMR selects k={k} of them, so it can "
            "only reorder them: pass a larger fetch_k=, such as fetch_k=20, and let the base retriever return as many"
        )
        base_values = evaluations[BASE].per_query[self._metric]
        if all(evaluation.per_query[self._metric] == base_values for evaluation in evaluations.values()):
            raise ValueError(f"no setting changes {self._metric} in any question: {note}")
        return note

    def _select_run(self, run: RetrievedRun, setting: Setting | None) -> RetrievedRun:
        """Return what a setting selects for every question; None stands for the order of the base retriever."""
        rankings: dict[Any, list[Retrieved]] = {}
        for query in run:
            text = self._evaluation.texts[query]
            if setting is None:
                rankings[query] = self.candidates.select_first(text)
            else:
                rankings[query] = self.candidates.select(text, setting)
        # Without the seconds: all settings share the same retrieval.
        return RetrievedRun(rankings, run.errors)


@dataclass(frozen=True, slots=True)
class _PreparedTuning:
    """The settings to try, and what the core's `retrieve` is told."""

    task: _TuningTask
    retrieve_arguments: dict[str, Any]


def _prepare_tuning(
    retriever: LangChainRetriever,
    questions: QuestionDataset,
    *,
    lambdas: Iterable[float] = DEFAULT_LAMBDAS,
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
    documents: LoadedDocuments | None = None,
    **retriever_options: Unpack[RetrieverOptions],
) -> _PreparedTuning:
    """Check the arguments of `tune_mmr` before anything is asked."""
    mmr_retriever = _as_mmr_retriever(retriever, retriever_options)
    if metric is None:
        metric = f"recall@{mmr_retriever.k}"
    tried_settings = _list_settings(mmr_retriever, lambdas, fetch_ks)
    evaluation = EvaluationTask(questions, metric, match, rules=rules, clusters=clusters, documents=documents)
    retrieve_arguments = evaluation.retrieve_arguments | {
        "convert": convert_items,
        "workers": choose_n_workers(max_concurrency, config),
        "timeout": timeout,
        "retries": retries,
        "show_progress": show_progress,
    }
    task = _TuningTask(mmr_retriever, tried_settings, metric, evaluation, config)
    return _PreparedTuning(task, retrieve_arguments)


def _as_mmr_retriever(retriever: LangChainRetriever, retriever_options: RetrieverOptions) -> MMRRetriever:
    if not isinstance(retriever, MMRRetriever):
        base_retriever: Any = retriever
        return MMRRetriever(base_retriever=base_retriever, **retriever_options)
    if retriever_options:
        option_names = ", ".join(retriever_options)
        raise TypeError(f"the retriever is an MMRRetriever and has its own {option_names}; set them on it")
    return retriever


def _list_settings(retriever: MMRRetriever, lambdas: Iterable[float], fetch_ks: Iterable[int] | None) -> list[Setting]:
    """Return the settings to try, that of the retriever last.

    Raises:
        ValueError: If there is no lambda below 1, no `fetch_k`, or one of them is smaller than `k`.
    """
    weights = list(dict.fromkeys(lambdas))
    for weight in weights:
        mmr(None, [[1.0]], relevance=[1.0], lambda_mult=weight)  # refuses what is not a lambda
    if all(weight == 1 for weight in weights):
        raise ValueError("there is no lambda below 1 to try; pass for example lambdas=[0.3, 0.5, 0.7]")
    sizes = [retriever.fetch_k]
    if fetch_ks is not None:
        sizes = [positive_integer(fetch_k, "fetch_k") for fetch_k in dict.fromkeys(fetch_ks)]
    if not sizes:
        raise ValueError("there is no fetch_k to try; pass for example fetch_ks=[20, 50]")
    smallest = min(filter(None, sizes), default=None)
    if smallest is not None and smallest < retriever.k:
        raise ValueError(f"fetch_k={smallest} is less than the retriever's k={retriever.k}")
    settings = []
    for fetch_k in sizes:
        settings += [Setting(weight, fetch_k) for weight in weights]
    if fetch_ks is None or retriever.fetch_k is not None:
        settings.append(Setting(retriever.lambda_mult, retriever.fetch_k))
    return settings


@takes_arguments_of(_prepare_tuning)
def tune_mmr(*args: Any, **options: Any) -> MMRTuning:
    """Try MMR with several lambdas and numbers of candidates, and say whether to prefer one to the base retriever.

    Each setting has the candidates that the retriever so configured would have: a store is searched for each `fetch_k`,
    anything else is run once, and every text is embedded once. The default to beat is the base retriever: its first `k`
    documents, in its own order. The core's `tune` selects a setting and estimates its gain on new questions, corrected
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
        max_concurrency: How many questions may run at once.
        timeout: Seconds that one attempt may take, as in `evaluate_retriever`.
        retries: How many times a failed question is repeated, as in `evaluate_retriever`.
        show_progress: Show a progress bar on stderr.
        config: The config of LangChain for every call of the base retriever.
        documents: The Documents that the chunks were cut from, as in `evaluate_retriever`.
        **retriever_options: Settings of MMRRetriever, such as `embeddings` and `k`, if `retriever` is not an
            MMRRetriever.

    Returns:
        The selected setting and its estimates; print and plot them.

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
        >>> documents = [Document(text, id=text, metadata={"vector": vector}) for text, vector in vectors.items()]
        >>> questions = [(f"{number}?", ["a", "other"]) for number in range(20)]
        >>> settings = {"embedding_key": "vector", "relevance": "rank", "k": 2}
        >>> tuned = tune_mmr(lambda query: documents, questions, lambdas=[0.3], **settings)
        >>> print(tuned.conclusion.partition("; ")[0])  # recall 1/2 as retrieved, 1 with MMR
        lambda 0.3 (all candidates) is better than plain retrieval in recall@2
        >>> [document.id for document in tuned.retriever.invoke("0?")]
        ['a', 'other']
    """
    prepared = forward_arguments("tune_mmr", _prepare_tuning, args, options)
    run = retrieve(prepared.task.candidates.functions, **prepared.retrieve_arguments)
    return prepared.task.choose(run)


@takes_arguments_of(_prepare_tuning)
async def atune_mmr(*args: Any, **options: Any) -> MMRTuning:
    """Try MMR with several settings; the asynchronous version of `tune_mmr`, with its arguments, result and errors."""
    prepared = forward_arguments("atune_mmr", _prepare_tuning, args, options)
    run = await aretrieve(prepared.task.candidates.functions, **prepared.retrieve_arguments)
    return prepared.task.choose(run)

"""Choose lambda and fetch_k of an MMRRetriever on your questions, or learn that MMR does not help."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_retrieval_metrics.documents import items_of
from langchain_retrieval_metrics.evaluation import as_questions
from retrieval_metrics import RetrievalWarning, RetrievedRun, aretrieve, compare, evaluate, mmr
from retrieval_metrics.adapting import WORKERS, as_matching, positive_integer, run_until_complete

if TYPE_CHECKING:
    from collections.abc import Iterable

    from langchain_core.documents import Document

    from langchain_retrieval_metrics.retriever import MMRRetriever
    from langchain_retrieval_metrics.vector_cache import Vector
    from retrieval_metrics import Comparison, Retrieved
    from retrieval_metrics.adapting import MatchBy
    from retrieval_metrics.types import Difference

LAMBDAS = tuple(step / 10 for step in range(11))


def tune_mmr(
    retriever: MMRRetriever,
    questions: Any,
    *,
    lambdas: Iterable[float] = LAMBDAS,
    fetch_ks: Iterable[int] | None = None,
    metric: str | None = None,
    match: MatchBy = "id",
    max_concurrency: int = WORKERS,
    show_progress: bool = False,
) -> MMRTuning:
    """Try MMR with several lambdas and numbers of candidates, and test whether any is better than relevance alone.

    Every question is asked and embedded once, with the largest `fetch_k`; smaller ones use its first candidates. Each
    setting is compared query by query with lambda 1, for which the `fetch_k` with the best mean is used. The p values
    are corrected for the number of settings, so trying many does not make one of them look good by chance.

    Args:
        retriever: An MMRRetriever; all its other settings stay the same.
        questions: Questions with judgments, as in `evaluate_retriever`.
        lambdas: The lambdas to try, from 0 to 1; 1 is always among them.
        fetch_ks: The numbers of candidates to try; None tries that of the retriever.
        metric: The metric to improve; None takes recall at the retriever's `k`.
        match: What identifies a document, as in `evaluate_retriever`.
        max_concurrency: How many questions may be under way at once.
        show_progress: Show a progress bar on stderr.

    Returns:
        The result, which you can print. Its `retriever` has the best setting, or is None if there is no reason to use
        MMR.

    Raises:
        ValueError: If there is no lambda below 1, no `fetch_k`, one of them is smaller than `k`, or as in
            `evaluate_retriever`.

    Warns:
        RetrievalWarning: As in `evaluate_retriever`.
    """
    tuning = _Tuning(retriever, questions, lambdas=lambdas, fetch_ks=fetch_ks, metric=metric, match=match)
    return tuning.result(run_until_complete(tuning.fetched(max_concurrency, show_progress=show_progress)))


async def atune_mmr(
    retriever: MMRRetriever,
    questions: Any,
    *,
    lambdas: Iterable[float] = LAMBDAS,
    fetch_ks: Iterable[int] | None = None,
    metric: str | None = None,
    match: MatchBy = "id",
    max_concurrency: int = WORKERS,
    show_progress: bool = False,
) -> MMRTuning:
    """Try MMR with several settings; the asynchronous twin of `tune_mmr`, with its arguments, result and errors."""
    tuning = _Tuning(retriever, questions, lambdas=lambdas, fetch_ks=fetch_ks, metric=metric, match=match)
    return tuning.result(await tuning.fetched(max_concurrency, show_progress=show_progress))


class Setting(NamedTuple):
    """A setting that was tried."""

    lambda_mult: float
    fetch_k: int

    def __str__(self) -> str:
        return f"lambda {self.lambda_mult:g} of {self.fetch_k}"


@dataclass(frozen=True)
class MMRTuning:
    """The effect of MMR on a set of questions.

    Attributes:
        comparison: Every setting below lambda 1 against the best with lambda 1: means, intervals, corrected p values.
        metric: The metric to improve.
        best: The setting with the largest significant improvement; None if there is none.
        retriever: A copy of the retriever with that setting, or None.
        verdict: The conclusion, in a sentence.
    """

    comparison: Comparison
    metric: str
    best: Setting | None
    retriever: MMRRetriever | None
    verdict: str

    def __str__(self) -> str:
        return f"{self.comparison}\n\n{self.verdict}"


class _Candidates(NamedTuple):
    documents: list[Document]
    items: list[Retrieved]
    vectors: Vector
    of_query: Vector | None


class _Tuning:
    """The settings to try, checked before anything is asked."""

    def __init__(
        self,
        retriever: MMRRetriever,
        questions: Any,
        *,
        lambdas: Iterable[float],
        fetch_ks: Iterable[int] | None,
        metric: str | None,
        match: MatchBy,
    ) -> None:
        as_matching(match)  # raises now if it is wrong
        self._retriever, self._match = retriever, match
        self._questions = as_questions(questions)
        self._lambdas = [weight for weight in dict.fromkeys(lambdas) if weight != 1]
        given = [retriever.fetch_k] if fetch_ks is None else list(dict.fromkeys(fetch_ks))
        self._fetch_ks = [positive_integer(each, "fetch_k") for each in given if each is not None]
        if not self._lambdas:
            raise ValueError("there is no lambda below 1 to try; pass for example lambdas=[0.3, 0.5, 0.7]")
        if not self._fetch_ks:
            raise ValueError(
                "there is no fetch_k to try, and the retriever has none; pass for example fetch_ks=[20, 50]"
            )
        if min(self._fetch_ks) < retriever.k:
            raise ValueError(f"fetch_k={min(self._fetch_ks)} is less than the retriever's k={retriever.k}")
        for weight in self._lambdas:
            mmr(None, [[1.0]], relevance=[1.0], lambda_mult=weight)  # refuses what is not a lambda
        self._metric = f"recall@{retriever.k}" if metric is None else metric
        self._found: dict[str, _Candidates] = {}

    async def fetched(self, max_concurrency: int, *, show_progress: bool) -> RetrievedRun:
        """Ask every question once, and keep the candidates with their vectors."""
        most = max(self._fetch_ks)

        async def ask(text: str) -> list[Document]:
            documents = await self._retriever.acandidates(text, most)
            if documents:
                vectors, of_query = await self._retriever._avectors(documents, text)  # noqa: SLF001  (same package)
                items = items_of(documents)
                self._found[text] = _Candidates(documents, items, vectors, of_query)
            return documents

        return await aretrieve(
            ask,
            self._questions,
            match=self._match,
            items=items_of,
            workers=positive_integer(max_concurrency, "max_concurrency"),
            show_progress=show_progress,
        )

    def result(self, run: RetrievedRun) -> MMRTuning:
        """Compare the settings."""
        truth, k = self._questions, self._retriever.k
        alone = [Setting(1.0, fetch_k) for fetch_k in self._fetch_ks]
        evaluations = {}
        for at, setting in enumerate(alone):
            with warnings.catch_warnings():
                if at:
                    warnings.simplefilter("ignore", RetrievalWarning)  # of the same failures, once is enough
                evaluations[setting] = evaluate(truth, self._run(run, setting), self._metric, match=self._match)
        baseline = max(alone, key=lambda setting: (evaluations[setting].means[self._metric], -setting.fetch_k))
        tried = [Setting(weight, fetch_k) for fetch_k in self._fetch_ks for weight in self._lambdas]
        runs = {str(setting): self._run(run, setting) for setting in [baseline, *tried]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RetrievalWarning)  # as above
            comparison = compare(truth, runs, self._metric, baseline=str(baseline), match=self._match)
        differences = {one: comparison.difference(self._metric, str(one), str(baseline)) for one in tried}
        top = max(tried, key=lambda setting: differences[setting].mean)
        better = [one for one in tried if differences[one].significant and differences[one].mean > 0]
        best = max(better, key=lambda setting: differences[setting].mean) if better else None
        said = _said(differences[best or top], best or top, baseline, self._metric)
        if best is None:
            return MMRTuning(comparison, self._metric, None, None, f"There is no reason to use MMR here: {said}.")
        update: dict[str, Any] = {"lambda_mult": best.lambda_mult, "fetch_k": best.fetch_k}
        chosen = self._retriever.model_copy(update=update)
        return MMRTuning(comparison, self._metric, best, chosen, f"MMR is better for these {k} documents: {said}.")

    def _run(self, run: RetrievedRun, setting: Setting) -> RetrievedRun:
        texts = self._questions.queries
        # Without the seconds: all settings share the same retrieval.
        return RetrievedRun({query: self._selected(texts[query], setting) for query in run}, run.errors)

    def _selected(self, text: str, setting: Setting) -> list[Retrieved]:
        if (found := self._found.get(text)) is None:
            return []
        documents = found.documents[: setting.fetch_k]
        selection = mmr(
            found.of_query,
            found.vectors[: setting.fetch_k],
            k=self._retriever.k,
            lambda_mult=setting.lambda_mult,
            relevance=self._retriever._relevance(documents),  # noqa: SLF001  (same package)
        )
        return [found.items[at] for at in selection]


def _said(difference: Difference, setting: Setting, baseline: Setting, metric: str) -> str:
    low, high = difference.interval
    return (
        f"the best setting, {setting}, changes {metric} by {difference.mean:+.4f} ({low:+.4f} to {high:+.4f}, "
        f"p = {difference.p_corrected:.3f}) against {baseline}"
    )

"""Read and check the arguments of a call of `retrieval_check` before anything is retrieved."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pytest_retrieval_metrics.evaluated_results import read_evaluated_result
from pytest_retrieval_metrics.gate_arguments import (
    MeanFloors,
    min_value,
    read_ceilings,
    read_floors,
    read_queries,
    read_query_floors,
)
from pytest_retrieval_metrics.gate_wording import NO_BOUND
from pytest_retrieval_metrics.rounds import RepeatedEvaluation
from retrieval_metrics import EvaluationSet, Qrels, Run, aretrieve, retrieve
from retrieval_metrics.integration_api import resolve_judgments
from retrieval_metrics.integration_api.async_support import positive_integer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from os import PathLike
    from typing import TypeAlias, TypedDict

    from pytest_retrieval_metrics.baselines import Baseline
    from pytest_retrieval_metrics.evaluated_results import EvaluatedResult
    from pytest_retrieval_metrics.rounds import EvaluateOptions
    from retrieval_metrics import Metric
    from retrieval_metrics.types import QrelsMapping, QueryId

    Floor: TypeAlias = float | tuple[float, int] | None
    Floors: TypeAlias = Mapping[str, Floor] | Mapping[Metric, Floor]
    QueryFloors: TypeAlias = Mapping[str, float | Mapping[Any, float]] | Mapping[Metric, float | Mapping[Any, float]]

    class HasScores(Protocol):
        """What is evaluated already: an `rm.Evaluation`, or the result of a framework."""

        @property
        def scores(self) -> object:
            """The values."""

    # Judgments by query id, or questions with their judgments: rows, pairs, or a dataset with its texts; or a path.
    Judged: TypeAlias = (
        QrelsMapping | Qrels | EvaluationSet | Mapping[str, Any] | Iterable[Any] | HasScores | PathLike[str]
    )
    # Rankings by query id, a function from a text to a ranking, or a retriever of a framework.
    RunOrRetriever: TypeAlias = Mapping[Any, Any] | Run | Callable[[str], Any] | Any
    TextsByQuery: TypeAlias = Mapping[Any, str]

    class RetrieveOptions(TypedDict):
        """How a retriever is asked, as in `rm.retrieve`."""

        workers: int
        raise_on_error: bool


class JudgedQueries(NamedTuple):
    """Judgments, and the text to ask for each judged query."""

    qrels: Qrels
    texts: TextsByQuery


@dataclass(frozen=True, slots=True)
class CheckTask:
    """What to retrieve and judge.

    Attributes:
        qrels: The judgments; None if there is an evaluation.
        evaluated: The result of an evaluation that is checked; None if a run or a retriever is evaluated.
        run: The rankings to judge; None if a retriever is asked.
        retriever: The retriever; None if there is a run.
        texts: The texts to ask, by query id.
        rounds: How many times each is run.
        options: How they are asked.
    """

    qrels: Qrels | None
    run: RunOrRetriever
    retriever: RunOrRetriever
    texts: TextsByQuery
    rounds: int
    options: RetrieveOptions
    evaluated: EvaluatedResult | None = None

    @classmethod
    def from_arguments(
        cls,
        qrels: Judged,
        run_or_retriever: RunOrRetriever,
        queries: TextsByQuery | None,
        rounds: int,
        options: RetrieveOptions,
        metrics: Sequence[str] = (),
    ) -> CheckTask:
        """Read the arguments of a test; `metrics` are those that it bounds or names."""
        positive_integer(rounds, "rounds")
        if run_or_retriever is None:
            evaluated = read_evaluated_result(qrels, metrics)
            if evaluated is None:
                raise TypeError(
                    f"retrieval_check got {type(qrels).__name__} alone: pass the retriever or the run as the "
                    "second argument: retrieval_check(questions, retriever, at_least={'recall@5': 0.4}); only a "
                    "finished evaluation, such as an rm.Evaluation, is passed alone"
                )
            return cls._from_evaluated(evaluated, queries, rounds, options)
        is_run = isinstance(run_or_retriever, (Mapping, Run))
        if is_run and queries is not None:
            raise TypeError("queries= are texts for a retriever; a run needs none")
        if is_run and rounds > 1:
            raise TypeError(f"rounds={rounds} needs a retriever, because a run never varies; pass the retriever")
        judged = _read_judged_queries(qrels, queries)
        if is_run:
            return cls(judged.qrels, run_or_retriever, None, {}, 1, options)
        for query, text in judged.texts.items():
            if not isinstance(text, str):
                raise TypeError(f"there is no text for query {query!r}: pass queries={{{query!r}: 'its text'}}")
        return cls(judged.qrels, None, run_or_retriever, judged.texts, rounds, options)

    @classmethod
    def _from_evaluated(
        cls, evaluated: EvaluatedResult, queries: TextsByQuery | None, rounds: int, options: RetrieveOptions
    ) -> CheckTask:
        if queries is not None or rounds > 1:
            raise TypeError("queries= and rounds= are for a retriever; what is evaluated already needs neither")
        origin = evaluated.evaluation.scores.origin
        qrels = None if origin is None else origin.judged.qrels
        return cls(qrels, None, None, {}, 1, options, evaluated)

    @property
    def queries(self) -> Sequence[QueryId]:
        """The queries that are judged, or else evaluated."""
        if self.evaluated is not None:
            return self.evaluated.evaluation.queries
        return () if self.qrels is None else self.qrels.queries

    def collect_runs(self) -> list[RunOrRetriever]:
        """Return the run, or ask the retriever `rounds` times."""
        if self.retriever is None:
            return [self.run]
        retriever: Any = self.retriever
        return [retrieve(retriever, self.texts, **self.options) for _ in range(self.rounds)]

    async def acollect_runs(self) -> list[RunOrRetriever]:
        """Return the run, or ask the retriever `rounds` times on the event loop of the caller."""
        if self.retriever is None:
            return [self.run]
        retriever: Any = self.retriever
        return [await aretrieve(retriever, self.texts, **self.options) for _ in range(self.rounds)]


def _read_judged_queries(judgments: Any, queries: TextsByQuery | None) -> JudgedQueries:
    qrels = resolve_judgments(judgments)
    if isinstance(qrels, Qrels) or (isinstance(qrels, Mapping) and not _is_dataset(qrels)):
        return _read_judgments_by_id(qrels, queries)
    if queries is not None:
        raise TypeError("queries= are for judgments by query id; a dataset has its own texts")
    dataset = EvaluationSet.from_dataset(qrels)
    return JudgedQueries(Qrels(dataset), dataset.queries)


def _read_judgments_by_id(judgments: Any, queries: TextsByQuery | None) -> JudgedQueries:
    qrels: Any = Qrels(judgments)
    texts: dict[Any, Any] = {}
    if queries is None:
        for query in qrels.queries:
            texts[query] = qrels.texts.get(query, query)
        return JudgedQueries(qrels, texts)
    absent = [query for query in qrels.queries if query not in queries]
    if absent:
        raise ValueError(f"queries= has no text for {len(absent)} judged queries, for example {absent[0]!r}")
    for query in qrels.queries:
        texts[query] = queries[query]
    if all(isinstance(text, str) for text in texts.values()):
        qrels = Qrels(EvaluationSet(texts, qrels))
    return JudgedQueries(qrels, texts)


def _is_dataset(qrels: Mapping[Any, Any]) -> bool:
    return isinstance(qrels.get("queries"), Mapping) and isinstance(qrels.get("relevant_docs"), Mapping)


class Measurement(NamedTuple):
    """The evaluation of all rounds, and its warnings, which are issued only after the verdict."""

    rounds: RepeatedEvaluation
    warnings: list[warnings.WarningMessage]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCall:
    """The arguments of a call, and the baseline that it is compared with.

    Attributes:
        name: The name of the check within its test.
        task: What to retrieve and judge.
        floors: The floor of each metric of the check; None for a metric without one.
        min_queries: How many queries must have a value, for the floors that say so.
        ceilings: The ceilings of means.
        query_floors: The floors of single queries.
        no_regression: The queries that must not get worse.
        deterministic: Whether the retriever returns the same for the same query, always.
        options: How rankings are evaluated.
        texts: Whether a new baseline holds the texts of what was retrieved.
        baseline: The baseline; None if there is nothing to compare with.
    """

    name: str
    task: CheckTask
    floors: Mapping[str, float | None]
    min_queries: Mapping[str, int]
    ceilings: Mapping[str, float]
    query_floors: Mapping[str, float | Mapping[QueryId, float]]
    no_regression: Sequence[QueryId]
    deterministic: bool
    options: EvaluateOptions
    texts: bool = False
    baseline: Baseline | None = None

    @classmethod
    def from_arguments(
        cls,
        name: str,
        task: CheckTask,
        options: EvaluateOptions,
        *,
        at_least: Floors | None,
        at_most: Mapping[str, float] | None,
        at_least_per_query: QueryFloors | None,
        no_regression: Sequence[QueryId],
        deterministic: bool,
        texts: bool = False,
    ) -> CheckCall:
        """Read the bounds of metrics and queries; raise if they contradict each other."""
        ceilings = {} if at_most is None else read_ceilings(at_most)
        mean_floors = MeanFloors({}, {})
        query_floors = read_query_floors(at_least_per_query, task.queries)
        if at_least is not None:
            mean_floors = read_floors(at_least)
        elif not ceilings and not query_floors:
            raise TypeError(NO_BOUND)
        required_queries = read_queries(no_regression, task.queries)
        if deterministic and task.rounds > 1:
            raise ValueError(
                f"a deterministic retriever returns the same in every round; pass deterministic=True or "
                f"rounds={task.rounds}, not both"
            )
        floors = dict(mean_floors.floors)
        for metric in (*query_floors, *ceilings):
            floors.setdefault(metric, None)
        return cls(
            name=name,
            task=task,
            floors=floors,
            min_queries=mean_floors.min_queries,
            ceilings=ceilings,
            query_floors=query_floors,
            no_regression=required_queries,
            deterministic=deterministic,
            options=options,
            texts=texts,
        )

    @property
    def metrics(self) -> list[str]:
        """The full names of the metrics."""
        return list(self.floors)

    @property
    def guarded(self) -> set[str]:
        """The metrics that can fail without a test against the baseline."""
        if self.deterministic or set(self.no_regression) >= set(self.task.queries):
            return set(self.floors)
        guarded = {*self.ceilings}
        for metric, query_floor in self.query_floors.items():
            highest_floor = max(query_floor.values()) if isinstance(query_floor, Mapping) else query_floor
            if highest_floor > min_value(metric):
                guarded.add(metric)
        for metric, floor in self.floors.items():
            if floor is not None and floor > min_value(metric):
                guarded.add(metric)
        return guarded

    def measure(self, runs: Sequence[RunOrRetriever]) -> Measurement:
        """Evaluate the rounds, and keep the warnings instead of issuing them."""
        evaluated = self.task.evaluated
        if evaluated is not None:
            return Measurement(RepeatedEvaluation.from_evaluation(evaluated.evaluation), [*evaluated.warnings])
        with warnings.catch_warnings(record=True) as recorded:
            warnings.simplefilter("always")
            qrels: Any = self.task.qrels
            rounds = RepeatedEvaluation.from_runs(qrels, runs, self.metrics, self.options)
            return Measurement(rounds, recorded)

    def check(self, *, baseline: bool) -> None:
        """Raise if an argument needs a baseline that is not asked for, or cannot be stored in one."""
        if self.no_regression and not baseline:
            raise ValueError("no_regression needs a baseline: pass baseline=True")
        if self.deterministic and not baseline:
            raise ValueError("deterministic=True says how to compare with a baseline: pass baseline=True")
        if self.texts and not baseline:
            raise ValueError("texts=True says what a baseline stores: pass baseline=True")
        match = self.options["match"]
        if baseline and callable(match):
            raise ValueError(
                f"a baseline cannot hold match={match!r}, because loading a file runs no code; match by "
                "'source', 'filename' or 'metadata:<name>'"
            )

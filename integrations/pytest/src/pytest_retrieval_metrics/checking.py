"""The fixture `retrieval_check`: read its arguments, retrieve, score, compare, and fail with a helpful message."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pytest

from pytest_retrieval_metrics.approval import (
    check_approval,
    compare_with_best,
    format_failure,
    read_accepted_losses,
    select_worse_than_best,
    store_baseline,
)
from pytest_retrieval_metrics.gates import (
    Baseline,
    UnitsAtRisk,
    Verdict,
    ceiling_gate,
    common_ids_gate,
    compare_with_baseline,
    deterministic_gate,
    floor_gate,
    min_value,
    no_regression_gate,
    query_floor_gate,
    read_ceilings,
    read_floors,
    read_queries,
    read_query_floors,
    regression_gate,
    strip_unused_fields,
    unguarded_gate,
)
from pytest_retrieval_metrics.records import (
    add_to_junit,
    end_test,
    get_effect,
    make_measurement,
    make_unmeasured_record,
    metric_rows,
    warn_about_verdicts,
)
from pytest_retrieval_metrics.settings import get_test_name, path_beside_test
from retrieval_metrics import Evaluation, EvaluationSet, Qrels, RetrievedRun, Run, aretrieve, evaluate, retrieve
from retrieval_metrics.integration_api.async_support import (
    WORKERS,
    forward_arguments,
    positive_integer,
    takes_arguments_of,
)
from retrieval_metrics.integration_api.pytest_support import with_source_texts
from retrieval_metrics.integration_api.text import numbers

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Sequence
    from pathlib import Path

    from pytest_retrieval_metrics.settings import Settings
    from retrieval_metrics import Comparison, Matching, Metric, Rules
    from retrieval_metrics.types import ClustersBy, Key, QueryId

    Floor: TypeAlias = float | tuple[float, int] | None
    Floors: TypeAlias = Mapping[str, Floor] | Mapping[Metric, Floor]
    QueryFloors: TypeAlias = Mapping[str, float | Mapping[Any, float]] | Mapping[Metric, float | Mapping[Any, float]]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check that did not fail.

    Attributes:
        evaluation: The evaluation, as from `rm.evaluate`; for several rounds, pooled per query.
        verdicts: The verdict of each gate on each metric.
        baseline: The file of the baseline; None without one.
        comparison: The comparison with the baseline, as from `rm.compare`; None if nothing was compared.
    """

    evaluation: Evaluation
    verdicts: tuple[Verdict, ...]
    baseline: Path | None
    comparison: Comparison | None = None

    def __str__(self) -> str:
        return str(self.evaluation)


class RetrievalCheck:
    """Checks retrieval quality; the type of the fixture `retrieval_check`.

    A call scores a run or a retriever and fails the test if a metric is below its floor, or significantly worse than
    the stored baseline of the test. In an asynchronous test, await `acheck`.
    """

    _awaited = 0
    """How many calls of `acheck` were made and not awaited."""

    def __init__(
        self,
        item: pytest.Item,
        settings: Settings,
        *,
        checks: int,
        records: list[dict[str, Any]],
        folder: str | None = None,
    ) -> None:
        self._item = item
        self._test = get_test_name(item)
        self._settings = settings
        self._alpha = settings.alpha / settings.builds / max(checks, 1)
        self._records = records
        self._folder = folder
        self._names: set[str] = set()
        self.used = False

    def _call(
        self,
        qrels: Any,
        run_or_retriever: Any,
        at_least: Floors | None = None,
        *,
        at_most: Mapping[str, float] | None = None,
        baseline: bool = False,
        name: str = "",
        queries: Mapping[Any, str] | None = None,
        at_least_per_query: QueryFloors | None = None,
        no_regression: Sequence[QueryId] = (),
        deterministic: bool = False,
        rounds: int = 1,
        match: str | Key | Matching = "id",
        clusters: ClustersBy = "source",
        rules: str | Rules = "standard",
        documents: Any = None,
        workers: int = WORKERS,
        raise_on_error: bool = True,
    ) -> CheckCall:
        """Take the arguments of a call, and check them before anything is retrieved."""
        __tracebackhide__ = True
        task = CheckTask.of(qrels, run_or_retriever, queries, rounds, workers=workers, raise_on_error=raise_on_error)
        matching = with_source_texts(match, documents, task.qrels, qrels)
        given = {"match": matching, "rules": rules, "clusters": clusters}
        gates = (at_least, at_least_per_query, no_regression, at_most)
        call = CheckCall.of(name, task, gates, given, deterministic=deterministic)
        call.check(baseline=baseline)
        if name in self._names:
            said = f"named {name!r}" if name else "without a name"
            raise ValueError(f"this test already has a check {said}; pass a different name= to each")
        self._names.add(name)
        return self._with_baseline(call) if baseline else call

    @takes_arguments_of(_call)
    def __call__(self, *args: Any, **options: Any) -> CheckResult:  # noqa: D417  (they are those of _call)
        """Score a run or a retriever, and fail the test if it misses a floor or is worse than the baseline.

        Args:
            qrels: The judgments in any shape of `rm.evaluate`; or a dataset with its texts, as for
                `rm.EvaluationSet.from_dataset`: pairs, rows, or an object with `queries` and `relevant_docs`.
            run_or_retriever: A run as for `rm.evaluate`; or a synchronous or asynchronous function of the text of a
                query; or a retriever of a framework whose integration is installed, such as LangChain.
            at_least: The metrics, each with the floor of its mean, or None for no floor, if there is a baseline;
                `(0.35, 120)` is a floor that needs at least 120 queries with a value. It may be left out beside
                `at_most`.
            at_most: Metrics in which lower is better, each with the ceiling of its mean: `{"leak@5": 0}`. A metric that
                nothing judged can show fails the test.
            baseline: Whether to compare with the evaluation stored beside the test, written by `--retrieval-update`.
            name: Distinguishes several checks in one test.
            queries: The texts of the queries, by id; None takes the ids as texts.
            at_least_per_query: Floors of single queries, by metric: a number for all queries, or a floor by query id.
                They are compared exactly, without statistics; a query without a value does not reach its floor.
            no_regression: Ids of queries whose values must not be lower than in the baseline, compared exactly.
            deterministic: Whether the retriever returns the same for the same query, always. Every change is then real:
                the test fails if any query is worse than in the baseline, without statistics.
            rounds: How often a retriever whose results vary is asked everything; the values are then means per query.
            match: What ids of the judgments are compared with, as in `rm.evaluate`.
            clusters: The clusters of the queries, as in `rm.evaluate`; intervals and the test use whole clusters.
            rules: The rules, as in `rm.evaluate`.
            documents: The documents that chunks were cut from, as in `rm.evaluate`, if a `Span` is judged.
            workers: How many queries may be under way at once.
            raise_on_error: Whether an error of the retriever fails the test; otherwise, the query scores 0.

        Returns:
            The evaluation and the verdicts of the gates.

        Raises:
            TypeError: If something has the wrong type.
            ValueError: If a metric or a query is unknown, a floor is not a finite number, or a test repeats a name.
        """
        __tracebackhide__ = True
        call = forward_arguments("retrieval_check", self._call, args, options)
        with self._noted(call):
            rounds = call.measured(call.task.runs())
        return self._finish(call, *rounds)

    @takes_arguments_of(_call)
    def acheck(self, *args: Any, **options: Any) -> Coroutine[Any, Any, CheckResult]:
        """Do the same in an asynchronous test, on its event loop; arguments and errors are those of the call."""
        self._awaited += 1
        return self._acheck(*args, **options)

    async def _acheck(self, *args: Any, **options: Any) -> CheckResult:
        __tracebackhide__ = True
        self._awaited -= 1
        call = forward_arguments("acheck", self._call, args, options)
        with self._noted(call):
            rounds = call.measured(await call.task.aruns())
        return self._finish(call, *rounds)

    def unchecked(self, *, asked: bool) -> str:
        """Return why a test that passed has checked nothing, and record it; nothing if it did check."""
        if self._awaited:
            said = "acheck was called, but not awaited: write `await retrieval_check.acheck(...)`"
        elif asked and not self.used:
            said = "the test takes retrieval_check, but no call of it was finished: call it, or take the fixture out"
        else:
            return ""
        record = make_unmeasured_record(self._item, None, self._settings, self._alpha, f"nothing checked: {said}")
        self._records.append(record)
        return str(record["failure"])

    def _with_baseline(self, call: CheckCall) -> CheckCall:
        """Read the baseline, or fail the test with one sentence."""
        __tracebackhide__ = True
        path = path_beside_test(self._item, self._settings.baselines, call.name)
        root, update = self._item.config.rootpath, self._settings.update
        try:
            return replace(call, baseline=Baseline.of(path, self._test, root, with_best=update))
        except ValueError as error:
            said = str(error)
        self._records.append(self._record(call, f"not compared: {said}"))
        pytest.fail(said, pytrace=False)

    @contextmanager
    def _noted(self, call: CheckCall) -> Iterator[None]:
        """Record the error of a retriever, or of what it returned, for the reports, and let it fail the test."""
        __tracebackhide__ = True
        try:
            yield
        except Exception as error:
            self._records.append(self._record(call, f"not measured: {type(error).__name__}: {error}"))
            raise

    def _finish(
        self, call: CheckCall, rounds: RepeatedEvaluation, met: Sequence[warnings.WarningMessage]
    ) -> CheckResult:
        __tracebackhide__ = True
        evaluation, whole = rounds.evaluation, strip_unused_fields(rounds.evaluation, texts=True)
        settings, baseline, unmet = self._settings, call.baseline, common_ids_gate(whole)
        comparison, of_baseline = self._compared(call, whole, unmet)
        found = [
            *floor_gate(evaluation, call.floors, call.needs, settings),
            *ceiling_gate(evaluation, call.ceilings, settings),
            *query_floor_gate(evaluation, call.query_floors),
            *of_baseline,
        ]
        verdicts, left, of_best = found, "", list[Verdict]()
        if baseline is not None and settings.update:
            of_best = compare_with_best(whole, baseline, settings, self._alpha)
            found += select_worse_than_best(of_best)
            called = {self._test, getattr(self._item, "originalname", self._test), self._item.nodeid, call.name}
            verdicts, left = check_approval(
                evaluation, found, call.floors, read_accepted_losses(call.floors, called, settings)
            )
        failed = [verdict for verdict in verdicts if get_effect(verdict, settings) == "fail"]
        told = " ".join(verdict.figures for verdict in failed)
        notes, spread = [note for note in (comparison.notes if comparison else ()) if note not in told], rounds.notes()
        warned_of = [said for one in met if (said := str(one.message)) not in told]
        ending = [note for note in (left, *notes, *spread, *warned_of) if note]
        show = 0 if unmet else settings.show  # every query would tell of the same
        failure = format_failure(evaluation, failed, comparison, show, ending) if failed else ""
        raised = None if failure else warn_about_verdicts(self._item.nodeid, verdicts, met, settings)
        if raised is not None:
            failure = f"{type(raised).__name__}: {raised}"
            verdicts = [*found, Verdict(metric=next(iter(call.floors)), outcome="warning", figures=str(raised))]
        replaced: list[str] = []
        able: dict[str, list[Any]] = {}
        if baseline is not None and settings.update and not left and raised is None:
            labels: dict[str, str | int] = {"test": self._test, "check": call.name, "rounds": rounds.number}
            compared_to = [*of_baseline, *of_best]
            replaced = store_baseline(baseline, evaluation, comparison, compared_to, labels, show=settings.show)
            able = self._able(call, whole)
        rows = metric_rows(evaluation, verdicts, call.floors, settings.level)
        record = self._record(call, failure) | make_measurement(whole, comparison, rows, self._folder)
        self._records.append(record | {"notes": notes, "spread": spread, "replaced": replaced, "able": able})
        add_to_junit(self._item, record)
        if raised is not None:
            raise raised
        end_test(verdicts, failure, settings)
        return CheckResult(evaluation, tuple(verdicts), None if baseline is None else baseline.path, comparison)

    def _compared(
        self, call: CheckCall, evaluation: Evaluation, unmet: Sequence[Verdict]
    ) -> tuple[Comparison | None, list[Verdict]]:
        """Compare with the baseline, and return the verdicts of the gates; without one, what needs it."""
        if call.baseline is None:
            return None, unguarded_gate(metric for metric in call.floors if metric not in call.guarded)
        path, comparison = call.baseline.path, None
        if call.baseline.known is None:
            said = f"there is no baseline {call.baseline.where}; --retrieval-update writes it"
        else:
            try:
                comparison = compare_with_baseline(evaluation, call.baseline.known, self._alpha)
            except ValueError as error:
                said = str(error) if unmet else f"{error}; --retrieval-update writes a new {path.name}"
        if comparison is None:
            others = [each for each in call.floors if each not in {one.metric for one in unmet}]
            return None, [*unmet, *(Verdict(metric=each, outcome="not_compared", figures=said) for each in others)]
        verdicts = regression_gate(evaluation, comparison, path.name, self._settings, call.guarded)
        if call.deterministic:
            verdicts += deterministic_gate(comparison)
        return comparison, [*verdicts, *no_regression_gate(comparison, call.no_regression), *unmet]

    def _able(self, call: CheckCall, evaluation: Evaluation) -> dict[str, list[Any]]:
        """Return how many units of a new baseline can lose, of each metric that only the test guards."""
        itself = compare_with_baseline(evaluation, evaluation, self._alpha)
        unguarded = [one for one in itself.differences if one.metric not in call.guarded]
        return {
            one.metric: list(UnitsAtRisk.from_difference(one, evaluation)) for one in unguarded
        }  # as xdist passes it on

    def _record(self, call: CheckCall, failure: str) -> dict[str, Any]:
        self.used = True
        return make_unmeasured_record(self._item, call, self._settings, self._alpha, failure)


@dataclass(frozen=True, slots=True)
class CheckTask:
    """What to retrieve and judge."""

    qrels: Qrels
    run: Any
    retriever: Any
    queries: Mapping[Any, str]
    rounds: int
    options: Mapping[str, Any]

    @classmethod
    def of(
        cls, qrels: Any, run_or_retriever: Any, queries: Mapping[Any, str] | None, rounds: int, **options: Any
    ) -> CheckTask:
        """Read the arguments of a test."""
        positive_integer(rounds, "rounds")
        is_run = isinstance(run_or_retriever, (Mapping, Run))
        if is_run and queries is not None:
            raise TypeError("queries= are texts for a retriever; a run needs none")
        if is_run and rounds > 1:
            raise TypeError(f"rounds={rounds} needs a retriever, because a run never varies; pass the retriever")
        truth, texts = _questions(qrels, queries)
        if is_run:
            return cls(truth, run_or_retriever, None, {}, 1, options)
        if stray := [query for query, text in texts.items() if not isinstance(text, str)]:
            raise TypeError(
                f"there is no text to ask for query {stray[0]!r}: pass queries={{{stray[0]!r}: 'its text'}}"
            )
        return cls(truth, None, run_or_retriever, texts, rounds, options)

    def runs(self) -> list[Any]:
        """Return the run, or ask the retriever `rounds` times."""
        if self.retriever is None:
            return [self.run]
        return [retrieve(self.retriever, self.queries, **self.options) for _ in range(self.rounds)]

    async def aruns(self) -> list[Any]:
        """Do the same on the event loop of the caller."""
        if self.retriever is None:
            return [self.run]
        return [await aretrieve(self.retriever, self.queries, **self.options) for _ in range(self.rounds)]


def _questions(qrels: Any, queries: Mapping[Any, str] | None) -> tuple[Qrels, Mapping[Any, str]]:
    if isinstance(qrels, Qrels) or (isinstance(qrels, Mapping) and not _is_dataset(qrels)):
        truth: Any = Qrels(qrels)
        given: Mapping[Any, str] = truth.texts
        if queries is None:
            return truth, {query: given.get(query, query) for query in truth.queries}
        if absent := [query for query in truth.queries if query not in queries]:
            raise ValueError(f"queries= has no text for {len(absent)} judged queries, for example {absent[0]!r}")
        texts: Any = {query: queries[query] for query in truth.queries}
        if all(isinstance(text, str) for text in texts.values()):
            truth = Qrels(EvaluationSet(texts, truth))
        return truth, texts
    if queries is not None:
        raise TypeError("queries= are for judgments by query id; a dataset has its own texts")
    dataset = EvaluationSet.from_dataset(qrels)
    return Qrels(dataset), dataset.queries


def _is_dataset(qrels: Mapping[Any, Any]) -> bool:
    return isinstance(qrels.get("queries"), Mapping) and isinstance(qrels.get("relevant_docs"), Mapping)


@dataclass(frozen=True, slots=True)
class CheckCall:
    """The arguments of a call, and the baseline that it is compared with."""

    name: str
    task: CheckTask
    floors: Mapping[str, float | None]
    needs: Mapping[str, int]
    query_floors: Mapping[str, float | Mapping[QueryId, float]]
    no_regression: Sequence[QueryId]
    deterministic: bool
    given: Mapping[str, Any]
    ceilings: Mapping[str, float]
    baseline: Baseline | None = None

    @classmethod
    def of(
        cls,
        name: str,
        task: CheckTask,
        gates: tuple[Any, Any, Any, Any],
        given: Mapping[str, Any],
        *,
        deterministic: bool,
    ) -> CheckCall:
        """Read what is demanded of each metric and query."""
        at_least, per_query, no_regression, at_most = gates
        ceilings = {} if at_most is None else read_ceilings(at_most)
        floors, needs = ({}, {}) if at_least is None and ceilings else read_floors(at_least)
        query_floors = read_query_floors(per_query, task.qrels.queries)
        golden = read_queries(no_regression, task.qrels.queries)
        if deterministic and task.rounds > 1:
            raise ValueError(
                f"a deterministic retriever returns the same in every round; pass deterministic=True or "
                f"rounds={task.rounds}, not both"
            )
        floors |= {metric: None for metric in (*query_floors, *ceilings) if metric not in floors}
        return cls(name, task, floors, needs, query_floors, golden, deterministic, given, ceilings)

    @property
    def guarded(self) -> set[str]:
        """The metrics that can fail without a test against the baseline."""
        exact = self.deterministic or set(self.no_regression) >= set(self.task.qrels.queries)
        bound = {*self.query_floors, *self.ceilings}
        bound |= {metric for metric, floor in self.floors.items() if floor is not None and floor > min_value(metric)}
        return {metric for metric in self.floors if exact or metric in bound}

    def measured(self, runs: Sequence[Any]) -> tuple[RepeatedEvaluation, list[warnings.WarningMessage]]:
        """Evaluate the rounds, and return the warnings, which come after the verdict."""
        with warnings.catch_warnings(record=True) as met:
            warnings.simplefilter("always")
            return RepeatedEvaluation.of(self.task.qrels, runs, list(self.floors), self.given), met

    def check(self, *, baseline: bool) -> None:
        """Raise if something needs a baseline and there is none, or a baseline cannot hold something."""
        if self.no_regression and not baseline:
            raise ValueError("no_regression needs a baseline: pass baseline=True")
        if self.deterministic and not baseline:
            raise ValueError("deterministic=True says how to compare with a baseline: pass baseline=True")
        if baseline and callable(self.given["match"]):
            raise ValueError(
                f"a baseline cannot hold match={self.given['match']!r}, because loading a file runs no code; match by "
                "'source' or 'metadata:<name>'"
            )


@dataclass(frozen=True, slots=True)
class RepeatedEvaluation:
    """The results of several rounds of the same questions."""

    evaluation: Evaluation
    means: Mapping[str, Sequence[float]]

    @property
    def number(self) -> int:
        """How many rounds there are."""
        return len(next(iter(self.means.values())))

    @classmethod
    def of(
        cls, qrels: Qrels, runs: Sequence[Any], metrics: Sequence[str], given: Mapping[str, Any]
    ) -> RepeatedEvaluation:
        """Evaluate each round, and pool them."""
        rounds = [evaluate(qrels, run, list(metrics), **given) for run in runs]
        means = {str(metric): [one.means[metric] for one in rounds] for metric in rounds[0].metrics}
        if len(rounds) == 1:
            return cls(rounds[0], means)
        rows: dict[QueryId, list[tuple[int, Any]]] = {}
        for at, one in enumerate(rounds):
            for query, row in zip(one.queries, one.values, strict=True):
                rows.setdefault(query, []).append((at, row))
        run = RetrievedRun({query: runs[_typical(found)][query] for query, found in rows.items()})
        for one in runs:
            run.errors |= one.errors
        timed = {query: [one.seconds[query] for one in runs if query in one.seconds] for query in rows}
        run.seconds |= {query: fmean(seconds) for query, seconds in timed.items() if seconds}
        pooled = evaluate(qrels, run, list(metrics), **given)
        values = np.array([_mean([row for _, row in rows[query]]) for query in pooled.queries])
        table = values.reshape(pooled.values.shape)
        origin = pooled.scores.require_origin("pooled")._replace(rounds=len(runs))
        return cls(Evaluation(replace(pooled.scores.with_values(table), origin=origin)), means)

    def notes(self) -> list[str]:
        """Return in words how much the means vary; nothing for a single round."""
        if self.number == 1:
            return []
        each = (
            f"{metric} {numbers.value(min(means))} to {numbers.value(max(means))}, standard deviation "
            f"{numbers.three(stdev(means))}"
            for metric, means in self.means.items()
        )
        return [f"{self.number} rounds, pooled per query; the means of single rounds: {'; '.join(each)}"]


def _mean(rows: Sequence[Any]) -> Any:
    """Return the mean of each metric over the rounds in which it is defined; NaN if there is none."""
    table = np.array(rows)
    number = (~np.isnan(table)).sum(axis=0)
    return np.where(number > 0, np.nansum(table, axis=0) / np.maximum(number, 1), np.nan)


def _typical(found: Sequence[tuple[int, Any]]) -> int:
    """Return the round whose first metric is nearest to its mean."""
    middle = _mean([row for _, row in found])[0]
    return min(found, key=lambda one: abs(float(one[1][0]) - float(middle)))[0]

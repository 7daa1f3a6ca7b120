"""The fixture `retrieval_check`: retrieve, score, compare, and fail with a helpful message."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from pytest_retrieval_metrics.approval import approved, store
from pytest_retrieval_metrics.baseline import Baseline, lean
from pytest_retrieval_metrics.best import worse_than_best
from pytest_retrieval_metrics.call import Call
from pytest_retrieval_metrics.ending import end, ends, warned
from pytest_retrieval_metrics.failure import explained
from pytest_retrieval_metrics.gates import (
    Verdict,
    compared,
    deterministic_gate,
    floor_gate,
    never_worse_gate,
    query_floor_gate,
    regression_gate,
)
from pytest_retrieval_metrics.naming import beside, name_of
from pytest_retrieval_metrics.records import hand_to_junit, measured, metric_rows, unmeasured
from pytest_retrieval_metrics.repeating import RepeatedRuns
from pytest_retrieval_metrics.retrieving import Task
from retrieval_metrics.adapting.gating import with_documents
from retrieval_metrics.adapting.twins import WORKERS, arguments_of, passed_on

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_retrieval_metrics.settings import Settings
    from retrieval_metrics import Comparison, Evaluation, Matching, Metric, Rules
    from retrieval_metrics.types import ClustersBy, Key, QueryId

    # A mapping is invariant in its keys, so that this is a union of mappings.
    Floors: TypeAlias = Mapping[str, float | None] | Mapping[Metric, float | None]
    QueryFloors: TypeAlias = Mapping[str, float | Mapping[Any, float]] | Mapping[Metric, float | Mapping[Any, float]]


@dataclass(frozen=True, slots=True)
class Checked:
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
        self._test = name_of(item)
        self._settings = settings
        self._alpha = settings.alpha / settings.builds / max(checks, 1)
        self._records = records
        self._folder = folder
        self._names: set[str] = set()

    def _call(
        self,
        qrels: Any,
        run_or_retriever: Any,
        at_least: Floors,
        *,
        baseline: bool = False,
        name: str = "",
        queries: Mapping[Any, str] | None = None,
        at_least_per_query: QueryFloors | None = None,
        never_worse: Sequence[QueryId] = (),
        deterministic: bool = False,
        repeats: int = 1,
        match: str | Key | Matching = "id",
        clusters: ClustersBy = "source",
        semantics: str | Rules = "standard",
        documents: Any = None,
        workers: int = WORKERS,
        raise_on_error: bool = True,
    ) -> Call:
        """Take the arguments of a call, and check them before anything is retrieved."""
        __tracebackhide__ = True
        task = Task.of(qrels, run_or_retriever, queries, repeats, workers=workers, raise_on_error=raise_on_error)
        matching = with_documents(match, documents, task.qrels, qrels, stacklevel=5)
        given = {"match": matching, "semantics": semantics, "clusters": clusters}
        gates = (at_least, at_least_per_query, never_worse)
        call = Call.of(name, task, gates, given, deterministic=deterministic)
        call.check(baseline=baseline)
        if name in self._names:
            said = f"named {name!r}" if name else "without a name"
            raise ValueError(f"this test already has a check {said}; pass a different name= to each")
        self._names.add(name)
        return self._with_baseline(call) if baseline else call

    @arguments_of(_call)
    def __call__(self, *args: Any, **options: Any) -> Checked:  # noqa: D417  (they are those of _call)
        """Score a run or a retriever, and fail the test if it misses a floor or is worse than the baseline.

        Args:
            qrels: The judgments in any shape of `rm.evaluate`; or a dataset with its texts, as for
                `rm.EvaluationSet.of`: pairs, rows, or an object with `queries` and `relevant_docs`.
            run_or_retriever: A run as for `rm.evaluate`; or a synchronous or asynchronous function of the text of a
                query; or a retriever of a framework whose integration is installed, such as LangChain.
            at_least: The metrics, each with the floor of its mean, or None for no floor.
            baseline: Whether to compare with the evaluation stored beside the test, written by `--retrieval-update`.
            name: Distinguishes several checks in one test.
            queries: The texts of the queries, by id; None takes the ids as texts.
            at_least_per_query: Floors of single queries, by metric: a number for all queries, or a floor by query id.
                They are compared exactly, without statistics.
            never_worse: Ids of queries whose values must not be lower than in the baseline, compared exactly.
            deterministic: Whether the retriever returns the same for the same query, always. Every change is then real:
                the test fails if any query is worse than in the baseline, without statistics.
            repeats: How often a retriever whose results vary is asked everything; the values are then means per query.
            match: What ids of the judgments are compared with, as in `rm.evaluate`.
            clusters: The clusters of the queries, as in `rm.evaluate`; intervals and the test use whole clusters.
            semantics: The rules, as in `rm.evaluate`.
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
        call = passed_on("retrieval_check", self._call, args, options)
        with self._noted(call):
            runs = call.task.runs()
        return self._finish(call, runs)

    @arguments_of(_call)
    async def acheck(self, *args: Any, **options: Any) -> Checked:
        """Do the same in an asynchronous test, on its event loop; arguments and errors are those of the call."""
        __tracebackhide__ = True
        call = passed_on("acheck", self._call, args, options)
        with self._noted(call):
            runs = await call.task.aruns()
        return self._finish(call, runs)

    def _with_baseline(self, call: Call) -> Call:
        """Read the baseline, or fail the test with one sentence."""
        __tracebackhide__ = True
        path = beside(self._item, self._settings.baselines, call.name)
        root, update = self._item.config.rootpath, self._settings.update
        try:
            return replace(call, baseline=Baseline.of(path, self._test, root, with_best=update))
        except ValueError as error:
            said = str(error)
        self._records.append(self._record(call, f"not compared: {said}"))
        pytest.fail(said, pytrace=False)

    @contextmanager
    def _noted(self, call: Call) -> Iterator[None]:
        """Record the error of a retriever for the reports, and let it fail the test."""
        __tracebackhide__ = True
        try:
            yield
        except Exception as error:
            self._records.append(self._record(call, f"not measured: {type(error).__name__}: {error}"))
            raise

    def _finish(self, call: Call, runs: Sequence[Any]) -> Checked:
        __tracebackhide__ = True
        with warnings.catch_warnings(record=True) as met:  # after the verdict, which matters more
            warnings.simplefilter("always")
            rounds = RepeatedRuns.of(call.task.qrels, runs, list(call.floors), call.given)
        evaluation, whole = rounds.evaluation, lean(rounds.evaluation, texts=True)
        settings, baseline, (comparison, of_baseline) = self._settings, call.baseline, self._compared(call, whole)
        found = [
            *floor_gate(evaluation, call.floors, settings),
            *query_floor_gate(evaluation, call.query_floors),
            *of_baseline,
        ]
        verdicts, left = found, ""
        if baseline is not None and settings.update:
            found += worse_than_best(whole, baseline, settings, self._alpha)
            verdicts, left = approved(evaluation, found, call.floors, settings)
        notes = [*(comparison.notes if comparison else ()), *rounds.notes()]
        failed = [verdict for verdict in verdicts if ends(verdict, settings) == "fail"]
        ending = [note for note in (left, *notes, *(str(one.message) for one in met)) if note]
        failure = explained(evaluation, failed, comparison, settings.show, ending) if failed else ""
        raised = None if failure else warned(self._item.nodeid, verdicts, met, settings)
        if raised is not None:
            failure = f"{type(raised).__name__}: {raised}"
            verdicts = [*found, Verdict(metric=next(iter(call.floors)), outcome="warning", figures=str(raised))]
        replaced: list[str] = []
        if baseline is not None and settings.update and not left and raised is None:
            labels: dict[str, str | int] = {"test": self._test, "check": call.name, "repeats": len(runs)}
            replaced = store(baseline, evaluation, comparison, labels, alpha=self._alpha, show=settings.show)
        rows = metric_rows(evaluation, verdicts, call.floors, settings.level)
        record = self._record(call, failure) | measured(whole, comparison, rows, self._folder)
        self._records.append(record | {"notes": notes, "replaced": replaced})
        hand_to_junit(self._item, record)
        if raised is not None:
            raise raised
        end(verdicts, failure, settings)
        return Checked(evaluation, tuple(verdicts), None if baseline is None else baseline.path, comparison)

    def _compared(self, call: Call, evaluation: Evaluation) -> tuple[Comparison | None, list[Verdict]]:
        """Compare with the baseline, and return the verdicts of the gates; nothing without a baseline."""
        if call.baseline is None:
            return None, []
        path, comparison = call.baseline.path, None
        if call.baseline.known is None:
            said = f"there is no baseline {call.baseline.where}; --retrieval-update writes it"
        else:
            try:
                comparison = compared(evaluation, call.baseline.known, self._alpha)
            except ValueError as error:
                said = f"{error}; --retrieval-update writes a new {path.name}"
        if comparison is None:
            return None, [Verdict(metric=metric, outcome="not compared", figures=said) for metric in call.floors]
        verdicts = regression_gate(evaluation, comparison, path.name, self._settings)
        if call.deterministic:
            verdicts += deterministic_gate(comparison)
        return comparison, verdicts + never_worse_gate(comparison, call.never_worse)

    def _record(self, call: Call, failure: str) -> dict[str, Any]:
        return unmeasured(self._item, call, self._settings, self._alpha, failure)

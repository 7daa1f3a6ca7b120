"""The fixture `retrieval_check`: retrieve, score, compare, and fail with a helpful message."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from pytest_retrieval_metrics.approval import approved, changes, stays
from pytest_retrieval_metrics.baseline import Baseline, lean, write
from pytest_retrieval_metrics.best import forget_best, keep_best, worse_than_best
from pytest_retrieval_metrics.carrying import put
from pytest_retrieval_metrics.ending import end, ends, warned
from pytest_retrieval_metrics.failure import explained
from pytest_retrieval_metrics.floors import floors_of, queries_of, query_floors_of
from pytest_retrieval_metrics.gates import (
    Verdict,
    compared,
    deterministic_gate,
    floor_gate,
    never_worse_gate,
    query_floor_gate,
    regression_gate,
)
from pytest_retrieval_metrics.naming import file_name, name_of, shown
from pytest_retrieval_metrics.records import hand_to_junit, head, metric_rows, query_rows
from pytest_retrieval_metrics.repeating import RepeatedRuns
from pytest_retrieval_metrics.retrieving import Task
from retrieval_metrics.adapting import questions_fingerprint, with_documents
from retrieval_metrics.adapting.twins import WORKERS

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


@dataclass(frozen=True, slots=True)
class _Asked:
    """The checked arguments of a call."""

    name: str
    task: Task
    floors: Mapping[str, float | None]
    query_floors: Mapping[str, float | Mapping[QueryId, float]]
    never_worse: Sequence[QueryId]
    given: Mapping[str, Any]
    path: Path | None
    known: Baseline | None
    deterministic: bool


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

    def __call__(
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
    ) -> Checked:
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
        task = Task.of(qrels, run_or_retriever, queries, repeats)
        matching = with_documents(match, documents, task.qrels, qrels)
        asked = self._begin(
            task,
            (at_least, at_least_per_query, never_worse),
            {"match": matching, "semantics": semantics, "clusters": clusters},
            baseline=baseline,
            name=name,
            deterministic=deterministic,
        )
        with self._noted(asked):
            runs = asked.task.runs(workers=workers, raise_on_error=raise_on_error)
        return self._finish(asked, runs)

    async def acheck(
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
    ) -> Checked:
        """Do the same in an asynchronous test, on its event loop; arguments and errors are those of the call."""
        __tracebackhide__ = True
        task = Task.of(qrels, run_or_retriever, queries, repeats)
        matching = with_documents(match, documents, task.qrels, qrels)
        asked = self._begin(
            task,
            (at_least, at_least_per_query, never_worse),
            {"match": matching, "semantics": semantics, "clusters": clusters},
            baseline=baseline,
            name=name,
            deterministic=deterministic,
        )
        with self._noted(asked):
            runs = await asked.task.aruns(workers=workers, raise_on_error=raise_on_error)
        return self._finish(asked, runs)

    def _begin(
        self,
        task: Task,
        wanted: tuple[Any, Any, Any],
        given: Mapping[str, Any],
        *,
        baseline: bool,
        name: str,
        deterministic: bool,
    ) -> _Asked:
        """Check the arguments before anything is retrieved."""
        __tracebackhide__ = True
        at_least, per_query, never_worse = wanted
        floors = floors_of(at_least)
        query_floors = query_floors_of(per_query, task.qrels.queries)
        for metric in query_floors:
            floors.setdefault(metric, None)
        golden = queries_of(never_worse, task.qrels.queries)
        if golden and not baseline:
            raise ValueError("never_worse needs a baseline: pass baseline=True")
        if deterministic and not baseline:
            raise ValueError("deterministic=True says how to compare with a baseline: pass baseline=True")
        if deterministic and task.repeats > 1:
            raise ValueError(
                f"a deterministic retriever returns the same in every round; pass deterministic=True or "
                f"repeats={task.repeats}, not both"
            )
        if baseline and callable(given["match"]):
            raise ValueError(
                f"a baseline cannot hold match={given['match']!r}, because loading a file runs no code; match by "
                "'source' or 'metadata:<name>'"
            )
        if name in self._names:
            said = f"named {name!r}" if name else "without a name"
            raise ValueError(f"this test already has a check {said}; pass a different name= to each")
        self._names.add(name)
        path = self._beside(self._settings.baselines, name) if baseline else None
        asked = _Asked(name, task, floors, query_floors, golden, given, path, None, deterministic)
        if path is None or not path.exists():
            return asked
        known = self._read(path, asked)
        return _Asked(name, task, floors, query_floors, golden, given, path, known, deterministic)

    def _read(self, path: Path, asked: _Asked) -> Baseline:
        """Read the baseline, or fail the test with one sentence."""
        __tracebackhide__ = True
        try:
            return Baseline.read(path, self._test)
        except ValueError as error:
            said = str(error).replace(str(path), shown(path, self._item.config.rootpath))
        self._records.append(self._record(asked, f"not compared: {said}"))
        pytest.fail(said, pytrace=False)

    @contextmanager
    def _noted(self, asked: _Asked) -> Iterator[None]:
        """Record the error of a retriever for the reports, and let it fail the test."""
        __tracebackhide__ = True
        try:
            yield
        except Exception as error:
            self._records.append(self._record(asked, f"not measured: {type(error).__name__}: {error}"))
            raise

    def _finish(self, asked: _Asked, runs: Sequence[Any]) -> Checked:
        __tracebackhide__ = True
        with warnings.catch_warnings(record=True) as met:  # after the verdict, which matters more
            warnings.simplefilter("always")
            repeats = RepeatedRuns.of(asked.task.qrels, runs, list(asked.floors), asked.given)
        evaluation, shown_to_people = repeats.evaluation, lean(repeats.evaluation, texts=True)
        verdicts = floor_gate(evaluation, asked.floors, self._settings)
        verdicts += query_floor_gate(evaluation, asked.query_floors)
        comparison, of_baseline = self._compared(asked, shown_to_people)
        measured = verdicts + of_baseline
        verdicts, may, left = measured, False, ""
        if asked.path is not None and self._settings.update:
            measured = measured + self._than_best(asked, shown_to_people)
            verdicts, may = approved(evaluation, measured, asked.floors, self._settings)
            left = "" if may else stays(verdicts)
        notes = [*(comparison.notes if comparison else ()), *repeats.notes()]
        failure = self._failure(evaluation, verdicts, comparison, [left, *notes, *(str(one.message) for one in met)])
        raised = None if failure else warned(self._item.nodeid, verdicts, met, self._settings)
        if raised is not None:
            failure = f"{type(raised).__name__}: {raised}"
            verdicts = [*measured, Verdict(metric=next(iter(asked.floors)), outcome="warning", figures=str(raised))]
        replaced = self._store(asked, evaluation, comparison, len(runs)) if may and raised is None else []
        record = self._record(asked, failure) | self._measured(asked, shown_to_people, comparison, verdicts)
        self._records.append(record | {"notes": notes, "replaced": replaced})
        hand_to_junit(self._item, record)
        if raised is not None:
            raise raised
        end(verdicts, failure, self._settings)
        return Checked(evaluation, tuple(verdicts), asked.path, comparison)

    def _compared(self, asked: _Asked, evaluation: Evaluation) -> tuple[Comparison | None, list[Verdict]]:
        """Compare with the baseline, and return the verdicts of the gates; nothing without a baseline."""
        if asked.path is None:
            return None, []
        said, comparison = "", None
        if asked.known is None:
            said = f"there is no baseline {shown(asked.path, self._item.config.rootpath)}; --retrieval-update writes it"
        else:
            try:
                comparison = compared(evaluation, asked.known, self._alpha)
            except ValueError as error:
                said = f"{error}; --retrieval-update writes a new {asked.path.name}"
        if comparison is None or asked.known is None:
            return None, [Verdict(metric=metric, outcome="not compared", figures=said) for metric in asked.floors]
        verdicts = regression_gate(evaluation, comparison, asked.known, self._settings)
        if asked.deterministic:
            verdicts += deterministic_gate(comparison)
        return comparison, verdicts + never_worse_gate(comparison, asked.never_worse)

    def _than_best(self, asked: _Asked, evaluation: Evaluation) -> list[Verdict]:
        """Return what an update would lose of the best approved baseline; fail if that cannot be read."""
        __tracebackhide__ = True
        assert asked.path is not None  # noqa: S101  (for type checkers: there is one where it is updated)
        try:
            return worse_than_best(evaluation, asked.path, self._test, self._settings, self._alpha)
        except ValueError as error:
            said = str(error).replace(str(asked.path.parent), shown(asked.path.parent, self._item.config.rootpath))
        self._records.append(self._record(asked, f"not compared: {said}"))
        pytest.fail(said, pytrace=False)

    def _store(self, asked: _Asked, evaluation: Evaluation, comparison: Comparison | None, rounds: int) -> list[str]:
        """Write the baseline, and return lines on what it replaces."""
        assert asked.path is not None  # noqa: S101  (for type checkers: there is one where it is stored)
        where = shown(asked.path, self._item.config.rootpath)
        if asked.known is None:
            forget_best(asked.path)
        elif comparison is None or not all(each.identical for each in comparison.differences):
            keep_best(evaluation, asked.known, self._test, self._alpha)
        written = write(asked.path, evaluation, {"test": self._test, "check": asked.name, "repeats": rounds})
        if asked.known is None:
            return [f"{where}: new"]
        if comparison is None:
            return [f"{where}: replaced; nothing of it could be compared"]
        return changes(where, comparison, self._settings.show) if written else []

    def _failure(
        self, evaluation: Evaluation, verdicts: Sequence[Verdict], comparison: Comparison | None, notes: Sequence[str]
    ) -> str:
        failed = [verdict for verdict in verdicts if ends(verdict, self._settings) == "fail"]
        if not failed:
            return ""
        return explained(evaluation, failed, comparison, self._settings.show, [note for note in notes if note])

    def _record(self, asked: _Asked, failure: str) -> dict[str, Any]:
        """Return the record of a check before it is measured, as plain data."""
        history = self._settings.history
        known = {
            "failure": failure,
            "baseline": None if asked.path is None else str(asked.path),
            "had_baseline": asked.known is not None,
            "deterministic": asked.deterministic,
            "alpha_of_build": self._settings.alpha / self._settings.builds,
            "history": str(self._beside(history, asked.name, ".jsonl")) if history else None,
        }
        level, alpha = self._settings.level, self._alpha
        return head(self._item.nodeid, asked.name, self._test, level=level, alpha=alpha) | known

    def _measured(
        self, asked: _Asked, evaluation: Evaluation, comparison: Comparison | None, verdicts: Sequence[Verdict]
    ) -> dict[str, Any]:
        """Return the results as plain data, with the files of whole evaluations."""
        return {
            "questions": questions_fingerprint(evaluation.scores),
            "metrics": metric_rows(evaluation, verdicts, asked.floors, self._settings.level),
            "queries": query_rows(evaluation, comparison),
            "evaluation": put(evaluation, self._folder),
            "comparison": None if comparison is None else put(comparison, self._folder),
        }

    def _beside(self, folder: str, name: str, ending: str = ".json") -> Path:
        """Return the file of a check in a folder beside the file of its test."""
        path = self._item.path
        return path.parent / folder / path.stem / file_name(self._test, name, ending)

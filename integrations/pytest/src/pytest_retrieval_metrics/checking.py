"""What the fixture `retrieval_check` is: ask, score, compare, and fail with what one can act on."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pytest

from pytest_retrieval_metrics.baseline import Baseline, file_name
from pytest_retrieval_metrics.failure import explained
from pytest_retrieval_metrics.gates import Verdict, floor_gate, regression_gate
from pytest_retrieval_metrics.records import record
from pytest_retrieval_metrics.retrieving import Task
from retrieval_metrics import Evaluation, Metric, RetrievalWarning, aretrieve, evaluate, retrieve
from retrieval_metrics.adapting import WORKERS

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_retrieval_metrics.settings import Settings
    from retrieval_metrics import Matching, RetrievedRun, Rules
    from retrieval_metrics.adapting import ClustersBy, Key

    # A mapping is invariant in its keys, so that this is a union of mappings.
    Floors: TypeAlias = Mapping[str, float | None] | Mapping[Metric, float | None]

FAILING: Final = ("below the floor", "worse")


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check that did not fail found.

    Attributes:
        evaluation: The values, as `rm.evaluate` returns them.
        verdicts: What each gate said of each metric.
        baseline: The file of the baseline; None without one.
    """

    evaluation: Evaluation
    verdicts: tuple[Verdict, ...]
    baseline: Path | None

    def __str__(self) -> str:
        return str(self.evaluation)


class RetrievalCheck:
    """Checks retrieval quality: what the fixture `retrieval_check` is.

    Called, it scores a run or a retriever and fails the test if a metric is below its floor, or significantly worse
    than the test's stored baseline. Await `acheck` where the test itself is asynchronous.
    """

    def __init__(self, item: pytest.Item, settings: Settings, *, checks: int, records: list[dict[str, Any]]) -> None:
        self._item = item
        self._settings = settings
        self._alpha = settings.alpha / max(checks, 1)
        self._records = records
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
        match: str | Key | Matching = "id",
        clusters: ClustersBy = "source",
        semantics: str | Rules = "standard",
        workers: int = WORKERS,
        raise_on_error: bool = True,
    ) -> Checked:
        """Score what a retriever finds, and fail the test if that is not enough, or worse than before.

        Args:
            qrels: What is true, in any shape that `rm.evaluate` takes; or a dataset with its texts, as
                `rm.EvaluationSet.of` takes it: pairs, rows, or an object with `queries` and `relevant_docs`.
            run_or_retriever: A run as `rm.evaluate` takes it; or something callable with the text of a query, also
                asynchronous; or a retriever of a framework whose integration is installed, such as LangChain.
            at_least: The metrics, each with its floor, or None for no floor.
            baseline: Whether to compare with the values stored beside the test, which `--retrieval-update` writes.
            name: Tells several checks of one test apart.
            queries: The texts of the queries, by id; None takes the ids as texts.
            match: What ids of the judgments are compared with, as in `rm.evaluate`.
            clusters: Which queries belong together, as in `rm.evaluate`; intervals and the test take whole clusters.
            semantics: The rules, as in `rm.evaluate`.
            workers: How many queries may be under way at once.
            raise_on_error: Whether an error of the retriever is the test's; if not, the query scores 0.

        Returns:
            The evaluation and what each gate said.

        Raises:
            TypeError: If something has the wrong type.
            ValueError: If a metric is unknown, a floor is not a finite number, or a name comes twice in a test.
        """
        __tracebackhide__ = True
        floors, task = self._begin(qrels, run_or_retriever, at_least, name=name, queries=queries)
        run = task.run
        if run is None:
            run = retrieve(task.retriever, task.queries, workers=workers, raise_on_error=raise_on_error)
        given = {"match": match, "semantics": semantics, "clusters": clusters}
        return self._finish(task, run, floors, given, baseline=baseline, name=name)

    async def acheck(
        self,
        qrels: Any,
        run_or_retriever: Any,
        at_least: Floors,
        *,
        baseline: bool = False,
        name: str = "",
        queries: Mapping[Any, str] | None = None,
        match: str | Key | Matching = "id",
        clusters: ClustersBy = "source",
        semantics: str | Rules = "standard",
        workers: int = WORKERS,
        raise_on_error: bool = True,
    ) -> Checked:
        """Do the same in an asynchronous test, on its own event loop; arguments and errors are those of the call."""
        __tracebackhide__ = True
        floors, task = self._begin(qrels, run_or_retriever, at_least, name=name, queries=queries)
        run = task.run
        if run is None:
            run = await aretrieve(task.retriever, task.queries, workers=workers, raise_on_error=raise_on_error)
        given = {"match": match, "semantics": semantics, "clusters": clusters}
        return self._finish(task, run, floors, given, baseline=baseline, name=name)

    def _begin(
        self, qrels: Any, retriever: Any, at_least: Any, *, name: str, queries: Mapping[Any, str] | None
    ) -> tuple[dict[str, float | None], Task]:
        floors = _floors(at_least)
        if name in self._names:
            said = f"named {name!r}" if name else "without a name"
            raise ValueError(f"this test has a check {said} already; give each its own name=")
        self._names.add(name)
        return floors, Task.of(qrels, retriever, queries)

    def _finish(
        self,
        task: Task,
        run: RetrievedRun,
        floors: Mapping[str, float | None],
        given: Mapping[str, Any],
        *,
        baseline: bool,
        name: str,
    ) -> Checked:
        __tracebackhide__ = True
        with warnings.catch_warnings(record=True) as met:  # said after the verdict, which matters more
            warnings.simplefilter("always")
            evaluation = evaluate(task.qrels, run, list(floors), **given)
        verdicts = floor_gate(evaluation, floors, self._settings)
        path, known = None, None
        replaced: list[str] = []
        if baseline:
            path = self._path(name)
            if self._settings.update:
                fresh = Baseline.of(evaluation)
                if path.exists():
                    replaced = fresh.changes(Baseline.read(path), path)
                fresh.write(path)
            elif path.exists():
                known = Baseline.read(path)
                verdicts += regression_gate(evaluation, known, path, self._settings, self._alpha)
            else:
                said = f"there is no baseline {path.parent.name}/{path.name}; --retrieval-update writes it"
                verdicts += [Verdict(metric=metric, outcome="not compared", said=said) for metric in floors]
        self._keep(evaluation, floors, verdicts, name, replaced)
        self._judge(evaluation, verdicts, known, [str(warning.message) for warning in met])
        for warning in met:
            warnings.warn(warning.message, warning.category, stacklevel=3)
        return Checked(evaluation, tuple(verdicts), path)

    def _path(self, name: str) -> Path:
        test = self._item.nodeid.partition("::")[2]
        return self._item.path.parent / self._settings.baselines / self._item.path.stem / file_name(test, name)

    def _keep(
        self,
        evaluation: Evaluation,
        floors: Mapping[str, float | None],
        verdicts: list[Verdict],
        name: str,
        replaced: list[str],
    ) -> None:
        kept = record(
            self._item.nodeid,
            name,
            evaluation,
            floors=floors,
            verdicts=verdicts,
            settings=self._settings,
            alpha=self._alpha,
            replaced=replaced,
        )
        self._records.append(kept)
        for row in kept["metrics"]:  # --junitxml writes these beside the test
            self._item.user_properties.append((f"{name + ': ' if name else ''}{row['metric']}", row["mean"]))

    def _judge(self, evaluation: Evaluation, verdicts: list[Verdict], known: Baseline | None, notes: list[str]) -> None:
        """End the test as the worst verdict asks for."""
        __tracebackhide__ = True
        asked = {"cannot tell": self._settings.undecided, "not compared": self._settings.uncompared}
        ends = [(verdict, "fail" if verdict.outcome in FAILING else asked.get(verdict.outcome)) for verdict in verdicts]
        if failed := [verdict for verdict, end in ends if end == "fail"]:
            text = explained(evaluation, failed, known, self._settings.show)
            pytest.fail("\n\n".join([text, *notes]), pytrace=False)
        for verdict in [verdict for verdict, end in ends if end == "warn"]:
            said = f"{self._item.nodeid}: {verdict.metric}: {verdict.outcome}: {verdict.said}"
            warnings.warn(said, RetrievalWarning, stacklevel=4)
        if left := [verdict for verdict, end in ends if end == "skip"]:
            pytest.skip("; ".join(f"{verdict.metric}: {verdict.outcome}: {verdict.said}" for verdict in left))


def _floors(at_least: Any) -> dict[str, float | None]:
    if not isinstance(at_least, Mapping):
        raise TypeError(f"at_least maps metrics to floors, such as {{'ndcg@10': 0.35}}; got {at_least!r}")
    if not at_least:
        raise ValueError("at_least is empty: name a metric, with None for no floor: {'ndcg@10': None}")
    floors: dict[str, float | None] = {}
    for metric, floor in at_least.items():
        name = str(metric if isinstance(metric, Metric) else Metric.parse(metric))
        if floor is not None and (isinstance(floor, bool) or not isinstance(floor, Real)):
            raise TypeError(f"the floor of {name} must be a number or None, got {floor!r}")
        if floor is not None and not abs(float(floor)) < float("inf"):
            raise ValueError(f"the floor of {name} must be finite, got {floor!r}")
        if name in floors:
            raise ValueError(f"at_least names {name} twice, in two spellings")
        floors[name] = None if floor is None else float(floor)
    return floors

"""The object behind the fixture `retrieval_check`: it retrieves, scores, compares, and fails with a helpful message."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_retrieval_metrics.baseline_gates import (
    UnitsAtRisk,
    compare_with_baseline,
    deterministic_gate,
    no_regression_gate,
    regression_gate,
)
from pytest_retrieval_metrics.baseline_update import (
    check_approval,
    compare_with_best,
    read_accepted_losses,
    select_worse_than_best,
    store_baseline,
)
from pytest_retrieval_metrics.baselines import Baseline, strip_unused_fields
from pytest_retrieval_metrics.change_wording import format_failure
from pytest_retrieval_metrics.check_call import CheckCall, CheckTask
from pytest_retrieval_metrics.check_records import (
    add_measurement,
    add_to_junit,
    make_metric_rows,
    make_unmeasured_record,
)
from pytest_retrieval_metrics.evaluated_results import require_no_options
from pytest_retrieval_metrics.file_names import get_test_name, path_beside_test
from pytest_retrieval_metrics.floor_and_ceiling_gates import (
    ceiling_gate,
    floor_gate,
    query_floor_gate,
)
from pytest_retrieval_metrics.gate_arguments import metric_names
from pytest_retrieval_metrics.gate_wording import NOT_AWAITED, NOT_CALLED, format_no_baseline, round_notes
from pytest_retrieval_metrics.unmeasured_gates import common_ids_gate, shown_metrics, unguarded_gate
from pytest_retrieval_metrics.user_frames import keep_user_frames
from pytest_retrieval_metrics.verdicts import Verdict, end_test, get_effect, warn_about_verdicts
from retrieval_metrics.integration_api import describe_error
from retrieval_metrics.integration_api.async_support import WORKERS, forward_arguments, takes_arguments_of
from retrieval_metrics.integration_api.pytest_support import depth_notes, find_system_wide_warnings, with_source_texts

if TYPE_CHECKING:
    import warnings
    from collections.abc import Coroutine, Iterable, Mapping, Sequence
    from pathlib import Path

    from pytest_retrieval_metrics.baseline_gates import UnitsAtRiskRecord
    from pytest_retrieval_metrics.check_call import (
        Floors,
        Judged,
        Measurement,
        QueryFloors,
        RetrieveOptions,
        RunOrRetriever,
        TextsByQuery,
    )
    from pytest_retrieval_metrics.check_records import CheckRecord
    from pytest_retrieval_metrics.rounds import EvaluateOptions
    from pytest_retrieval_metrics.settings import Settings
    from retrieval_metrics import Comparison, Evaluation, Matching, Rules
    from retrieval_metrics.types import ClustersBy, Exclude, Key, QueryId


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


@dataclass(frozen=True, slots=True)
class BaselineGates:
    """The comparison with the baseline and its verdicts; `comparison` is None if nothing was compared."""

    comparison: Comparison | None
    verdicts: list[Verdict]


@dataclass(slots=True)
class CheckOutcome:
    """How a check ends.

    Attributes:
        gate_verdicts: The verdicts of all gates.
        verdicts: The verdicts that end the test; after an update, they say what was stored, or why nothing was.
        best_verdicts: The verdicts against the best approved baselines; empty if no update was asked for.
        refusal: Why the baseline may not be written; an empty text if it may, or if no update was asked for.
        notes: How the questions differ from those of the baseline, unless a failing verdict says it.
        failure: The text of the failure; empty if the test does not fail.
        raised: The warning that pytest is told to raise.
    """

    gate_verdicts: list[Verdict]
    verdicts: list[Verdict]
    best_verdicts: list[Verdict] = field(default_factory=list)
    refusal: str = ""
    notes: list[str] = field(default_factory=list)
    failure: str = ""
    raised: Warning | None = None


class RetrievalCheck:
    """Checks retrieval quality; the type of the fixture `retrieval_check`.

    A call scores a run or a retriever and fails the test if a metric is below its floor, or significantly worse than
    the stored baseline of the test. In an asynchronous test, await `acheck`.
    """

    # How many calls of `acheck` were made and not awaited.
    _n_not_awaited = 0

    def __init__(
        self,
        item: pytest.Item,
        settings: Settings,
        *,
        checks: int,
        records: list[CheckRecord],
        folder: str | None = None,
    ) -> None:
        self._item = item
        self._test = get_test_name(item)
        self._settings = settings
        self._alpha = settings.alpha / settings.builds / max(checks, 1)
        self._records = records
        self._folder = folder
        self._names: set[str] = set()
        self.has_checked = False

    def _read_call(
        self,
        qrels: Judged,
        run_or_retriever: RunOrRetriever = None,
        at_least: Floors | None = None,
        *,
        at_most: Mapping[str, float] | None = None,
        baseline: bool = False,
        name: str = "",
        queries: TextsByQuery | None = None,
        at_least_per_query: QueryFloors | None = None,
        no_regression: Sequence[QueryId] = (),
        deterministic: bool = False,
        texts: bool = False,
        rounds: int = 1,
        match: str | Key | Matching = "id",
        clusters: ClustersBy = "source",
        rules: str | Rules = "standard",
        documents: Mapping[str, str] | Iterable[Any] | None = None,
        exclude: Exclude | None = None,
        workers: int = WORKERS,
        raise_on_error: bool = True,
    ) -> CheckCall:
        """Read and check the arguments of a call before anything is retrieved."""
        __tracebackhide__ = True
        retrieve_options: RetrieveOptions = {"workers": workers, "raise_on_error": raise_on_error}
        metrics = metric_names(at_least, at_most, at_least_per_query)
        task = CheckTask.from_arguments(qrels, run_or_retriever, queries, rounds, retrieve_options, metrics)
        if task.evaluated is not None:
            require_no_options(match=match, rules=rules, clusters=clusters, documents=documents)
        elif task.qrels is not None:
            match = with_source_texts(match, documents, task.qrels, qrels)
        options: EvaluateOptions = {
            "match": match,
            "rules": rules,
            "clusters": clusters,
            "exclude": exclude,
        }
        call = CheckCall.from_arguments(
            name,
            task,
            options,
            at_least=at_least,
            at_most=at_most,
            at_least_per_query=at_least_per_query,
            no_regression=no_regression,
            deterministic=deterministic,
            texts=texts,
        )
        call.check(baseline=baseline)
        if name in self._names:
            description = f"named {name!r}" if name else "without a name"
            raise ValueError(f"this test already has a check {description}; pass a different name= to each")
        self._names.add(name)
        if not baseline:
            return call
        return self._with_baseline(call)

    @takes_arguments_of(_read_call)
    def __call__(self, *args: object, **options: object) -> CheckResult:
        """Score a run or a retriever, and fail the test if it misses a floor or is worse than the baseline.

        Args:
            qrels: The judgments in any shape of `rm.evaluate`; or a dataset with its texts, as for
                `rm.EvaluationSet.from_dataset`: pairs, rows, or an object with `queries` and `relevant_docs`. Or what
                is evaluated already, without a run: an `rm.Evaluation`, or a result, dataset or experiment of Ragas.
            run_or_retriever: A run as for `rm.evaluate`; or a synchronous or asynchronous function of the text of a
                query; or a retriever of a framework whose integration is installed, such as LangChain.
            at_least: The metrics, each with the floor of its mean; None for no floor, if there is a baseline, or to
                show a metric beside those of `at_most`. `(0.35, 120)` is a floor that needs at least 120 queries with a
                value. It may be left out beside `at_most` or `at_least_per_query`.
            at_most: Metrics in which lower is better, each with the ceiling of its mean: `{"leak@5": 0}`. A metric that
                nothing judged can show fails the test.
            baseline: Whether to compare with the evaluation stored beside the test, written by `--retrieval-update`.
            name: Distinguishes several checks in one test.
            queries: The texts of the queries, by id; None takes the ids as texts.
            at_least_per_query: Floors of single queries, by metric: a number for all queries, or a floor by query id.
                They are compared exactly, without statistics. A number leaves out queries without a value, such as
                unanswerable ones; a query with a floor of its own must have a value.
            no_regression: Ids of queries whose values must not be lower than in the baseline, compared exactly.
            deterministic: Whether the retriever returns the same for the same query, always. Every change is then real:
                the test fails if any query is worse than in the baseline, without statistics.
            texts: Whether the baseline stores the texts of what was retrieved. Otherwise it holds them only where
                judging needs them: for quotes, texts and spans, and budgets of characters.
            rounds: How many times a nondeterministic retriever is run; the values are then means per query.
            match: What ids of the judgments are compared with, as in `rm.evaluate`.
            clusters: The clusters of the queries, as in `rm.evaluate`; intervals and the test use whole clusters.
            rules: The rules, as in `rm.evaluate`.
            documents: The documents that chunks were cut from, as in `rm.evaluate`, if a `Span` is judged.
            exclude: Documents to leave out of the rankings, as in `rm.evaluate`.
            workers: How many queries may run at once.
            raise_on_error: Whether an error of the retriever fails the test; otherwise, the query scores 0.

        Returns:
            The evaluation and the verdicts of the gates.

        Raises:
            TypeError: If something has the wrong type.
            ValueError: If a metric or a query is unknown, a floor is not a finite number, or a test repeats a name.
        """
        __tracebackhide__ = True
        call = forward_arguments("retrieval_check", self._read_call, args, options)
        try:
            measurement = call.measure(call.task.collect_runs())
        except Exception as error:
            self._record_error(call, error)
            raise
        return self._finish(call, measurement)

    @takes_arguments_of(_read_call)
    def acheck(self, *args: object, **options: object) -> Coroutine[Any, Any, CheckResult]:
        """Check in an asynchronous test, on its event loop; the asynchronous version of calling the fixture."""
        self._n_not_awaited += 1
        return self._acheck(*args, **options)

    async def _acheck(self, *args: object, **options: object) -> CheckResult:
        __tracebackhide__ = True
        self._n_not_awaited -= 1
        call = forward_arguments("acheck", self._read_call, args, options)
        try:
            measurement = call.measure(await call.task.acollect_runs())
        except Exception as error:
            self._record_error(call, error)
            raise
        return self._finish(call, measurement)

    def record_unchecked(self, *, is_requested: bool) -> str:
        """Record a test that passed without a check, and return why it checked nothing; "" if it did check."""
        if self._n_not_awaited:
            reason = NOT_AWAITED
        elif is_requested and not self.has_checked:
            reason = NOT_CALLED
        else:
            return ""
        record = make_unmeasured_record(self._item, None, self._settings, self._alpha, f"nothing checked: {reason}")
        self._records.append(record)
        return record["failure"]

    def _with_baseline(self, call: CheckCall) -> CheckCall:
        """Return the call with its baseline; fail the test with one sentence if the file cannot be read."""
        __tracebackhide__ = True
        path = path_beside_test(self._item, self._settings.baselines, call.name)
        root = self._item.config.rootpath
        try:
            baseline = Baseline.read(path, self._test, root, with_best=self._settings.update)
        except ValueError as error:
            reason = str(error)
        else:
            return replace(call, baseline=baseline)
        # Outside the `except` block, so that the failure is not shown as raised during the handling of another error.
        self._records.append(self._make_record(call, f"not compared: {reason}"))
        pytest.fail(reason, pytrace=False)

    def _record_error(self, call: CheckCall, error: Exception) -> None:
        """Record an error of the retriever or of its results for the reports, and shorten what pytest shows of it."""
        self._records.append(self._make_record(call, f"not measured: {describe_error(error)}"))
        error.__traceback__ = keep_user_frames(error.__traceback__)

    def _finish(self, call: CheckCall, measurement: Measurement) -> CheckResult:
        """Judge the measurement, update the baseline if asked, record the check, and end the test."""
        __tracebackhide__ = True
        settings = self._settings
        rounds = measurement.rounds
        evaluation = rounds.evaluation
        texts_only = strip_unused_fields(evaluation, keep_texts=True)
        unmeasured = common_ids_gate(texts_only)
        compared = self._compare(call, texts_only, unmeasured)
        gate_verdicts = _remove_repeated_causes(
            [
                *floor_gate(evaluation, call.floors, call.min_queries, settings),
                *ceiling_gate(evaluation, call.ceilings, settings),
                *query_floor_gate(evaluation, call.query_floors),
                *compared.verdicts,
            ]
        )
        outcome = CheckOutcome(gate_verdicts, gate_verdicts)
        is_update = call.baseline is not None and settings.update
        if call.baseline is not None and is_update:
            outcome.best_verdicts = compare_with_best(texts_only, call.baseline, settings, self._alpha)
            outcome.gate_verdicts = [*gate_verdicts, *select_worse_than_best(outcome.best_verdicts)]
            self._decide_update(call, evaluation, outcome)
        spread = round_notes(rounds.n_rounds, rounds.means)
        self._write_failure(evaluation, compared, outcome, measurement.warnings, spread, show_queries=not unmeasured)
        if not outcome.failure:
            raised = warn_about_verdicts(self._item.nodeid, outcome.verdicts, measurement.warnings, settings)
            if raised is not None:
                outcome.raised = raised
                outcome.failure = f"{type(raised).__name__}: {raised}"
                warning_verdict = Verdict(metric=call.metrics[0], outcome="warning", figures=str(raised))
                outcome.verdicts = [*outcome.gate_verdicts, warning_verdict]
        replaced: list[str] = []
        units_at_risk: dict[str, UnitsAtRiskRecord] = {}
        if call.baseline is not None and is_update and not outcome.refusal and outcome.raised is None:
            labels: dict[str, str | int] = {"test": self._test, "check": call.name, "rounds": rounds.n_rounds}
            replaced = store_baseline(
                call.baseline,
                evaluation,
                compared.comparison,
                compared.verdicts,
                outcome.best_verdicts,
                labels,
                show=settings.show,
                texts=call.texts,
            )
            units_at_risk = self._count_units_at_risk(call, texts_only)
        record = self._make_record(call, outcome.failure)
        rows = make_metric_rows(evaluation, outcome.verdicts, call.floors, call.query_floors, settings.level)
        add_measurement(record, texts_only, compared.comparison, rows, self._folder)
        record["notes"] = outcome.notes
        record["spread"] = spread
        record["replaced"] = replaced
        record["units_at_risk"] = units_at_risk
        self._records.append(record)
        add_to_junit(self._item, record)
        if outcome.raised is not None:
            raise outcome.raised
        end_test(outcome.verdicts, outcome.failure, settings)
        baseline_path = None if call.baseline is None else call.baseline.path
        return CheckResult(evaluation, tuple(outcome.verdicts), baseline_path, compared.comparison)

    def _decide_update(self, call: CheckCall, evaluation: Evaluation, outcome: CheckOutcome) -> None:
        """Decide whether the baseline may be replaced."""
        check_names = {
            self._test,
            getattr(self._item, "originalname", self._test),
            self._item.nodeid,
            call.name,
        }
        accepted = read_accepted_losses(call.metrics, check_names, self._settings)
        approval = check_approval(evaluation, outcome.gate_verdicts, call.metrics, accepted)
        outcome.verdicts = approval.verdicts
        outcome.refusal = approval.refusal

    def _write_failure(
        self,
        evaluation: Evaluation,
        compared: BaselineGates,
        outcome: CheckOutcome,
        recorded_warnings: Sequence[warnings.WarningMessage],
        spread: Sequence[str],
        *,
        show_queries: bool,
    ) -> None:
        """Set the notes of an outcome and, if the check failed, the text of its failure."""
        failed = [verdict for verdict in outcome.verdicts if get_effect(verdict, self._settings) == "fail"]
        failed_text = " ".join(verdict.figures for verdict in failed)
        comparison = compared.comparison
        if comparison is not None:
            outcome.notes = [note for note in comparison.notes if note not in failed_text]
        # A metric that looks further than the rankings go is another metric than its name says, and may miss its floor.
        depths = depth_notes(evaluation.counts, evaluation.metrics)
        if not failed:
            outcome.notes += depths
            return
        if any(verdict.outcome == "below_floor" for verdict in failed):
            outcome.notes += depths
        warning_texts = [str(warning.message) for warning in recorded_warnings]
        if any(verdict.outcome == "below_floor" for verdict in failed):
            # What was evaluated before has issued its warnings before.
            warning_texts += find_system_wide_warnings(evaluation.scores)
        warning_texts = list(dict.fromkeys(warning_texts))
        unmentioned = [text for text in warning_texts if text not in failed_text]
        notes = list(filter(None, [outcome.refusal, *outcome.notes, *spread, *unmentioned]))
        # Where no document is judged, every query would show the same.
        show = self._settings.show if show_queries else 0
        outcome.failure = format_failure(evaluation, failed, comparison, show, notes)

    def _compare(self, call: CheckCall, evaluation: Evaluation, unmeasured: Sequence[Verdict]) -> BaselineGates:
        """Compare with the baseline, and return the verdicts; without one, those on metrics that nothing guards."""
        if call.baseline is None:
            return BaselineGates(None, _judge_unguarded(call))
        file_name = call.baseline.path.name
        comparison = None
        if call.baseline.evaluation is None:
            reason = format_no_baseline(call.baseline.shown_path)
        else:
            try:
                comparison = compare_with_baseline(evaluation, call.baseline.evaluation, self._alpha)
            except ValueError as error:
                reason = str(error)
                if not unmeasured:
                    reason += f"; --retrieval-update writes a new {file_name}"
        if comparison is None:
            unmeasured_metrics = {verdict.metric for verdict in unmeasured}
            verdicts = list(unmeasured)
            for metric in call.metrics:
                if metric not in unmeasured_metrics:
                    verdicts.append(Verdict(metric=metric, outcome="not_compared", figures=reason))
            return BaselineGates(None, verdicts)
        verdicts = regression_gate(evaluation, comparison, file_name, self._settings, call.guarded)
        if call.deterministic:
            verdicts += deterministic_gate(comparison)
        verdicts += no_regression_gate(comparison, call.no_regression)
        return BaselineGates(comparison, [*verdicts, *unmeasured])

    def _count_units_at_risk(self, call: CheckCall, evaluation: Evaluation) -> dict[str, UnitsAtRiskRecord]:
        """Return how many units of a new baseline can lose, for each metric that only the statistical test guards."""
        # Comparing the evaluation with itself counts its units as the test of the next build will.
        with_itself = compare_with_baseline(evaluation, evaluation, self._alpha)
        guarded = call.guarded
        units_at_risk: dict[str, UnitsAtRiskRecord] = {}
        for difference in with_itself.differences:
            if difference.metric not in guarded:
                units = UnitsAtRisk.from_difference(difference, evaluation)
                units_at_risk[difference.metric] = units.to_record()  # as xdist passes it on
        return units_at_risk

    def _make_record(self, call: CheckCall, failure: str) -> CheckRecord:
        self.has_checked = True
        return make_unmeasured_record(self._item, call, self._settings, self._alpha, failure)


def _remove_repeated_causes(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return verdicts with each reason why a metric is not measured once, whichever gates found it."""
    lines: set[str] = set()
    kept_verdicts = []
    for verdict in verdicts:
        if verdict.outcome == "not_measured":
            if verdict.line in lines:
                continue
            lines.add(verdict.line)
        kept_verdicts.append(verdict)
    return kept_verdicts


def _judge_unguarded(call: CheckCall) -> list[Verdict]:
    """Return the verdicts on metrics without an effective bound in a check without a baseline.

    Beside a ceiling, a metric whose floor is None is only shown.
    """
    guarded = call.guarded
    shown = []
    unguarded = []
    for metric in call.metrics:
        if metric in guarded:
            continue
        if call.ceilings and call.floors[metric] is None and metric not in call.query_floors:
            shown.append(metric)
        else:
            unguarded.append(metric)
    return [*shown_metrics(shown), *unguarded_gate(unguarded)]

"""Define what an agent did for many questions, and the views that make runs of its searches."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, get_args

from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.inputs.provenance import Provenance
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.questions import Questions
from retrieval_metrics.reports.numbers import format_count, format_example
from retrieval_metrics.traces.merged_searches import VIEW_FIELDS
from retrieval_metrics.traces.trajectory import COUNT_COLUMNS, Trajectory
from retrieval_metrics.traces.trajectory_view import View

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels
    from retrieval_metrics.traces.merged_searches import CallsView

# The fields of a trajectory that a trace may not record.
RecordedField = Literal["context", "citations"]


class TrajectoryRow(NamedTuple):
    """One trajectory of a question.

    Attributes:
        id: The id of the row, which is the id of a query in runs.
        question: The id of its question.
        number: Which trajectory of its question it is, from 1; or which call.
        trajectory: What was done.
    """

    id: Any
    question: Any
    number: int
    trajectory: Trajectory


class Trajectories(Mapping[Any, Trajectory]):
    """What an agent did for each question: a mapping of query ids to trajectories, with views that are runs.

    A view is a run like any other, for `evaluate`, `compare`, `pool` and everything else that takes one. Without calls,
    the ranking of a question is empty; if all calls failed, the query counts as failed.

    Several trajectories of one question are rows of their own, named `q1#1`, `q1#2`; evaluate them with
    `judgments(qrels)`, which puts the rows of a question into one cluster.

    Attributes:
        questions: The question of each row, by query id; the same id if each question has one trajectory.
        numbers: Which trajectory of its question a row is, from 1; after `each_call`, which call.
        notes: What a reader has left out or merged, one sentence each.

    Raises:
        TypeError: If it is not a mapping of query ids to trajectories.
        ValueError: If two rows would have one name.

    Example:
        >>> import retrieval_metrics as rm
        >>> t = rm.Trajectories(
        ...     {"q1": rm.Trajectory([rm.SearchCall("a", ["d1", "d2"]), rm.SearchCall("b", ["d7"], turn=2)])}
        ... )
        >>> t
        <Trajectories: 1 query, 2 calls, 0 failed>
        >>> t.union()["q1"]
        ['d1', 'd2', 'd7']
        >>> rm.evaluate({"q1": ["d7"]}, t.union(), "recall@1calls").means["recall@1calls"]
        0.0
    """

    def __init__(
        self, of_questions: Mapping[Any, Trajectory | Sequence[Trajectory]], *, notes: Sequence[str] = ()
    ) -> None:
        if not isinstance(of_questions, Mapping):
            raise TypeError(
                f"Trajectories maps each query ID to a Trajectory, or to several, got {type(of_questions).__name__}"
            )
        trajectories = {question: _as_trajectories(question, value) for question, value in of_questions.items()}
        # The rows of a question with several trajectories have texts as ids, so all other rows have texts, too.
        has_text_ids = any(len(question_trajectories) > 1 for question_trajectories in trajectories.values())
        rows = []
        for question, question_trajectories in trajectories.items():
            for number, trajectory in enumerate(question_trajectories, start=1):
                row_id = question
                if len(question_trajectories) > 1:
                    row_id = f"{question}#{number}"
                elif has_text_ids:
                    row_id = str(question)
                rows.append(TrajectoryRow(row_id, question, number, trajectory))
        self._set_rows(rows, notes)

    @classmethod
    def _from_rows(cls, rows: Sequence[TrajectoryRow], notes: Sequence[str] = (), *, is_whole: bool) -> Trajectories:
        trajectories = cls({})
        trajectories._set_rows(rows, notes, is_whole=is_whole)
        return trajectories

    def _set_rows(self, rows: Sequence[TrajectoryRow], notes: Sequence[str], *, is_whole: bool = True) -> None:
        for row_id, n_rows in Counter(row.id for row in rows).items():
            if n_rows > 1:
                raise ValueError(f"two rows would be named {row_id!r}; rename the question of that name")
        self._trajectories = {row.id: row.trajectory for row in rows}
        self.questions: dict[Any, Any] = {row.id: row.question for row in rows}
        self.numbers: dict[Any, int] = {row.id: row.number for row in rows}
        self.notes = tuple(notes)
        # Whether no row was left out on purpose, so that judged questions without a row count as 0.
        self._is_whole = is_whole

    def __getitem__(self, query: QueryId) -> Trajectory:
        return self._trajectories[query]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._trajectories)

    def __len__(self) -> int:
        return len(self._trajectories)

    def __repr__(self) -> str:
        n_questions = len(set(self.questions.values()))
        n_calls = sum(len(trajectory.calls) for trajectory in self.values())
        n_failed = sum(trajectory.failed for trajectory in self.values())
        counts = f"{format_count(n_questions, 'query', 'queries')}, {format_count(n_calls, 'call')}, {n_failed} failed"
        if n_questions != len(self):
            counts = f"{len(self)} trajectories of {counts}"
        return f"<Trajectories: {'; '.join((counts, *self.notes))}>"

    def union(self, *, per_call: int | None = None) -> View:
        """Return all items that the calls found, in the order of the calls.

        A cutoff by documents, such as `@10`, may be filled by the first call alone, which hides the others: use
        `recall@3calls`, what the first three calls found, failed ones counted, or `interleaved`.

        Args:
            per_call: Only the first so many items of each call.
        """
        return self._view("union", per_call)

    def interleaved(self, *, per_call: int | None = None) -> View:
        """Return the first item of each call, then the second of each, for metrics that look at ranks.

        Args:
            per_call: Only the first so many items of each call.
        """
        return self._view("interleaved", per_call)

    def first(self, *, per_call: int | None = None) -> View:
        """Return what the first call found, or nothing if it failed."""
        return self._view("first", per_call)

    def last(self, *, per_call: int | None = None) -> View:
        """Return what the last call found, or nothing if it failed."""
        return self._view("last", per_call)

    def context(self) -> View:
        """Return what the model that answered has read.

        Raises:
            ValueError: If that is unknown for a query; `with_recorded("context")` leaves such queries out.
        """
        return self._view("context")

    def cited(self) -> View:
        """Return what the answer cites, without citations of what the model has not read: those are not credited.

        Raises:
            ValueError: If the citations or the context of a query are unknown.
        """
        return self._view("cited")

    def each_call(self) -> Trajectories:
        """Return one trajectory for each call, named `q1#1`, `q1#2`; `numbers` has the number of the call.

        Means for one number compare different questions: only those with four calls have a fourth.
        """
        rows = []
        for row_id, trajectory in self.items():
            for number, call in enumerate(trajectory.calls, start=1):
                one_call = Trajectory([replace(call, turn=1)])
                rows.append(TrajectoryRow(f"{row_id}#{number}", self.questions[row_id], number, one_call))
        return self._from_rows(rows, is_whole=False)

    def with_recorded(self, *fields: RecordedField) -> Trajectories:
        """Return the trajectories whose context (and citations) are known; `judgments` then leaves out the others.

        Args:
            fields: `"context"`, `"citations"`, or both.

        Raises:
            ValueError: If it is neither.
        """
        for field in fields:
            if field not in get_args(RecordedField):
                raise ValueError(f"only 'context' and 'citations' can be unknown, got {field!r}")
        rows = []
        for row_id, trajectory in self.items():
            if all(getattr(trajectory, field) is not None for field in fields):
                rows.append(TrajectoryRow(row_id, self.questions[row_id], self.numbers[row_id], trajectory))
        n_left_out = len(self) - len(rows)
        notes = [*self.notes]
        if n_left_out:
            notes.append(f"{n_left_out} with unknown {' or '.join(fields)}, excluded")
        return self._from_rows(rows, notes, is_whole=self._is_whole and not n_left_out)

    def judgments(self, questions: QuestionsOrQrels) -> Questions:
        """Return the judgments of each row, in which the rows of a question are a cluster.

        Judged questions without a trajectory are kept, and score 0, unless rows were left out on purpose.

        Args:
            questions: Judgments by question, as `evaluate` takes them.
        """
        if isinstance(questions, Qrels):
            questions = Questions(questions.texts, questions.as_dict(), questions.provenance)
        if not isinstance(questions, Questions):
            questions = Questions({}, questions)
        qrels: Mapping[Any, Any] = questions.qrels
        question_by_row = {row_id: question for row_id, question in self.questions.items() if question in qrels}
        if self._is_whole:
            question_by_row |= self._rows_without_trajectory(question_by_row, qrels)
        return Questions(
            _rename_rows(questions.queries, question_by_row),
            _rename_rows(qrels, question_by_row),
            _row_provenance(questions.provenance, question_by_row),
        )

    def _rows_without_trajectory(self, judged_rows: Iterable[Any], qrels: Iterable[Any]) -> dict[Any, Any]:
        """Return rows for the judged questions that have none here."""
        has_text_ids = any(isinstance(row_id, str) for row_id in judged_rows)
        questions_here = {*self.questions.values()}
        question_by_row: dict[Any, Any] = {}
        for question in qrels:
            if question not in questions_here:
                row_id = str(question) if has_text_ids else question
                question_by_row[row_id] = question
        return question_by_row

    def properties(self) -> Evaluation:
        """Return properties that need no judgments, as an evaluation: calls, repeats, what was not read or not cited.

        It has a mean and an interval of every property of `Trajectory.properties`, and is plotted, saved and reported
        as any other. `rm.compare({"one": t.properties(), "other": u.properties()})` compares two agents on the
        questions that both have. Lower is better for all properties except `distinct`, because they are cost or waste.

        Several trajectories of a question count as their mean; what is NaN for a question is left out of the mean.

        Raises:
            ValueError: If there is no trajectory.

        Example:
            >>> import retrieval_metrics as rm
            >>> calls = [rm.SearchCall("a", ["d1"]), rm.SearchCall("b", ["d1"], turn=2)]
            >>> t = rm.Trajectories({"q1": rm.Trajectory(calls), "q2": rm.Trajectory(calls[:1])})
            >>> properties = t.properties()
            >>> properties.means["calls"], properties.per_query["redundant"]["q1"]
            (1.5, 0.5)
        """
        from retrieval_metrics.evaluation.evaluation import Evaluation

        values: dict[str, dict[Any, list[float]]] = {name: {} for name in Trajectory().properties()}
        for row_id, question in self.questions.items():
            for name, value in self[row_id].properties().items():
                question_values = values[name].setdefault(question, [])
                if not math.isnan(value):
                    question_values.append(value)
        return Evaluation.from_scores(
            {name: _question_means(values_by_question) for name, values_by_question in values.items()},
            bounds={name: _property_bounds(name) for name in values},
            lower_is_better=[name for name in values if name != "distinct"],
        )

    def _view(self, view: CallsView, per_call: int | None = None) -> View:
        if per_call is not None:
            positive_integer(per_call, "per_call")
        self._require_recorded(VIEW_FIELDS.get(view, ()))
        return View(self, self.questions, view, per_call)

    def _require_recorded(self, fields: Sequence[str]) -> None:
        for field in fields:
            lacking = [row_id for row_id, trajectory in self.items() if getattr(trajectory, field) is None]
            if lacking:
                verb = "has" if len(lacking) == 1 else "have"
                arguments = ", ".join(map(repr, fields))
                example = format_example(len(lacking), f"query {lacking[0]!r}")
                raise ValueError(
                    f"{len(lacking)} of {len(self)} trajectories ({example}) {verb} no recorded "
                    f"{field} (unknown, not empty). Exclude them: known = "
                    f"trajectories.with_recorded({arguments}), and evaluate a view of it with known.judgments(qrels)."
                )


def _as_trajectories(question: Any, value: Any) -> Sequence[Trajectory]:
    """Return the trajectories of a question as a list."""
    if isinstance(value, Trajectory):
        return [value]
    if isinstance(value, str) or not isinstance(value, Iterable):
        _refuse_trajectories(question, value)
    trajectories = list(value)
    if not trajectories or not all(isinstance(trajectory, Trajectory) for trajectory in trajectories):
        _refuse_trajectories(question, value)
    return trajectories


def _refuse_trajectories(question: Any, value: Any) -> NoReturn:
    raise TypeError(f"query {question!r} must have a Trajectory or a list of them, got {value!r}")


def _rename_rows(values: Mapping[Any, Any], question_by_row: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return the value of the question of each row, by row; rows whose question has no value are left out."""
    return {row_id: values[question] for row_id, question in question_by_row.items() if question in values}


def _row_provenance(provenance: Mapping[Any, Provenance], question_by_row: Mapping[Any, Any]) -> dict[Any, Provenance]:
    """Return the provenance of each row; rows of one question without a source have the question as their source."""
    by_row: dict[Any, Provenance] = {}
    for row_id, question in question_by_row.items():
        row_provenance = provenance.get(question, Provenance())
        if row_provenance.source is None:
            row_provenance = replace(row_provenance, source=str(question))
        by_row[row_id] = row_provenance
    return by_row


def _question_means(values_by_question: Mapping[Any, Sequence[float]]) -> dict[Any, float | None]:
    """Return the mean of each question; None where it has no value."""
    means: dict[Any, float | None] = {}
    for question, values in values_by_question.items():
        means[question] = fmean(values) if values else None
    return means


def _property_bounds(name: str) -> tuple[int, int | None]:
    return (0, None) if name in COUNT_COLUMNS else (0, 1)

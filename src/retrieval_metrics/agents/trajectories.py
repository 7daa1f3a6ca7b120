"""The searches of an agent over many questions, and the runs that they make."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, get_args

from retrieval_metrics._internal.validation import positive_integer, python_or_cli_text
from retrieval_metrics.agents.trajectory import COUNT_COLUMNS, VIEW_FIELDS, Trajectory, View
from retrieval_metrics.inputs.provenance import Provenance
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.questions import Questions
from retrieval_metrics.reports.numbers import format_count

if TYPE_CHECKING:
    from retrieval_metrics._internal.validation import QueryId
    from retrieval_metrics.agents.trajectory import CallsView
    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels

    Row = tuple[Any, Any, int, Trajectory]
    """A row: its id, its question, its number, and what was done."""

Known = Literal["context", "citations"]


class Trajectories(Mapping[Any, Trajectory]):
    """What an agent did for each question: a mapping of query ids to trajectories, with views that are runs.

    A view is a run like any other, for `evaluate`, `compare`, `pool` and everything else that takes one. Of a question
    without calls it has an empty ranking; if all calls failed, the query counts as failed.

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
                f"Trajectories maps each query id to a Trajectory, or to several, got {type(of_questions).__name__}"
            )
        given = {query: _several(query, one) for query, one in of_questions.items()}
        as_text = any(len(several) > 1 for several in given.values())
        self._set(
            [
                (f"{query}#{number}" if len(several) > 1 else str(query) if as_text else query, query, number, one)
                for query, several in given.items()
                for number, one in enumerate(several, start=1)
            ],
            notes,
        )

    @classmethod
    def _of(cls, rows: Sequence[Row], notes: Sequence[str] = (), *, whole: bool) -> Trajectories:
        made = cls({})
        made._set(rows, notes, whole=whole)
        return made

    def _set(self, rows: Sequence[Row], notes: Sequence[str], *, whole: bool = True) -> None:
        self._trajectories = {row: one for row, _, _, one in rows}
        if twice := [row for row, number in Counter(row for row, *_ in rows).items() if number > 1]:
            raise ValueError(f"two rows would be named {twice[0]!r}; rename the question of that name")
        self.questions: dict[Any, Any] = {row: query for row, query, _, _ in rows}
        self.numbers: dict[Any, int] = {row: number for row, _, number, _ in rows}
        self.notes = tuple(notes)
        self._whole = whole

    def __getitem__(self, query: QueryId) -> Trajectory:
        return self._trajectories[query]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._trajectories)

    def __len__(self) -> int:
        return len(self._trajectories)

    def __repr__(self) -> str:
        asked = len(set(self.questions.values()))
        rows = f"{len(self)} trajectories of " if asked != len(self) else ""
        calls, failed = (sum(counts) for counts in zip(*((len(t.calls), t.failed) for t in self.values()), (0, 0)))  # noqa: B905  (pairs)
        said = f"{rows}{format_count(asked, 'query', 'queries')}, {format_count(calls, 'call')}, {failed} failed"
        return f"<Trajectories: {'; '.join((said, *self.notes))}>"

    def union(self, *, per_call: int | None = None) -> View:
        """Return all items that the calls found, in the order of the calls.

        A cut-off by documents, such as `@10`, may be filled by the first call alone, which hides the others: use
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
        """Return what the answer cites, without citations of what the model has not read: those earn nothing.

        Raises:
            ValueError: If the citations or the context of a query are unknown.
        """
        return self._view("cited")

    def each_call(self) -> Trajectories:
        """Return one trajectory for each call, named `q1#1`, `q1#2`; `numbers` has the number of the call.

        Means for one number compare different questions: only those with four calls have a fourth.
        """
        rows = [
            (f"{row}#{number}", self.questions[row], number, Trajectory([replace(call, turn=1)]))
            for row, one in self.items()
            for number, call in enumerate(one.calls, start=1)
        ]
        return self._of(rows, whole=False)

    def with_recorded(self, *what: Known) -> Trajectories:
        """Return the trajectories whose context (and citations) are known; `judgments` then leaves out the others.

        Args:
            what: `"context"`, `"citations"`, or both.

        Raises:
            ValueError: If it is neither.
        """
        if stray := [name for name in what if name not in get_args(Known)]:
            raise ValueError(f"only 'context' and 'citations' can be unknown, got {stray[0]!r}")
        rows = [
            (row, self.questions[row], self.numbers[row], one)
            for row, one in self.items()
            if all(getattr(one, name) is not None for name in what)
        ]
        left = len(self) - len(rows)
        notes = [*self.notes, *([f"{left} with unknown {' or '.join(what)} left out"] if left else [])]
        return self._of(rows, notes, whole=self._whole and not left)

    def judgments(self, questions: QuestionsOrQrels) -> Questions:
        """Return the judgments of each row, in which the rows of a question are a cluster.

        Judged questions without a trajectory are kept, and score 0, unless rows were left out on purpose.

        Args:
            questions: Judgments by question, as `evaluate` takes them.
        """
        if isinstance(questions, Qrels):
            questions = Questions(questions.texts, questions.as_dict(), questions.provenance)
        given = questions if isinstance(questions, Questions) else Questions({}, questions)
        judged: Mapping[Any, Any] = given.qrels
        texts: Mapping[Any, str] = given.queries
        provenance: Mapping[Any, Provenance] = given.provenance
        rows = {row: question for row, question in self.questions.items() if question in judged}
        if self._whole:
            as_text = any(isinstance(row, str) for row in rows)
            rows |= {str(one) if as_text else one: one for one in judged if one not in {*self.questions.values()}}
        made = {row: provenance.get(question, Provenance()) for row, question in rows.items()}
        return Questions(
            {row: texts[question] for row, question in rows.items() if question in texts},
            {row: judged[question] for row, question in rows.items()},
            {row: one if one.source is not None else replace(one, source=str(rows[row])) for row, one in made.items()},
        )

    def properties(self) -> Evaluation:
        """Return what can be said without judgments, as an evaluation: calls, repeats, what was not read or not cited.

        It has a mean and an interval of every property of `Trajectory.properties`, and is plotted, saved and reported
        as any other. `rm.compare({"one": t.properties(), "other": u.properties()})` compares two agents on the
        questions that both were asked. Fewer is better in all of them but `distinct`, because they cost or waste.

        Several trajectories of a question count as their mean; what is NaN for a question is left out of the mean.

        Raises:
            ValueError: If there is no trajectory.

        Example:
            >>> import retrieval_metrics as rm
            >>> calls = [rm.SearchCall("a", ["d1"]), rm.SearchCall("b", ["d1"], turn=2)]
            >>> t = rm.Trajectories({"q1": rm.Trajectory(calls), "q2": rm.Trajectory(calls[:1])})
            >>> found = t.properties()
            >>> found.means["calls"], found.per_query["redundant"]["q1"]
            (1.5, 0.5)
        """
        from retrieval_metrics.evaluation.evaluation import Evaluation  # noqa: PLC0415  (brings the statistics)

        told = {row: one.properties() for row, one in self.items()}
        values: dict[str, dict[Any, list[float]]] = {name: {} for name in Trajectory().properties()}
        for row, question in self.questions.items():
            for name, value in told[row].items():
                values[name].setdefault(question, []).extend([] if math.isnan(value) else [value])
        return Evaluation.from_scores(
            {name: {one: fmean(of) if of else None for one, of in column.items()} for name, column in values.items()},
            bounds={name: (0, None) if name in COUNT_COLUMNS else (0, 1) for name in values},
            lower_is_better=[name for name in values if name != "distinct"],
        )

    def _view(self, view: CallsView, per_call: int | None = None) -> View:
        if per_call is not None:
            positive_integer(per_call, "per_call")
        self._need(*VIEW_FIELDS.get(view, ()))
        return View(self, self.questions, view, per_call)

    def _need(self, *what: str) -> None:
        for name in what:
            lacking = [row for row, one in self.items() if getattr(one, name) is None]
            if lacking:
                raise ValueError(
                    f"the {name} of {len(lacking)} of {len(self)} trajectories {'is' if name == 'context' else 'are'} "
                    f"unknown, for example of query {lacking[0]!r}, and unknown is not 0; leave "
                    "such questions out"
                    + python_or_cli_text(
                        f": known = trajectories.with_recorded({', '.join(map(repr, what))}), and evaluate a view of "
                        "it with known.judgments(qrels)"
                    )
                )


def _several(query: Any, given: Any) -> Sequence[Trajectory]:
    several = [given] if isinstance(given, Trajectory) else given
    if isinstance(several, str) or not isinstance(several, Iterable):
        raise TypeError(f"query {query!r} must have a Trajectory or a list of them, got {given!r}")
    several = list(several)
    if not several or not all(isinstance(one, Trajectory) for one in several):
        raise TypeError(f"query {query!r} must have a Trajectory or a list of them, got {given!r}")
    return several

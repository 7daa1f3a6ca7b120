"""The metrics as summary evaluators for LangSmith: the means of an experiment, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_retrieval_metrics.langsmith_rows import Outputs, Row, RowSettings, unscored, warned_of
from retrieval_metrics import RetrievedRun
from retrieval_metrics.adapting import Scorer, row_error
from retrieval_metrics.adapting.printing import numbers
from retrieval_metrics.adapting.twins import arguments_of, passed_on

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from retrieval_metrics import Evaluation, Metric
    from retrieval_metrics.adapting import RowPaths
    from retrieval_metrics.types import ClustersBy

    SummaryEvaluator = Callable[[Sequence[Any], Sequence[Any]], Any]

LEVEL = 0.95


class Gathered:
    """The rows of an experiment, for one evaluation; the place of a row stands for its query.

    Attributes:
        unjudged: Why examples have no judgments.
        unread: Why outputs cannot be judged.
    """

    def __init__(self, runs: Sequence[Any], examples: Sequence[Any], paths: RowPaths) -> None:
        self.unjudged: list[str] = []
        self.unread: list[str] = []
        self._examples = examples
        self._qrels: dict[Any, Any] = {}
        self._found: dict[Any, Any] = {}
        self._errors: dict[Any, Exception] = {}
        for at, (run, example) in enumerate(zip(runs, examples, strict=True)):
            row = Row.of(run.outputs, example.outputs, run)
            try:
                truth = row.truth(paths)
            except (TypeError, ValueError) as error:
                self.unjudged.append(str(error))
                continue
            try:
                self._found[at] = row.retrieved(paths)
            except (TypeError, ValueError) as error:
                self.unread.append(warned_of(row_error(error, None, "the output")))
                continue
            self._qrels[at] = truth.judgments(0)
            if row.failure is not None:
                self._errors[at] = RuntimeError(row.failure)

    def evaluation(self, scorer: Scorer) -> Evaluation:
        """Return the evaluation of the rows that can be judged.

        Raises:
            ValueError: If there is none; the message is for the comment.
        """
        if not self._qrels and self.unread:
            raise ValueError(f"no output can be judged: {self.unread[0]}")
        if not self._qrels:
            why = f"no example is judged: {self.unjudged[0]}" if self.unjudged else "there is no example"
            raise ValueError(why)
        if len(self._errors) == len(self._qrels):
            first = next(iter(self._errors.values()))
            raise ValueError(f"every example failed, so nothing is scored: {first}")
        found = RetrievedRun(self._found, self._errors)
        try:
            evaluation, refused = scorer.evaluation(self._qrels, found, clusters=self._clusters())
        except (TypeError, ValueError) as error:
            raise ValueError(warned_of(row_error(error, None, "the experiment"))) from error
        self.unread += [warned_of(row_error(error, at, "the output")) for at, error in refused.items()]
        return evaluation

    def examples_of(self, evaluation: Evaluation) -> int:
        """Return how many examples the rows of an evaluation are runs of."""
        queries: Sequence[Any] = evaluation.queries
        return len({self._examples[at].id for at in queries})

    def _clusters(self) -> ClustersBy:
        """Return what makes runs depend on each other: the same example, or examples from one source."""
        examples = {at: self._examples[at] for at in self._qrels}
        names = {at: str(one.id) for at, one in examples.items()}
        sources = {at: (getattr(one, "metadata", None) or {}).get("source") for at, one in examples.items()}
        repeated = len(set(names.values())) < len(names)
        if len(set(names.values())) == 1 or (not repeated and all(source is None for source in sources.values())):
            return None
        if None not in sources.values() and len(set(sources.values())) == 1:  # one source for all says nothing
            return names if repeated else None
        return {at: (f"example {names[at]}", *([] if sources[at] is None else [sources[at]])) for at in names}


@arguments_of(RowSettings)
def langsmith_summary_evaluators(*args: Any, **options: Any) -> list[SummaryEvaluator]:
    """Return evaluators for `langsmith.evaluate(..., summary_evaluators=...)`: each mean with its interval and its n.

    It is a single evaluator. Its means are those of `evaluate_retriever`: failures score 0, and where every example
    failed there is a comment instead of a score. If LangSmith repeats the examples (`num_repetitions`), the runs of an
    example are a cluster, so repeating does not narrow the interval. Examples with the same `source` in their metadata
    are a cluster too. Examples without judgments are left out, and counted.

    The arguments are those of `langsmith_evaluators`; without `max_grade`, the largest grade is that of all examples.

    Raises:
        TypeError: If the prefix is not a text.
        ValueError: If a metric or `match` is unknown.

    Warns:
        RetrievalWarning: (the evaluator) As in the core's `evaluate`.
    """
    settings = passed_on("langsmith_summary_evaluators", RowSettings, args, options)
    scorer = Scorer(settings.metrics, **settings.options)

    def retrieval_metrics(runs: Sequence[Any], examples: Sequence[Any]) -> Outputs:
        rows = Gathered(runs, examples, settings.paths)
        try:
            evaluation = rows.evaluation(scorer)
        except ValueError as error:
            return unscored(settings, str(error))
        distinct = rows.examples_of(evaluation)
        said = ["" if distinct == len(evaluation.queries) else f" runs of {numbers.count(distinct, 'example')}"]
        if failed := evaluation.counts["failed"]:
            said.append(f"{failed} failed and count as 0")
        if rows.unread:
            left_out = numbers.count(len(rows.unread), "output")
            said.append(f"{left_out} left out, which cannot be judged: {rows.unread[0]}")
        if rows.unjudged:
            said.append(
                f"{numbers.count(len(rows.unjudged), 'example')} left out, without judgments: {rows.unjudged[0]}"
            )
        return {
            "results": [
                _summary(evaluation, metric, key, distinct, "; ".join(said)) for metric, key in settings.keys.items()
            ]
        }

    return [retrieval_metrics]


def _summary(evaluation: Evaluation, metric: Metric, key: str, examples: int, said: str) -> dict[str, Any]:
    n, mean = evaluation.n[metric], evaluation.means[metric]
    if not n:
        return {"key": key, "score": None, "comment": "undefined for every example"}
    low, high = evaluation.intervals(LEVEL)[metric]
    interval = f"95 % interval [{low:.3f}, {high:.3f}]" if examples > 1 or n == 1 else "no interval from one example"
    return {"key": key, "score": mean, "comment": f"{interval}, n = {n}{said}"}

"""The result of an evaluation: values per query, means with intervals, and counts of issues."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics.evaluation import summary
from retrieval_metrics.evaluation.evaluation_table import summary_table, widen_for_terminal
from retrieval_metrics.evaluation.scores import Scores
from retrieval_metrics.evaluation.tie_range import TieRange
from retrieval_metrics.metrics.base.metric import as_metric
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.display_text import for_terminal
from retrieval_metrics.reports.tables import Printed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from os import PathLike

    import pandas as pd
    from matplotlib.figure import Figure

    from retrieval_metrics._internal.plain_types import FloatArray, QueryId
    from retrieval_metrics.evaluation.by_metric import ByMetric
    from retrieval_metrics.evaluation.chance import Chance
    from retrieval_metrics.evaluation.counts import Counts
    from retrieval_metrics.evaluation.explanation import Explanation, Worst
    from retrieval_metrics.evaluation.slices import Slices
    from retrieval_metrics.evaluation.stages import Stages
    from retrieval_metrics.evaluation.totals import Totals
    from retrieval_metrics.inputs.frame_columns import Frame
    from retrieval_metrics.inputs.items import QueryTexts
    from retrieval_metrics.inputs.questions import Questions
    from retrieval_metrics.metrics.base.given_metrics import Bounds
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.metrics.base.rules import Rules
    from retrieval_metrics.reports.tables import Table
    from retrieval_metrics.statistics import Interval


TOTALS_WITHOUT_CLUSTERS = (
    "totals cannot hold the clusters that the intervals of this evaluation need; merge the evaluations themselves, or "
    "evaluate with clusters=None"
)


# What to write instead of names that data frames and the evaluations of other packages have.
_REPLACEMENTS = {"mean": "result.means", "to_dict": "dict(result.means)", "to_json": "result.save(path)"}


def _suggest_replacement(name: Any) -> str:
    """Return what to write instead of a name that an evaluation does not have; empty if nothing corresponds to it."""
    if isinstance(name, str) and name in _REPLACEMENTS:
        return f"; write {_REPLACEMENTS[name]}"
    try:
        metric = str(as_metric(name))
    except (TypeError, ValueError):
        return ""
    return f"; use result.means[{metric!r}] or result.per_query[{metric!r}]"


class Evaluation(Printed):
    """The values of metrics for queries, with their means, intervals and explanations.

    Two evaluations are equal if their numbers, queries, metrics and rules are, whatever they were computed from.

    Attributes:
        labels: Your own labels, such as the commit, if it was saved with labels and loaded.

    Example:
        >>> import retrieval_metrics as rm
        >>> result = rm.evaluate(
        ...     {"q1": ["d7"], "q2": ["d1"]}, {"q1": ["d3", "d7"], "q2": ["d1"]}, ["mrr", "hit_rate@1"]
        ... )
        >>> print(result)
        metric       mean          95% CI  n
        mrr         0.750  [0.123, 0.986]  2
        hit_rate@1  0.500  [0.013, 0.987]  2
        2 queries
        CIs from fewer than 4 queries are uninformative
        >>> result.per_query["rr"]["q1"]
        0.5
    """

    def __init__(self, record: Scores | Totals, *, labels: Mapping[str, str | float] | None = None) -> None:
        """Take the numbers of an evaluation, with the labels it was saved with.

        Raises:
            TypeError: If they are not the record that `evaluate` makes.
        """
        if not hasattr(record, "metrics") or not hasattr(record, "counts"):
            raise TypeError(
                f"Evaluation takes what evaluate(qrels, run) computed, got {type(record).__name__}; "
                "for values by metric and query, use Evaluation.from_scores"
            )
        self._record = record
        self.labels = dict(labels or {})
        self._intervals: dict[float, ByMetric[Interval]] = {}

    def __eq__(self, other: object) -> bool:
        return self._record == other._record if isinstance(other, Evaluation) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._record.metrics)

    @classmethod
    def from_scores(
        cls,
        scores: Mapping[str, Mapping[Any, float | None]],
        *,
        bounds: Bounds | Mapping[str, Bounds] | None = None,
        lower_is_better: str | Collection[str] = (),
        clusters: Mapping[Any, Any] | Callable[[Any], Any] | None = None,
    ) -> Evaluation:
        """Make an evaluation of scores that were computed elsewhere: faithfulness, latency, another tool's NDCG.

        It has intervals, and can be compared, sliced, plotted, reported, saved and added to a history like any other.
        What needs rankings, such as `explain`, raises an error. None and NaN are undefined: such a query is not part of
        the mean.

        A name that this package knows, such as `nDCG@10`, is that metric. Any other metric has the bounds you state.
        Without bounds, intervals reach one observed range beyond the values, and what a comparison can detect is
        computed from the largest difference seen, so a rare large loss is not allowed for: state bounds that you know.

        Args:
            scores: The score of each query, by metric.
            bounds: The smallest and the largest possible value, for all metrics or by metric, such as `(0, 1)` or
                `{"latency": (0, None)}`; None where there is no bound.
            lower_is_better: The metrics in which a lower value is better, such as `["latency"]`.
            clusters: The cluster of each query, as a mapping or a function of its id; None: they are independent.

        Raises:
            TypeError: If a score is not a number, or query ids are partly str and partly int.
            ValueError: If a score is infinite or outside its bounds, there are no scores, or a known metric is given
                other bounds.

        Example:
            >>> import retrieval_metrics as rm
            >>> scores = {"faithfulness": {"q1": 0.8, "q2": 0.6, "q3": None}}
            >>> result = rm.Evaluation.from_scores(scores, bounds=(0, 1))
            >>> round(result.means["faithfulness"], 6), result.n["faithfulness"]  # (0.8 + 0.6) / 2
            (0.7, 2)
        """
        from retrieval_metrics.evaluation.given_scores import make_given_scores

        return cls(make_given_scores(scores, bounds, lower_is_better, clusters))

    @classmethod
    def from_frame(
        cls,
        frame: Frame,
        *,
        query: str,
        metric: str | None = None,
        value: str | Sequence[str] = "value",
        bounds: Bounds | Mapping[str, Bounds] | None = None,
        lower_is_better: str | Collection[str] = (),
        clusters: Mapping[Any, Any] | Callable[[Any], Any] | None = None,
    ) -> Evaluation:
        """Make an evaluation of the scores in a table; see `from_scores`.

        Args:
            frame: A pandas or polars DataFrame, an Arrow table, or a mapping of column names to columns.
            query: The column of query ids.
            metric: The column of metric names, in a table with one row per query and metric, as those of PyTerrier's
                `perquery=True` and of `ir_measures.iter_calc`. None for a table with one row per query.
            value: The column of the scores; without `metric`, the column or columns that are metrics.
            bounds: As in `from_scores`.
            lower_is_better: As in `from_scores`.
            clusters: As in `from_scores`.

        Raises:
            TypeError: If it is not a table, or as in `from_scores`.
            ValueError: If a column is missing, a query has two scores of a metric, or as in `from_scores`.

        Example:
            >>> import retrieval_metrics as rm
            >>> table = {"qid": ["1", "2"], "measure": ["nDCG@10", "nDCG@10"], "value": [0.5, 1.0]}
            >>> rm.Evaluation.from_frame(table, query="qid", metric="measure").means
            {'ndcg@10': 0.75}
        """
        from retrieval_metrics.evaluation.given_scores import make_given_scores
        from retrieval_metrics.evaluation.score_tables import read_scores_frame

        scores = read_scores_frame(frame, query, metric, value)
        return cls(make_given_scores(scores, bounds, lower_is_better, clusters))

    def with_scores(
        self,
        scores: Mapping[str, Mapping[Any, float | None]],
        *,
        bounds: Bounds | Mapping[str, Bounds] | None = None,
        lower_is_better: str | Collection[str] = (),
    ) -> Evaluation:
        """Return the evaluation with scores that were computed elsewhere added.

        Args:
            scores: The score of each query, by metric; a query without one is undefined in it.
            bounds: As in `from_scores`.
            lower_is_better: As in `from_scores`.

        Raises:
            TypeError: As in `from_scores`.
            ValueError: If a metric is there already, a score is of another query, the evaluation was merged from
                totals, or as in `from_scores`.

        Example:
            >>> import retrieval_metrics as rm
            >>> found = rm.evaluate({"q1": ["d7"]}, {"q1": ["d3", "d7"]}, "mrr")
            >>> found.with_scores({"latency": {"q1": 0.25}}, bounds=(0, None), lower_is_better="latency").means
            {'mrr': 0.5, 'latency': 0.25}
        """
        from retrieval_metrics.evaluation.given_scores import with_given_scores

        return Evaluation(with_given_scores(self.scores, scores, bounds, lower_is_better), labels=self.labels)

    if not TYPE_CHECKING:  # type checkers find such names by themselves

        def __getattr__(self, name: str) -> NoReturn:
            hint = "" if name.startswith("_") else _suggest_replacement(name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}", name=name, obj=self)

        def __getitem__(self, name: Any) -> NoReturn:
            hint = _suggest_replacement(name) or "; use result.means or result.per_query"
            raise TypeError(f"an Evaluation is not subscriptable{hint}")

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics, in the order of the call."""
        return self._record.metrics

    @property
    def counts(self) -> Counts:
        """How many queries and documents were missing, duplicate, unjudged, tied or undefined; a copy."""
        return self._record.counts.copy()

    @property
    def rules(self) -> Rules:
        """The rule set it was computed under."""
        return self._record.rules

    @property
    def scores(self) -> Scores:
        """The values of single queries.

        Raises:
            ValueError: If the evaluation was merged from totals.
        """
        return self._record.per_query_scores

    @property
    def queries(self) -> tuple[QueryId, ...]:
        """The ids of the queries, in the order of the judgments."""
        return self.scores.queries

    @property
    def values(self) -> FloatArray:
        """Shape (queries, metrics), read-only; NaN if a metric is undefined for a query."""
        return self.scores.values

    @property
    def per_query(self) -> ByMetric[dict[QueryId, float]]:
        """The value of each metric for each query; NaN if it is undefined."""
        return self.scores.per_query

    @cached_property
    def means(self) -> ByMetric[float]:
        """The mean of each metric over the queries for which it is defined; NaN if there are none.

        Sums are exact and rounded only once, so the order of the queries does not matter.
        """
        return summary.means(self._record)

    @cached_property
    def n(self) -> ByMetric[int]:
        """The number of queries for which each metric is defined: the denominator of its mean."""
        return summary.n_queries_by_metric(self._record)

    @cached_property
    def residuals(self) -> ByMetric[float]:
        """How much unjudged and unseen documents could add to the mean, for metrics with a residual (rbp)."""
        return summary.residuals(self._record)

    @cached_property
    def tie_range(self) -> TieRange | None:
        """The smallest and the largest means over all orders of equal scores; None unless ties="expected"."""
        return TieRange.from_record(self._record)

    @property
    def errors(self) -> dict[QueryId, Exception]:
        """The exception of each query whose retriever failed; empty if the run has no exceptions or is not kept."""
        return self._record.errors if isinstance(self._record, Scores) else {}

    @property
    def seconds(self) -> dict[QueryId, float]:
        """How long the retriever took for each query; empty if the run has no times or is not kept."""
        return self._record.seconds if isinstance(self._record, Scores) else {}

    @cached_property
    def stages(self) -> Stages:
        """The evaluation after each stage of the retriever, if the run tells them; empty otherwise."""
        from retrieval_metrics.evaluation.stages import Stages

        return Stages(self)

    def intervals(self, level: float = 0.95) -> ByMetric[Interval]:
        """Return the confidence interval of each mean.

        Where every query can only be 0 or 1, as in hit rate, and in recall if each needs one document, it is the
        Clopper-Pearson interval; otherwise a Beta interval between 0 and the largest value of an ideal ranking, the
        nearer to it the more queries are such. The formulas, the reasons and their sources are in
        `retrieval_metrics.statistics.mean_interval`. The intervals are deterministic. Without values, the interval is
        (nan, nan).

        Args:
            level: Confidence level, strictly between 0 and 1.

        Raises:
            ValueError: If the level is not between 0 and 1.

        Example:
            >>> import retrieval_metrics as rm
            >>> qrels = {query: ["d"] for query in range(10)}
            >>> run = {query: ["d" if query < 8 else "x"] for query in range(10)}  # 8 of 10 answered
            >>> low, high = rm.evaluate(qrels, run, "hit_rate@1").intervals()["hit_rate@1"]
            >>> f"0.80 [{low:.2f}, {high:.2f}]"
            '0.80 [0.44, 0.97]'
        """
        if level not in self._intervals:
            self._intervals[level] = summary.intervals(self._record, level)
        return self._intervals[level]

    def chance(self, metric: str | Metric, *, seed: int = 0) -> Chance:
        """Return whether a mean is better than that of a system which ignores the query.

        Popular documents can answer many queries, whatever is asked. So each ranking of this run is scored for every
        query: the mean of all pairs is what the same rankings score if they are assigned to the queries at random, and
        p is the share of 10,000 such assignments whose mean is as good as that of the run. With many queries or long
        rankings, up to 300 queries are compared, evenly spread.

        Args:
            metric: A metric of what was retrieved.
            seed: Seed of the random assignments.

        Raises:
            ValueError: If the values came without a run, the metric is defined for no query, or its values are given.

        Example:
            >>> import retrieval_metrics as rm
            >>> qrels = {f"q{number}": ["popular" if number < 6 else "rare"] for number in range(10)}
            >>> constant = rm.evaluate(qrels, {query: ["popular", "x"] for query in qrels}, "hit_rate@2")
            >>> chance = constant.chance("hit_rate@2")
            >>> chance.mean, round(chance.chance_mean, 3), chance.is_better
            (0.6, 0.6, False)
        """
        from retrieval_metrics.evaluation.chance import compare_with_chance

        return compare_with_chance(self.scores, metric, seed=seed)

    def totals(self) -> Totals:
        """Return the evaluation as exact sums, which can be stored, sent and merged.

        Raises:
            ValueError: If its queries are clustered, because sums do not hold clusters.

        Example:
            >>> import retrieval_metrics as rm
            >>> halves = [
            ...     rm.evaluate({"q1": ["d7"]}, {"q1": ["d3", "d7"]}, "mrr"),
            ...     rm.evaluate({"q2": ["d1"]}, {"q2": ["d1"]}, "mrr"),
            ... ]
            >>> rm.merge(half.totals() for half in halves).means["mrr"]  # (1/2 + 1) / 2
            0.75
        """
        if self._record.labels is not None:
            raise ValueError(TOTALS_WITHOUT_CLUSTERS)
        return self._record.totals()

    def explain(
        self,
        query: QueryId,
        metric: str | Metric | None = None,
        *,
        queries: QueryTexts | Questions | None = None,
        corpus: QueryTexts | None = None,
    ) -> Explanation:
        """Return the outcome of each relevant document of a query, and what was retrieved instead.

        Args:
            query: The query.
            metric: The metric whose cutoff and relevance threshold are used; None uses the largest cutoff.
            queries: Query texts by query id, or the evaluation set that has them; None takes those of the judgments,
                if these came with texts.
            corpus: Document texts by document id, if the rankings hold only ids.

        Raises:
            KeyError: If the query was not evaluated.
            ValueError: If the evaluation was made without its run.

        Example:
            >>> import retrieval_metrics as rm
            >>> print(rm.evaluate({"q1": ["d7", "d9"]}, {"q1": ["d3", "d7"]}, "ndcg@10").explain("q1"))
            q1: ndcg@10 0.387
            relevant  grade  rank  outcome
            d7            1     2  found
            d9            1     -  not among the 2 retrieved
            <BLANKLINE>
            rank  result  judgment
               1  d3      unjudged
               2  d7      relevant
        """
        from retrieval_metrics.evaluation.explanation import explain

        return explain(self.scores, query, metric, queries, corpus)

    def worst(
        self,
        metric: str | Metric | None = None,
        n: int = 10,
        *,
        queries: QueryTexts | Questions | None = None,
        corpus: QueryTexts | None = None,
    ) -> Worst:
        """Return the `n` queries with the lowest values, explained, and the failures of all queries, counted.

        Queries with the best possible value are not listed.

        Args:
            metric: A metric that was computed; None takes the first.
            n: How many queries.
            queries: Query texts by query id, or the evaluation set that has them; None takes those of the judgments,
                if these came with texts.
            corpus: Document texts by document id, if the rankings hold only ids.

        Raises:
            KeyError: If the metric was not computed.
            ValueError: If the evaluation was made without its run, or n is not positive.
        """
        from retrieval_metrics.evaluation.explanation import worst

        return worst(self.scores, metric, n, queries, corpus)

    def group_by(self, labels: Mapping[Any, Any] | Callable[[Any], Any]) -> Slices[Evaluation]:
        """Return an evaluation of every slice of the queries, for example by length, topic or customer.

        Args:
            labels: The label of each query, as a mapping or a function of the query id. Queries without a label (None)
                are counted and left out.

        Raises:
            TypeError: If `labels` is neither.
            ValueError: If no query has a label, or the evaluation was made without its run.

        Example:
            >>> import retrieval_metrics as rm
            >>> result = rm.evaluate({"q1": ["a"], "q2": ["b"]}, {"q1": ["a"], "q2": ["x"]}, "mrr")
            >>> result.group_by({"q1": "short", "q2": "long"})["short"].means["mrr"]
            1.0
        """
        from retrieval_metrics.evaluation.slices import cut_into_slices

        return cut_into_slices(self.scores, labels, Evaluation)

    def at_cutoffs(self, metric: str | Metric, cutoffs: Sequence[int] | None = None) -> dict[int, float]:
        """Return the mean of a metric at each of several cutoffs.

        Args:
            metric: A metric that takes a cutoff, whether it was computed or not. Its own cutoff says only what the
                others count: documents, or characters for `recall@2000chars`.
            cutoffs: The cutoffs; None takes 1, 2, 3 and so on, up to twice the largest k of the metrics or the longest
                ranking, and for a budget steps up to twice its size.

        Raises:
            ValueError: If the metric takes no cutoff, or the evaluation was made without its run.
        """
        from retrieval_metrics.evaluation.cutoffs import mean_by_cutoff

        return mean_by_cutoff(self.scores, metric, cutoffs)

    def plot(
        self,
        kind: Literal["overview", "intervals", "cutoffs", "precision_recall"] = "overview",
        metric: str | Metric | None = None,
        *,
        across: int | None = None,
    ) -> Figure:
        """Return a figure to show in a notebook or to save with `figure.savefig(path)`.

        Args:
            kind: `intervals`: the means with their intervals. `cutoffs`: the metrics over k. `overview`: both.
                `precision_recall`: mean precision against mean recall, a point for each k.
            metric: The metric of `cutoffs`; None takes all that have a cutoff.
            across: How many panels are in a row; None takes two, and one where a notebook is narrow.

        Raises:
            ImportError: If matplotlib is not installed; the message contains the command that installs it.
            ValueError: If the kind is unknown, or no metric takes a cutoff.
        """
        import_optional("matplotlib", "plot")
        from retrieval_metrics.evaluation.evaluation_plots import evaluation_figure

        return evaluation_figure(self._record, kind, metric, across)

    def report(
        self,
        path: str | PathLike[str],
        *,
        title: str = "",
        queries: QueryTexts | Questions | None = None,
        corpus: QueryTexts | None = None,
        slices: Mapping[Any, Any] | None = None,
        k: int | None = None,
        text_length: int | None = None,
        show_progress: bool = False,
    ) -> None:
        """Write an HTML report with the means in plain words, the failures, and the results of every query.

        The file is self-contained and fetches nothing. The queries can be sorted, filtered, searched and opened;
        without JavaScript they are listed. With more than 1,000 queries, the 100 with the lowest values are shown with
        their results, the others with their values and what they miss.

        Args:
            path: The file to write.
            title: The heading.
            queries: Query texts by query id, or the evaluation set that has them; None takes those of the judgments,
                if these came with texts.
            corpus: Document texts by document id, if the rankings hold only ids.
            slices: A label for each query, by query id, to filter by.
            k: How many results of each query; None takes the largest cutoff of the metrics, and at least 10.
            text_length: How many characters of a text are shown, around the needed words; None shows whole texts if the
                page stays below about 10 MB.
            show_progress: Show a progress bar on stderr, if rich is installed.

        Raises:
            ValueError: If the evaluation was made without its run, or `k` or `text_length` is not positive.
        """
        from retrieval_metrics.evaluation.evaluation_report import write_evaluation_report
        from retrieval_metrics.evaluation.query_report import ReportOptions

        judged_texts = self.scores.query_texts
        options = ReportOptions.read(
            queries, corpus, slices, k=k, length=text_length, show_progress=show_progress, judged_texts=judged_texts
        )
        write_evaluation_report(self.scores, path, title, options)

    def save(
        self, path: str | PathLike[str], *, labels: Mapping[str, str | float] | None = None, rankings: bool = True
    ) -> None:
        """Save the evaluation with its data to a file that `load` reads.

        The file holds questions, judgments, rankings with their texts, rules, metrics, every number, the versions and
        the date, so a loaded evaluation can be explained, sliced, reported, compared and merged as before.

        Args:
            path: The JSON file; a further `.gz` or `.zst` compresses it.
            labels: Labels of your own, such as `{"commit": "4f2a91c", "model": "small"}`.
            rankings: False saves only the numbers, and the warnings about the data without examples, which is far
                smaller; methods that need rankings then raise.

        Raises:
            ValueError: If something cannot be written as JSON, such as a date in the metadata of an item or a function
                given as `match`. Nothing is written then.
            OSError: If the file cannot be written; an existing file stays as it was.
        """
        from retrieval_metrics.evaluation.evaluation_file import save_evaluation

        labels = self.labels if labels is None else labels
        save_evaluation(self._record, path, labels, rankings=rankings)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per query and one column per metric.

        Raises:
            ImportError: If pandas is not installed; the message contains the command that installs it.
        """
        pandas = import_optional("pandas", "to_pandas")
        index = pandas.Index(self.queries, name="query")
        frame: pd.DataFrame = pandas.DataFrame(self.values, index=index, columns=list(map(str, self.metrics)))
        return frame

    def _tables(self) -> list[Table]:
        return [summary_table(self._record)]

    def __str__(self) -> str:
        first_table, *other_tables = self._tables()
        tables = [widen_for_terminal(first_table, self._record), *other_tables]
        return for_terminal("\n\n".join(table.text() for table in tables))

    def _repr_html_(self) -> str:
        from retrieval_metrics.evaluation.evaluation_html import evaluation_html

        return evaluation_html(self._record)

    def __repr__(self) -> str:
        means = ", ".join(f"{name} {numbers.format_value(mean)}" for name, mean in self.means.items())
        return f"<{type(self).__name__} of {numbers.format_query_count(self.counts['queries'])}: {means}>"

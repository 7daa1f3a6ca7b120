"""Define the result of a comparison: means, differences and conclusions, to print, plot, save or report."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from retrieval_metrics._internal.optional_packages import import_optional, to_data_frame
from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.comparison.comparison_record import ComparisonRecord
from retrieval_metrics.comparison.comparison_tables import ComparisonDetails, comparison_tables
from retrieval_metrics.comparison.difference import Differences, if_comparable, if_measured, supported_numbers
from retrieval_metrics.comparison.tests_of_pairs import select_ranking_metrics
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.reports.tables import Printed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    import pandas as pd
    from matplotlib.figure import Figure

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.comparison.conclusions import Conclusion
    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.comparison.documents_to_judge import DocumentsToJudge
    from retrieval_metrics.inputs.items import QueryTexts
    from retrieval_metrics.inputs.questions import Questions
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.reports.tables import Table


class Comparison(ComparisonRecord, Printed):
    """Several systems on the same queries: their means, their differences, and the conclusions.

    Attributes:
        scores: The scores of each system, by name.
        metrics: The metrics.
        paired_values: The values of all systems on the same queries.
        baseline: The system all others are compared with; None if every pair is compared.
        level: Confidence level of the intervals; 1 - level is the accepted family-wise error rate.
        differences: One per metric and pair of systems; they can be printed.
        margin: The largest acceptable loss; None if there is no margin.
        clusters: The clusters of the queries; None if queries are independent.
        judged_coverage: How much of what each system retrieved is judged; None if that is unknown.
        unjudged: The bounds of means and differences over all grades of unjudged documents; None if not requested.
        notes: Sentences on what differs between compared evaluations besides the rankings.
        budgets: How the systems fill each budget among the metrics, such as the 2,000 characters of
            `recall@2000chars`.
        resampling: The number of random choices of signs, and their seed; None if it is not known.
    """

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comparison):
            return NotImplemented
        from retrieval_metrics.comparison.comparison_file import has_same_numbers

        return has_same_numbers(self, other)

    def __hash__(self) -> int:
        return hash((self.systems, self.metrics))

    @cached_property
    def evaluations(self) -> dict[str, Evaluation]:
        """The evaluation of each system, by name."""
        return {name: Evaluation(scores) for name, scores in self.scores.items()}

    @property
    def summary(self) -> list[str]:
        """The conclusions in words, between their caveats and notes; see `Conclusions.sentences`."""
        return self.conclusions.sentences

    @property
    def details(self) -> ComparisonDetails:
        """The means with their intervals, effect sizes, MDEs and the queries that changed most, to print."""
        return ComparisonDetails(self)

    @property
    def seconds(self) -> dict[str, dict[QueryId, float]]:
        """How long each system took for each query, by system and query id; empty for a run that was not timed."""
        return {name: scores.seconds for name, scores in self.scores.items()}

    @property
    def errors(self) -> dict[str, dict[QueryId, Exception]]:
        """The exception of each query whose retriever failed, by system and query id."""
        return {name: scores.errors for name, scores in self.scores.items()}

    def save(
        self, path: str | PathLike[str], *, labels: Mapping[str, str | float] | None = None, rankings: bool = True
    ) -> None:
        """Save the comparison with its data to a file that `load` reads.

        The file holds questions, judgments, rankings with their texts, rules, metrics, every number, the versions and
        the date, so a loaded comparison can be printed, plotted and reported as before.

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
        from retrieval_metrics.comparison.comparison_file import save_comparison

        save_comparison(self, path, labels, rankings=rankings)

    def to_judge(self, n: int = 20) -> DocumentsToJudge:
        """Return the unjudged documents whose judgments would change the comparison most, in that order, to print.

        The candidates are the unjudged documents among the first k of a system, where k is the largest cutoff of the
        metrics. Each is ranked by how much a mean difference between two compared systems would change if this document
        alone were judged and had the highest grade. Systems that are not comparable because of their ids are left out.

        Args:
            n: How many.

        Raises:
            ValueError: If n is not positive, the judgments are groups or pieces, an evaluation came without its run, or
                no two systems are comparable.
        """
        # Imported here because few comparisons are asked for it.
        from retrieval_metrics.comparison.documents_to_judge import rank_documents_to_judge
        from retrieval_metrics.comparison.id_obstacles import find_systems_at_fault

        positive_integer(n, "n")
        at_fault = find_systems_at_fault(self.scores, self.differences)
        scores = {name: system_scores for name, system_scores in self.scores.items() if name not in at_fault}
        differences = Differences(difference for difference in self.differences if at_fault.isdisjoint(difference.pair))
        if not differences:
            raise ValueError(
                "no two systems are comparable, so no judgment could change what is concluded; follow the warnings of "
                "the comparison first, or judge with pool(...)"
            )
        computed = [metric for metric in self.metrics if not metric.definition.is_given]
        metrics = select_ranking_metrics(computed or self.metrics)
        return rank_documents_to_judge(scores, metrics, differences, n)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per difference.

        Where `conclusion` is `"not_comparable"`, intervals and p values are NaN, and so is the difference unless it is
        because of a budget: it would say how ids match, not which system is better.

        Raises:
            ImportError: If pandas is not installed; the message contains the command.
        """
        conclusion_by_difference = {conclusion.details: conclusion for conclusion in self.conclusions}
        rows = []
        for difference in self.differences:
            conclusion = conclusion_by_difference[difference]
            rows.append({**_difference_columns(difference), **_conclusion_columns(conclusion)})
        return to_data_frame(rows)

    def plot(
        self,
        kind: Literal["overview", "intervals", "differences", "wins", "cutoffs", "precision_recall"] = "overview",
        metric: str | Metric | None = None,
        *,
        across: int | None = None,
    ) -> Figure:
        """Return a figure to show in a notebook or to save with `figure.savefig(path)`.

        Args:
            kind: `overview`: which system is better and how certain that is, by the means and query by query, with the
                means of the other metrics below. `intervals`: the means of every system and metric. `differences`: the
                difference of every query, sorted; of more than six pairs, those with the smallest p values. `wins`: the
                queries won, tied and lost. `cutoffs`: the metric over k. `precision_recall`: mean precision against
                mean recall, a point for each k.
            metric: The metric of `overview`, `differences` and `cutoffs`; None takes the first of the comparison.
            across: How many panels are in a row; None takes two, and one where a notebook is narrow.

        Raises:
            ImportError: If matplotlib is not installed; the message contains the command.
            ValueError: If the kind is unknown, or the metric takes no cutoff.
            KeyError: If the metric was not compared.
        """
        import_optional("matplotlib", "plot")
        from retrieval_metrics.comparison.comparison_plots import comparison_figure

        return comparison_figure(self, kind, metric, across)

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
        """Write an HTML report with the verdict, the ranking, the differences, and every query side by side.

        The file is self-contained and fetches nothing. The queries can be sorted, filtered, searched and opened;
        without JavaScript they are listed. With more than 1,000 queries, the 100 that changed most are shown with their
        results, the others with their values and what they miss. With more than 25 systems, the ranking and the means
        cover all, the pairs and queries only those that are drawn.

        Args:
            path: The file to write.
            title: The heading; if empty, the names of the systems.
            queries: Query texts by query id, or the evaluation set that has them; None takes those of the judgments,
                if these came with texts.
            corpus: Document texts by document id, if the rankings hold only ids.
            slices: A label for each query, by query id, to filter by.
            k: How many results of each query; None takes the largest cutoff of the metrics, and at least 10.
            text_length: How many characters of a text are shown, around the needed words; None shows whole texts if the
                page stays below about 10 MB.
            show_progress: Show a progress bar on stderr, if rich is installed.

        Raises:
            ValueError: If `k` or `text_length` is not positive.
        """
        from retrieval_metrics.comparison.comparison_report import write_comparison_report
        from retrieval_metrics.evaluation.query_report import ReportOptions

        judged_texts = next(iter(self.scores.values())).query_texts
        options = ReportOptions.read(
            queries, corpus, slices, k=k, length=text_length, show_progress=show_progress, judged_texts=judged_texts
        )
        write_comparison_report(self, path, title, options)

    def _tables(self) -> Sequence[Table]:
        return comparison_tables(self)

    def _repr_html_(self) -> str:
        from retrieval_metrics.comparison.comparison_html import comparison_html

        return comparison_html(self)

    if not TYPE_CHECKING:  # type checkers find such names by themselves

        def __getitem__(self, name: Any) -> NoReturn:
            means = "comparison.means"
            if name in self.means:
                means += f"[{name!r}]"
            elif name in self.systems:
                means += f"[{str(self.metrics[0])!r}][{name!r}]"
            raise TypeError(f"a Comparison is not subscriptable; use {means}, or comparison.conclusions")

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.systems)} in {', '.join(map(str, self.metrics))}>"


def _difference_columns(difference: Difference) -> dict[str, Any]:
    """Return the columns of a DataFrame that a difference fills."""
    mde = difference.mde()
    supported = supported_numbers(difference)
    return {
        "metric": difference.metric,
        "system": difference.system,
        "baseline": difference.baseline,
        "n": difference.n,
        "difference": supported["difference"],
        "ci_low": supported["ci_low"],
        "ci_high": supported["ci_high"],
        "ci_low_uncorrected": if_comparable(difference, difference.interval_uncorrected.low),
        "ci_high_uncorrected": if_comparable(difference, difference.interval_uncorrected.high),
        "p_corrected": supported["p_corrected"],
        "p_uncorrected": supported["p_uncorrected"],
        "p_t": if_comparable(difference, difference.paired.p_t),
        "effect_size": if_measured(difference, difference.paired.effect_size),
        "wins": if_measured(difference, difference.paired.wins),
        "ties": if_measured(difference, difference.paired.ties),
        "losses": if_measured(difference, difference.paired.losses),
        "mde": if_comparable(difference, mde.spread),
        "mde_sparse": if_comparable(difference, mde.sparse),
    }


def _conclusion_columns(conclusion: Conclusion) -> dict[str, Any]:
    """Return the columns of a DataFrame that a conclusion fills; those about a margin only if there is one."""
    columns: dict[str, Any] = {"conclusion": conclusion.kind}
    margin_test = conclusion.details.margin
    if margin_test is not None:
        columns["noninferiority"] = conclusion.noninferiority
        columns["ci_low_one_sided"] = if_comparable(conclusion.details, margin_test.low)
    return columns

"""Evaluate a retriever after each of its stages, and count what each stage lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics._internal.validation import UnknownKeyError
from retrieval_metrics.evaluation.counts import count_given_scores, count_issues_of_slice
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.evaluation.evaluation_wording import (
    CEILING_MEANING,
    NO_STAGES,
    format_ceiling_head,
    format_sources,
    format_unreached,
)
from retrieval_metrics.evaluation.explainer import target_of_metric
from retrieval_metrics.evaluation.score_run import score_judged_run, score_run
from retrieval_metrics.evaluation.scores import Origin, Scores, columns_by_metric
from retrieval_metrics.evaluation.stage_losses import FOUND, find_stage_sources, judge_stages, loss_shares
from retrieval_metrics.evaluation.summary import means
from retrieval_metrics.metrics.base.given_metrics import as_given_metric
from retrieval_metrics.metrics.base.metric import Metric, as_metric, choose_leading_metric
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.metrics.base.value_bounds import find_two_valued_queries
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import pandas as pd
    from matplotlib.figure import Figure

    from retrieval_metrics._internal.plain_types import DocumentId, FloatArray
    from retrieval_metrics.evaluation.stage_losses import JudgedStage
    from retrieval_metrics.evaluation.stage_sources import StageSources


class LossEvaluation(Evaluation):
    """The losses of stages as an evaluation, whose table says which stages are sources.

    Attributes:
        sources: The stages that search for themselves.
    """

    def __init__(self, scores: Scores, sources: StageSources) -> None:
        super().__init__(scores)
        self.sources = sources.names
        self._is_assumed = sources.is_assumed

    def _tables(self) -> list[Table]:
        tables = super()._tables()
        notes = [*tables[-1].notes, format_sources(self.sources, is_assumed=self._is_assumed)]
        return [*tables[:-1], tables[-1]._replace(notes=notes)]


class Stages(Printed, Mapping[str, Evaluation]):
    """The evaluation of a retriever after each of its stages, by the name of the stage, in their order.

    Printed, it shows the last evaluation and a table of all stages, with the score that a perfect reranker could reach
    with the documents of each. `compare(stages)` tests what the stages change. A question that did not reach a stage is
    left out of its evaluation, and `n` is then smaller; a question that failed has retrieved nothing in any. It is
    empty if the run does not record its stages.

    Attributes:
        unreached: The stages that no question reached; they have no evaluation.
    """

    def __init__(self, evaluation: Evaluation | None) -> None:
        """Take the evaluation of what the retriever returns; None for no stages."""
        self._evaluation = evaluation
        record = None if evaluation is None else evaluation._record  # noqa: SLF001  (its owner)
        self._scores = record if isinstance(record, Scores) else None
        stages = [] if self._scores is None else judge_stages(self._scores)
        self._stages: dict[str, JudgedStage] = {}
        unreached = []
        for number, stage in enumerate(stages, start=1):
            if stage.is_reached or number == len(stages):
                self._stages[stage.name] = stage
            else:
                unreached.append(stage.name)
        self.unreached = tuple(unreached)
        self._evaluations: dict[str, Evaluation] = {}

    def __getitem__(self, name: str) -> Evaluation:
        if name not in self._stages:
            raise UnknownKeyError(f"no stage {name!r}; the stages are {', '.join(map(repr, self)) or 'none'}")
        if name not in self._evaluations:
            is_last = name == list(self._stages)[-1]
            self._evaluations[name] = self.last if is_last else self._evaluate(self._stages[name])
        return self._evaluations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._stages)

    def __len__(self) -> int:
        return len(self._stages)

    @property
    def first_stage(self) -> tuple[str, ...]:
        """The first-stage retrievers, which do not lose what only another stage found.

        LangChain, LlamaIndex and Haystack record which stages are given documents; those are not sources, whatever they
        add. `rm.RetrievedRun(run, stages=..., sources=[...])` states the sources of your own function. Without either,
        they are inferred: the first stage, and any stage that adds documents and lacks some earlier ones that reappear
        in a later stage.
        """
        return () if self._scores is None else find_stage_sources(self._scores).names

    @property
    def last(self) -> Evaluation:
        """The evaluation of what the retriever returns.

        Raises:
            ValueError: If there are no stages.
        """
        if self._evaluation is None or not self._stages:
            raise ValueError(NO_STAGES)
        return self._evaluation

    def _evaluate(self, stage: JudgedStage) -> Evaluation:
        """Return the evaluation of a stage, of the questions that reached it."""
        last_scores = self.last.scores
        metrics = [metric for metric in last_scores.metrics if not metric.definition.is_given]
        origin = Origin(stage.judged, stage.run, last_scores.require_origin("evaluated").match)
        scores = score_judged_run(origin, metrics, last_scores.rules)
        evaluated_queries = set(last_scores.queries)
        is_kept = [query in stage.run and query in evaluated_queries for query in scores.queries]
        if not all(is_kept):
            rows = np.flatnonzero(is_kept)
            positions = scores.positions[rows]
            counts = count_issues_of_slice(stage.judged, stage.run, metrics, last_scores.rules, positions)
            scores = scores.select(rows, counts)
        clusters = None
        if last_scores.clusters is not None:
            clusters = last_scores.clusters.select(scores.queries)
        return Evaluation(replace(scores, clusters=clusters))

    def losses(self, metric: str | Metric, *, sources: Collection[str] | None = None) -> Evaluation:
        """Return the share of the relevant documents found, and the share that each stage lost, as an evaluation.

        It has intervals, is compared, reported, gated and saved as any other: `rm.compare({"before": a.stages.losses(
        "recall@5"), "after": b.stages.losses("recall@5")})` tests whether a stage loses less. The columns of a question
        sum to 1:

        * `found`: recall at the cutoff; for metrics that one document suffices for, such as hit_rate, 1 or 0.
        * `cutoff_full`: more documents are relevant than fit in the cutoff.
        * `not_retrieved`: no stage held it.
        * `retriever_error`: the retriever failed on the question.
        * `dropped:NAME`: the last stage that held it is the one before NAME.
        * `below_cutoff:NAME`: it is below the cutoff; the last stage that ranked it within the cutoff is the one before
          NAME.

        NAME is the next stage that is not a source, because parallel retrievers lose nothing; if there is none, or no
        stage had the document within the cutoff, it is the last stage. Of a group of alternatives, the nearest miss
        counts. Possible columns are kept even if they are 0 for all questions.

        Args:
            metric: A metric whose cutoff and threshold of relevance count, such as `"recall@5"`.
            sources: The first-stage retrievers, `["bm25", "dense"]`, if `first_stage` is wrong.

        Raises:
            ValueError: If the run does not record its stages, or the metric or a source is unknown.

        Example:
            >>> import retrieval_metrics as rm
            >>> def search(text):
            ...     return {"bm25": ["d1", "d2"], "dense": ["d3"], "fused": ["d1", "d3", "d2"], "best": ["d3", "d1"]}
            >>> questions = rm.EvaluationSet({"q1": "what is a closure?"}, {"q1": ["d2", "d3"]})
            >>> stages = rm.evaluate(questions, rm.retrieve(search, questions), "recall@2").stages
            >>> lost = stages.losses("recall@2").means  # d3 is found; d2 was still there after fused
            >>> {name: share for name, share in lost.items() if share}
            {'found': 0.5, 'dropped:best': 0.5}
        """
        if self._scores is None or not self._stages:
            raise ValueError(NO_STAGES)
        scores = self._scores
        target_metric = as_metric(metric)
        stage_sources = find_stage_sources(scores, sources)
        shares = loss_shares(scores, target_of_metric(target_metric), stage_sources)
        metrics = [as_given_metric(name, (0.0, 1.0), lower_is_better=name != FOUND) for name in shares]
        values = np.column_stack(list(shares.values()))
        columns = columns_by_metric("value", metrics, values)
        is_whole = _is_lost_whole(scores, target_metric)
        if is_whole is not None:
            columns |= columns_by_metric("two_valued", metrics, np.tile(is_whole[:, None], len(metrics)))
        loss_scores = Scores(
            metrics=tuple(metrics),
            queries=scores.queries,
            columns=columns,
            counts={**count_given_scores(values), "failed": scores.counts["failed"]},
            rules=STANDARD,
            clusters=scores.clusters,
        )
        return LossEvaluation(loss_scores, stage_sources)

    def ceiling(self, metric: str | Metric) -> dict[str, float]:
        """Return for each stage the mean of a metric with its documents in the best order: a ceiling for reranking.

        Args:
            metric: A metric for which higher is better.

        Returns:
            The ceiling of each stage; NaN if groups or pieces are judged.
        """
        ceiling_metric = as_metric(metric)
        return {name: _best_order_mean(evaluation.scores, ceiling_metric) for name, evaluation in self.items()}

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per stage: the number of queries, and the mean of each metric.

        Raises:
            ImportError: If pandas is not installed; the message contains the command that installs it.
            ValueError: If there are no stages.
        """
        pandas = import_optional("pandas", "to_pandas")
        metrics = [str(metric) for metric in self.last.metrics if not metric.definition.is_given]
        records = []
        for evaluation in self.values():
            record: dict[str, float] = {"n": evaluation.counts["queries"]}
            for metric in metrics:
                record[metric] = evaluation.means[metric]
            records.append(record)
        frame: pd.DataFrame = pandas.DataFrame(records, index=pandas.Index(list(self), name="stage"))
        return frame

    def plot(self, metric: str | Metric | None = None) -> Figure:
        """Return a figure with the mean of a metric after each stage.

        Args:
            metric: A metric that was computed; None takes the first.

        Raises:
            ImportError: If matplotlib is not installed; the message contains the command that installs it.
            KeyError: If the metric was not computed.
            ValueError: If there are no stages.
        """
        import_optional("matplotlib", "plot")
        from retrieval_metrics.evaluation.evaluation_plots import stages_figure

        if metric is None:
            metric = choose_leading_metric(self.last.metrics)
        return stages_figure(self, as_metric(metric))

    def table(self) -> Table:
        """Return the means of all stages as a table, and the most that each could reach in the first of the metrics."""
        n_by_stage = {name: evaluation.counts["queries"] for name, evaluation in self.items()}
        shows_n = len(set(n_by_stage.values())) > 1
        metrics = [metric for metric in self.last.metrics if not metric.definition.is_given]
        main = choose_leading_metric(metrics)
        ceilings = self.ceiling(main)
        # The ceiling of groups is unknown.
        shows_ceiling = any(not np.isnan(ceiling) for ceiling in ceilings.values())
        header = ["stage"]
        if shows_n:
            header.append("n")
        header += [str(metric) for metric in metrics]
        if shows_ceiling:
            header.append(format_ceiling_head(str(main)))
        rows = []
        for name, evaluation in self.items():
            row = [name]
            if shows_n:
                row.append(str(n_by_stage[name]))
            row += [numbers.format_value(evaluation.means[str(metric)]) for metric in metrics]
            if shows_ceiling:
                row.append("-" if np.isnan(ceilings[name]) else numbers.format_value(ceilings[name]))
            rows.append(row)
        return Table(header, rows, self._notes(shows_ceiling=shows_ceiling))

    def _notes(self, *, shows_ceiling: bool) -> list[str]:
        notes = []
        if self._scores is not None:
            sources = find_stage_sources(self._scores)
            if any(name not in sources.names for name in self):
                notes.append(format_sources(sources.names))
        if shows_ceiling:
            notes.append(CEILING_MEANING)
        if self.unreached:
            notes.append(format_unreached(self.unreached))
        return notes

    def _tables(self) -> list[Table]:
        if not self:
            return [Table((), (), [NO_STAGES])]
        return [*self.last.tables, self.table()]

    def __repr__(self) -> str:
        return f"<Stages: {', '.join(self) or 'none'}>"


def _is_lost_whole(scores: Scores, metric: Metric) -> FloatArray | None:
    """Return for which questions all that is needed is lost or found together (1 or 0); None if it is unknown.

    That is the case if a question needs one document. Its shares are then 0 or 1, as recall is.
    """
    if metric.definition.binary:
        return np.ones(len(scores.queries))
    rel_parameter = {name: value for name, value in metric.parameters if name == "rel"}
    judged = scores.require_origin("followed").judged
    needs_one = find_two_valued_queries(Metric("recall", metric.k, **rel_parameter), judged, STANDARD)
    return None if needs_one is None else needs_one[scores.positions].astype(np.float64)


def _best_order_mean(scores: Scores, metric: Metric) -> float:
    """Return the mean of a metric if what was retrieved were in the best order; NaN if that is unknown."""
    origin = scores.require_origin("put into the best order")
    rankings = scores.rankings("put into the best order")
    qrels = origin.judged.qrels
    if not qrels.is_flat or qrels.has_pieces or not metric.definition.higher_is_better:
        return float("nan")
    judgments: Any = qrels.as_dict()
    best_run: dict[Any, Any] = {}
    for query, ranking in rankings.iterate(scores.queries):
        best_run[query] = _best_order(rankings.ids(ranking), judgments[query])
    best_scores = score_run(qrels, best_run, [metric], scores.rules)
    if len(scores.queries) != len(best_scores.queries):
        rows = np.array([qrels.place[query] for query in scores.queries], np.intp)
        best_scores = best_scores.select(rows, best_scores.counts)
    return means(best_scores)[str(metric)]


def _best_order(ids: Iterable[DocumentId | None], judgments: Any) -> list[DocumentId]:
    """Return the ids in the order of their grades, each once, because a repeated id adds nothing."""
    grades: Mapping[Any, float] = judgments
    if not isinstance(judgments, Mapping):
        grades = dict.fromkeys(judgments, 1.0)
    distinct = dict.fromkeys(document_id for document_id in ids if document_id is not None)

    def get_grade(document_id: DocumentId) -> float:
        return grades.get(document_id, 0.0)

    # With reverse=True, documents of equal grade still keep their order.
    return sorted(distinct, key=get_grade, reverse=True)

"""The evaluation of a retriever after each of its steps, and what each step lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.evaluation.counts import count_given_scores, count_issues
from retrieval_metrics.evaluation.evaluate import score_judged_run, score_run
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.evaluation.explanation import target_of_metric
from retrieval_metrics.evaluation.scores import Origin, Scores, columns_by_metric
from retrieval_metrics.evaluation.stage_losses import FOUND, find_first_stages, judge_stages, loss_shares
from retrieval_metrics.evaluation.summary import means
from retrieval_metrics.metrics.base.given_metrics import as_given_metric
from retrieval_metrics.metrics.base.metric import Metric, as_metric, choose_leading_metric
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.metrics.base.score import is_two_valued
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from retrieval_metrics.evaluation.stage_losses import JudgedStage

NOTHING_TOLD = (
    "the run does not tell the steps of its retriever; let the function that is asked return what it held after each, "
    "{'bm25': found, 'reranked': reranked}, or write rm.RetrievedRun(run, stages={'bm25': run_a, 'reranked': run})"
)


class Stages(Printed, Mapping[str, Evaluation]):
    """The evaluation of a retriever after each of its steps, by the name of the step, in their order.

    Printed, it is the last evaluation and a table of all, with the most that a perfect reranker could make of what each
    step holds. `compare(stages)` tests what the steps change. A question that did not reach a step is left out of its
    evaluation, and `n` is then smaller; a question that failed has retrieved nothing in any. It is empty if the run
    does not tell its steps.

    Attributes:
        unreached: The steps that no question reached; they have no evaluation.
    """

    def __init__(self, evaluation: Evaluation | None) -> None:
        """Take the evaluation of what the retriever returns; None for no stages."""
        self._evaluation = evaluation
        record = None if evaluation is None else evaluation._record  # noqa: SLF001  (its owner)
        self._scores = record if isinstance(record, Scores) else None
        steps = [] if self._scores is None else judge_stages(self._scores)
        self._steps = {step.name: step for step in steps if step.run.keys() - step.run.errors.keys()}
        self._steps |= {step.name: step for step in steps[-1:]}
        self.unreached = tuple(step.name for step in steps if step.name not in self._steps)
        self._made: dict[str, Evaluation] = {}

    def __getitem__(self, name: str) -> Evaluation:
        if name not in self._steps:
            raise KeyError(f"there is no stage {name!r}; the stages are {', '.join(map(repr, self)) or 'none'}")
        if name not in self._made:
            self._made[name] = self.last if name == [*self][-1] else self._evaluated(self._steps[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._steps)

    def __len__(self) -> int:
        return len(self._steps)

    @property
    def first_stage(self) -> tuple[str, ...]:
        """The steps that retrieve: in at least half of their questions, they hold something that none before them held.

        What a source lacks is no loss of its. The other steps pass on what they get.
        """
        return () if self._scores is None else tuple(find_first_stages(self._scores))

    @property
    def last(self) -> Evaluation:
        """The evaluation of what the retriever returns.

        Raises:
            ValueError: If there are no stages.
        """
        if self._evaluation is None or not self._steps:
            raise ValueError(NOTHING_TOLD)
        return self._evaluation

    def _evaluated(self, step: JudgedStage) -> Evaluation:
        last = self.last.scores
        metrics = [metric for metric in last.metrics if not metric.definition.is_given]
        origin = Origin(step.judged, step.run, last.require_origin("evaluated").match)
        scores = score_judged_run(origin, metrics, last.rules)
        wanted = set(last.queries)
        kept = np.array([at for at, one in enumerate(scores.queries) if one in step.run and one in wanted], np.intp)
        if len(kept) < len(scores.queries):
            among = scores.positions[kept]
            scores = scores.select(kept, count_issues(step.judged, step.run, last.rules, kept=among, among=among))
        clusters = None if last.clusters is None else last.clusters.select(scores.queries)
        return Evaluation(replace(scores, clusters=clusters))

    def losses(self, metric: str | Metric) -> Evaluation:
        """Return how much of what each question needs was found, and how much each step lost, as an evaluation.

        It has intervals, is compared, reported, gated and saved as any other: `rm.compare({"before": a.stages.losses(
        "recall@5"), "after": b.stages.losses("recall@5")})` says whether a step loses less. The columns of a question
        sum to 1:

        * `found`: recall at the cut-off; for metrics that one document suffices for, such as hit_rate, 1 or 0.
        * `cutoff_full`: more is needed than the cut-off has room for.
        * `not_retrieved`: no step held it.
        * `dropped:NAME`: the last step that held it stands before NAME.
        * `below_cutoff:NAME`: it came back beyond the cut-off; the last step that had it within stands before NAME.

        NAME is the next step that is no source, because retrievers side by side lose nothing; if there is none, or no
        step had the document within the cut-off, it is the last step. Of a group of alternatives, the nearest miss
        counts. A column that is possible stays, also if it is 0 for all questions.

        Args:
            metric: A metric whose cut-off and threshold of relevance count, such as `"recall@5"`.

        Raises:
            ValueError: If the run does not tell its steps, or the metric is unknown.

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
        if self._scores is None or not self._steps:
            raise ValueError(NOTHING_TOLD)
        scores, asked = self._scores, as_metric(metric)
        found = loss_shares(scores, target_of_metric(asked))
        values = np.column_stack([*found.values()])
        metrics = [as_given_metric(name, (0.0, 1.0), lower_is_better=name != FOUND) for name in found]
        # A question that needs one document is lost whole or not at all, so its shares have the intervals of recall.
        recall = Metric("recall", asked.k, **{key: value for key, value in asked.parameters if key == "rel"})
        single = is_two_valued(recall, scores.require_origin("followed").judged, STANDARD)
        alone = np.ones(len(values)) if asked.definition.binary else None
        if single is not None and alone is None:
            alone = single[scores.positions].astype(np.float64)
        shares = (
            {} if alone is None else columns_by_metric("two_valued", metrics, np.tile(alone[:, None], len(metrics)))
        )
        return Evaluation(
            Scores(
                metrics=tuple(metrics),
                queries=scores.queries,
                columns=columns_by_metric("value", metrics, values) | shares,
                counts={**count_given_scores(values), "failed": scores.counts["failed"]},
                rules=STANDARD,
                clusters=scores.clusters,
            )
        )

    def ceiling(self, metric: str | Metric) -> dict[str, float]:
        """Return by stage the mean of a metric if what the stage holds were in the best order: a ceiling for reranking.

        Args:
            metric: A metric for which higher is better.

        Returns:
            The ceiling of each stage; NaN if groups or pieces are judged.
        """
        chosen = as_metric(metric)
        return {name: self._ceiling(one, chosen) for name, one in self.items()}

    def _ceiling(self, stage: Evaluation, metric: Metric) -> float:
        scores = stage.scores
        origin, rankings = scores.require_origin("put into the best order"), scores.rankings("put into the best order")
        qrels = origin.judged.qrels
        if not qrels.is_flat or qrels.has_pieces or not metric.definition.higher_is_better:
            return float("nan")
        judged: Any = qrels.as_dict()
        best: dict[Any, Any] = {}
        for query, ranking in rankings.iterate(scores.queries):
            grades = _grades(judged[query])
            held = dict.fromkeys(one for one in rankings.ids(ranking) if one is not None)  # a second chunk adds nothing
            best[query] = sorted(held, key=lambda one, of=grades: -of.get(one, 0.0))  # type: ignore[misc]
        truth = score_run(qrels, best, [metric], scores.rules)
        rows = np.array([qrels.place[query] for query in scores.queries], np.intp)
        kept = truth if len(rows) == len(truth.queries) else truth.select(rows, truth.counts)
        return means(kept)[str(metric)]

    def table(self) -> Table:
        """Return the means of all stages as a table, and the most that each could reach in the first of the metrics."""
        counts = {name: one.counts["queries"] for name, one in self.items()}
        shown = len(set(counts.values())) > 1
        computed = [one for one in self.last.metrics if not one.definition.is_given]
        main = choose_leading_metric(computed)
        most = {name: one for name, one in self.ceiling(main).items() if not np.isnan(one)}  # of groups it is unknown
        rows = [
            [
                name,
                *([str(counts[name])] if shown else []),
                *(numbers.value(one.means[str(metric)]) for metric in computed),
                *([numbers.value(most[name]) if name in most else "-"] if most else []),
            ]
            for name, one in self.items()
        ]
        passing = [name for name in self if name not in self.first_stage]
        notes = [f"sources, which lose nothing: {', '.join(self.first_stage)}"] if self.first_stage and passing else []
        notes += [f"{main} at most: with what the step holds in the best order"] if most else []
        notes += [f"no question reached {', '.join(self.unreached)}"] if self.unreached else []
        header = ["after", *(["n"] if shown else []), *map(str, computed), *([f"{main} at most"] if most else [])]
        return Table(header, rows, notes)

    def _tables(self) -> list[Table]:
        return [*self.last.tables, self.table()] if self else []

    def __repr__(self) -> str:
        return f"<Stages: {', '.join(self)}>"


def _grades(judgments: Any) -> Mapping[Any, float]:
    return judgments if isinstance(judgments, Mapping) else dict.fromkeys(judgments, 1.0)

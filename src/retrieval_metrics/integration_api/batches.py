"""For integrations that evaluate large data in blocks: score one block of rows at a time, and sum them exactly."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np

from retrieval_metrics._internal.validation import require_same_id_type
from retrieval_metrics._internal.warn import warn
from retrieval_metrics.evaluation.counts import Counts, counts_in_means
from retrieval_metrics.evaluation.data_warning_wording import (
    ID_MISMATCH_HINT,
    NOTHING_JUDGED_FOUND,
    format_excluded_relevant,
    format_near_misses,
)
from retrieval_metrics.evaluation.data_warnings import make_near_miss_report, system_wide_warnings
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.evaluation.merge import merge
from retrieval_metrics.evaluation.ranking_depths import count_depths
from retrieval_metrics.evaluation.score_run import score_run
from retrieval_metrics.evaluation.scores import COLUMNS, Scores
from retrieval_metrics.evaluation.unused_exclusion import warn_about_unused_exclusion
from retrieval_metrics.files import trec_lines
from retrieval_metrics.files.formats import find_format_by_name
from retrieval_metrics.inputs.allowances import parse_allowances
from retrieval_metrics.inputs.column_detection import JUDGMENT_ROLES, OPTIONAL, REQUIRED, RUN_ROLES, find_columns
from retrieval_metrics.inputs.dataframes import LongTable
from retrieval_metrics.inputs.exclusion import Exclusion, as_exclusion
from retrieval_metrics.inputs.frame_columns import column_names
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.inputs.score_checks import MAX_CHECKED_ROWS, warn_about_score_direction
from retrieval_metrics.matching.near_misses import NO_CANDIDATES, NearCandidates, NearMiss, NearMisses, find_missing
from retrieval_metrics.metrics.base.grade_scale import divides_by_largest_grade, require_known_scale
from retrieval_metrics.metrics.base.metric import Metric, as_metrics
from retrieval_metrics.metrics.base.rules import as_rules
from retrieval_metrics.metrics.base.user_metrics import defined_metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from retrieval_metrics._internal.plain_types import BoolArray, FloatArray, IntArray, QueryId
    from retrieval_metrics.evaluation.scores import Column
    from retrieval_metrics.evaluation.totals import Totals
    from retrieval_metrics.inputs.column_detection import Columns
    from retrieval_metrics.metrics.base.rules import Rules

__all__ = [
    "BlockScorer",
    "BlockSummary",
    "Exclusion",
    "RowColumns",
    "as_exclusion",
    "as_rules",
    "defined_metrics",
    "divides_by_largest_grade",
    "find_format_by_name",
    "format_excluded_relevant",
    "read_trec_blocks",
    "require_known_scale",
    "require_same_id_type",
    "score_run",
    "system_wide_warnings",
]

# What the number in a row of retrieved or judged documents means.
NumberKind: TypeAlias = Literal["score", "rank", "grade"]

# The columns of a scored block that describe its queries, beside the values of the metrics, with their types. They say
# whether the query is judged, whether it enters the means, and whether a judged document of it ties; and how many
# documents were retrieved for it, are relevant, were both retrieved and judged, were retrieved more than once, were
# left out by exclude=, and are relevant but were not found among results.
FACT_TYPES: Mapping[str, type[np.generic]] = {
    "is_judged": np.bool_,
    "is_scored": np.bool_,
    "is_tied": np.bool_,
    "n_retrieved": np.int64,
    "n_relevant": np.int64,
    "n_found": np.int64,
    "n_duplicates": np.int64,
    "n_excluded": np.int64,
    "n_missing": np.int64,
}

# The relevant documents of a query that were not found, but retrieved under nearly their ids, as JSON: a list of judged
# id, retrieved id and kind under `near`; under `distinct`, in one row of a block, how many pairs of different documents
# differ so, by kind. Empty in most rows.
NEAR_MISSES_COLUMN = "near_misses"

# The largest grade of all judgments, the same in every row; only if a metric divides by it.
MAX_GRADE_COLUMN = "largest_grade"


@dataclass(frozen=True, slots=True)
class RowColumns:
    """The columns of a table by role, with one row for each document.

    Attributes:
        query: The ids of queries.
        document: The ids of documents.
        number: The scores, ranks or grades; None if every document listed is relevant.
        kind: Which of these the number is.
        group: The groups of judgments, if there are any.
        rank: The ranks beside scores, if there are any.
    """

    query: str
    document: str
    number: str | None
    kind: NumberKind
    group: str | None = None
    rank: str | None = None

    @classmethod
    def find_in_run(
        cls, names: Sequence[str], columns: Columns | None, allow: str | Collection[str] = ()
    ) -> RowColumns | None:
        """Return the columns of a run; None if there is neither a score nor a rank.

        Args:
            names: The names of all columns.
            columns: The columns that the user named, by role.
            allow: What to accept that is refused otherwise, as in `Run.from_frame`.

        Raises:
            ValueError: If a column is not found or ambiguous.
        """
        # Rows without an order need a score or a rank.
        roles = {"query": REQUIRED, "document": REQUIRED, "score": OPTIONAL, "rank": OPTIONAL}
        column_by_role = find_columns(names, roles, columns, "the run", parse_allowances(allow))
        query = column_by_role["query"]
        document = column_by_role["document"]
        rank = column_by_role.get("rank")
        if "score" in column_by_role:
            return cls(query, document, column_by_role["score"], "score", rank=rank)
        if rank is None:
            return None
        return cls(query, document, rank, "rank")

    @classmethod
    def find_in_qrels(
        cls, names: Sequence[str], columns: Columns | None, allow: str | Collection[str] = ()
    ) -> RowColumns:
        """Return the columns of judgments.

        Raises:
            ValueError: If a column is not found or ambiguous.
        """
        column_by_role = find_columns(names, JUDGMENT_ROLES, columns, "the qrels", parse_allowances(allow))
        return cls(
            column_by_role["query"],
            column_by_role["document"],
            column_by_role.get("grade"),
            "grade",
            column_by_role.get("group"),
        )

    def warn_about_ranks(self, take_rows: Callable[[int], Iterable[Mapping[str, Any]]]) -> None:
        """Warn if the ranks at the beginning of a run speak against the scores, by which it is ordered.

        Args:
            take_rows: Returns the first rows, as many as it is asked for.
        """
        if self.rank is None:
            return
        ranked_scores = []
        for row in take_rows(MAX_CHECKED_ROWS):
            try:
                ranked_scores.append((row[self.query], float(row[self.rank]), float(row[self.number or ""])))
            except (KeyError, TypeError, ValueError):
                continue  # scoring the row will raise an error that names it
        warn_about_score_direction(ranked_scores, "the run")

    def warn_about_unused_exclusion(
        self, take_rows: Callable[[int], Iterable[Mapping[str, Any]]], exclusion: Exclusion, qrels: Qrels | None
    ) -> None:
        """Warn if nothing is left out of the beginning of a run, but another form of what is to be left out is there.

        Args:
            take_rows: Returns the first rows, as many as it is asked for.
            exclusion: The documents to leave out.
            qrels: The judgments; None if they are not in memory.
        """
        rankings: dict[Any, list[Any]] = {}
        for row in take_rows(MAX_CHECKED_ROWS):
            query = row.get(self.query)
            document = row.get(self.document)
            if type(query) in (str, int) and type(document) in (str, int):
                rankings.setdefault(query, []).append(document)
        sampled_qrels = Qrels.unchecked(dict.fromkeys(rankings, ())) if qrels is None else qrels
        excluded_run = exclusion.remove(rankings, sampled_qrels, get_match_key("id"))
        warn_about_unused_exclusion(exclusion, excluded_run, sampled_qrels, "id")


def read_trec_blocks(path: str, kind: Literal["run", "qrels"]) -> Iterator[dict[str, pl.Series | FloatArray]]:
    """Yield the columns of TREC text, a few megabytes at a time: `query`, `document`, and `score` or `grade`.

    Raises:
        ValueError: If a line is wrong, with the file, the number of the line, and the line.
    """
    layout = trec_lines.RUN_LAYOUT if kind == "run" else trec_lines.QRELS_LAYOUT
    for query, document, value in trec_lines.iterate_file_rows(path, layout):
        yield {"query": query, "document": document, layout.value: value}


@dataclass(frozen=True, slots=True)
class BlockScorer:
    """Scores the blocks of an evaluation, all with the same metrics and rules.

    Attributes:
        metrics: The metrics.
        rules: The rules of all blocks.
        number_kind: Whether retrieved documents have scores or ranks.
        max_grade: The largest grade of all judgments; None if no metric divides by it.
        allow: What to accept that is refused otherwise, as in `Run.from_frame`.
        exclusion: The documents to leave out of the rankings; None leaves out none.

    Example:
        >>> scorer = BlockScorer.create(["mrr"])
        >>> retrieved = {"query": ["q1", "q1"], "document": ["d3", "d7"], "number": [2.0, 1.0]}
        >>> judged = {"query": ["q1"], "document": ["d7"], "number": [1.0]}
        >>> values = scorer.score(retrieved, judged)
        >>> values["query"], values["mrr"].tolist()
        (['q1'], [0.5])
    """

    metrics: tuple[Metric, ...]
    rules: Rules
    number_kind: NumberKind = "score"
    max_grade: float | None = None
    allow: str | Collection[str] = ()
    exclusion: Exclusion | None = None

    @classmethod
    def create(
        cls,
        metrics: str | Metric | Iterable[str | Metric],
        rules: str | Rules = "standard",
        ties: str | None = None,
    ) -> BlockScorer:
        """Return the scorer of some metrics.

        Raises:
            ValueError: If a metric or a rule set is unknown.
            TypeError: If an argument has another type.
        """
        resolved_rules = as_rules(rules, ties)
        return cls(as_metrics(metrics), resolved_rules)

    @property
    def needs_max_grade(self) -> bool:
        """Whether a metric divides by the largest grade of all judgments."""
        return any(divides_by_largest_grade(metric) for metric in self.metrics)

    def score(
        self,
        retrieved: Any,
        judged: Any,
        *,
        unjudged_queries: Iterable[QueryId] = (),
        empty_queries: Sequence[QueryId] = (),
    ) -> dict[str, Any]:
        """Return the values of a block, which holds all rows of its queries.

        Args:
            retrieved: The retrieved documents: a DataFrame, an Arrow table or a mapping with the columns `query`,
                `document` and `number`.
            judged: The judged documents: likewise, perhaps with the column `group`.
            unjudged_queries: Queries of the run that are not judged and whose documents were left out.
            empty_queries: Judged queries without a judged document.

        Returns:
            Columns by name, with a row for each judged query in the order of the judgments and then for each unjudged
            one: `query`, the facts about it, its near misses, the largest grade if a metric divides by it, and the
            values of the metrics, NaN if they are undefined; values of ideal rankings, residuals and the range over the
            orders of ties have names such as `ideal ndcg@10`.

        Raises:
            ValueError: If a row cannot be read, or two contradict each other.
            TypeError: If ids have the wrong type.
        """
        run = self._read_run(retrieved)
        qrels = self._read_qrels(judged, empty_queries)
        if qrels is None:
            judged_queries: list[QueryId] = []
            facts = {name: np.zeros(0, dtype=fact_type) for name, fact_type in FACT_TYPES.items()}
            near_misses: list[str] = []
            values = {name: np.zeros(0) for name in self._value_names()}
        else:
            n_excluded = np.zeros(len(qrels), dtype=np.int64)
            if self.exclusion is not None:
                # Not by `score_run`, which refuses ids of other queries than those of the block.
                excluded_run = self.exclusion.remove(run, qrels, get_match_key("id"))
                run = cast("Run", excluded_run.run)
                n_excluded = n_excluded if excluded_run.n_excluded is None else excluded_run.n_excluded
            scores = score_run(qrels, run, self.metrics, self.rules, scale=self.max_grade)
            judged = scores.require_origin("written as rows").judged
            judged_queries = list(judged.qrels.queries)
            facts = _collect_facts(scores, n_excluded)
            near_misses = _write_near_misses(judged.near_misses, judged_queries)
            values = _collect_values(scores)
        unjudged = {*unjudged_queries, *run} - set(judged_queries)
        n_unjudged = len(unjudged)
        columns: dict[str, Any] = {"query": [*judged_queries, *sorted(unjudged, key=str)]}
        for name, fact in facts.items():
            columns[name] = np.concatenate([fact, np.zeros(n_unjudged, dtype=fact.dtype)])
        columns[NEAR_MISSES_COLUMN] = [*near_misses, *[""] * n_unjudged]
        if self.max_grade is not None:
            columns[MAX_GRADE_COLUMN] = np.full(len(judged_queries) + n_unjudged, self.max_grade)
        for name, value in values.items():
            columns[name] = np.concatenate([value, np.full(n_unjudged, np.nan)])
        return columns

    def _read_run(self, retrieved: Any) -> Run:
        if not _count_rows(retrieved):
            return Run(())
        columns = {"query": "query", "document": "document", self.number_kind: "number"}
        table = LongTable(retrieved, RUN_ROLES, columns, "a block of the run", allow=self.allow)
        return Run([table.rankings()])

    def _read_qrels(self, judged: Any, empty_queries: Sequence[QueryId]) -> Qrels | None:
        qrels = None
        if _count_rows(judged):
            columns = {"query": "query", "document": "document", "grade": "number"}
            if "group" in column_names(judged):
                columns["group"] = "group"
            table = LongTable(judged, JUDGMENT_ROLES, columns, "a block of the qrels", allow=self.allow)
            qrels = Qrels.from_table(table.judgments())
        if not empty_queries:
            return qrels
        judgments: dict[Any, Any] = {} if qrels is None else dict(qrels.as_dict())
        for query in empty_queries:
            judgments.setdefault(query, [])
        return Qrels(judgments)

    def _value_names(self) -> list[str]:
        """Return the names of the columns of values for flat judgments."""
        example = score_run(Qrels({"query": ["document"]}), {"query": ["document"]}, self.metrics, self.rules)
        return list(_collect_values(example))


def _count_rows(table: Any) -> int:
    return len(table["query"])


def _collect_facts(scores: Scores, n_excluded: IntArray) -> dict[str, Any]:
    """Return the facts about each judged query, in the order of the judgments."""
    judged = scores.require_origin("written as rows").judged
    n_queries = judged.n_queries
    scored_positions = scores.positions
    n_relevant = judged.n_relevant().astype(np.int64)
    is_scored = np.zeros(n_queries, dtype=np.bool_)
    is_scored[scored_positions] = counts_in_means(n_relevant[scored_positions] > 0, scores.rules)
    is_tied = np.zeros(n_queries, dtype=np.bool_)
    is_tied[judged.tied_queries()] = True
    missing_owners = judged.qrels.document_query[find_missing(judged)]
    return {
        "is_judged": np.ones(n_queries, dtype=np.bool_),
        "is_scored": is_scored,
        "is_tied": is_tied,
        "n_retrieved": judged.n_retrieved,
        "n_relevant": n_relevant,
        "n_found": judged.sum_by_query(judged.ranks.query).astype(np.int64),
        "n_duplicates": judged.n_duplicates,
        "n_excluded": n_excluded,
        "n_missing": np.bincount(missing_owners, minlength=n_queries).astype(np.int64),
    }


def _write_near_misses(near_misses: NearMisses | None, queries: Sequence[QueryId]) -> list[str]:
    """Return the text of each query for the column of near misses."""
    # Those of the block can be none although it has candidates.
    candidates = NO_CANDIDATES if near_misses is None else near_misses.candidates
    near_by_query: dict[QueryId, list[list[str]]] = {}
    for near_miss in candidates.near_misses:
        entry = [near_miss.judged_id, near_miss.retrieved_id, near_miss.kind]
        near_by_query.setdefault(near_miss.query, []).append(entry)
    n_distinct = {kind: number for kind, number in candidates.n_distinct.items() if number}
    texts = []
    for query in queries:
        parts: dict[str, Any] = {}
        if n_distinct:
            parts["distinct"] = n_distinct
            n_distinct = {}
        if query in near_by_query:
            parts["near"] = near_by_query[query]
        texts.append(json.dumps(parts) if parts else "")
    return texts


def _read_near_misses(texts: Iterable[str | None], queries: Sequence[QueryId], n_missing: int) -> NearMisses:
    """Return the near misses of the queries in some rows, which `_write_near_misses` wrote."""
    near_misses: list[NearMiss] = []
    n_distinct: Counter[Any] = Counter()
    for query, text in zip(queries, texts, strict=True):
        if not text:
            continue
        parts = json.loads(text)
        n_distinct.update(parts.get("distinct", {}))
        for judged_id, retrieved_id, kind in parts.get("near", ()):
            near_misses.append(NearMiss(len(near_misses), query, judged_id, retrieved_id, kind))
    return NearMisses(n_missing=n_missing, candidates=NearCandidates(tuple(near_misses), n_distinct))


def _collect_values(scores: Scores) -> dict[str, FloatArray]:
    """Return the columns of values by name, in the order of the judgments; NaN for queries that the rules leave out."""
    n_queries = scores.require_origin("written as rows").judged.n_queries
    values: dict[str, FloatArray] = {}
    for column in COLUMNS:
        for metric in scores.metrics:
            known_values = scores.per_query_column(column, metric)
            if known_values is not None:
                all_values = np.full(n_queries, np.nan)
                all_values[scores.positions] = known_values
                values[_value_name(column, metric)] = all_values
    return values


def _value_name(column: Column, metric: Metric) -> str:
    """Return the name of the column that holds one kind of number for one metric.

    Example:
        >>> _value_name("value", Metric.parse("p@5")), _value_name("ideal", Metric.parse("p@5"))
        ('precision@5', 'ideal precision@5')
    """
    return str(metric) if column == "value" else f"{column} {metric}"


@dataclass(frozen=True, slots=True)
class BlockSummary:
    """The sums of a scored block, and the facts about it that messages about the whole evaluation need.

    Attributes:
        part: The sums and counts of the block, with the values of its queries if they are wanted.
        n_rows: The number of queries of the block, one a row.
        n_found: The number of retrieved documents that are judged.
        n_answered: The number of judged queries for which something was retrieved.
        near_misses: The documents that may have been retrieved under nearly their ids, which only all blocks decide.
        judged_example: A judged query as text; empty if there is none.
        unjudged_example: A query of the run that is not judged, as text; empty if there is none.
    """

    part: Evaluation | Totals
    n_rows: int
    n_found: int
    n_answered: int
    near_misses: NearMisses
    judged_example: str
    unjudged_example: str

    @staticmethod
    def require_columns(names: Sequence[str]) -> None:
        """Raise if the columns are not those that `BlockScorer.score` returns.

        Raises:
            ValueError: If a column is missing.
        """
        for fact in (*FACT_TYPES, NEAR_MISSES_COLUMN):
            if fact not in names:
                raise ValueError(
                    f"these rows are not a result of evaluate_dataset: they have no column {fact!r}, but {list(names)}"
                )

    @classmethod
    def read(cls, columns: Mapping[str, Any], rules: Rules, *, with_values: bool = False) -> BlockSummary:
        """Sum the values of a block.

        Args:
            columns: The columns that `BlockScorer.score` returned, with all or some of the rows; others are ignored.
            rules: The rules under which they were scored.
            with_values: Whether to keep the values of single queries.

        Raises:
            ValueError: If columns are missing, or the values were made under other rules.
        """
        scores = _read_scores(columns, rules)
        evaluation = Evaluation(scores)
        is_judged = columns["is_judged"]
        return cls(
            part=evaluation if with_values else evaluation.totals(),
            n_rows=len(is_judged),
            n_found=int(columns["n_found"].sum()),
            n_answered=int((is_judged & (columns["n_retrieved"] > 0)).sum()),
            near_misses=_read_near_misses(
                columns[NEAR_MISSES_COLUMN], columns["query"], n_missing=int(columns["n_missing"].sum())
            ),
            judged_example=_first_query(columns["query"], is_judged),
            unjudged_example=_first_query(columns["query"], np.logical_not(is_judged)),
        )

    @staticmethod
    def merge(summaries: Sequence[BlockSummary]) -> Evaluation:
        """Return the evaluation of all blocks, as if they had been one.

        Raises:
            ValueError: If blocks cannot be merged, or the run and the judgments have no query in common.

        Warns:
            RetrievalWarning: If no retrieved document is judged anywhere, or relevant ones were retrieved under nearly
                their ids.
        """
        near_misses = NearMisses.merge(summary.near_misses for summary in summaries)
        evaluation = _with_near_misses(merge([summary.part for summary in summaries]), len(near_misses))
        counts = evaluation.counts
        is_answered = any(summary.n_answered for summary in summaries)
        if counts["unjudged_queries"] and counts["queries"] and not is_answered:
            unjudged_example = _first_text(summary.unjudged_example for summary in summaries)
            judged_example = _first_text(summary.judged_example for summary in summaries)
            raise ValueError(
                f"the run and the qrels have no query in common: the run has, for example, {unjudged_example}, the "
                f"qrels have {judged_example}; evaluate_dataset(qrels, run) takes the judgments first"
            )
        reasons = []
        if not any(summary.n_found for summary in summaries):
            reasons.append(NOTHING_JUDGED_FOUND)
        near_miss_report = make_near_miss_report(near_misses, None)
        if near_miss_report is not None:
            reasons.append(format_near_misses(near_miss_report))
        elif reasons:
            reasons.append(ID_MISMATCH_HINT)
        if reasons:
            warn("; ".join(reasons))
        return evaluation


def _with_near_misses(evaluation: Evaluation, n_near_misses: int) -> Evaluation:
    """Return an evaluation with the number of its near misses, which the sums of its parts do not give."""
    if not n_near_misses:
        return evaluation
    record = evaluation._record  # noqa: SLF001  (as in `merge`)
    counts = cast("Counts", {**record.counts, "near_misses": n_near_misses})
    return Evaluation(replace(record, counts=counts))


def _first_text(texts: Iterable[str]) -> str:
    for text in texts:
        if text:
            return text
    return ""


def _first_query(queries: Sequence[QueryId], is_selected: BoolArray) -> str:
    """Return the first of the selected queries as text for a message; empty if none is selected."""
    for query in compress(queries, is_selected.tolist()):
        return repr(query)
    return ""


def _read_scores(columns: Mapping[str, Any], rules: Rules) -> Scores:
    """Return the scores of the queries in some rows, with the counts of all of them."""
    names = list(columns)
    BlockSummary.require_columns(names)
    metrics = _find_metrics(names)
    if not metrics:
        raise ValueError(f"these rows have no values of metrics, but only {names}")
    is_kept = _find_kept_queries(columns, metrics, rules)
    values: dict[tuple[Column, Metric], FloatArray] = {}
    for column in COLUMNS:
        for metric in metrics:
            name = _value_name(column, metric)
            if name in columns:
                values[column, metric] = columns[name][is_kept]
    scores = Scores(
        metrics=tuple(metrics),
        queries=tuple(compress(columns["query"], is_kept.tolist())),
        columns=values,
        counts=_count_issues(columns, metrics),
        rules=rules,
    )
    max_grade = None
    if MAX_GRADE_COLUMN in columns:
        max_grade = float(columns[MAX_GRADE_COLUMN].max())
    return replace(scores, scale=max_grade)


def _find_metrics(names: Sequence[str]) -> list[Metric]:
    """Return the metrics that columns are named after; users may have added other columns."""
    metrics = []
    for name in names:
        try:
            metric = Metric.parse(name)
        except ValueError:
            continue
        if str(metric) == name:
            metrics.append(metric)
    return metrics


def _find_kept_queries(columns: Mapping[str, Any], metrics: Sequence[Metric], rules: Rules) -> BoolArray:
    """Return which queries are scored under the rules: those that are judged and not left out as missing.

    Raises:
        ValueError: If the rows were made under other rules.
    """
    was_made_with_expected_ties = _value_name("depends", metrics[0]) in columns
    if was_made_with_expected_ties != (rules.ties == "expected"):
        how = "not made" if rules.ties == "expected" else "made"
        raise ValueError(
            f'these rows were {how} with ties="expected", but the rules have ties="{rules.ties}"; pass the same ties='
        )
    is_kept: BoolArray = columns["is_judged"] & ((columns["n_retrieved"] > 0) | (rules.missing == "zero"))
    is_scored = is_kept & counts_in_means(columns["n_relevant"] > 0, rules)
    if (is_scored != columns["is_scored"]).any():
        raise ValueError(f"these rows were made under other rules than {rules.name}; pass their rules as rules=")
    return is_kept


def _count_issues(columns: Mapping[str, Any], metrics: Sequence[Metric]) -> Counts:
    is_judged = columns["is_judged"]
    has_relevant = columns["n_relevant"] > 0
    is_missing = is_judged & (columns["n_retrieved"] == 0) & has_relevant
    # Blocks hold ids only, so the issues of located texts stay 0.
    counts: dict[str, int] = {name: 0 for name in Counts.__annotations__ if name in Counts.__required_keys__}
    counts["queries"] = int(is_judged.sum())
    counts["scored"] = int(columns["is_scored"].sum())
    counts["missing"] = int(is_missing.sum())
    counts["unjudged_queries"] = int(np.logical_not(is_judged).sum())
    counts["no_relevant"] = int((is_judged & np.logical_not(has_relevant)).sum())
    counts["duplicates"] = int(columns["n_duplicates"].sum())
    counts["excluded"] = int(columns["n_excluded"].sum())
    counts["ties"] = int(columns["is_tied"].sum())
    depths = count_depths(columns["n_retrieved"][is_judged], metrics, columns["n_excluded"][is_judged])
    return cast("Counts", counts | depths)

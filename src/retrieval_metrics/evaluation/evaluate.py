"""Evaluate a run against judgments: check the input, judge and score the rankings, and warn about the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics._internal.warn import warn
from retrieval_metrics.evaluation.data_warnings import find_data_warnings
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.evaluation.score_run import score_run
from retrieval_metrics.files.judgment_paths import resolve_judgments
from retrieval_metrics.inputs.clusters import find_clusters
from retrieval_metrics.inputs.document_texts import with_document_texts
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.matching.common_queries import count_common_queries
from retrieval_metrics.matching.rebuilt_index import find_rebuilt_runs, judge_by_corpus_texts
from retrieval_metrics.matching.source_texts import with_source_texts
from retrieval_metrics.metrics.base.metric import DEFAULT_METRICS, Metric, as_metrics, with_relevance_threshold
from retrieval_metrics.metrics.base.rules import as_rules

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.files.judgment_paths import JudgmentsOrPath
    from retrieval_metrics.inputs.clusters import ClustersBy
    from retrieval_metrics.inputs.documents import Documents
    from retrieval_metrics.inputs.exclusion import Exclude, Exclusion
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.metrics.base.rules import Rules


def evaluate(
    qrels: JudgmentsOrPath,
    run: RunMapping | Run,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    rules: str | Rules = "standard",
    match: str | Key | Matching = "id",
    ties: str | None = None,
    clusters: ClustersBy = "source",
    unjudged: str | None = None,
    documents: Documents | None = None,
    exclude: Exclude | Exclusion | None = None,
) -> Evaluation:
    """Score the rankings of a retriever against judgments.

    Args:
        qrels: The judgments of each query: `{"d1": 2, "d7": 1}` (grades), `["d1", "d7"]`, `[["d1", "d2"], ["d9"]]`
            (groups: one of d1 and d2, and d9) or `[{"d1": 2, "d2": 1}, {"d9": 3}]` (graded groups). A `Quote`, `Text`,
            `Span` or `Metadata` can stand in for any id; these survive re-chunking. Also an `EvaluationSet`, or the
            path of questions or judgments, as `read_questions` and `read_qrels` read them.
        run: The ranking of each query: `["d7", "d1"]`, best first, or `{"d7": 12.1, "d1": 9.0}` with scores. Equal
            scores are ordered by document id, descending, as in trec_eval. A ranking can also be a list of `Retrieved`,
            best first, and the whole run a `Run`, as `read_run` returns it.
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`. If the judgments come from `Labels` whose rubric says
            from which grade a document is relevant, `mrr` means `mrr(rel=2)`, and so on.
        rules: The rules for cases that libraries treat differently: `"standard"`, `"trec_eval"`, `"llama_index"`,
            `"haystack"`, `"ragas"`, `"autorag"`, `"mlflow"`, or your own `Rules`.
        match: What an id of the judgments is compared with, if the rankings hold `Retrieved`: `"id"`, `"source"`,
            `"filename"` (the last part of the source), `"metadata:<name>"`, a callable from `Retrieved` to its id, or a
            `Matching` with more options.
        ties: Equal scores are ordered by document id, descending (`"docid"`), stay in the order of the mapping
            (`"input"`), or the value is the mean over all orders of equal scores (`"expected"`), with the smallest and
            the largest value beside it; None takes the rule of the rule set.
        clusters: The clusters of the queries, for the intervals: a mapping of query ids to clusters, or a function of
            the query id; a query in a set of clusters joins them. `"source"` takes the document that a question comes
            from, if the questions or their spans name it and several share one; queries judged only by id are then
            independent. None treats every query as independent.
        unjudged: Documents without a judgment count as not relevant (`"nonrelevant"`), or are removed from the rankings
            (`"condensed"`); None takes the rule of the rule set. `compare` also takes `"bounds"`.
        documents: The documents that chunks were cut from: texts by source, `Retrieved` with texts, or documents of an
            installed host. If a `Span` is judged, each chunk is found in its document by its text, whatever its offsets
            say. What is judged but not among them is an error. None takes the sources that an `EvaluationSet` keeps.
        exclude: Documents to leave out of the rankings before they are scored, so that they take no rank: the query's
            own id (`"query_id"`), as BEIR and MTEB do, or `{query: ids}`. They are counted; retrieve as many more.
            Where nothing is left out, as of a run that is clean already, there is a warning only if the run holds
            another form of such an id.

    Returns:
        The values per query, their means, and the numbers of missing, duplicate, tied and undefined ones.

    Raises:
        TypeError: If something has the wrong type: a bare string for a list of ids, an unordered ranking, ids that are
            str on one side and int on the other, or flat judgments mixed with nested ones.
        ValueError: If judgments or run are empty or have no query in common, a score or a grade is not finite, a metric
            or rule set is unknown, or the rule set refuses a query; or if the retriever failed for every query.

    Warns:
        RetrievalWarning: If judged queries are missing from the run; if no retrieved document is judged for its query;
            if scores seem to be distances, or judgments and run swapped; if ids or values nearly match, or documents
            are judged by their texts because the index was rebuilt; if `exclude` leaves nothing out, and should.

    Example:
        >>> result = evaluate({"q1": ["d7"], "q2": ["d1", "d2"]}, {"q1": ["d3", "d7"], "q2": ["d2", "d9"]}, "mrr")
        >>> result.means["mrr"]  # (1/2 + 1/1) / 2
        0.75
    """
    if unjudged == "bounds":
        raise ValueError('unjudged="bounds" is an option of compare, which compares several systems')
    rules = as_rules(rules, ties, unjudged)
    parsed_metrics = as_metrics(metrics)
    questions = resolve_judgments(qrels)
    read_qrels = as_qrels(questions)
    parsed_metrics = with_relevance_threshold(parsed_metrics, read_qrels.relevant_from)
    count_common_queries(run, read_qrels)
    if isinstance(run, RetrievedRun):
        run.require_an_answer()
    if documents is not None:
        # Imported here because few evaluations are given documents.
        from retrieval_metrics.inputs.documents import keep_for_rereading

        documents = keep_for_rereading(documents)
    matching = with_source_texts(match, documents, read_qrels, questions)
    read_qrels = with_document_texts(read_qrels, documents)
    if find_rebuilt_runs(read_qrels, [run], matching):
        # Imported here because few indexes are rebuilt.
        from retrieval_metrics.evaluation.data_warning_wording import format_rebuilt_index

        warn(format_rebuilt_index([]))
        read_qrels = judge_by_corpus_texts(read_qrels)
    exclusion = None if exclude is None else _read_exclusion(exclude, read_qrels)
    scores = score_run(read_qrels, run, parsed_metrics, rules, matching, exclusion=exclusion)
    if exclusion is not None:
        # Imported here because few evaluations leave documents out.
        from retrieval_metrics.evaluation.unused_exclusion import with_unused_exclusion

        scores = with_unused_exclusion(scores, exclusion, read_qrels)
    found_clusters = find_clusters(questions, read_qrels, clusters)
    if found_clusters is not None:
        scores = scores.clustered(found_clusters)
    for data_warning in find_data_warnings(scores):
        warn(data_warning.message)
    return Evaluation(scores)


def _read_exclusion(exclude: Exclude | Exclusion, qrels: Qrels) -> Exclusion | None:
    """Return the documents to leave out, and warn of relevant ones among them."""
    # Imported here because few evaluations leave documents out.
    from retrieval_metrics.evaluation.data_warning_wording import format_excluded_relevant
    from retrieval_metrics.inputs.exclusion import as_exclusion

    exclusion = as_exclusion(exclude)
    excluded_relevant = [] if exclusion is None else exclusion.find_relevant(qrels)
    if excluded_relevant:
        warn(format_excluded_relevant(excluded_relevant))
    return exclusion

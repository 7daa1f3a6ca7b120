"""What became of each relevant document of a query, as facts."""

from typing import Any

import retrieval_metrics as rm
from retrieval_metrics.evaluation.explainer import Explainer
from retrieval_metrics.evaluation.outcome_facts import OutcomeFacts, QueryFindings
from retrieval_metrics.evaluation.outcome_search import OutcomeSearch


def find_facts(evaluation: rm.Evaluation, metric: str | None = None, query: Any = "q") -> dict[Any, OutcomeFacts]:
    """Return the facts of each relevant document of a query, for a metric or at the largest cutoff of all."""
    explainer = Explainer(evaluation.scores, metric)
    judged = evaluation.scores.require_origin("explained").judged
    search = OutcomeSearch(judged, explainer.rankings, explainer.target)
    outcomes = search.outcomes([evaluation.scores.position(query)])
    ((_, ranking),) = search.rankings.iterate([query])
    facts = QueryFindings(search, outcomes, 0, ranking).facts()
    documents = [judged.qrels.documents[document] for document in outcomes.document]
    return dict(zip(documents, facts, strict=True))

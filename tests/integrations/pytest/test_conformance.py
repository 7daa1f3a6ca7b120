"""The check of a run and of a retriever gives the numbers of the core, to the last bit."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

import retrieval_metrics as rm
from conformance import Conformance, Items, MatchConformance, Rankings, Scores, Truth
from pytest_retrieval_metrics import RetrievalCheck
from pytest_retrieval_metrics.plugin import SETTINGS


class Checking:
    """Checks without floors, which everything reaches."""

    request: pytest.FixtureRequest

    @pytest.fixture(autouse=True)
    def keep_request(self, request: pytest.FixtureRequest) -> None:
        self.request = request

    def check_scores(self, qrels: Any, run: Any, metrics: Sequence[str], match: Any = "id") -> Scores:
        # As the fixture makes it, but with records of its own, which the terminal does not print.
        check = RetrievalCheck(
            self.request.node,
            replace(self.request.config.stash[SETTINGS], not_compared="pass"),
            checks=1,
            records=[],
            folder=None,
        )
        floors: dict[str, float | None] = dict.fromkeys(metrics)
        per_query = check(qrels, run, at_least=floors, match=match).evaluation.per_query
        return {metric: dict(per_query[metric]) for metric in metrics}


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
class TestTheCheckOfARun(Checking, Conformance, MatchConformance):
    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        return self.check_scores(qrels, run, metrics)

    def matched(self, qrels: Truth, items: Items, metrics: Sequence[str], match: Any) -> Scores:
        return self.check_scores(qrels, items, metrics, match)


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
class TestTheCheckOfARetriever(Checking, MatchConformance):
    def matched(self, qrels: Truth, items: Items, metrics: Sequence[str], match: Any) -> Scores:
        questions = rm.EvaluationSet({query: str(query) for query in qrels}, qrels)
        return self.check_scores(questions, lambda text: items[text], metrics, match)

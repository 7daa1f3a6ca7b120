"""The texts of judged sources come from `documents=` or from the questions."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics import Span
from retrieval_metrics.matching.matching_options import Matching
from retrieval_metrics.matching.source_texts import sources_of_spans, with_source_texts

TEXT = "Refunds take five working days."
QRELS = rm.Qrels({"q": [Span("terms", 0, 7)]})
IDS = rm.Qrels({"q": ["a"]})


def make_questions() -> Any:
    entry = {"id": "q", "query": "How long?", "relevant": [Span("terms", 0, 7)]}
    return rm.EvaluationSet.from_dataset([entry]).with_sources({"terms": TEXT})


def test_only_judged_spans_name_sources() -> None:
    assert sources_of_spans(QRELS) == {"terms"}
    assert sources_of_spans(IDS) == set()


def test_documents_become_the_sources_of_the_matching() -> None:
    matching = with_source_texts("id", {"terms": TEXT}, QRELS)
    assert isinstance(matching, Matching)
    assert matching.sources == {"terms": TEXT}
    assert with_source_texts("id", None, QRELS) == "id"
    assert with_source_texts("id", {"terms": TEXT}, IDS) == "id"


def test_they_are_passed_once() -> None:
    with pytest.raises(ValueError, match=r"pass the source texts as documents= or as Matching\(sources=...\), not as"):
        with_source_texts(Matching(sources={"terms": TEXT}), {"terms": TEXT}, QRELS)


@pytest.mark.filterwarnings("ignore:no retrieved document is judged")
def test_a_source_that_differs_from_the_kept_one_is_named() -> None:
    questions = make_questions()
    result = rm.evaluate(questions, {"q": [rm.Retrieved("c", TEXT, "terms")]}, "recall")
    assert result.means["recall"] == 1
    with pytest.warns(rm.RetrievalWarning, match="1 judged source has changed"):
        rm.evaluate(questions, {"q": [rm.Retrieved("c", TEXT, "terms")]}, "recall", documents={"terms": f"New. {TEXT}"})

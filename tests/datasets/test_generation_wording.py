"""The sentences about generated questions, of each kind of result."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from golden_texts import check_golden_texts
from retrieval_metrics.datasets.call_budget import Calls
from retrieval_metrics.datasets.candidate_checks import CheckResults, CheckVerdict
from retrieval_metrics.datasets.generated import GeneratedQuestions
from retrieval_metrics.datasets.generation_wording import generation_notes, model_note
from retrieval_metrics.inputs.provenance import Provenance

GOLDEN = Path(__file__).parent / "golden" / "generation_wording.txt"


def make_result(questions: rm.EvaluationSet, findings: CheckResults, stop_reason: str | None) -> GeneratedQuestions:
    return GeneratedQuestions(
        questions=questions,
        rejected=[],
        calls=Calls(made=1200, cached=3, failed=2, prompt_tokens=90_000, reply_tokens=1000),
        requested={"one_passage": 5},
        stop_reason=stop_reason,
        documents=(3, 1200),
        clusters=(2, 9),
        findings=findings,
    )


def questions_of_ranks(ranks: list[int | None], **options: Any) -> rm.EvaluationSet:
    queries = {f"q{number}": "Who opens the vault?" for number in range(len(ranks))}
    provenance: dict[Any, Provenance] = {}
    for query, rank in zip(queries, ranks, strict=True):
        provenance[query] = Provenance(kind="one_passage", labels={} if rank is None else {"bm25_rank": rank})
    return rm.EvaluationSet(queries, {query: ["vault"] for query in queries}, provenance, **options)


def test_sentences_are_the_golden_ones() -> None:
    nothing = make_result(rm.EvaluationSet({}, {}), CheckResults(), "the budget of 30 calls is spent")
    unchecked = make_result(questions_of_ranks([1, 1, 10, 11, None]), CheckResults(), None)
    suspicious = CheckResults(
        n_unknown=1200,
        n_other_answers=4,
        n_refused=0,
        n_unsupported=2,
        verdicts=Counter({CheckVerdict(expected=False, answer=True): 12}),
    )
    answered = make_result(questions_of_ranks([2], answers={"q0": "The officer."}), suspicious, None)
    refused = make_result(questions_of_ranks([2], answers={"q0": "The officer."}), CheckResults(n_refused=3), None)
    notes = []
    for result in (nothing, unchecked, answered, refused):
        notes += [*generation_notes(result), ""]
    check_golden_texts(GOLDEN, {"notes": notes})


@pytest.mark.parametrize(
    ("n_contradicted", "n_confirmed", "n_denied", "is_named"),
    [(10, 5, 0, True), (9, 5, 0, False), (10, 5, 1, False), (0, 20, 0, False)],
)
def test_a_model_is_suspected_that_gave_ten_wrong_answers_and_no_other(
    n_contradicted: int,
    n_confirmed: int,
    n_denied: int,
    is_named: bool,
) -> None:
    verdicts = Counter(
        {
            CheckVerdict(expected=False, answer=True): n_contradicted,
            CheckVerdict(expected=True, answer=True): n_confirmed,
            CheckVerdict(expected=False, answer=False): n_denied,
        }
    )
    assert bool(model_note(CheckResults(verdicts=verdicts))) is is_named

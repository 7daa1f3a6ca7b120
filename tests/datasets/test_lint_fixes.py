"""What a lint finds is fixed where that is safe."""

import copy
from typing import Any

import retrieval_metrics as rm
from lint_cases import CORPUS, QRELS, QUERIES, VAULT, find_queries
from retrieval_metrics.datasets.lint_fixes import LintFix, apply_fixes


def test_what_is_given_is_not_changed() -> None:
    questions = rm.EvaluationSet(
        QUERIES | {"q4": QUERIES["q1"]}, QRELS | {"q4": ["vault"], "q2": {"coffee": 1, "tea": 0}}
    )
    before = copy.deepcopy((questions.queries, questions.qrels))
    repaired: Any = questions.lint(CORPUS | {"copy": VAULT}).fixed()
    assert (questions.queries, questions.qrels) == before
    assert isinstance(repaired, rm.EvaluationSet)
    judged: Any = repaired.qrels
    assert judged["q3"] == QRELS["q3"]
    assert len(repaired.changes) == 3
    assert questions.changes == ()


def test_judgments_in_columns_are_linted_and_repaired_as_well() -> None:
    qrels = rm.Qrels(QRELS | {"q2": {"coffee": 2, "tea": 0}})
    result = rm.EvaluationSet(QUERIES, qrels).lint(CORPUS)  # type: ignore[arg-type]  # what read_qrels returns
    assert find_queries(result, "unknown_document") == ["q2"]
    assert result.fixed().qrels == {"q1": {"vault": 1}, "q2": {"coffee": 2}, "q3": {"travel": 1}}


def test_the_fixes_of_a_question_that_is_removed_are_needless() -> None:
    questions = rm.EvaluationSet(QUERIES, QRELS, changes=("before",))
    removal = LintFix("removed: a duplicate")
    other = LintFix("removed 'vault'", "vault")
    fixed = apply_fixes(
        questions, {"q1": [other, removal], "q3": [LintFix("'travel' or 'trip'", "travel", ("travel", "trip"))]}
    )
    assert fixed.changes == ("before", "'q1': removed: a duplicate", "'q3': 'travel' or 'trip'")
    assert fixed.qrels == {"q2": QRELS["q2"], "q3": [{"travel": 1, "trip": 1}]}

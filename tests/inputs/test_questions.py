"""Questions can be passed in place of their judgments."""

import retrieval_metrics as rm

ROWS = [
    {
        "id": "q1",
        "query": "one?",
        "relevant": ["d7"],
        "source": "a.md",
        "model": "m",
        "prompt": "v3",
        "date": "2026-05-31",
    },
    {
        "id": "q2",
        "query": "two?",
        "relevant": {"d1": 2},
        "source": "b.md",
        "author": "Kim",
        "labels": {"team": "sales"},
    },
    {"id": "q3", "query": "three?", "relevant": [["d1", "d2"], ["d9"]]},
]
RUN = {"q1": ["d7"], "q2": ["x", "d1"], "q3": ["d2"]}


def test_questions_take_the_place_of_judgments() -> None:
    questions = rm.EvaluationSet.from_dataset(ROWS)
    result = rm.evaluate(questions, RUN, ["mrr", "recall"])
    plain = rm.evaluate(questions.qrels, RUN, ["mrr", "recall"])
    assert result.per_query == plain.per_query
    qrels = result.scores.require_origin("asked").judged.qrels
    assert qrels.provenance is questions.provenance
    assert qrels.flattened().provenance is qrels.without_negative_grades().provenance is questions.provenance
    assert result.group_by(questions.provenance_values("source"))["b.md"].means["mrr"] == 0.5
    runs = {"one": RUN, "other": {query: ranking[::-1] for query, ranking in RUN.items()}}
    comparison = rm.compare(questions, runs, "mrr", ties="input")
    assert str(comparison) == str(rm.compare(questions.qrels, runs, "mrr", ties="input"))
    assert str(rm.audit(questions, RUN, "mrr")) == str(rm.audit(questions.qrels, RUN, "mrr"))
    assert list(rm.match(questions, RUN)) == list(rm.match(questions.qrels, RUN))
    assert rm.relabel(questions, [], []).qrels == rm.relabel(questions.qrels, [], []).qrels


def test_empty_mappings_are_copied_too() -> None:
    answers: dict[str, str] = {}
    conversation: dict[str, list[dict[str, str]]] = {}
    questions = rm.EvaluationSet({"q1": "one?"}, {"q1": ["d1"]}, answers=answers, conversation=conversation)
    answers["q9"] = "nine"
    conversation["q9"] = [{"role": "user", "content": "eight?"}]
    assert (dict(questions.answers), dict(questions.conversation)) == ({}, {})

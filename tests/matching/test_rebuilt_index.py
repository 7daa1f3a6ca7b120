"""Where an index was rebuilt, documents are recognised by their texts, and judged by them if a corpus has these."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import retrieval_metrics as rm
from conformance import call_with_warnings
from data_warning_kinds import evaluate_silently, find_kinds, find_origin

N_QUERIES = 20
TEXTS = {f"n{number}": f"Passage {number} says that {number * 7} is the answer." for number in range(N_QUERIES)}
QRELS: Any = {f"q{number}": [f"n{number}"] for number in range(N_QUERIES)}
DATASET: Any = {"queries": {query: f"{query}?" for query in QRELS}, "corpus": TEXTS, "relevant_docs": QRELS}


def make_run(is_renamed: Callable[[int], bool]) -> dict[str, list[rm.Retrieved]]:
    """Return the perfect run, in which some documents have the ids of a new index."""
    run = {}
    for number in range(N_QUERIES):
        items = []
        for position in (number, (number + 1) % N_QUERIES):
            document = f"n{position}"
            items.append(rm.Retrieved(f"uuid-{position}" if is_renamed(position) else document, TEXTS[document]))
        run[f"q{number}"] = items
    return run


OLD = make_run(lambda _: False)
THIRD = make_run(lambda number: number % 3 == 0)
NEW = make_run(lambda _: True)


def test_a_text_under_another_id_is_a_near_miss() -> None:
    evaluation, warning_text = call_with_warnings(lambda: rm.evaluate(QRELS, THIRD, "mrr", documents=TEXTS))
    assert (evaluation.counts["near_misses"], evaluation.means["mrr"]) == (7, 0.65)
    assert "'n0' and the retrieved 'uuid-0' have the same text" in warning_text
    near_misses = find_origin(QRELS, THIRD, documents=TEXTS).judged.near_misses
    assert near_misses is not None
    assert {entry.kind for entry in near_misses.entries} == {"same_text"}
    assert evaluation.means["mrr"] < rm.evaluate({"q0": [rm.Text(TEXTS["n0"])]}, THIRD, "mrr").means["mrr"] == 1.0


def test_ids_that_are_numbers_have_texts_too() -> None:
    qrels: Any = {1: [10], 2: [20]}
    run: Any = {1: [rm.Retrieved(910, "ten")], 2: [rm.Retrieved(20, "twenty")]}
    assert rm.evaluate(qrels, run, "mrr").counts["near_misses"] == 0
    assert find_kinds(qrels, run, documents=[rm.Retrieved(10, "ten"), rm.Retrieved(20, "twenty")]) == ["near_misses"]


@pytest.mark.parametrize(
    "run",
    [
        {"q0": [rm.Retrieved("n1", TEXTS["n0"])]},  # judged for another query
        {"q0": [rm.Retrieved("copy", TEXTS["n0"])]},  # beside it in the corpus
        {"q0": [rm.Retrieved("uuid", "Another text.")]},
        {"q0": [rm.Retrieved("uuid")]},
        {"q0": ["uuid"]},
    ],
)
def test_what_is_another_document_is_no_near_miss(run: Any) -> None:
    documents = TEXTS | {"copy": TEXTS["n0"]}
    ranking: Any = [rm.Retrieved("n1")] if isinstance(run["q0"][0], rm.Retrieved) else ["n1"]
    evaluation = evaluate_silently(QRELS, run | {"q1": ranking}, documents=documents)
    assert evaluation.counts["near_misses"] == 0


def test_a_system_of_a_new_index_is_not_called_worse() -> None:
    comparison, warning_text = call_with_warnings(lambda: rm.compare(QRELS, {"old": OLD, "third": THIRD}, "mrr"))
    assert [conclusion.kind for conclusion in comparison.conclusions] == ["not_comparable"]
    assert "third: 7 of 7 missing relevant documents" in warning_text
    comparison, warning_text = call_with_warnings(lambda: rm.compare(QRELS, {"old": OLD, "new": NEW}, "mrr"))
    assert [conclusion.kind for conclusion in comparison.conclusions] == ["not_comparable"]
    assert "'n0' and the retrieved 'uuid-0' have the same text" in warning_text


def test_a_copy_that_another_system_also_retrieves_is_another_document() -> None:
    copy = rm.Retrieved("copy", TEXTS["n0"])
    good_run: Any = {query: [*items, copy] for query, items in OLD.items()}
    bad_run: Any = {query: [copy] for query in QRELS} | {"q1": [rm.Retrieved("n1", TEXTS["n1"])]}
    comparison = rm.compare(QRELS, {"good": good_run, "bad": bad_run}, "mrr", baseline="bad")
    assert [conclusion.kind for conclusion in comparison.conclusions] == ["better"]


def test_texts_of_a_corpus_are_judged_where_no_id_is_in_it() -> None:
    questions = rm.EvaluationSet.from_dataset(DATASET)
    evaluation, warning_text = call_with_warnings(lambda: rm.evaluate(questions, NEW, "mrr"))
    assert evaluation.means["mrr"] == 1.0
    assert "no retrieved ID is in the corpus" in warning_text
    by_text: Any = {query: [rm.Text(TEXTS[ids[0]])] for query, ids in QRELS.items()}
    assert evaluation.per_query["mrr"] == rm.evaluate(by_text, NEW, "mrr").per_query["mrr"]
    comparison, warning_text = call_with_warnings(lambda: rm.compare(questions, {"old": OLD, "new": NEW}, "mrr"))
    assert [conclusion.kind for conclusion in comparison.conclusions] == ["identical"]
    assert "no retrieved ID of 'new'" in warning_text


def test_retrievers_of_a_new_index_are_compared_by_the_corpus() -> None:
    retrievers: Any = {
        "old": {f"{query}?": items for query, items in OLD.items()}.__getitem__,
        "new": {f"{query}?": items for query, items in NEW.items()}.__getitem__,
    }
    comparison, warning_text = call_with_warnings(lambda: rm.compare_retrievers(retrievers, DATASET, "mrr"))
    assert comparison.evaluations["new"].means["mrr"] == 1.0
    assert warning_text.count("no retrieved ID of 'new'") == 1


def test_known_ids_or_other_texts_are_judged_by_id() -> None:
    questions = rm.EvaluationSet.from_dataset(DATASET)
    assert find_kinds(questions, THIRD) == ["near_misses"]
    assert rm.evaluate(questions, OLD, "mrr").means["mrr"] == 1.0
    other_run: Any = {query: [rm.Retrieved("uuid", "Another text.")] for query in QRELS}
    assert find_kinds(questions, other_run) == ["no_common_ids"]
    without_text = rm.EvaluationSet.from_dataset(DATASET | {"corpus": {"n1": TEXTS["n1"]}})
    assert find_kinds(without_text, NEW) == ["no_common_ids"]


def test_evaluations_keep_no_corpus() -> None:
    questions = rm.EvaluationSet.from_dataset(DATASET)
    evaluation = rm.evaluate(questions, OLD, "mrr", documents=TEXTS)
    qrels = evaluation.scores.require_origin("read").judged.qrels
    assert (qrels.document_texts, dict(qrels.corpus)) == (None, {})
    assert b"is the answer" not in pickle.dumps(qrels)

"""Ids and rankings that are shifted by one are found, and neighbours of relevant documents are not taken for them."""

import random
from typing import Any

import pytest

import retrieval_metrics as rm
from conformance import call_with_warnings
from data_warning_kinds import find_kinds, find_origin
from retrieval_metrics.evaluation.shifted_ids import ShiftedIds, search_shifted_ids

N_QUERIES = 24
NUMBERS = [100 + 7 * number for number in range(N_QUERIES)]
FORMS: Any = {
    "numbers": lambda number: number,
    "text": str,
    "prefix": lambda number: f"doc_{number}",
    "zeros": lambda number: f"d{number:05d}",
}


def make_shifted_run(form: Any, offset: int, n_found: int = 2) -> tuple[Any, Any]:
    """Return judgments and a run whose ids are shifted, but for a few queries."""
    qrels: Any = {}
    run: Any = {}
    for position, number in enumerate(NUMBERS):
        qrels[f"q{position}"] = [form(number)]
        run[f"q{position}"] = [form(number + (0 if position < n_found else offset)), form(90_000 + position)]
    return qrels, run


@pytest.mark.parametrize("offset", [1, -1])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_documents_that_are_counted_from_another_number_are_found(form: Any, offset: int) -> None:
    qrels, run = make_shifted_run(form, offset)
    expected = ShiftedIds("documents", offset, 22, 2, 24, form(NUMBERS[2]), form(NUMBERS[2] + offset))
    scored = {query: {document: 1.0 / rank for rank, document in enumerate(run[query], 1)} for query in run}
    items = {query: [rm.Retrieved(document) for document in run[query]] for query in run}
    for form_of_run in (run, scored, items):
        assert search_shifted_ids(find_origin(qrels, form_of_run)) == expected
    assert find_kinds(qrels, run) == ["shifted_ids"]


@pytest.mark.parametrize("offset", [1, -1])
def test_rankings_of_the_query_before_or_after_are_found(offset: int) -> None:
    names = [f"{chr(97 + position)}.md" for position in range(N_QUERIES)]
    qrels: Any = {f"q{position}": [name] for position, name in enumerate(names)}
    run = {f"q{position}": [names[(position - offset) % N_QUERIES], "x.txt"] for position in range(N_QUERIES)}
    shifted = search_shifted_ids(find_origin(qrels, run))
    assert shifted is not None
    assert (shifted.side, shifted.offset, shifted.n_found, shifted.n_shifted) == ("queries", offset, 0, 23)
    _, warning_text = call_with_warnings(lambda: rm.evaluate(qrels, run, "mrr"))
    neighbour = "next" if offset > 0 else "previous"
    assert "every metric is 0; 0 of 23 relevant documents are among the first results, and 23 are among" in warning_text
    assert f"those of the {neighbour} query" in warning_text


def test_no_verdict_is_based_on_shifted_ids() -> None:
    qrels, run = make_shifted_run(FORMS["text"], 1)
    right = {query: list(documents) for query, documents in qrels.items()}
    comparison, _ = call_with_warnings(lambda: rm.compare(qrels, {"right": right, "shifted": run}, "mrr"))
    assert [conclusion.kind for conclusion in comparison.conclusions] == ["not_comparable"]
    assert [difference.obstacle for difference in comparison.differences] == ["shifted_ids"]


def test_neighbouring_chunks_and_bad_retrievers_are_no_shift() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        quality = rng.random()
        qrels: Any = {}
        run: Any = {}
        for position in range(rng.choice([12, 50])):
            chunk = rng.randrange(5, 400)
            neighbours = [f"c{chunk + step}" for step in (-2, -1, 1, 2) if rng.random() < 0.6]
            own_chunk = [f"c{chunk}"] if rng.random() < quality else []
            run[f"q{position}"] = [*own_chunk, *neighbours, *(f"c{rng.randrange(400)}" for _ in range(5))]
            rng.shuffle(run[f"q{position}"])
            qrels[f"q{position}"] = [f"c{chunk}"]
        shifted = search_shifted_ids(find_origin(qrels, run))
        # Where hardly any chunk is found and most neighbours are, nothing tells them from shifted ids.
        assert shifted is None or shifted.n_found <= 0.2 * shifted.n_relevant
        if quality > 0.4:
            assert shifted is None


def test_neighbours_on_both_sides_are_no_shift() -> None:
    chunks = [170 * position + 400 for position in range(40)]
    qrels: Any = {f"q{position}": [chunk] for position, chunk in enumerate(chunks)}
    around: Any = {f"q{position}": [chunk - 1, chunk + 1] for position, chunk in enumerate(chunks)}
    either: Any = {f"q{position}": [chunk + (-1) ** position] for position, chunk in enumerate(chunks)}
    assert search_shifted_ids(find_origin(qrels, around)) is None
    assert search_shifted_ids(find_origin(qrels, either)) is None


@pytest.mark.parametrize("form", ["{}-2023 {}-2022", "{}_v2 {}_v1", "{}#1 {}#0", "{}-part-3 {}-part-2"])
def test_years_versions_and_parts_are_no_shift(form: str) -> None:
    judged_form, other_form = form.split()
    names = [f"{chr(97 + position)}{chr(97 + position)}" for position in range(N_QUERIES)]
    qrels: Any = {name: [judged_form.format(name)] for name in names}
    others: Any = {name: [other_form.format(name)] for name in names}
    few_right = others | {name: qrels[name] for name in names[:2]}
    assert search_shifted_ids(find_origin(qrels, few_right)) is None
    comparison, _ = call_with_warnings(lambda: rm.compare(qrels, {"right": qrels, "others": few_right}, "mrr"))
    assert [difference.obstacle for difference in comparison.differences] != ["shifted_ids"]


def test_few_documents_say_nothing() -> None:
    qrels, run = make_shifted_run(FORMS["text"], 1, n_found=0)
    few = list(qrels)[:19]
    assert search_shifted_ids(find_origin({q: qrels[q] for q in few}, {q: run[q] for q in few})) is None


@pytest.mark.parametrize("name", ["nan", "None", "<NA>", "null"])
def test_missing_cells_that_became_ids_are_said(name: str) -> None:
    qrels: Any = {"q1": ["d1"], "q2": [name], "q3": {name: 1, "d3": 1}}
    run: Any = {"q1": ["d1"], "q2": ["x"], "q3": ["d3"]}
    assert find_kinds(qrels, run) == ["missing_values"]
    _, warning_text = call_with_warnings(lambda: rm.evaluate(qrels, run, "mrr"))
    assert "2 relevant documents were not found, and their IDs look like an empty cell read as text" in warning_text
    assert f"({name!r})" in warning_text
    assert find_kinds(qrels, {query: [*ranking, name] for query, ranking in run.items()}) == []


def test_shifted_ids_are_found_beside_many_ids_without_numbers_that_are_right() -> None:
    qrels, run = make_shifted_run(FORMS["prefix"], 1)
    for position in range(18):
        name = f"page-{chr(97 + position)}"
        qrels[f"r{position}"] = [name]
        run[f"r{position}"] = [name]
    shifted = search_shifted_ids(find_origin(qrels, run))
    assert shifted is not None
    assert (shifted.side, shifted.n_shifted, shifted.n_found, shifted.n_relevant) == ("documents", 22, 2, 24)


def test_shifted_rankings_are_found_beside_right_ones_whose_next_query_has_none() -> None:
    qrels: Any = {f"q{position}": [f"{chr(97 + position)}.md"] for position in range(26)}
    names = [documents[0] for documents in qrels.values()]
    run: Any = {f"q{position}": [names[position - 1]] for position in range(1, 26)}
    for position in range(8):
        qrels |= {f"right{position}": [f"r{position}.md"], f"empty{position}": [f"e{position}.md"]}
        run |= {f"right{position}": [f"r{position}.md"], f"empty{position}": []}
    shifted = search_shifted_ids(find_origin(qrels, run))
    assert shifted is not None
    assert (shifted.side, shifted.offset, shifted.n_shifted, shifted.n_found) == ("queries", 1, 24, 0)


def test_equal_scores_at_the_last_rank_hide_no_shift() -> None:
    qrels, run = make_shifted_run(FORMS["text"], 1, n_found=0)
    # Of twelve equal scores, the first ten written are taken for the first results; ids order the judged ones.
    tied: Any = {}
    for query, (shifted_id, _) in run.items():
        (judged_id,) = qrels[query]
        documents = [shifted_id, *(f"x{number}" for number in range(10))]
        tied[query] = dict.fromkeys([*documents, judged_id] if int(judged_id) % 2 else documents, 1.0)
    assert search_shifted_ids(find_origin(qrels, tied)) is not None


def test_a_comparison_looks_once_for_what_evaluations_have_found(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, run = make_shifted_run(FORMS["text"], 1)
    searched: list[Any] = []

    def count_searches(origin: Any) -> ShiftedIds | None:
        searched.append(origin.run)
        return search_shifted_ids(origin)

    monkeypatch.setattr("retrieval_metrics.evaluation.shifted_ids.search_shifted_ids", count_searches)
    comparison, _ = call_with_warnings(lambda: rm.compare(qrels, {"right": qrels, "shifted": run}, "mrr"))
    assert str(comparison)
    assert [conclusion.kind for conclusion in comparison.conclusions] == ["not_comparable"]
    assert len(searched) == 2

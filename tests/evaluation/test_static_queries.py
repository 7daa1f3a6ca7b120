"""Every query of a page can be read without a script."""

from dataclasses import replace

import pytest

from retrieval_metrics.evaluation.page_data import DetailsRow, NeededRow, OutcomeRow, PageData, ResultRow, TextRow
from retrieval_metrics.evaluation.static_queries import format_static_queries

NOT_RETRIEVED, FOUND = range(2)


@pytest.fixture
def data() -> PageData:
    """Two queries, of which the first has its details."""
    needed = [
        NeededRow(text_number=0, grade=1, groups=None, outcomes=[OutcomeRow(FOUND, rank=2, sentence=0)]),
        NeededRow(text_number=2, grade=3, groups=None, outcomes=[OutcomeRow(NOT_RETRIEVED, rank=None, sentence=1)]),
    ]
    results = [ResultRow(text_number=1), ResultRow(text_number=0, judgment=0)]
    return PageData(
        metrics=["mrr"],
        systems=[""],
        main=0,
        pair=(0, 0),
        has_pieces=False,
        outcome_labels=["not retrieved", "found"],
        missed_kinds=[NOT_RETRIEVED],
        outcome_sentences=["found", "not among the 2 retrieved"],
        texts=[TextRow("a", None, "the text  of a"), TextRow("x & y"), TextRow("b")],
        query_ids=["q1", "q2"],
        query_texts=["what <is> it?", None],
        slice_numbers=[],
        slices=[],
        best=None,
        values=[[[0.5, None]]],
        n_needed=[[2, 0]],
        missed_numbers=[[1, 0]],
        missed=[(), (NOT_RETRIEVED,)],
        details={0: DetailsRow(needed, [results])},
        text_length=100,
    )


def test_a_query_has_its_value_and_what_it_misses_and_folded_what_it_needed(data: PageData) -> None:
    text = format_static_queries(data, [1, 0])
    assert text.startswith("<p>-  q2<br>no relevant document</p><details>")
    assert "0.500  q1  what &lt;is&gt; it?" in text
    assert "<p>1 of 2 found: 1 not retrieved</p>" in text
    assert "<p>Relevant, grade 1: a: the text of a; found (rank 2)</p>" in text
    assert "<p>Relevant, grade 3: b; not among the 2 retrieved</p>" in text
    assert "<p>Results:</p><ol><li>○ x &amp; y</li>\n<li>✓ a: the text of a</li></ol>" in text


def test_of_several_systems_each_is_named(data: PageData) -> None:
    needed = NeededRow(text_number=0, grade=1, groups=None, outcomes=[OutcomeRow(FOUND, rank=2, sentence=0), None])
    data = replace(
        data,
        systems=["one", "two"],
        values=[[[0.5, None]], [[1, 0]]],
        n_needed=[[2, 0], [None, 1]],
        missed_numbers=[[1, 0], [0, 0]],
        details={0: DetailsRow([needed], [[ResultRow(text_number=1)], None])},
    )
    text = format_static_queries(data, [0, 1])
    assert "one 0.500, two 1.000  q1" in text
    assert "<p>one: 1 of 2 found: 1 not retrieved</p>" in text
    assert "a: the text of a; one: found (rank 2)</p>" in text
    assert "<p>Results of two: none.</p>" in text
    assert "one: no relevant document; two: 1 of 1 found</p>" in text

"""Which systems have unequal amounts of text in their first results."""

import retrieval_metrics as rm
from retrieval_metrics.evaluation.unequal_text import find_unequal_text

QRELS = {f"q{number}": [rm.Span("d", 60 * number, 60 * number + 30)] for number in range(30)}


def retrieve_chunks(size: int) -> dict[str, list[rm.Retrieved]]:
    """Return for every query the first three chunks of a document, each of so many characters."""
    chunks = [rm.Retrieved(f"{size}-{start}", None, "d", start, start + size) for start in range(0, 3 * size, size)]
    return dict.fromkeys(QRELS, chunks)


def test_chunks_of_ten_times_the_size_are_named_with_a_metric_that_compares_equal_amounts() -> None:
    comparison = rm.compare(QRELS, {"small": retrieve_chunks(100), "big": retrieve_chunks(1_000)}, "recall@3")
    unequal_text = find_unequal_text(comparison.scores, comparison.metrics, comparison.budgets)

    assert unequal_text is not None
    assert (unequal_text.k, unequal_text.shortest, unequal_text.longest) == (3, "small", "big")
    assert (unequal_text.shortest_length, unequal_text.longest_length) == (300, 3_000)


def test_chunks_of_one_size_hold_equal_amounts() -> None:
    comparison = rm.compare(QRELS, {"a": retrieve_chunks(100), "b": retrieve_chunks(120)}, "recall@3")

    assert find_unequal_text(comparison.scores, comparison.metrics, comparison.budgets) is None

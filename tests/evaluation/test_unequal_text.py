"""Which systems have unequal amounts of text in their first results."""

import retrieval_metrics as rm
from retrieval_metrics.evaluation.unequal_depth import find_unequal_depth
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


def test_fewer_results_of_the_same_length_are_a_matter_of_depth() -> None:
    five = {query: [rm.Retrieved(f"d{rank}", text="t" * 60) for rank in range(5)] for query in QRELS}
    one = {query: ranking[:1] for query, ranking in five.items()}
    qrels = {query: [f"d{number % 5}"] for number, query in enumerate(QRELS)}
    comparison = rm.compare(qrels, {"k5": five, "k1": one}, "recall@5")
    unequal_depth = find_unequal_depth(comparison.scores, comparison.metrics)

    assert find_unequal_text(comparison.scores, comparison.metrics, comparison.budgets) is None
    assert unequal_depth is not None
    assert (unequal_depth.shallow, unequal_depth.shallow_depth, unequal_depth.deepest_depth) == ("k1", 1, 5)


def test_no_budget_below_the_length_of_one_result_is_suggested() -> None:
    comparison = rm.compare(QRELS, {"small": retrieve_chunks(100), "big": retrieve_chunks(1_000)}, "recall@3")
    unequal_text = find_unequal_text(comparison.scores, comparison.metrics, comparison.budgets)

    assert unequal_text is not None
    suggested = unequal_text.suggested_metric
    assert suggested is None or (isinstance(suggested.k, rm.Budget) and suggested.k.size >= 1_000)

"""Which steps search for themselves, where hosts record it and where the rankings must tell."""

from typing import Any

from retrieval_metrics.evaluation import stage_sources
from retrieval_metrics.evaluation.stage_sources import StageSources, find_sources

BM25 = ["a", "b", "e"]


def for_one_query(**stages: Any) -> dict[str, dict[str, Any]]:
    return {name: {"q": ranking} for name, ranking in stages.items()}


def names(stages: Any, takes_documents: Any = None, failed: Any = ()) -> tuple[str, ...]:
    return find_sources(stages, takes_documents or {}, failed).names


def test_a_step_is_a_source_if_what_it_lacks_comes_back() -> None:
    assert names(for_one_query(bm25=BM25, dense=["c"], fused=["a", "c"])) == ("bm25", "dense")
    assert names(for_one_query(bm25=BM25, swapped=["a", "new"], cut=["a"])) == ("bm25",)
    # A filter of one branch adds nothing, so it is none.
    assert names(for_one_query(bm25=BM25, filter=["b"], fused=["a", "b"])) == ("bm25",)


def test_an_item_that_a_later_source_finds_again_did_not_pass_a_step_by() -> None:
    """`swapped` dropped b and added new; that dense finds b as well does not make it a source."""
    stages = for_one_query(bm25=BM25, swapped=["a", "new"], dense=["b", "c"], fused=["a", "b", "c"])
    assert names(stages) == ("bm25", "dense")


def test_a_later_step_that_searches_itself_must_find_more_to_count() -> None:
    """`corrected` drops documents, and the hidden retriever of `fused` finds them again for some questions."""
    stages: dict[str, dict[str, Any]] = {"bm25": {}, "corrected": {}, "fused": {}}
    for number in range(10):
        found_again = ["b"] if number < 4 else []
        stages["bm25"][f"q{number}"] = BM25
        stages["corrected"][f"q{number}"] = ["a", "new"]
        stages["fused"][f"q{number}"] = ["a", "hidden", *found_again]
    assert names(stages) == ("bm25",)
    stages["fused"] |= {f"q{number}": ["a", "hidden", "b"] for number in range(10)}
    assert names(stages) == ("bm25", "corrected")


def test_a_tenth_of_the_questions_in_which_items_come_back_shows_a_source() -> None:
    stages: dict[str, dict[str, Any]] = {"bm25": {}, "dense": {}, "fused": {}}
    for number in range(20):
        stages["bm25"][f"q{number}"] = BM25
        stages["dense"][f"q{number}"] = ["c"]
        stages["fused"][f"q{number}"] = ["c"]
    stages["fused"]["q7"] = ["a", "c"]
    assert names(stages) == ("bm25",)
    stages["fused"]["q9"] = ["a", "c"]
    assert names(stages) == ("bm25", "dense")


def test_what_is_recorded_decides_and_the_first_step_searches() -> None:
    stages = for_one_query(bm25=BM25, dense=["c"], fused=["a", "c"])
    recorded = {"bm25": True, "dense": True, "fused": True}
    assert find_sources(stages, recorded, ()) == StageSources(("bm25",), is_assumed=False)
    assert find_sources(stages, {"dense": False}, ()) == StageSources(("bm25", "dense"), is_assumed=True)


def test_a_failed_question_tells_nothing() -> None:
    stages = for_one_query(bm25=BM25, dense=["c"], fused=["a", "c"])
    assert names(stages, failed={"q"}) == ("bm25",)


def test_no_more_questions_are_read_than_decide(monkeypatch: Any) -> None:
    monkeypatch.setattr(stage_sources, "MAX_QUERIES", 3)
    stages: dict[str, dict[str, Any]] = {"bm25": {}, "dense": {}, "fused": {}}
    for number in range(100):
        stages["bm25"][f"q{number}"] = BM25
        stages["dense"][f"q{number}"] = ["c"]
        stages["fused"][f"q{number}"] = ["a", "c"]
    assert names(stages) == ("bm25", "dense")

"""What each step held of what is needed, and which step lost it."""

import random
from collections import Counter
from copy import deepcopy
from typing import Any

import pytest

import retrieval_metrics as rm
from planted_losses import CHANGED_SHARES, K, planted, planted_changes
from planted_losses import STEPS as STEP_NAMES
from retrieval_metrics.evaluation.evaluation_wording import ASSUMED_SOURCES, format_sources

QRELS, STEPS, PLANTED = planted(120)
SHARES = [0.0, 0.02, 0.1, 0.3, 0.8, 1.0]


def losses(steps: Any, metric: str = f"recall@{K}", qrels: Any = QRELS) -> rm.Evaluation:
    run = rm.RetrievedRun([*steps.values()][-1], stages=steps)
    return rm.evaluate(qrels, run, metric).stages.losses(metric)


def count_fates(lost: rm.Evaluation, query: str, needed: int) -> Counter[str]:
    shares = {str(metric): lost.per_query[str(metric)][query] for metric in lost.metrics}
    assert sum(shares.values()) == pytest.approx(1, abs=1e-12)
    return Counter({name: round(share * needed) for name, share in shares.items() if share})


@pytest.mark.parametrize("share", SHARES)
def test_every_planted_loss_is_found_though_strays_come_in(share: float) -> None:
    rng = random.Random(1)
    steps = deepcopy(STEPS)
    for query in QRELS:
        for name in ("fused", "filtered"):
            if rng.random() < share:
                steps[name][query].append("stray")
    run = rm.RetrievedRun(steps["reranked"], stages=steps)
    result = rm.evaluate(QRELS, run, f"recall@{K}")
    lost = result.stages.losses(f"recall@{K}")
    assert result.stages.first_stage == ("bm25", "dense")
    assert {query: count_fates(lost, query, len(QRELS[query])) for query in QRELS} == PLANTED
    assert lost.per_query["found"] == result.per_query[f"recall@{K}"]
    assert result.worst(f"recall@{K}").losses == dict(
        (sum(PLANTED.values(), Counter()) - Counter(found=10**6)).most_common()
    )


def mean_losses(lost: rm.Evaluation) -> dict[str, float]:
    return {name: share for name, share in lost.means.items() if share}


@pytest.mark.parametrize("dropped", CHANGED_SHARES)
@pytest.mark.parametrize("added", CHANGED_SHARES)
def test_a_step_loses_what_it_drops_however_often_it_adds(added: float, dropped: float) -> None:
    qrels, steps, expected = planted_changes(added, dropped)
    lost = losses(steps, qrels=qrels)
    assert mean_losses(lost) == pytest.approx({name: share for name, share in expected.items() if share})
    for query, documents in qrels.items():
        count_fates(lost, query, len(documents))  # which checks the sum
    # The same where only one of the retrievers is a stage.
    without_dense = {name: runs for name, runs in steps.items() if name != "dense"}
    shares = losses(without_dense, qrels=qrels).means
    for name in STEP_NAMES[2:]:
        assert shares[f"dropped:{name}"] == pytest.approx(expected[f"dropped:{name}"])


def test_sources_are_stated_or_assumed_and_the_table_says_so() -> None:
    """From the rankings alone, a second retriever of which no later step took anything looks like a filter."""
    steps: Any = {"bm25": {"q": ["a", "b"]}, "dense": {"q": ["a", "c"]}, "fused": {"q": ["a", "c"]}}
    stages = rm.evaluate({"q": ["a", "b"]}, rm.RetrievedRun(steps["fused"], stages=steps), "recall@5").stages
    assumed = stages.losses("recall@5")
    assert mean_losses(assumed) == {"found": 0.5, "dropped:dense": 0.5}
    stated = stages.losses("recall@5", sources=["bm25", "dense"])
    assert mean_losses(stated) == {"found": 0.5, "dropped:fused": 0.5}
    assert assumed.tables[-1].notes[-1] == format_sources(["bm25"], is_assumed=True)
    assert ASSUMED_SOURCES not in str(stated)
    assert stated.tables[-1].notes[-1] == format_sources(["bm25", "dense"])
    run = rm.RetrievedRun(steps["fused"], stages=steps, sources=["bm25", "dense"])
    result = rm.evaluate({"q": ["a", "b"]}, run, "recall@5")
    assert result.worst("recall@5").losses == {"dropped:fused": 1}
    assert result.stages.first_stage == ("bm25", "dense")


@pytest.mark.parametrize(
    ("sources", "problem"),
    [
        ("bm25", r"got 'bm25'; write sources=\['bm25'\]"),
        (["sparse"], "sources names 'sparse', which is not a stage; the stages are 'bm25', 'fused'"),
        ([], "sources must name at least one of the stages 'bm25', 'fused'"),
    ],
)
def test_sources_must_be_stages(sources: Any, problem: str) -> None:
    steps: Any = {"bm25": {"q": ["a"]}, "fused": {"q": ["a"]}}
    with pytest.raises((TypeError, ValueError), match=problem):
        rm.RetrievedRun(steps["fused"], stages=steps, sources=sources)


def test_documents_under_new_ids_are_lost_by_the_steps_after_them() -> None:
    steps: Any = {"chunks": {"q": ["d1#1", "d2#1"]}, "parents": {"q": ["d1", "d2"]}, "reranked": {"q": ["d2"]}}
    run = rm.RetrievedRun(steps["reranked"], stages=steps)
    stages = rm.evaluate({"q": ["d1", "d2"]}, run, "recall@5").stages
    assert stages.first_stage == ("chunks",)
    assert stages.losses("recall@5").means["dropped:reranked"] == 0.5


def test_more_needed_than_has_room_is_no_loss_of_a_step() -> None:
    steps: Any = {"found": {"q": ["a", "b", "c", "x"]}, "reranked": {"q": ["b", "a"]}}
    lost = losses(steps, "recall@2", {"q": ["a", "b", "c", "d"]})
    assert dict(lost.means) == {
        "found": 0.5,
        "cutoff_full": 0.5,
        "not_retrieved": 0,
        "retriever_error": 0,
        "dropped:reranked": 0,
        "below_cutoff:reranked": 0,
    }
    assert "cutoff_full" not in losses(steps, "recall@5", {"q": ["a", "b", "c", "d"]}).means


def test_the_nearest_miss_stands_for_a_group() -> None:
    steps: Any = {
        "bm25": {"q": ["a", "b", "c", "x"]},
        "fused": {"q": ["b", "c", "x"]},
        "reranked": {"q": ["x", "c"]},
    }
    # a is dropped by fused, b by reranked; c is ranked low, which is nearer than either.
    lost = losses(steps, "recall@1", {"q": [["a", "b"], ["b", "c"], ["z", "a"], ["z"]]})
    assert {name: share for name, share in lost.means.items() if share} == {
        "not_retrieved": 0.25,
        "dropped:fused": 0.25,
        "dropped:reranked": 0.25,
        "below_cutoff:reranked": 0.25,
    }
    nearest = losses(steps, "hit_rate@1", {"q": ["a", "b", "c", "z"]})
    assert {name: share for name, share in nearest.means.items() if share} == {"below_cutoff:reranked": 1}


def test_passages_are_followed_by_their_quotes() -> None:
    def chunk(name: str, text: str) -> rm.Retrieved:
        return rm.Retrieved(name, text)

    complete = chunk("c1", "Slots save memory. They forbid weak references.")
    other = chunk("c2", "A list holds values.")
    steps: Any = {"found": {"q": [other, complete]}, "reranked": {"q": [other]}}
    run = rm.RetrievedRun(steps["reranked"], stages=steps)
    result = rm.evaluate({"q": [rm.Quote("slots save memory"), rm.Quote("list holds values")]}, run, "recall@2")
    assert result.stages.losses("recall@2").means["dropped:reranked"] == 0.5
    assert [finding.detail for finding in result.explain("q").findings] == [
        "dropped by reranked; ranks: found 2, reranked -",
        "found; ranks: found 1, reranked 1",
    ]


def test_routes_and_failures() -> None:
    """Behind a router, the last step that a question reached is to blame, and no step for what failed."""
    run = rm.RetrievedRun(
        {"q1": ["x"], "q2": ["x", "b"], "q3": [], "q4": ["d"]},
        {"q3": TimeoutError("slow")},
        stages={"one": {"q1": ["x"]}, "other": {"q2": ["x", "b"]}, "filtered": {"q4": ["d"]}},
    )
    with pytest.warns(rm.RetrievalWarning):
        result = rm.evaluate({"q1": ["a"], "q2": ["b"], "q3": ["c"], "q4": ["d"]}, run, "recall@1")
    assert list(result.stages) == ["one", "other", "filtered", "returned"]
    lost = result.stages.losses("recall@1")
    assert count_fates(lost, "q1", 1) == {"not_retrieved": 1}
    assert count_fates(lost, "q2", 1) == {"below_cutoff:other": 1}
    assert count_fates(lost, "q3", 1) == {"retriever_error": 1}
    assert result.worst("recall@1").losses == {"not_retrieved": 1, "retriever_error": 1, "below_cutoff:other": 1}
    assert count_fates(lost, "q4", 1) == {"found": 1}
    assert lost.counts["failed"] == 1
    assert not any("returned" in str(metric) for metric in lost.metrics)
    assert result.explain("q2").findings[0].detail == "below cutoff 1; ranks: other 2"


def test_a_document_is_followed_in_an_explanation() -> None:
    steps: Any = {
        "bm25": {"q": ["a", "b", "c"]},
        "dense": {"q": ["d", "a"]},
        "fused": {"q": {"a": 2.0, "d": 1.0, "b": 0.5}},
        "reranked": {"q": ["a", "b", "d"]},
    }
    result = rm.evaluate({"q": ["a", "c", "d"]}, rm.RetrievedRun(steps["reranked"], stages=steps), "recall@2")
    assert [finding.detail for finding in result.explain("q").findings] == [
        "found; ranks: bm25 1, dense 2, fused 1, reranked 1",
        "dropped by fused; ranks: bm25 3, dense -, fused -, reranked -",
        "below cutoff 2; ranks: bm25 -, dense 1, fused 2, reranked 3",
    ]
    worst = result.worst("recall@2")
    assert worst.losses == {"dropped:fused": 1, "below_cutoff:reranked": 1}
    assert worst.failures == {"dropped": 1, "below_cutoff": 1}
    assert "by stage: 1 dropped by fused, 1 ranked below cutoff by reranked" in str(worst)


def test_what_a_stage_held_is_never_called_not_retrieved() -> None:
    """Also where the last ranking is empty, and where an id of other granularity is in it."""
    stages: Any = {
        "search": {"cut": ["a", "b"], "emptied": ["c"], "respelled": ["d"], "absent": ["x"]},
        "kept": {"cut": ["a"], "emptied": [], "respelled": ["d#1"], "absent": ["x"]},
    }
    qrels: Any = {"cut": ["a", "b"], "emptied": ["c"], "respelled": ["d"], "absent": ["e"]}
    run = rm.RetrievedRun(stages["kept"], stages=stages)
    with pytest.warns(rm.RetrievalWarning, match="'emptied'"):
        result = rm.evaluate(qrels, run, "recall@2")
    kinds = {query: [finding.kind for finding in result.explain(query).failures] for query in qrels}
    assert kinds == {
        "cut": ["dropped"],
        "emptied": ["dropped"],
        "respelled": ["dropped"],
        "absent": ["not_retrieved"],
    }
    assert result.explain("absent").findings[0].detail == "not retrieved by any stage; ranks: search -, kept -"
    assert result.worst("recall@2").failures == {"dropped": 3, "not_retrieved": 1}
    assert result.stages.losses("recall@2").per_query["dropped:kept"] == {
        "cut": 0.5,
        "emptied": 1.0,
        "respelled": 1.0,
        "absent": 0.0,
    }


def test_a_step_that_cannot_be_judged_is_left_out_with_a_warning() -> None:
    chunk = rm.Retrieved(None, "a part of a")
    merged = rm.Retrieved("a", "a part of a, and the rest")
    run = rm.RetrievedRun({"q": [merged]}, stages={"chunks": {"q": [chunk]}, "merged": {"q": [merged]}})
    result = rm.evaluate({"q": ["a"]}, run, "recall@1")
    with pytest.warns(rm.RetrievalWarning, match="stage 'chunks' is skipped, .* cannot be judged: .* has no ID"):
        assert list(result.stages) == ["merged"]
    assert result.explain("q").findings[0].detail == "found; ranks: merged 1"


def test_the_failures_by_stage_count_errors_of_the_retriever_apart() -> None:
    qrels = {"q1": ["a", "b"], "q2": ["c", "d"], "q3": ["e"]}
    stages: Any = {"bm25": {"q1": ["a", "b"], "q3": ["x"]}, "fused": {"q1": ["a", "x"], "q3": ["x"]}}
    run = rm.RetrievedRun({"q1": ["a", "x"], "q3": ["x"]}, {"q2": TimeoutError("down")}, stages=stages)
    with pytest.warns(rm.RetrievalWarning, match="failed on 1 of 3"):
        worst = rm.evaluate(qrels, run, "recall@2").worst("recall@2")
    assert worst.failures == {"retriever_error": 2, "dropped": 1, "not_retrieved": 1}
    assert worst.losses == {"retriever_error": 2, "not_retrieved": 1, "dropped:fused": 1}
    assert "by stage: 2 due to a retriever error, 1 not retrieved, 1 dropped by fused" in str(worst)

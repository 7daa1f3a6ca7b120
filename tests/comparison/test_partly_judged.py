"""Which documents of a query have no grade."""

import retrieval_metrics as rm
from partly_judged_systems import candidates, quietly

METRICS = ["ndcg@4", "mrr@4", "recall@4", "map"]


def test_ties_of_the_rules_decide_what_is_among_the_first() -> None:
    qrels = {f"q{number}": {"z": 1} for number in range(8)}
    first, two = ({query: dict(scores) for query in qrels} for scores in ({"b": 1.0, "z": 1.0}, {"z": 2.0, "b": 1.0}))
    for rules in ({"rules": "llama_index"}, {"ties": "input"}, {"ties": "expected"}):
        comparison = quietly(qrels, {"one": first, "two": two}, "precision@1", unjudged="bounds", **rules)
        assert comparison.conclusions.get("precision@1").kind == "depends_on_unjudged"
        assert comparison.to_judge(1)


def test_what_is_looked_at_reaches_to_the_largest_cutoff_or_to_ten() -> None:
    run = ["z", *(f"u{rank}" for rank in range(2, 14))]
    assert candidates(run, "mrr") == {f"u{rank}": {"one": rank} for rank in range(2, 11)}
    assert candidates(run, ["mrr", "ndcg@3", "precision@4"]) == {f"u{rank}": {"one": rank} for rank in range(2, 5)}


def test_what_ties_with_the_last_of_the_first_is_looked_at_too() -> None:
    run = {"z": 3.0, "d": 2.0, "a": 2.0, "b": 2.0 - 1e-9, "c": 1.0}
    assert candidates(run, "ndcg@2", ties="expected") == {"a": {"one": 3}}
    single = rm.Rules(name="mine", ties="expected", scores="single")  # to which "b" has the score of "a"
    assert candidates(run, "ndcg@2", rules=single) == {"b": {"one": 3}, "a": {"one": 4}}
    assert candidates(run, "ndcg@2") == {}

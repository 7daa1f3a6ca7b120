"""A condensed ranking scores like the ranking without its unjudged documents, under every rule for duplicates."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import retrieval_metrics as rm
from generated import cutoffs
from retrieval_metrics.metrics.base.rules import RULE_SETS

JUDGED = list("abcd")
UNJUDGED = list("uvw")
METRICS = ["hit_rate", "recall", "precision", "mrr", "map", "ndcg"]
# Rule sets for which a document that is retrieved again is no error.
REPEATING = [name for name in RULE_SETS if name not in {"trec_eval", "autorag"}]


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("semantics", REPEATING)
@given(
    judgments=st.dictionaries(st.sampled_from(JUDGED), st.integers(0, 2), min_size=1),
    ranking=st.lists(st.sampled_from(JUDGED + UNJUDGED), max_size=12),
    k=cutoffs,
)
def test_condensing_is_taking_out(semantics: str, judgments: dict[str, int], ranking: list[str], k: int | None) -> None:
    metrics = [name + f"@{k}" * (k is not None) for name in METRICS]
    qrels = {"q": judgments | {"z": 1}, "other": {"a": 1}}
    left = [document for document in ranking if document in qrels["q"]]
    assume(left)  # some refuse an empty ranking
    condensed = rm.evaluate(qrels, {"q": ranking, "other": ["a"]}, metrics, rules=semantics, unjudged="condensed")
    taken_out = rm.evaluate(qrels, {"q": left, "other": ["a"]}, metrics, rules=semantics)
    for metric in metrics:
        assert condensed.per_query[metric]["q"] == pytest.approx(taken_out.per_query[metric]["q"], nan_ok=True)


def test_an_unjudged_run_with_repeats_under_a_rule_set_that_counts_them() -> None:
    qrels = {"q": {"a": 1, "b": 1}}
    run = {"q": ["u", "a", "u", "a", "b"]}
    left = {"q": ["a", "a", "b"]}
    condensed = rm.evaluate(qrels, run, "precision", rules="llama_index", unjudged="condensed")
    assert condensed.means == rm.evaluate(qrels, left, "precision", rules="llama_index").means

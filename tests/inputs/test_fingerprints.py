"""Equal questions, judgments and rankings have equal fingerprints, and different ones have different fingerprints."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.inputs.fingerprints import judgments_fingerprint, question_fingerprint, ranking_fingerprint


@given(
    st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3), min_size=1), min_size=1, max_size=4),
)
def test_order_does_not_change_judgments(groups: list[dict[str, int]]) -> None:
    shuffled = [dict(sorted(group.items(), reverse=True)) for group in reversed(groups)]
    assert judgments_fingerprint(groups) == judgments_fingerprint(shuffled)


def test_what_changes_judgments() -> None:
    forms: list[Any] = [
        ["a", "b"],
        ["a"],
        {"a": 2, "b": 1},
        [["a", "b"]],
        ["a", "B"],
        [1],
        ["1"],
        [rm.Quote("a quote")],
        [rm.Text("a quote")],
        [],
    ]
    assert len({judgments_fingerprint(form) for form in forms}) == len(forms)


def test_forms_that_mean_the_same() -> None:
    forms: list[Any] = [["a", "b"], {"b", "a"}, {"a": 1, "b": 1.0}, [["b"], ["a"]], [{"a": 1}, {"b": 1}]]
    assert len({judgments_fingerprint(form) for form in forms}) == 1
    assert judgments_fingerprint([rm.Span("s", 1, 2)]) == judgments_fingerprint([rm.Span("s", 1, 2, uncertain=True)])
    assert judgments_fingerprint(rm.Qrels({"q": [["a", "b"]]}).judgments(0)) == judgments_fingerprint([["b", "a"]])


def test_rankings() -> None:
    item = rm.Retrieved("a", "text", score=1.0, metadata={"page": 1})
    forms: list[Any] = [["a", "b"], ["b", "a"], {"a": 2.0, "b": 1.0}, {"a": 2.5, "b": 1.0}, [1], ["1"], [item], []]
    assert len({ranking_fingerprint(form) for form in forms}) == len(forms)
    assert ranking_fingerprint([item]) == ranking_fingerprint(
        [rm.Retrieved("a", "text", score=9.0, metadata={"page": 1})]
    )


def test_a_fingerprint_stays_the_same_between_versions() -> None:
    # Files hold them: another definition would make every stored question a new one.
    assert question_fingerprint("why?") == "618c243f87be9178"
    assert judgments_fingerprint({"a": 2}) == "e4b3d8516983fc15"
    assert ranking_fingerprint(["a", "b"]) == "c51f842bd4abf18b"

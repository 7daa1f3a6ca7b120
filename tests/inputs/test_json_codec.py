"""Judgments are read from JSON, and an error names the place of what cannot be read."""

import json
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.inputs.fingerprints import judgments_fingerprint
from retrieval_metrics.inputs.json_codec import decode_judgments, encode_judgments

QUOTE = {"type": "quote", "text": "wraps a block"}


@pytest.mark.parametrize(
    ("judgments", "message"),
    [
        ([QUOTE, QUOTE], r"row 1: Quote\(text='wraps a block'\) is judged twice"),
        ([QUOTE, "d1"], "row 1: 'd1' has no type, but other objects in the list have one; add it"),
        ([{"type": "page", "id": 3}], "row 1: .*'page'.* must have one of the types id, quote, text, span, metadata"),
        ([{"type": "id", "ids": 3}], "row 1: .*'ids': 3.* must have one of the types .*, and the keys of that type"),
        ([{"type": "span", "source": "a.md", "start": 9, "end": 3}], "row 1: .* cannot be judged: a Span needs"),
        ([{"type": "quote"}], "row 1: .* cannot be judged: .*'text'"),
    ],
)
def test_what_is_not_understood_is_refused(judgments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decode_judgments(judgments, "row 1")


def test_a_piece_of_a_kind_of_ones_own_cannot_be_written() -> None:
    class Page(rm.types.Piece):
        """A kind of piece that no file holds."""

    with pytest.raises(ValueError, match="query 'q': a Page cannot be written"):
        encode_judgments([Page()], "query 'q'")


class TestForbidden:
    """What must not come back stands beside what is relevant, at grade -1."""

    @pytest.mark.parametrize(
        ("relevant", "expected"),
        [
            (["d1"], {"d1": 1, "d7": -1}),
            ({"d1": 2, "d3": -2}, {"d1": 2, "d3": -2, "d7": -1}),
            ([["d1", "d2"], ["d3"]], [{"d1": 1, "d2": 1}, {"d3": 1}, {"d7": -1}]),
            ([], {"d7": -1}),
        ],
    )
    def test_it_is_graded_whatever_the_shape_of_the_rest(self, relevant: Any, expected: Any) -> None:
        entry = {"relevant": relevant, "forbidden": ["d7"]}
        assert decode_judgments(entry, "row 1") == expected
        assert rm.EvaluationSet.from_dataset([{"id": "q", "query": "?", **entry}]).qrels == {"q": expected}

    def test_a_document_of_that_name_is_a_document(self) -> None:
        assert decode_judgments({"forbidden": 1, "relevant": 2}, "row 1") == {"forbidden": 1, "relevant": 2}

    @pytest.mark.parametrize(
        ("entry", "error", "message"),
        [
            ({"relevant": ["a"], "forbidden": ["a"]}, ValueError, "row 1: 'a' is both relevant and forbidden"),
            ({"relevant": [["b"], ["a"]], "forbidden": ["a"]}, ValueError, "row 1: 'a' is both"),
            ({"relevant": ["b"], "forbidden": {"a": -2}}, TypeError, "row 1: 'forbidden' must be a list"),
            (
                {"relevant": ["b"], "forbidden": [["a"]]},
                ValueError,
                "neither grades nor groups; give levels such as -2",
            ),
        ],
    )
    def test_what_contradicts_itself_is_refused(self, entry: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            rm.EvaluationSet.from_dataset([{"query": "?", **entry}])

    @pytest.mark.parametrize("kind", ["json", "jsonl"])
    def test_files_hold_it_too(self, kind: str, tmp_path: Path) -> None:
        entry = {"relevant": ["d1"], "forbidden": [{"type": "id", "id": "d7"}, QUOTE]}
        line = json.dumps({"q": entry} if kind == "json" else {"query": "q", **entry})
        (tmp_path / f"qrels.{kind}").write_text(line)
        read = rm.read_qrels(tmp_path / f"qrels.{kind}")
        assert read.as_dict() == {"q": {"d1": 1, "d7": -1, rm.Quote("wraps a block"): -1}}
        rm.write_qrels(read, tmp_path / "again.jsonl")
        assert rm.read_qrels(tmp_path / "again.jsonl").as_dict() == read.as_dict()


def test_what_lacks_a_property_is_another_judgment_than_what_has_it() -> None:
    acme = rm.Metadata(tenant="acme")
    assert (~acme != acme, ~~acme == acme, repr(~acme)) == (True, True, "~Metadata(tenant='acme')")
    judged = {"d1": 1, ~acme: -1, acme: 2}
    assert decode_judgments(json.loads(json.dumps(encode_judgments(judged, "q"))), "q") == judged
    assert judgments_fingerprint({~acme: -1}) != judgments_fingerprint({acme: -1})

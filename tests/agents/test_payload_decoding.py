"""Payloads are decoded from JSON, from what Python prints, and from lists that are flattened into attributes."""

import json

import pytest

from trace_spans import ids, model, read, search


@pytest.mark.parametrize(
    "text", ["Zoë\u2019s \u201ccafé\u201d \U0001f600", "one\r\ntwo\x0b\x0cthree", r"C:\new\x41\u00e9 \"a\""]
)
def test_a_text_that_a_tool_handed_on_as_json_was_read(text: str) -> None:
    document = {"id": "x", "text": text}
    for handed_on in (json.dumps([document]), json.dumps(json.dumps([document])), str([document]), text):
        spans = [search("1", 1, "a", [document]), model("m", 2, read=f"Found: {handed_on}", answer="so")]
        assert ids(read(*spans).context) == ["x"]

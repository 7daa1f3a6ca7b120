"""Ids are compared with the value of an item that `match=` names."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.inputs.match_key import get_match_key

ITEM = rm.Retrieved("c1", "a text", source="a.md", metadata={"page": 3})


@pytest.mark.parametrize(
    ("match", "value"),
    [
        ("id", "c1"),
        ("source", "a.md"),
        ("filename", "a.md"),
        ("metadata:page", 3),
        ("metadata:section", None),
        (lambda item: item.text, "a text"),
        (rm.Matching(by="source"), "a.md"),
    ],
)
def test_the_key_reads_the_named_value(match: Any, value: Any) -> None:
    assert get_match_key(match)(ITEM) == value


@pytest.mark.parametrize(
    ("source", "metadata", "name"),
    [
        ("/docs/a.md", None, "a.md"),
        ("C:\\docs\\a.md", None, "a.md"),
        ("docs/folder/", None, "folder"),
        (None, {"source": "x/a.md", "file_path": "y/b.md"}, "a.md"),
        (None, {"file_path": "y/b.md"}, "b.md"),
        (None, {"file_name": "c.md"}, "c.md"),
        (None, {"source": " ", "path": "z\\d.md"}, "d.md"),
        (None, {"source": 3}, None),
        ("5f2c", {"file_path": "y/b.md"}, "b.md"),
        ("x/a.md", {"source": "x/a.md", "file_path": "y/b.md"}, "a.md"),
        (None, None, None),
    ],
)
def test_file_names_are_the_last_part_of_a_path(source: Any, metadata: Any, name: str | None) -> None:
    assert get_match_key("filename")(rm.Retrieved("c1", source=source, metadata=metadata)) == name


@pytest.mark.parametrize(
    ("match", "hint"),
    [
        ("page", "if that is a key of the metadata, write match='metadata:page'"),
        ("text", r"for the whole text, pass lambda item: item\.text"),
        ("metadata:", "got 'metadata:'$"),
        (3, "got 3$"),
    ],
)
def test_other_values_are_refused_with_a_hint(match: Any, hint: str) -> None:
    with pytest.raises(ValueError, match=hint):
        get_match_key(match)

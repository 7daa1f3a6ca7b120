"""Ids are compared with the value of an item that `match=` names."""

from pathlib import Path
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


class Location:
    """A path of another library."""

    def __fspath__(self) -> str:
        return "docs/guide.md"


PATHS: list[Any] = [Path("docs/guide.md"), Location(), b"docs/guide.md", "docs/guide.md"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("key", ["source", "file_path"])
def test_a_path_is_the_source_that_its_text_is(path: Any, key: str) -> None:
    item = rm.Retrieved("c1", metadata={key: path})
    assert get_match_key("filename")(item) == "guide.md"
    if key == "source":
        assert get_match_key("source")(item) == "docs/guide.md"
        assert rm.Metadata(source="docs/guide.md").matches(item)
    assert item.metadata == {key: path}
    whole = rm.Retrieved("c1", "hello", source=path, start=0)
    assert whole.source == "docs/guide.md"
    for judged in ({"guide.md"}, {rm.Span("docs/guide.md", 0, 5)}, {rm.Metadata(source="docs/guide.md")}):
        assert rm.evaluate({"q": judged}, {"q": [whole]}, "recall", match="filename").means == {"recall": 1.0}


def test_a_judged_path_is_its_text_or_refused_with_what_to_write() -> None:
    path: Any = Path("docs/guide.md")
    assert rm.Span(path, 0, 5) == rm.Span("docs/guide.md", 0, 5)
    assert rm.Metadata(file_path=path) == rm.Metadata(file_path="docs/guide.md")
    judged: Any = {"q": [path]}
    with pytest.raises(TypeError, match=r"got PosixPath; write a path as text, str\(path\), or its name, path\.name"):
        rm.evaluate(judged, {"q": [rm.Retrieved("c1", source="docs/guide.md")]}, "recall", match="filename")


def test_the_name_in_the_url_of_a_file_has_no_escapes() -> None:
    for source, name in [
        ("file:///docs/my%20guide.md", "my guide.md"),
        ("FILE:///docs/guide.md", "guide.md"),
        ("docs/100%25.md", "100%25.md"),
    ]:
        assert get_match_key("filename")(rm.Retrieved("c1", source=source)) == name

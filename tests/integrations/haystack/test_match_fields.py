"""The values by which documents of Haystack are compared."""

from typing import Any

import pytest
from haystack import Document

from haystack_integrations.components.evaluators.retrieval_metrics.match_fields import get_match_value, require_field

DOCUMENT = Document(id="d1", content="text", meta={"page": 3, "flag": True, "source": {"url": "a.html"}})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", "d1"),
        ("content", "text"),
        ("meta.page", 3),
        ("meta.source.url", "a.html"),
        ("meta.source.title", None),
        ("meta.page.number", None),
        ("meta.none", None),
    ],
)
def test_a_field_has_its_value_or_none(field: str, value: Any) -> None:
    assert get_match_value(DOCUMENT, field) == value


@pytest.mark.parametrize("field", ["meta.flag", "meta.source"])
def test_what_is_no_id_is_refused(field: str) -> None:
    with pytest.raises(TypeError, match=f"{field} of document 'd1', text is"):
        get_match_value(DOCUMENT, field)


def test_a_setting_names_metadata_or_an_allowed_field() -> None:
    require_field("meta.page", "group_field")
    require_field("id", "document_comparison_field", ("content", "id"))
    with pytest.raises(ValueError, match=r"group_field must be one of 'meta.<key>', got 'id'"):
        require_field("id", "group_field")
    with pytest.raises(ValueError, match=r"one of 'id', 'meta.<key>', got 'meta.'"):
        require_field("meta.", "document_comparison_field", ("id",))

"""Objects of frameworks are distinguished from plain ones, and an error names the command for a missing integration."""

import pytest
from langchain_core.documents import Document
from llama_index.core.schema import TextNode

import retrieval_metrics as rm
from retrieval_metrics.inputs.hosts import find_host


@pytest.mark.parametrize("value", ["text", 3, None, {"id": "d"}, print, rm.Retrieved("d"), type("Own", (), {})()])
def test_plain_objects_have_no_host(value: object) -> None:
    assert find_host(value) is None


def test_an_object_belongs_to_the_framework_of_its_base_classes() -> None:
    class OwnDocument(Document):
        """A document of a user."""

    for document, name in ((OwnDocument(page_content="text"), "langchain"), (TextNode(text="text"), "llama-index")):
        host = find_host(document)
        assert host is not None
        assert host.name == name


def test_a_missing_integration_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrieval_metrics.inputs.hosts._entry_point_by_module", dict)
    with pytest.raises(
        ImportError, match=r"Document comes from langchain, .*pip install 'retrieval-metrics\[langchain\]'"
    ):
        find_host(Document("text"))

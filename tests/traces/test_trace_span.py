"""What a span holds: documents, texts that were handed on, and calls of tools; what cannot be told is refused."""

import re

import pytest

import retrieval_metrics as rm
from trace_spans import ROOT, ids, read, search


class TestWhatASpanHolds:
    def test_documents_whose_texts_were_hidden_and_have_no_ids_are_refused(self) -> None:
        hidden = {"text": "__REDACTED__"}
        with pytest.raises(ValueError, match=re.escape("documents of span '1' (retriever) of trace 't' were hidden")):
            read(search("1", 1, "a", [hidden]))
        (call,) = read(search("1", 1, "a", [{"id": "x", **hidden}])).calls
        assert ids(call) == ["x"]

    def test_of_an_error_no_stack_trace_is_kept(self) -> None:
        error = "ConnectionError('offline')Traceback (most recent call last):\n  File '/home/me/secret.py'"
        t = rm.read_traces([ROOT, search("1", 1, "a", error=error)])
        assert t["t"].calls[0].error == "ConnectionError('offline')"
        assert str(t.union().errors["t"]) == "ConnectionError('offline')"

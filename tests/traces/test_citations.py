"""What a model has read and what its answer cites: by ids, by numbers, or in a structure that says so."""

import re
from typing import Any, ClassVar

import pytest

import retrieval_metrics as rm
from agent_forms import D1, MESSAGES, chat
from agent_scenarios import TEXTS


class TestCitations:
    RESULTS: ClassVar = [{"id": id_, "text": TEXTS[id_]} for id_ in ("d2", "d1", "d3")]

    def read_answer(self, read_: str, answer: Any, **options: Any) -> rm.Trajectory:
        spans: list[dict[str, Any]] = [
            {"trace": "t", "span": "s", "parent": None, "kind": "retriever", "input": "a", "output": self.RESULTS},
            {"trace": "t", "span": "m", "parent": None, "kind": "model", "start": 1, "input": read_, "output": answer},
        ]
        (trajectory,) = rm.read_traces(spans, **options).values()
        return trajectory

    def test_numbers_are_those_before_the_documents_else_their_order_in_what_was_read(self) -> None:
        written = "\n".join(f"[{n}] A letter\n{TEXTS[id_]}" for n, id_ in ((4, "d1"), (2, "d2"), (3, "d3")))
        assert self.read_answer(written, "So [4, 2-3] and [9].", citations="numbered").citations == [
            "d1",
            "d2",
            "d3",
            "[9]",
        ]
        plain = " ".join(TEXTS[id_] for id_ in ("d3", "d1"))
        assert self.read_answer(plain, f"So [{'9' * 5000}].", citations="numbered").citations == []  # is no number
        trajectory = self.read_answer(plain, "So [2][1][3].", citations="numbered")
        assert trajectory.citations == ["d1", "d3", "[3]"]
        assert trajectory.properties()["cited_not_in_context"] == 1 / 3

    def test_a_year_in_brackets_is_a_citation_only_where_so_many_documents_are_numbered(self) -> None:
        written = f"[1] {TEXTS['d1']}\n[2] {TEXTS['d2']}"
        trajectory = self.read_answer(written, "In [2019] and [2015-2017] [2], not [9].", citations="numbered")
        assert trajectory.citations == ["d2", "[9]"]
        written = f"[2019] {TEXTS['d1']}\n[2] {TEXTS['d2']}"
        trajectory = self.read_answer(written, "In [2019] and [2018].", citations="numbered")
        assert trajectory.citations == ["d1", "[2018]"]

    def test_a_number_of_two_documents_means_either(self) -> None:
        twice = "\n".join(f"[1] {TEXTS[id_]}" for id_ in ("d1", "d2"))
        with pytest.raises(ValueError, match=r"two documents have the number \[1\], 'd1' and 'd2'.*; citations= takes"):
            self.read_answer(twice, "So [1].", citations="numbered")
        assert self.read_answer(twice, "So.", citations="numbered").citations == []

    @pytest.mark.parametrize("written", ["[1] same\n[2] same\n[3] other", "same same other"])
    def test_documents_of_one_text_have_a_number_each(self, written: str) -> None:
        documents = [{"id": id_, "text": text} for id_, text in (("a", "same"), ("b", "same"), ("c", "other"))]
        spans: list[dict[str, Any]] = [
            {"trace": "t", "span": "s", "parent": None, "kind": "retriever", "input": "q", "output": documents},
            {
                "trace": "t",
                "span": "m",
                "parent": None,
                "kind": "model",
                "start": 1,
                "input": written,
                "output": "So [2, 3].",
            },
        ]
        assert rm.read_traces(spans, citations="numbered")["t"].citations == ["b", "c"]

    def test_a_function_of_two_arguments_gets_the_context(self) -> None:
        def second(answer: str, context: list[rm.Retrieved]) -> list[Any]:
            return [context[1].id] if answer else []

        assert self.read_answer(" ".join(TEXTS.values()), "So.", citations=second).citations == ["d1"]

    def test_without_a_known_context_numbers_cite_what_is_unknown(self) -> None:
        spans = [{"trace": "t", "span": "s", "parent": None, "kind": "retriever", "input": "a", "output": self.RESULTS}]
        spans += [{"trace": "t", "span": "m", "parent": None, "kind": "model", "start": 1, "output": "So [1]."}]  # type: ignore[dict-item]
        assert rm.read_traces(spans, citations="numbered")["t"].citations is None

    def test_citations_that_meet_no_id_are_noted(self) -> None:
        spans = chat("q", [("1", "a")], ("1", D1))
        t = rm.read_traces(
            [*spans, {"role": "assistant", "content": "So [1]."}],
            tools="search",
            citations=lambda answer: re.findall(r"\[(\d)\]", answer),
        )
        (note,) = t.notes
        assert note.startswith("no citation names a retrieved document, e.g. '1'; if citations are numbers")

    @pytest.mark.parametrize(
        ("citation", "cites"),
        [
            ({"type": "url_citation", "url": "https://a/2", "title": "Beta"}, ["d2"]),
            ({"type": "file_citation", "file_id": "d1", "filename": "a.md"}, ["d1"]),
            ({"type": "url_citation", "url_citation": {"url": "d3"}}, ["d3"]),
            ({"type": "char_location", "document_index": 0, "document_title": None, "cited_text": "the first"}, ["d1"]),
            ({"type": "url_citation", "url": "https://elsewhere"}, ["https://elsewhere"]),
        ],
    )
    def test_structured_ones_name_a_document_by_id_source_metadata_or_words(self, citation: Any, cites: Any) -> None:
        documents = [{**result, "metadata": {"url": f"https://a/{result['id'][1]}"}} for result in self.RESULTS]
        messages = chat("q", [("1", "a")], ("1", documents))
        block = {"type": "text", "text": "So.", "annotations": [citation, citation]}
        (result,) = rm.read_traces([*messages, {"role": "assistant", "content": [block]}], tools="search").values()
        assert result.citations == cites

    def test_a_structured_citation_of_one_of_two_passages(self) -> None:
        passages = [{"id": "d1", "text": TEXTS["d1"]}, {"id": "d1", "text": "Aleph is an ox."}]
        block = {"type": "text", "text": "So.", "citations": [{"source": "d1", "cited_text": "an ox"}]}
        messages = [*chat("q", [("1", "a")], ("1", passages)), {"role": "assistant", "content": [block]}]
        t = rm.read_traces(messages, tools="search")
        assert [item.text for item in t.cited()["1"]] == ["Aleph is an ox."]

    def test_where_some_answers_have_structured_citations_one_without_cites_nothing(self) -> None:
        conversations = {name: MESSAGES["anthropic"][name] for name in ("structured citations", "empty")}
        assert [trajectory.citations for trajectory in rm.read_traces(conversations, tools="search").values()] == [
            ["d2"],
            [],
        ]
        assert rm.read_traces(conversations["empty"], tools="search")["1"].citations is None

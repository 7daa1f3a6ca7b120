"""Folders of BEIR are read as they were written."""

from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from two_questions import QRELS, QUERIES, ROWS


class TestBeir:
    def test_a_folder_is_read_as_it_was_written(self, tmp_path: Path) -> None:
        graded = {"q1": {"d7": 2, "d8": 0}, "q2": {"d1": 1}}
        questions = rm.EvaluationSet(QUERIES, graded, rm.EvaluationSet.from_dataset(ROWS).provenance)
        questions.to_beir(tmp_path / "new" / "set", {"d1": "one", "d7": "seven"})
        read = rm.EvaluationSet.from_dataset(tmp_path / "new" / "set")
        assert (read.queries, read.qrels, read.provenance) == (questions.queries, questions.qrels, questions.provenance)
        assert rm.read_corpus(tmp_path / "new" / "set" / "corpus.jsonl") == {"d1": "one", "d7": "seven"}

    def test_a_number_is_an_answer(self, tmp_path: Path) -> None:
        rm.EvaluationSet(QUERIES, QRELS).to_beir(tmp_path)
        row = '{"_id": "q1", "text": "why?", "metadata": {"answer": 12.0}}\n{"_id": "q2", "text": "how?"}\n'
        (tmp_path / "queries.jsonl").write_text(row, encoding="utf-8-sig")
        assert rm.read_questions(tmp_path).answers == {"q1": "12"}

    def test_a_split_holds_the_questions_that_it_judges(self, tmp_path: Path) -> None:
        rm.EvaluationSet(QUERIES, QRELS).to_beir(tmp_path)
        rm.write_qrels({"q2": {"d1": 1}}, tmp_path / "qrels" / "dev.tsv")
        assert rm.EvaluationSet.from_dataset(tmp_path, split="dev").queries == {"q2": QUERIES["q2"]}
        with pytest.raises(ValueError, match="has the splits dev, test"):
            rm.EvaluationSet.from_dataset(tmp_path, split="train")

    @pytest.mark.parametrize(
        ("judgments", "message"),
        [
            ([rm.Quote("a verbatim quote")], "can hold only IDs, and query 'q1' has Quote"),
            ([["d1", "d2"]], "BEIR cannot hold alternatives, and query 'q1'"),
            ({"d1": 0.5}, "whole grades only"),
        ],
    )
    def test_what_it_cannot_hold_is_refused_before_anything_is_written(
        self, tmp_path: Path, judgments: Any, message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            rm.EvaluationSet({"q1": "why?"}, {"q1": judgments}).to_beir(tmp_path / "out")
        assert not (tmp_path / "out").exists()

    def test_groups_of_one_are_flat(self, tmp_path: Path) -> None:
        rm.EvaluationSet({"q1": "why?"}, {"q1": [["d1"], ["d2"]]}).to_beir(tmp_path)
        assert rm.EvaluationSet.from_dataset(tmp_path).qrels == {"q1": {"d1": 1, "d2": 1}}

    def test_a_folder_and_a_file_of_something_else(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="is not a BEIR folder"):
            rm.EvaluationSet.from_dataset(tmp_path)
        (tmp_path / "notes.txt").write_text("no JSON")
        with pytest.raises(ValueError, match=r"cannot tell the format of .*notes\.txt"):
            rm.EvaluationSet.from_dataset(tmp_path / "notes.txt")

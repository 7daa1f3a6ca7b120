"""The texts of a corpus are read from a folder of text files, or from one file."""

from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.files.text_folders import read_texts


def test_a_folder_holds_the_texts_of_its_text_files_by_path(tmp_path: Path) -> None:
    (tmp_path / "guides").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbfA\r\n")
    (tmp_path / "guides" / "b.TXT").write_text("B", encoding="utf-8")
    (tmp_path / ".git" / "c.txt").write_text("C", encoding="utf-8")
    (tmp_path / "logo.png").write_bytes(b"\x89PNG")
    with pytest.warns(rm.RetrievalWarning, match=r"1 file not read, .*: logo\.png"):
        assert read_texts(tmp_path) == {"a.md": "A\r\n", "guides/b.TXT": "B"}


def test_a_file_holds_the_texts_of_a_corpus_by_id(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"_id": "d1", "title": "A", "text": "b"}\n')
    assert read_texts(path) == {"d1": "A b"}


def test_a_folder_without_a_text_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no text file"):
        read_texts(tmp_path)
    (tmp_path / "a.txt").write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"a\.txt is not UTF-8"):
        read_texts(tmp_path)

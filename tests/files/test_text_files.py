"""Texts of queries and documents."""

from pathlib import Path

import pytest

import retrieval_metrics as rm


def saved(tmp_path: Path, text: str, name: str) -> Path:
    (tmp_path / name).write_text(text)
    return tmp_path / name


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.jsonl", '{"_id": "1", "text": "why?", "metadata": {}}\n{"_id": "2", "text": "how, \\"so\\"?"}\n'),
        ("q.json", '{"1": "why?", "2": "how, \\"so\\"?"}'),
        ("q.csv", 'id,question\n1,why?\n2,"how, ""so""?"\n'),
        ("q.tsv", '1\twhy?\n2\thow, "so"?\n'),
        ("q.txt", 'query_id\ttext\n1\twhy?\n2\thow, "so"?\n'),
    ],
)
def test_every_format_holds_the_same_queries(tmp_path: Path, name: str, text: str) -> None:
    assert rm.read_queries(saved(tmp_path, text, name)) == {"1": "why?", "2": 'how, "so"?'}


def test_documents_have_their_title_before_them(tmp_path: Path) -> None:
    text = '{"_id": "d1", "title": "A", "text": "b"}\n{"_id": "d2", "title": "", "text": "c"}\n'
    assert rm.read_corpus(saved(tmp_path, text, "corpus.jsonl")) == {"d1": "A b", "d2": "c"}
    without_title = text.replace('"title": ""', '"title": NaN')
    assert rm.read_corpus(saved(tmp_path, without_title, "corpus.jsonl")) == {"d1": "A b", "d2": "c"}
    with pytest.raises(ValueError, match=r"line 3: .*document 'd1' appears twice"):
        rm.read_corpus(saved(tmp_path, text + text.splitlines()[0], "corpus.jsonl"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("corpus.csv", "id,title,text\nd1,A,b\nd2,,c\n"),
        ("corpus.tsv", "id\ttitle\ttext\nd1\tA\tb\nd2\t\tc\n"),
        ("corpus.json", '{"d1": "A b", "d2": "c"}'),
    ],
)
def test_documents_have_their_title_before_them_in_every_format(tmp_path: Path, name: str, text: str) -> None:
    path = saved(tmp_path, text, name)
    assert rm.read_corpus(path) == {"d1": "A b", "d2": "c"}
    assert rm.read_queries(path) == {"d1": "A b" if name.endswith("json") else "b", "d2": "c"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.tsv", "1\twhy?\n1\thow?\n", r"q.tsv, line 2: 1\thow\?: query '1' appears twice"),
        ("q.tsv", "1 why?\n", "line 1: .*1 columns where there should be 2"),
        ("q.jsonl", '{"text": "why?"}\n', "line 1: .*no id; expected a column or key named _id, id"),
        ("q.jsonl", '{"_id": "1", "text": 7}\n', "line 1: .*the text must be a string, got 7"),
        ("q.jsonl", '{"_id": "1", "text": "a", "query": "b"}\n', "both 'text' and 'query' are present"),
        ("q.jsonl", '{"_id": "", "text": "a"}\n', "there is no ID"),
        ("q.jsonl", '{"_id": " ", "text": "a"}\n', "there is no ID"),
        ("q.jsonl", '{"_id": NaN, "text": "a"}\n', "line 1: .*there is no ID"),
        ("q.jsonl", '{"_id": 1.0, "text": "a"}\n', r"the ID must be text or a whole number, got 1.0 \(float\)"),
        ("q.jsonl", '{"_id": true, "text": "a"}\n', r"the ID must be text or a whole number, got True \(bool\)"),
        ("q.jsonl", '{"_id": [null], "text": "a"}\n', r"got \[None\] \(list\)"),
        ("q.csv", "id,text\n", "q.csv is empty"),
    ],
)
def test_wrong_lines_are_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rm.read_queries(saved(tmp_path, text, name))


def test_cranfield(shared_data: Path) -> None:
    queries = rm.read_queries(shared_data / "cranfield/queries.jsonl")
    assert len(queries) == 225
    assert len(rm.read_corpus(shared_data / "cranfield/corpus.jsonl")) > 900

"""Lines of JSON with one query each are read as queries, and what is wrong is named."""

import re
from pathlib import Path

import pytest

import retrieval_metrics as rm


def saved(tmp_path: Path, text: str, name: str = "some.jsonl") -> Path:
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_a_query_a_line(tmp_path: Path) -> None:
    path = saved(tmp_path, '{"query": "q1", "documents": ["b", "a", "b"]}\n\n{"query": "q2", "documents": []}\n')
    assert dict(rm.read_run(path)) == {"q1": ["b", "a", "b"], "q2": []}
    mixed = saved(tmp_path, '{"qid": "q1", "ranking": {"a": 1.5}}\n{"qid": "q2", "ranking": ["b"]}\n')
    assert dict(rm.read_run(mixed)) == {"q1": {"a": 1.5}, "q2": ["b"]}
    groups = saved(tmp_path, '{"query": "q1", "relevant": [["a", "b"], ["c"]]}\n')
    assert len(rm.read_qrels(groups).group_query) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"query": "q1", "document": "a"}\n{"query": "q1", \n', r"line 2: \{\"query\": \"q1\", : this is not JSON"),
        ('["q1"]\n', "line 1: .*a line must be an object"),
        ('{"query": "q1", "document": "a", "score": 1}\n{"query": "q1", "document": "b"}\n', "line 2: .*no 'score'"),
        ('{"query": "q1", "text": "a"}\n', "line 1: .*there is no list of documents"),
        ('{"documents": ["a"]}\n', "line 1: .*no query; expected a key named query, query_id"),
        (
            '{"query": "q1", "documents": ["a"]}\n{"query": "q1", "documents": []}\n',
            "line 2: .*query 'q1' appears twice",
        ),
        ("\n", "is empty"),
    ],
)
def test_wrong_lines_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rm.read_run(saved(tmp_path, text))


def test_the_id_of_a_question_comes_before_its_text(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text('{"id": "q1", "query": "How do I log in?", "relevant": ["d7"]}\n')
    assert rm.read_qrels(path).as_dict() == {"q1": {"d7": 1.0}}
    path.write_text('{"id": 0, "query_id": "q1", "query": "How do I log in?", "relevant": ["d7"]}\n')
    assert rm.read_qrels(path).as_dict() == {"q1": {"d7": 1.0}}
    assert rm.read_qrels(path, columns={"query": "query"}).as_dict() == {"How do I log in?": {"d7": 1.0}}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"query": "nope"}, "there is no key 'nope'; there are 'id', 'query', 'relevant'"),
        ({"grade": "id"}, "so columns={'grade': 'id'} is not used"),
    ],
)
def test_columns_that_are_not_used_are_refused(tmp_path: Path, columns: dict[str, str], message: str) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text('{"id": "q1", "query": "How do I log in?", "relevant": ["d7"]}\n')
    with pytest.raises(ValueError, match=re.escape(message)):
        rm.read_qrels(path, columns=columns)


@pytest.mark.parametrize("name", ["reranked.jsonl", "reranked.json"])
def test_results_of_rank_llm(tmp_path: Path, name: str) -> None:
    row = (
        '{"query": {"text": "why?", "qid": "q1"}, "candidates": [{"docid": "d2", "score": 9.5, "doc": {"text": "x"}}, '
        '{"docid": "d1", "score": 8.0, "doc": {"text": "y"}}]}'
    )
    (tmp_path / name).write_text(f"[{row}]" if name.endswith(".json") else f"{row}\n")
    assert dict(rm.read_run(tmp_path / name)) == {"q1": {"d2": 9.5, "d1": 8.0}}

"""Scores that are equal in 32 bits tie, as if the run had been rounded before; the run itself stays as it was."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.inputs.run import in_single_precision, may_gain_a_tie, rounded
from retrieval_metrics.judging.judge import judge
from retrieval_metrics.judging.ranking_order import AS_GIVEN, BY_ID, RankOrder, ranked

near_each_other = st.builds(
    lambda base, steps: base * (1 + steps * 2.0**-26),
    st.sampled_from([1.0, -3.7, 0.1234567, 16_777_216.0, 3e38, 1e300, -1e300, 1e-44, 1e-310, 0.0]),
    st.integers(-8, 8),
)
scores = st.one_of(
    near_each_other, st.floats(allow_nan=False, allow_infinity=False, width=64), st.integers(-(2**60), 2**60)
)
rankings = st.dictionaries(st.sampled_from("abcdefghij"), scores, min_size=1, max_size=10)


@given(st.lists(rankings, min_size=1, max_size=4), st.sampled_from([BY_ID, AS_GIVEN]))
def test_judging_in_32_bits_is_judging_what_was_rounded(given_: list[dict[str, Any]], order: RankOrder) -> None:
    run = {f"q{at}": ranking for at, ranking in enumerate(given_)}
    qrels = rm.Qrels({query: dict.fromkeys("acegi", 1) for query in run})
    before = {query: in_single_precision(ranking) for query, ranking in run.items()}
    single = order._replace(single_precision=True)
    expected, got = judge(qrels, before, "id", order), judge(qrels, run, "id", single)
    for one, other in zip(expected.items, got.items, strict=True):
        assert one.tolist() == other.tolist()
    columns = [(query, document, float(score)) for query, ranking in run.items() for document, score in ranking.items()]
    frame = dict(zip(("query", "document", "score"), zip(*columns, strict=True), strict=True))
    if order == BY_ID:
        by_column = judge(qrels, rm.Run.from_frame(frame), "id", single)
        for one, other in zip(expected.items, by_column.items, strict=True):
            assert one.tolist() == other.tolist()
    for query, ranking in run.items():
        assert ranked(ranking, single) == ranked(before[query], order)


@given(near_each_other, near_each_other)
@example(1.0, 1.0 + 2.0**-24)
@example(3.5e38, 1e300)
@example(2.0**-149, 2.0**-149 * 0.75)
def test_what_becomes_equal_was_close(one: float, other: float) -> None:
    if len(set(rounded([one, other]).tolist())) == 1:
        assert may_gain_a_tie(sorted([one, other]), [1])
        assert may_gain_a_tie(sorted([one, other]), [2])


def test_numbers_beyond_32_bits_are_the_largest_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rounded([1e300, -1e300]).tolist() == [float(np.finfo(np.float32).max), float(np.finfo(np.float32).min)]


def test_the_run_is_kept_as_it_was_and_explained_in_the_order_it_was_scored() -> None:
    run = {"q": {"b": 0.123456781, "c": 0.12345678, "x": 0.5}}
    rules = rm.Rules(name="as pytrec_eval", scores="single")
    evaluation = rm.evaluate({"q": {"b": 1}}, run, "mrr@2", semantics=rules)
    assert evaluation.scores.origin is not None
    assert evaluation.scores.origin.run is run
    explained = evaluation.explain("q", "mrr@2")
    assert [one.id for one in explained.results] == ["x", "c"]
    assert explained.findings[0].detail == "lost a tie: 2 documents have its score, from rank 2 on"


Source = Callable[[dict[str, list[Any]]], Any]


@pytest.fixture(params=["mapping", "pandas", "polars", "lazy", "arrow", "csv", "tsv", "parquet", "jsonl"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Source:
    """The same rows in every form that has columns."""

    def of(columns: dict[str, list[Any]]) -> Any:
        kind, path = request.param, tmp_path / f"table.{request.param}"
        in_memory: dict[str, Source] = {
            "mapping": dict,
            "pandas": pd.DataFrame,
            "polars": pl.DataFrame,
            "lazy": pl.LazyFrame,
            "arrow": pa.table,
        }
        if kind in in_memory:
            return in_memory[kind](columns)
        frame = pl.DataFrame(columns)
        if kind == "jsonl":
            frame.write_ndjson(path)
        elif kind == "parquet":
            frame.write_parquet(path)
        else:
            frame.write_csv(path, separator="," if kind == "csv" else "\t")
        return path

    return of


IDS = {"query": ["q", "q"], "document": ["a", "b"]}


@pytest.mark.parametrize("name", ["judgement", "relevancy", "rating", "Unnamed: 3"])
def test_an_unknown_column_where_the_grade_should_be(source: Source, name: str) -> None:
    table = source({**IDS, name: [0, 1]})
    with pytest.raises(
        ValueError, match=rf"no column named like a grade .*and '{name}' could be it; pass columns="
    ) as e:
        rm.read_qrels(table)
    assert "columns={'grade': None} if every document listed is relevant" in str(e.value)
    assert rm.read_qrels(table, columns={"grade": name}).judgments(0) == {"a": 0.0, "b": 1.0}
    assert rm.read_qrels(table, columns={"grade": None}).judgments(0) == {"a": 1.0, "b": 1.0}


@pytest.mark.parametrize("name", ["scores", "distance", "relevance"])
def test_an_unknown_column_where_score_or_rank_should_be(source: Source, name: str) -> None:
    table = source({**IDS, name: [1.0, 2.0]})
    with pytest.raises(ValueError, match=rf"no column named like a score or a rank .*and '{name}' could be it"):
        rm.read_run(table)
    assert dict(rm.read_run(table, columns={"score": name})) == {"q": {"a": 1.0, "b": 2.0}}
    assert dict(rm.read_run(table, columns={"score": None})) == {"q": ["a", "b"]}


def test_columns_that_say_nothing_of_it_are_left_alone(source: Source) -> None:
    table = source({**IDS, "title": ["x", "y"], "text": ["x", "y"]})
    assert dict(rm.read_run(table)) == {"q": ["a", "b"]}
    assert rm.read_qrels(table).judgments(0) == {"a": 1.0, "b": 1.0}
    ranked = source({**IDS, "rank": [2, 1], "note": ["x", "y"]})
    assert dict(rm.read_run(ranked)) == {"q": ["b", "a"]}


def test_equal_ranks(source: Source) -> None:
    table = source({"query": ["q", "p", "q", "q"], "document": ["a", "b", "c", "d"], "rank": [1, 1, 2, 1]})
    with pytest.raises(ValueError, match=r"documents 'a' and 'd' of query 'q' have the same rank, 1; give them") as e:
        rm.read_run(table)
    assert "columns={'rank': None}" in str(e.value)
    assert dict(rm.read_run(table, columns={"rank": None})) == {"q": ["a", "c", "d"], "p": ["b"]}
    scored = source({**IDS, "rank": [1, 1], "score": [2.0, 1.0]})
    assert dict(rm.read_run(scored)) == {"q": {"a": 2.0, "b": 1.0}}


@pytest.mark.parametrize("edge", [" a", "a ", "a\u00a0"])
@pytest.mark.parametrize("role", ["query", "document"])
def test_an_id_with_blank_edges(source: Source, role: str, edge: str) -> None:
    table = source({**IDS, "score": [1, 2], role: [edge, "b"]})
    for read in (rm.read_run, rm.read_qrels):
        with pytest.raises(
            ValueError, match=rf"has a {role} that begins or ends with a blank, in column '{role}' \(allow='blanks'"
        ):
            read(table)
        read(table, allow="blanks")
    assert edge in str(dict(rm.read_run(table, allow=["blanks"]))).replace("\\xa0", "\u00a0")


def test_a_repeated_header(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("query,document,score,score\nq,a,1,2\nq,b,2,1\n")
    pairs = [("query", ["q", "q"]), ("document", ["a", "b"]), ("score", [1.0, 2.0]), ("score", [2.0, 1.0])]
    arrow = pa.Table.from_arrays([pa.array(values) for _, values in pairs], names=[name for name, _ in pairs])
    for table in (tmp_path / "run.csv", arrow, arrow.to_pandas()):
        with pytest.raises(ValueError, match="has two columns named 'score'; remove one, or pass allow='repeated'"):
            rm.read_run(table)
        assert dict(rm.read_run(table, allow="repeated")) == {"q": {"a": 1.0, "b": 2.0}}
    (tmp_path / "run.csv").write_text("query,document,score,note,note\nq,a,1,2,3\n")
    assert dict(rm.read_run(tmp_path / "run.csv")) == {"q": {"a": 1.0}}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.json", '{"q": {"a": 1, "b": 2, "a": 3}}', "key 'a' appears twice in 'q'"),
        ("x.json", '{"q": {"a": 1}, "q": {"b": 2}}', "key 'q' appears twice;"),
        ("x.jsonl", '{"query": "p", "documents": []}\n{"qid": "q", "documents": {"a": 1, "a": 3}}', "2.*'a' appears"),
        ("x.jsonl", '{"query": "q", "document": "a", "score": 1, "score": 3}\n', "line 1: .*key 'score' appears twice"),
    ],
)  # fmt: skip
def test_a_repeated_key(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    for read in (rm.read_run, rm.read_qrels):
        with pytest.raises(ValueError, match=message) as error:
            read(tmp_path / name)
        assert "allow='repeated', with which the first counts" in str(error.value)
    found = dict(rm.read_run(tmp_path / name, allow="repeated"))["q"]
    assert found["a"] == 1.0


def test_blank_edges_in_json(tmp_path: Path) -> None:
    for text in ('{" q": ["a"]}', '{"q": ["a "]}', '{"q": {"a ": 1}}'):
        (tmp_path / "x.json").write_text(text)
        for read in (rm.read_run, rm.read_qrels):
            with pytest.raises(ValueError, match="begins or ends with a blank"):
                read(tmp_path / "x.json")
            read(tmp_path / "x.json", allow="blanks")


def test_an_unknown_allowance_is_refused() -> None:
    with pytest.raises(ValueError, match="allow= takes 'blanks' and 'repeated', not 'blank'"):
        rm.read_run(IDS, allow="blank")


def test_a_line_of_nothing_but_separators_is_no_empty_line(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("query,document,score\nq,a,1\n,,\nq,b,2\n")
    with pytest.raises(ValueError, match=r"x.csv, line 3: ,,: the line has only separators"):
        rm.read_run(tmp_path / "x.csv")


def test_groups_in_columns(source: Source) -> None:
    columns: dict[str, list[Any]] = {
        "query": ["q", "q", "q", "p"],
        "document": ["a", "b", "a", "c"],
        "grade": [1, 2, 1, 1],
    }
    table = source({**columns, "group": ["1", "1", "2", "1"]})
    qrels = rm.read_qrels(table)
    assert [qrels.judgments(at) for at in (0, 1)] == [[{"a": 1.0, "b": 2.0}, {"a": 1.0}], [{"c": 1.0}]]
    with pytest.raises(ValueError, match="document 'a' appears twice in group '1' of query 'q'"):
        rm.read_qrels(source({**columns, "group": ["1", "1", "1", "1"]}))


def test_other_columns_of_rows_of_json_may_be_named_and_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(
        '{"query": "q", "hit": "a", "score": 1, "note": 1}\n{"query": "q", "hit": "b", "score": 2}\n'
    )
    with pytest.raises(ValueError, match=r"line 1: .*no list of documents"):
        rm.read_run(tmp_path / "x.jsonl")
    assert dict(rm.read_run(tmp_path / "x.jsonl", columns={"document": "hit"})) == {"q": {"a": 1.0, "b": 2.0}}

"""The messages of the readers are instructions: each is followed on the file that caused it.

The result is the right value or another clear error, never a wrong number.
"""

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm

READERS: dict[str, Callable[..., Any]] = {
    "qrels": rm.read_qrels,
    "run": rm.read_run,
    "questions": rm.read_questions,
    "queries": rm.read_queries,
}


@dataclass(frozen=True)
class Advice:
    """A file that is refused, and what its message says to do.

    Attributes:
        name: The name of the file.
        content: What it holds.
        advice: A part of the message, as a pattern.
        options: The options that the message names.
        edit: What the message says to do with the file.
        reader: The reader that the message names, if it is another.
        result: What is read when the advice is followed, as plain dicts.
        error: The message of the error then, if the advice leads to one.
        refused_options: The options with which it is refused.
    """

    reader: str
    name: str
    content: str | bytes
    advice: str
    options: dict[str, Any] = field(default_factory=dict)
    edit: Callable[[bytes], bytes] | None = None
    other_reader: str = ""
    result: Any = None
    error: str = ""
    refused_options: dict[str, Any] = field(default_factory=dict)

    def data(self) -> bytes:
        return self.content if isinstance(self.content, bytes) else self.content.encode()


def as_plain(value: Any) -> Any:
    if isinstance(value, rm.EvaluationSet):
        return rm.Qrels(value).as_dict()
    return value.as_dict() if hasattr(value, "as_dict") else {key: value[key] for key in value}


def with_commas(content: bytes) -> bytes:
    """Save a table with semicolons as a spreadsheet does with commas."""
    lines = content.decode().split("\n")
    rows = csv.reader(line for line in lines if line and not line.startswith("sep="))
    if ";" in lines[0] or lines[0].startswith("sep="):
        rows = csv.reader((line for line in lines if line and not line.startswith("sep=")), delimiter=";")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def zipped(**members: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("_", "."), text)
    return buffer.getvalue()


def unzip_first(content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return archive.read(archive.namelist()[0])


def replaced(old: str, new: str) -> Callable[[bytes], bytes]:
    return lambda content: content.replace(old.encode(), new.encode())


SINGLE = {"q1": {"d1": 1.0}}
TWO = {"q1": {"d1": 1.0}, "q2": {"d2": 1.0}}
SCORED = {"q1": {"d1": 2.0, "d2": 1.0}}
RANKED = {"q1": ["d1", "d2"]}
POSITIONS = {"query": 1, "document": 2}
NAMELESS = "q1,d1,2\nq1,d2,1\n"

CASES = [
    # Columns.
    Advice(
        "run",
        "a.csv",
        "frage,doc,score\nq1,d1,2\nq1,d2,1\n",
        r"no query column \(.*columns=\{'query'",
        {"columns": {"query": "frage"}},
        result=SCORED,
    ),
    Advice(
        "run",
        "a.csv",
        "query,ergebnis,score\nq1,d1,2\nq1,d2,1\n",
        r"columns=\{'document': \.\.\.\}",
        {"columns": {"document": "ergebnis"}},
        result=SCORED,
    ),
    Advice(
        "run",
        "a.csv",
        "query,doc,bm25\nq1,d1,2\nq1,d2,1\n",
        r"pass columns=\{'score': 'bm25'\}",
        {"columns": {"score": "bm25"}},
        result=SCORED,
    ),
    Advice(
        "run",
        "a.csv",
        "query,doc,lang\nq1,d1,en\nq1,d2,de\n",
        r"pass columns=\{'score': 'lang'\}",
        {"columns": {"score": "lang"}},
        error="has 'en' as score, which is not a finite number",
    ),
    Advice(
        "run",
        "a.csv",
        "query,doc,lang\nq1,d1,en\nq1,d2,de\n",
        r"or columns=\{'score': None\} if the rows",
        {"columns": {"score": None}},
        result=RANKED,
    ),
    Advice(
        "run",
        "a.csv",
        "query,doc,bm25,dense\nq1,d1,2,3\nq1,d2,1,4\n",
        r"any of 'bm25', 'dense' could be it; choose",
        {"columns": {"score": "bm25"}},
        result=SCORED,
    ),
    Advice(
        "run",
        "a.csv",
        "query,doc,distance\nq1,d1,2\nq1,d2,5\n",
        r"small where a score is large; pass .*None",
        {"columns": {"score": None}},
        result=RANKED,
    ),
    Advice(
        "run",
        "a.csv",
        "qid,query_id,doc,score\nq1,x,d1,2\nq1,x,d2,1\n",
        r"'qid', 'query_id', any of which.*choose",
        {"columns": {"query": "qid"}},
        result=SCORED,
    ),
    Advice(
        "qrels",
        "a.csv",
        "id,query,doc,grade\nq1,why,d1,1\n",
        r"'query', 'id', any of which could be the query",
        {"columns": {"query": "id"}},
        result=SINGLE,
    ),
    Advice(
        "qrels",
        "a.csv",
        "query,doc,note\nq1,d1,1\n",
        r"columns=\{'grade': None\} if every document listed",
        {"columns": {"grade": None}},
        result=SINGLE,
    ),
    Advice(
        "qrels",
        "a.csv",
        "query,doc,grade,grade\nq1,d1,1,0\n",
        r"two columns named 'grade'.*allow='repeated'",
        {"allow": "repeated"},
        result=SINGLE,
    ),
    Advice(
        "qrels",
        "a.csv",
        "query,relevant\nq1,d1\n",
        r"'relevant' seems to hold all documents .*read_questions\(path\)",
        other_reader="questions",
        result=SINGLE,
    ),
    Advice(
        "qrels",
        "a.csv",
        "query;doc;grade\nq1;d1;1\n",
        "separated by ';'.*a CSV file has commas",
        edit=with_commas,
        result=SINGLE,
    ),
    Advice(
        "qrels",
        "a.csv",
        "query;doc;grade\nq1;a, b;1\n",
        "separated by ';'",
        edit=with_commas,
        result={"q1": {"a, b": 1.0}},
    ),
    Advice(
        "qrels",
        "a.csv",
        "sep=;\nquery;doc;grade\nq1;a, b;1\n",
        "Excel's separator note.*remove it",
        edit=with_commas,
        result={"q1": {"a, b": 1.0}},
    ),
    Advice(
        "questions",
        "a.csv",
        "sep=;\nquery;relevant\nq1;d1\n",
        "Excel's separator note.*remove it",
        edit=with_commas,
        result=SINGLE,
    ),
    # Files without a header.
    Advice(
        "run",
        "a.csv",
        NAMELESS,
        r"no header: .*pass header=False.*columns=\{'query': 1, 'document': 2\}",
        {"header": False, "columns": {**POSITIONS, "score": 3}},
        result=SCORED,
    ),
    Advice(
        "run",
        "a.csv",
        NAMELESS,
        r"columns=\{'query': 1, 'document': 2\}",
        {"header": False, "columns": POSITIONS},
        error="no score or rank column",
    ),
    Advice("run", "a.csv", NAMELESS, "no header", {"header": False}, error="no query column"),
    Advice(
        "run",
        "a.csv",
        NAMELESS,
        "no header",
        {"columns": {"query": "q1", "document": "d1", "score": "2"}},
        error="seems to have no header",
    ),
    Advice(
        "run",
        "a.csv",
        "q1,d1,1\nq1,d2,2\n",
        "no header",
        {"header": False, "columns": {**POSITIONS, "score": 3}},
        error=r"holds ranks.*columns=\{'rank': 3\}",
    ),
    Advice(
        "run",
        "a.csv",
        "q1,d1,1\nq1,d2,2\n",
        r"holds ranks.*columns=\{'rank': 3\}",
        {"header": False, "columns": {**POSITIONS, "rank": 3}},
        result=RANKED,
        refused_options={"header": False, "columns": {**POSITIONS, "score": 3}},
    ),
    Advice(
        "run",
        "a.txt",
        "q1\td1\t2.5\nq1\td2\t1\n",
        "no header.*'tevatron'",
        {"format": "tevatron"},
        result={"q1": {"d1": 2.5, "d2": 1.0}},
    ),
    Advice("run", "a.txt", "q1\td1\t1\nq1\td2\t2\n", "no header.*'msmarco'", {"format": "msmarco"}, result=RANKED),
    Advice(
        "run",
        "a.txt",
        "q1\td1\t1\nq1\td2\t2\n",
        "no header.*'tevatron'",
        {"format": "tevatron"},
        error=r"holds ranks, 1, 2 and so on.*format='msmarco'",
    ),
    Advice("run", "a.trec", "q1 d1 1\nq1 d2 2\n", "pass format='msmarco'", {"format": "msmarco"}, result=RANKED),
    Advice(
        "run",
        "a.trec",
        "q1 d1 1 9.5\nq1 d2 2 8.5\n",
        "pass format='colbert'",
        {"format": "colbert"},
        result={"q1": {"d1": 9.5, "d2": 8.5}},
    ),
    Advice("run", "a.trec", "q1 0 d1 1\n", "TREC qrels, which read_qrels reads", other_reader="qrels", result=SINGLE),
    Advice(
        "qrels",
        "a.trec",
        "q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 2 x\n",
        "a TREC run, which read_run reads",
        other_reader="run",
        result={"q1": {"d1": 2.5, "d2": 2.0}},
    ),
    Advice("qrels", "a.trec", "q1 d1 L1\n", "as in NTCIR, format='ntcir'", {"format": "ntcir"}, result=SINGLE),
    Advice(
        "qrels",
        "a.qrels",
        "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
        "for BEIR qrels, pass format='tsv'",
        {"format": "tsv"},
        result=SINGLE,
    ),
    Advice(
        "run",
        "a.txt",
        "q1 Q0 d1 1 2.5 x\n",
        "is for judgments; runs of NTCIR are TREC files: pass format='trec'",
        {"format": "trec"},
        result={"q1": {"d1": 2.5}},
        refused_options={"format": "ntcir"},
    ),
    Advice(
        "run",
        "a.txt",
        "q1 d1 1\nq1 d2 2\n",
        "and not scores; pass format='msmarco'",
        {"format": "msmarco"},
        result=RANKED,
        refused_options={"format": "tevatron"},
    ),
    Advice(
        "questions",
        "a.json",
        '{"why?": ["d1"]}',
        "the columns of rows, but the JSON object has none",
        {},
        result={"why?": {"d1": 1.0}},
        refused_options={"columns": {"id": "nr"}},
    ),
    Advice(
        "questions",
        "a.csv",
        "nr,query,relevant\nq1,why?,d1\n",
        "no column 'id'; it has 'nr', 'query'",
        {"columns": {"id": "nr"}},
        result=SINGLE,
        refused_options={"columns": {"id": "id"}},
    ),
    Advice(
        "qrels",
        "a.txt",
        "d1\n",
        "cannot tell the format .*pass format=",
        {"format": "csv"},
        error="no query column",
    ),
    # Repeated rows and ids.
    Advice("qrels", "a.trec", "q1 0 d1 1\nq1 0 d1 1\n", "allow='repeated'", {"allow": "repeated"}, result=SINGLE),
    Advice(
        "qrels",
        "a.csv",
        "query,doc,grade\nq1,d1,1\nq1,d1,1\n",
        "allow='repeated'",
        {"allow": "repeated"},
        result=SINGLE,
    ),
    Advice(
        "qrels",
        "a.jsonl",
        '{"query":"q1","document":"d1"}\n' * 2,
        "allow='repeated'",
        {"allow": "repeated"},
        result=SINGLE,
    ),
    Advice(
        "qrels",
        "a.json",
        '{"q1":{"d1":1,"d1":0}}',
        "allow='repeated'.*first counts",
        {"allow": "repeated"},
        result=SINGLE,
    ),
    Advice(
        "qrels",
        "a.csv",
        'query,doc\nq1," d1"\n',
        "allow='blanks' keeps it",
        {"allow": "blanks", "columns": {"grade": None}},
        result={"q1": {" d1": 1.0}},
    ),
    Advice(
        "qrels",
        "a.json",
        '{" q1":{"d1":1}}',
        "allow='blanks' keeps it",
        {"allow": "blanks"},
        result={" q1": {"d1": 1.0}},
    ),
    Advice(
        "run",
        "a.csv",
        "query,doc,rank\nq1,d1,1\nq1,d2,1\n",
        r"pass columns=\{'rank': None\}",
        {"columns": {"rank": None}},
        result=RANKED,
    ),
    # JSON.
    Advice(
        "run",
        "a.json",
        '{"q1":[["d1",2.0],["d2",1.0]]}',
        r'write an object of documents with scores, \{"d1": 9.5\}',
        edit=lambda content: json.dumps({q: dict(pairs) for q, pairs in json.loads(content).items()}).encode(),
        result=SCORED,
    ),
    Advice(
        "run",
        "a.json",
        '{"query":"q1","documents":["d1","d2"]}\n{"query":"q2","documents":["d2"]}',
        "pass format='jsonl'",
        {"format": "jsonl"},
        result={"q1": ["d1", "d2"], "q2": ["d2"]},
    ),
    Advice(
        "run",
        "a.jsonl",
        '{"qid":"q1","documents":["d1","d2"],"results":["d2"]}\n',
        r"both 'documents' and 'results'.*columns=\{'document': \.\.\.\}",
        {"columns": {"document": "documents"}},
        result=RANKED,
    ),
    Advice(
        "run",
        "a.jsonl",
        '{"qid":"q1","query_id":"x","documents":["d1","d2"]}\n',
        r"both 'query_id' and 'qid'.*columns=\{'query': \.\.\.\}",
        {"columns": {"query": "qid"}},
        result=RANKED,
    ),
    Advice(
        "run",
        "a.jsonl",
        '{"frage":"q1","documents":["d1","d2"]}\n',
        r"no query; expected a key named .*columns=\{'query': \.\.\.\}",
        {"columns": {"query": "frage"}},
        result=RANKED,
    ),
    Advice(
        "run",
        "a.jsonl",
        '{"query":"q1","treffer":["d1","d2"]}\n',
        r"no list of documents.*columns=\{'document': \.\.\.\}",
        {"columns": {"document": "treffer"}},
        result=RANKED,
    ),
    Advice(
        "run",
        "a.jsonl",
        '{"query":"q1","documents":["d1"]}\n{"query":"q1","documents":["d2"]}\n',
        "query 'q1' appears twice",
        edit=replaced('{"query":"q1","documents":["d2"]}\n', ""),
        result={"q1": ["d1"]},
    ),
    Advice(
        "run",
        "a.json",
        '{"q1":["d1","d2"]}',
        "without columns that columns= could name",
        {},
        result=RANKED,
        refused_options={"columns": {"query": "x"}},
    ),
    Advice(
        "run",
        "a.jsonl",
        '{"query":"q1","documents":["d1","d2"]}\n',
        "is not used; leave it out",
        {},
        result=RANKED,
        refused_options={"columns": {"score": "s"}},
    ),
    Advice(
        "run",
        "a.json",
        '{"q1":["d1","d2"]}',
        "no header; leave header=False out",
        {},
        result=RANKED,
        refused_options={"header": False},
    ),
    Advice(
        "queries",
        "a.jsonl",
        '{"_id":"q1","text":"a","query":"b"}\n',
        r"both 'text' and 'query'",
        edit=replaced(',"query":"b"', ""),
        result={"q1": "a"},
    ),
    Advice(
        "run",
        "a.jsonl",
        '{"_id":"q1","text":"why?"}\n',
        "to read texts, use read_queries",
        other_reader="queries",
        result={"q1": "why?"},
    ),
    # Encodings and line ends.
    Advice(
        "qrels",
        "a.csv",
        "query,doc\nq1,“Ä” \u2013 €\n".encode("cp1252"),
        "iconv -f WINDOWS-1252 -t UTF-8",
        edit=lambda content: content.decode("cp1252").encode(),
        result={"q1": {"“Ä” \u2013 €": 1.0}},
    ),
    Advice(
        "questions",
        "a.json",
        '[{"query":"“why”","relevant":["d1"]}]'.encode("cp1252"),
        "iconv -f WINDOWS-1252 -t UTF-8",
        edit=lambda content: content.decode("cp1252").encode(),
        result={"“why”": {"d1": 1.0}},
    ),
    Advice(
        "qrels",
        "a.csv",
        "query,doc\nq1,d1\n".encode("utf-16"),
        "iconv -f UTF-16.* -t UTF-8",
        edit=lambda content: content.decode("utf-16").encode(),
        result=SINGLE,
    ),
    Advice("qrels", "a.csv", "query,doc\rq1,d1\r", r"tr '\\r' '\\n'", edit=replaced("\r", "\n"), result=SINGLE),
    Advice(
        "qrels",
        "a.trec",
        b"q1 0 d1 1\n\xef\xbb\xbfq2 0 d2 1\n",
        "byte order mark.*remove it",
        edit=lambda content: content.replace(b"\xef\xbb\xbf", b""),
        result=TWO,
    ),
    Advice(
        "qrels",
        "a.csv",
        'query,doc\nq1,a "b" c\n',
        "a quote inside a value is written twice",
        edit=replaced('a "b" c', '"a ""b"" c"'),
        result={"q1": {'a "b" c': 1.0}},
    ),
    Advice(
        "qrels",
        "a.zip",
        zipped(a_trec="q1 0 d1 1\n", b_trec="x"),
        "unpack it: unzip FILE",
        edit=unzip_first,
        options={"format": "trec"},
        result=SINGLE,
    ),
    Advice(
        "qrels", "a.trec", "q1 0 d1 1\n", "leave header=False out", {}, result=SINGLE, refused_options={"header": False}
    ),
    Advice(
        "qrels",
        "a.trec",
        "q1 0 d1 1\n",
        "no column names; pass format= if it has another",
        {},
        result=SINGLE,
        refused_options={"columns": {"query": "q"}},
    ),
    # Questions.
    Advice(
        "questions",
        "a.csv",
        "query,relevant\nq1,d1;d9\nq2,d2|d3\n",
        "separator=';'",
        {"separator": ";"},
        result={"q1": {"d1": 1.0, "d9": 1.0}, "q2": {"d2|d3": 1.0}},
    ),
    Advice(
        "questions",
        "a.csv",
        'query,relevant\nq1,"d1,d2"\n',
        "separator=',' if several",
        {"separator": ","},
        result={"q1": {"d1": 1.0, "d2": 1.0}},
    ),
    Advice(
        "questions",
        "a.csv",
        'query,relevant\nq1,"d1,d2"\n',
        "separator='' if one",
        {"separator": ""},
        result={"q1": {"d1,d2": 1.0}},
    ),
    Advice(
        "questions",
        "a.csv",
        "query,relevant\nq1,\"['d1' 'd2']\"\n",
        r"write its list with json.dumps",
        edit=replaced("\"['d1' 'd2']\"", '"[""d1"", ""d2""]"'),
        result={"q1": {"d1": 1.0, "d2": 1.0}},
    ),
    Advice(
        "questions",
        "a.csv",
        "query,gold\nq1,d1\n",
        r"pass columns=\{'relevant': \.\.\.\} to read_questions",
        {"columns": {"relevant": "gold"}},
        result=SINGLE,
    ),
    Advice(
        "questions",
        "a.csv",
        "q1,why?,d1\nq2,how?,d2\n",
        r"columns=\{'id': 1, 'query': 2, 'relevant': 3\}",
        {"header": False, "columns": {"id": 1, "query": 2, "relevant": 3}},
        result=TWO,
    ),
    Advice(
        "questions",
        "a.csv",
        "query,relevant\nwhy?,d1\nwhy?,d2\n",
        "give each row its own 'id', or merge their judgments",
        edit=lambda _: b"id,query,relevant\nq1,why?,d1\nq2,why?,d2\n",
        result=TWO,
    ),
    Advice(
        "questions", "a.trec", "q1 0 d1 1\n", "read its judgments with read_qrels", other_reader="qrels", result=SINGLE
    ),
    Advice(
        "questions",
        "a.tsv",
        "q1\t0\td1\t1\n",
        "read its judgments with read_qrels",
        other_reader="qrels",
        result=SINGLE,
    ),
    Advice(
        "questions",
        "a.csv",
        "id,query,doc,grade\nq1,why?,d1,x\n",
        "the grade must be a number, got 'x'",
        edit=replaced(",x", ",1"),
        result=SINGLE,
    ),
    Advice(
        "questions",
        "a.csv",
        "id,query,doc\nq1,why?,d1\nq1,why?,d1\n",
        "judged twice",
        edit=replaced("q1,why?,d1\nq1", "q1"),
        result=SINGLE,
    ),
]


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.reader}-{case.name}-{case.advice[:40]}")
def test_a_message_is_an_instruction_that_works(case: Advice, tmp_path: Path) -> None:
    path = tmp_path / case.name
    path.write_bytes(case.data())
    with pytest.raises((TypeError, ValueError)) as refused:
        READERS[case.reader](path, **case.refused_options)
    message = str(refused.value)
    assert re.search(case.advice, message), message
    if case.edit is not None:
        path.write_bytes(case.edit(case.data()))
    read = READERS[case.other_reader or case.reader]
    if case.error:
        with pytest.raises((TypeError, ValueError), match=case.error):
            read(path, **case.options)
        return
    assert as_plain(read(path, **case.options)) == case.result

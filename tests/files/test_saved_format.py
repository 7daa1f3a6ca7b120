"""What cannot be read is refused with its place, and nothing in a file is ever run."""

import gzip
import json
import re
import sys
import warnings
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.files.saved_format import DIGEST_PREFIX, add_digest
from retrieval_metrics.metrics.base.user_metrics import forget_metric

if TYPE_CHECKING:
    from collections.abc import Callable

RESULT = rm.evaluate(
    rm.EvaluationSet({"q1": "why?", "q2": "how?"}, {"q1": {"a": 2}, "q2": ["b"]}),
    {"q1": [rm.Retrieved("a", "a text")], "q2": [rm.Retrieved("c", "another")]},
    ["mrr", "rbp"],
)


def changed(tmp_path: Path, change: Any) -> Path:
    path = tmp_path / "result.json"
    RESULT.save(path)
    content = json.loads(path.read_text())
    del content["digest"]
    change(content)
    path.write_bytes(add_digest(json.dumps(content).encode()))
    return path


def set_value(*keys: Any) -> Any:
    *path, last, value = keys

    def change(content: Any) -> None:
        for key in path:
            content = content[key]
        content[last] = value

    return change


def test_a_newer_version_is_refused_by_name(tmp_path: Path) -> None:
    path = changed(tmp_path, set_value("version", 2))
    with pytest.raises(ValueError, match=r"result\.json has format version 2, .* up to 1; .* pip install --upgrade"):
        rm.load(path)


def test_rows_of_values_may_come_without_their_query(tmp_path: Path) -> None:
    path = changed(tmp_path, lambda content: [row.pop(0) for row in content["evaluation"]["values"]["values"]])
    assert rm.load(path).per_query == RESULT.per_query


ORIGIN = ("evaluation", "origin")
DAMAGES = {
    "a ranking": (
        set_value(*ORIGIN, "run", "rankings", 1, "items", 0, {"text": 0}),
        r"damaged at run: query 'q2': .* needs an ID",
    ),
    "a text": (set_value(*ORIGIN, "run", "rankings", 1, "items", 0, "text", 9), r"damaged at run: list index"),
    "judgments": (set_value(*ORIGIN, "questions", 1, "relevant", 7), r"damaged at questions: .*'q2'"),
    "a question": (
        set_value(*ORIGIN, "questions", 1, {"query": "q2"}),
        r"damaged at questions\[1\]: there is no 'relevant'",
    ),
    "a question twice": (
        set_value(*ORIGIN, "questions", 1, "query", "q1"),
        r"damaged at questions\[1\]: query 'q1' .* twice",
    ),
    "a value": (set_value("evaluation", "values", "values", 0, ["x", 1]), r"damaged at values: "),
    "values that are missing": (
        set_value("evaluation", "values", "values", [[1.0, 1.0]]),
        r"values has 2 numbers for 2 queries",
    ),
    "values of another query": (
        set_value("evaluation", "values", "values", [["q1", 1.0, 1.0], ["q9", 1.0, 1.0]]),
        r"damaged at values: the rows of values are those of other queries",
    ),
    "a value out of range": (
        set_value("evaluation", "values", "values", 0, ["q1", 7.5, 0.5]),
        r"damaged at values: mrr of query 'q1' is 7\.5, which is not in \[0, 1\]",
    ),
    "another value": (
        set_value("evaluation", "values", "values", 0, ["q1", 0.25, 0.5]),
        r"damaged at values: mrr of query 'q1' is 0\.25, but the judgments and the ranking in the file give 1$",
    ),
    "no value": (set_value("evaluation", "values", "values", 0, ["q1", None, 0.5]), r"is nan, but .* give 1$"),
    "a boolean": (
        set_value("evaluation", "values", "values", 0, ["q1", True, 0.5]),
        r"an array of numbers holds a bool",
    ),
    "a text as a number": (set_value("evaluation", "values", "values", 0, ["q1", "1", 0.5]), r"holds a str"),
    "other judgments": (
        set_value(*ORIGIN, "questions", 0, "relevant", {"b": 2}),
        r"mrr of query 'q1' is 1, but .* give 0$",
    ),
    "a residual": (set_value("evaluation", "values", "residuals", {"rbp": [0.1]}), r"residuals of rbp has 1 numbers"),
    "rules": (set_value("evaluation", "rules", "record", "Popen"), r"damaged at rules: 'Popen' is not a record"),
    "a rule": (set_value("evaluation", "rules", "unheard", 1), r"damaged at rules: .*unheard"),
    "counts": (set_value("evaluation", "metrics", 0, {}), r"damaged at metrics\[0\]"),
    "a metric": (set_value("evaluation", "metrics", 0, "metric", "ndgc"), r"ndcg"),
    "labels": (set_value("labels", 3), r"damaged at labels"),
    "the version": (set_value("version", "one"), r"its version must be a whole number from 1, got 'one'"),
    "the kind": (set_value("kind", "poem"), r"is of kind 'poem', which load does not read"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_said_with_its_place(tmp_path: Path, name: str) -> None:
    change, message = DAMAGES[name]
    with pytest.raises(ValueError, match=message):
        rm.load(changed(tmp_path, change))


def damaged(text: bytes, random: Random) -> bytes:
    """A text with one of the damages that happen to files: a changed byte or number, lines lost, repeated or moved."""
    position = random.randrange(len(text))
    lines = text.split(b"\n")
    line = random.randrange(len(lines))
    other_line = random.randrange(len(lines))
    numbers = [match.span() for match in re.finditer(rb"\d+", text)]
    start, end = random.choice(numbers)
    size = random.choice([1, 3, 20, 300])
    damages: list[Callable[[], bytes]] = [
        lambda: text[:position] + bytes([text[position] ^ (1 << random.randrange(8))]) + text[position + 1 :],
        lambda: text[:position] + bytes([random.choice(b'0123456789.,"[]{}aetrufls-')]) + text[position + 1 :],
        lambda: text[:start] + str(random.randrange(100)).encode() + text[end:],
        lambda: text[:start] + random.choice([b"true", b"null", b"NaN", b"1e400", b"-1"]) + text[end:],
        lambda: text[:position] + text[position + size :],
        lambda: text[:position] + text[position : position + size] + text[position:],
        lambda: b"\n".join(lines[:line] + lines[line + 1 :]),
        lambda: b"\n".join([*lines[:line], lines[other_line], *lines[line:]]),
        lambda: b"\n".join([*lines[:line], lines[other_line], *lines[line + 1 :]]),
        lambda: text[:position],
    ]
    return random.choice(damages)()


QUERIES = [f"q{number}" for number in range(9)]
SAVED: dict[str, Any] = {
    "evaluation": RESULT.save,
    "comparison": lambda path: rm.compare(
        {query: ["d"] for query in QUERIES},
        {
            "one": {query: ["x"] * (number % 2) + ["d"] for number, query in enumerate(QUERIES)},
            "two": {query: ["x"] * (number % 3) + ["d"] for number, query in enumerate(QUERIES)},
        },
        "mrr",
    ).save(path),
    "questions": rm.EvaluationSet({"q1": "why?", "q2": "how?"}, {"q1": {"a": 2, "b": 1}, "q2": ["b"]}).save,
    "run": lambda path: rm.save_run({"q1": {"a": 2.5, "b": 2.0}, "q2": {"c": 0.25}}, path),
    "sample": lambda path: (
        rm.EvaluationSet({f"q{n}": f"text {n}" for n in range(20)}, {f"q{n}": ["a"] for n in range(20)})
        .sample(5)
        .save(path)
    ),
    "pool": rm.pool({"q1": "why?", "q2": "how?"}, {"q1": ["a", "b"], "q2": ["b"]}, {"a": "One.", "b": "Two."}).save,
    "labels": rm.Labels.from_qrels({"q1": {"a": 3, "b": 1}, "q2": {"a": 0}}, grader="Ada", relevant_from=2).save,
}


@pytest.mark.parametrize("kind", SAVED)
def test_of_a_thousand_damages_none_loads_with_another_content(tmp_path: Path, kind: str) -> None:
    original = tmp_path / "original.json"
    path = tmp_path / "result.json"
    SAVED[kind](original)
    text = original.read_bytes()
    random = Random(kind)
    expected = json.loads(text)
    del expected["digest"]
    for _ in range(200):
        damaged_text = damaged(text, random)
        path.write_bytes(damaged_text)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rm.load(path)
        except ValueError:
            continue
        # Blanks at its ends changed, or the name of the digest of what needs none.
        loaded = json.loads(damaged_text)
        assert {key: loaded.get(key) for key in expected} == expected, damaged_text


def test_what_people_write_needs_no_digest_and_git_may_change_the_ends_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "set.json"
    SAVED["questions"](path)
    questions = rm.load(path)
    text = path.read_bytes()
    path.write_bytes(text.replace(b"\n", b"\r\n"))
    assert rm.load(path).queries == questions.queries
    path.write_bytes(text.replace(b"how?", b"who?"))
    with pytest.raises(ValueError, match=r"changed after it was saved: .* remove its last key, if you changed these"):
        rm.load(path)
    content = json.loads(text.replace(b"how?", b"who?"))
    del content["digest"]
    path.write_text(json.dumps(content))
    assert rm.load(path).queries["q2"] == "who?"
    RESULT.save(path)
    content = json.loads(path.read_text())
    del content["digest"]
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="the digest at its end is missing"):
        rm.load(path)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_a_file_cut_anywhere_is_refused_with_its_place(tmp_path_factory: Any, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("cut") / "result.json"
    RESULT.save(path)
    text = path.read_bytes().rstrip()
    path.write_bytes(text[: data.draw(st.integers(60, len(text) - 1))])
    with pytest.raises(ValueError, match=r"result\.json is damaged or cut short at line \d+, column \d+"):
        rm.load(path)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_compressed_file_that_is_cut_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"result.json{suffix}"
    RESULT.save(path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match="damaged or cut short"):
        rm.load(path)


@pytest.mark.parametrize("text", ["", "q1 Q0 d1 1 2.0 tag\n", '{"q1": ["a"]}', "[1]", '"retrieval-metrics"'])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"other\.json (holds no saved result|is empty)"):
        rm.load(path)


def test_what_was_there_stays_if_saving_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result.json"
    RESULT.save(path)
    before = path.read_bytes()
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "no space left")))
    with pytest.raises(OSError, match="no space left"):
        RESULT.save(path, labels={"n": 2})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_metric_of_ones_own_is_never_imported_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "house_metrics.py").write_text(
        "import retrieval_metrics as rm\n"
        "def first(grades):\n"
        "    return float(grades[0] > 0)\n"
        "rm.define_metric('house_first', first)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import house_metrics  # type: ignore[import-not-found]  # noqa: F401

    try:
        result = rm.evaluate({"q": ["a"]}, {"q": ["a"]}, ["house_first@3", "mrr"])
        result.save(tmp_path / "result.json")
    finally:
        forget_metric("house_first")
        del sys.modules["house_metrics"]
    with pytest.raises(ValueError, match=r"'house_first@3', which is not known here; first `import house_metrics`"):
        rm.load(tmp_path / "result.json")
    assert "house_metrics" not in sys.modules
    try:
        __import__("house_metrics")
        assert rm.load(tmp_path / "result.json").means == result.means
    finally:
        forget_metric("house_first")


def test_a_file_of_this_version_needs_its_digest(tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    rm.evaluate({"q": ["d"]}, {"q": ["d"]}, "mrr").save(path)
    path.write_bytes(path.read_bytes().partition(DIGEST_PREFIX)[0] + b"}")
    with pytest.raises(ValueError, match="the digest at its end is missing"):
        rm.load(path)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrieval_metrics.files.opening.ALWAYS_ALLOWED_BYTES", 1 << 20)
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b" " * (8 << 20)))
    with pytest.raises(ValueError, match=r"bomb.json.gz expands too much .*; if you trust it, decompress it"):
        rm.load(path)

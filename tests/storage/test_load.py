"""What people's time went into is loaded as it was saved, and equals it."""

import json
import random
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.files.saved_format import add_digest

QUERIES: dict[Any, str] = {number: f"what is {number}?" for number in range(24)}
RUNS: dict[str, Any] = {
    "old": {query: ["d1", "d2", "d3"] for query in QUERIES},
    "new": {query: [["d2", "d1", "d3"], ["d3", "d4"]][query % 2] for query in QUERIES},
}
CORPUS = {f"d{number}": f"Text {number}, in two lines\u2028of Größe {number}." for number in range(1, 5)}
POOL = rm.pool(QUERIES, RUNS, CORPUS)


def grade(prompt: str) -> str:
    return json.dumps({"grade": sum(map(ord, prompt)) % 4, "reason": "so"})


MODEL = POOL.grade(rm.Model(grade, name="a model"))
SAMPLE = POOL.sample(12, graded=MODEL, runs=RUNS)
PEOPLE = POOL.for_queries(SAMPLE).grade(rm.Model(lambda prompt: grade(prompt[:-1]), name="Ada"))
KINDS = {query: f"kind {query % 2}" for query in QUERIES}
SAVED: dict[str, Any] = {
    "pool": POOL,
    "pool with effects": rm.pool(
        rm.EvaluationSet({"q1": "why?", "q2": "how?"}, {"q1": {"d1": 3}, "q2": {"d2": 1}}),
        {"one": {"q1": ["d1", "d2"], "q2": ["d1"]}, "two": {"q1": ["d3"], "q2": ["d2"]}},
        metric="mrr",
    ),
    "sample": POOL.sample(12, seed=3),
    "sample in strata": rm.EvaluationSet(QUERIES, {query: ["d1"] for query in QUERIES}).sample(12, KINDS),
    "sample where systems differ": SAMPLE,
    "sample drawn elsewhere": rm.types.Sample.from_probabilities({3: 0.5, 1: 1.0}, population=[1, 2, 3]),
    "labels": MODEL,
    "labels of several": PEOPLE.merge(MODEL),
    "labels without a scale": rm.Labels.from_qrels({"q": {"d": 1}}, grader="Ada"),
    "estimate": rm.evaluate_with_labels(RUNS, ["mrr", "ndcg@3"], human=PEOPLE, model=MODEL, sample=SAMPLE),
    "estimate of one system": rm.evaluate_with_labels(RUNS["old"], "map", human=PEOPLE, model=MODEL, sample=SAMPLE),
}


@pytest.mark.parametrize("name", ["kept.json", "kept.json.gz"])
@pytest.mark.parametrize("kind", SAVED)
def test_what_is_loaded_equals_what_was_saved(kind: str, name: str, tmp_path: Path) -> None:
    SAVED[kind].save(tmp_path / name)
    loaded = rm.load(tmp_path / name)
    assert loaded == SAVED[kind]
    assert type(loaded) is type(SAVED[kind])
    assert str(loaded) == str(SAVED[kind])
    loaded.save(tmp_path / f"again-{name}")
    assert rm.load(tmp_path / f"again-{name}") == loaded


def test_what_differs_is_not_equal() -> None:
    for kind, saved in SAVED.items():
        assert [other_kind for other_kind, other in SAVED.items() if saved == other] == [kind]
    assert POOL.sample(12, seed=3) == POOL.sample(12, seed=3)
    assert POOL.sample(12, seed=3) != POOL.sample(12, seed=4)
    assert POOL.top(3) != POOL
    assert replace_one_grade(MODEL) != MODEL


def replace_one_grade(labels: rm.Labels) -> rm.Labels:
    first, *further = labels.labels
    return rm.Labels([replace(first, grade=3.0 if first.grade != 3 else 0.0), *further], labels.notes, labels.scale)


def test_a_loaded_pool_and_sample_go_on_as_before(tmp_path: Path) -> None:
    POOL.save(tmp_path / "pool.json")
    SAMPLE.save(tmp_path / "sample.json")
    pool = rm.load(tmp_path / "pool.json")
    sample = rm.load(tmp_path / "sample.json")
    pages = [
        pool.for_queries(sample).labelling_page(tmp_path / "again.html"),
        POOL.for_queries(SAMPLE).labelling_page(tmp_path / "a.html"),
    ]
    assert pages[0][0].read_bytes() == pages[1][0].read_bytes()
    assert pool.grade(rm.Model(grade, name="a model")) == MODEL
    estimate = rm.evaluate_with_labels(RUNS, ["mrr", "ndcg@3"], human=PEOPLE, model=MODEL, sample=sample)
    assert estimate == SAVED["estimate"]


def test_a_stratum_that_json_cannot_hold_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    days = {query: date(2026, 5, 1 + query % 2) for query in QUERIES}
    sample = rm.EvaluationSet(QUERIES, {query: ["d1"] for query in QUERIES}).sample(12, days)
    with pytest.raises(ValueError, match=r"strata of the sample is datetime\.date\(2026, 5, 1\) .* cannot be saved"):
        sample.save(tmp_path / "sample.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content["probabilities"]["mapping"][0].__setitem__(1, 7), "damaged at .*must be above 0"),
        (lambda content: content["queries"]["tuple"].pop(), "damaged at .*each with its probability"),
        (lambda content: content.pop("population"), "damaged at population"),
        (lambda content: content.update(population={"record": "Popen", "args": "ls"}), "'Popen' is not a record"),
    ],
)
def test_a_forged_sample_is_refused_although_its_digest_is_right(change: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "sample.json"
    SAMPLE.save(path)
    content = json.loads(path.read_text())
    del content["digest"]
    change(content)
    path.write_bytes(add_digest(json.dumps(content, indent=1).encode().replace(b'{\n "format": ', b'{\n"format": ', 1)))
    with pytest.raises(ValueError, match=message):
        rm.load(path)


# What a mutation puts in place of a value.
WRONG_VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    2**70,
    1e308,
    "",
    "q0",
    [],
    {},
    [[]],
    [None],
    {"a": 1},
    {"record": "Rules"},
]


def list_places(value: Any) -> list[tuple[Any, Any]]:
    """Return every place in a JSON value: the object or list, and the key or index in it."""
    places: list[tuple[Any, Any]] = []
    keys: Any = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        places.append((value, key))
        if isinstance(value[key], (dict, list)):
            places += list_places(value[key])
    return places


def save_one_of_each_kind(folder: Path) -> None:
    qrels: Any = {query: {"d1": 1, "d2": 2} for query in QUERIES}
    questions = rm.EvaluationSet(
        QUERIES, {query: [rm.Quote("a text of many words"), rm.Span("a", 0, 8)] for query in QUERIES}
    )
    items = {query: [rm.Retrieved("d1", "a text of many words", "a", 0, 20)] for query in QUERIES}
    rm.evaluate(questions, items, "mrr", clusters={query: query // 2 for query in QUERIES}).save(
        folder / "evaluation.json"
    )
    questions.save(folder / "questions.json")
    rm.compare(qrels, RUNS, "mrr").save(folder / "comparison.json")
    rm.save_run(items, folder / "run.json")
    POOL.save(folder / "pool.json")
    SAMPLE.save(folder / "sample.json")
    PEOPLE.save(folder / "labels.json")
    rm.evaluate_with_labels(RUNS, "mrr", human=PEOPLE, model=MODEL, sample=SAMPLE).save(folder / "estimate.json")
    scored: Any = {query: {"d1": 0.5 + query / 100} for query in range(60)}
    answerable: Any = {query: ["d1"] if query > 30 else [] for query in range(60)}
    rm.threshold(answerable, scored, "hit_rate@5").save(folder / "threshold.json")


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")  # of few clusters, and of what was changed
def test_a_damaged_field_behind_a_right_digest_is_found_when_it_is_loaded(tmp_path: Path) -> None:
    save_one_of_each_kind(tmp_path)
    chance = random.Random(7)
    n_refused = 0
    for path in sorted(tmp_path.glob("*.json")):
        for _ in range(12):
            content = json.loads(path.read_text())
            del content["digest"]
            place, key = chance.choice(list_places(content))
            place[key] = chance.choice(WRONG_VALUES)
            forged = tmp_path / "forged"
            forged.write_bytes(add_digest(json.dumps(content).encode()))
            try:
                result = rm.load(forged)
            except ValueError:
                n_refused += 1
                continue
            assert str(result) is not None, path
    assert n_refused > 50

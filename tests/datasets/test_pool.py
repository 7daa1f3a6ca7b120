"""What is worth grading, and why."""

import json
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm

QUERIES: dict[Any, str] = {"q1": "who opens the vault?", "q2": "who locks the gate?"}
RUNS: dict[str, Any] = {
    "bm25": {"q1": ["a", "b", "c"], "q2": ["b", "d", "a"]},
    "dense": {"q1": ["c", "e", "a"], "q2": ["d", "b", "e"]},
}
CORPUS: dict[Any, str] = {
    "a": "The guard opens the vault.",
    "b": "The porter locks the gate every night, and opens it again in the morning after the guard has gone.",
    "c": "Nothing of interest.",
    "d": "The gate is locked by the porter.",
    "e": "A vault is a room.",
}
QUESTIONS = rm.EvaluationSet(QUERIES, {"q1": {"a": 1, "x": 1}, "q2": []})


def found(pool: rm.types.Pool) -> list[tuple[Any, Any, str]]:
    return [(item.query, item.document, item.why) for item in pool]


def test_it_is_the_union_of_the_first_minus_what_is_judged_with_the_reason() -> None:
    pool = rm.pool(QUESTIONS, RUNS, CORPUS, depth=2)
    assert found(pool) == [
        ("q1", "b", "bm25 2"),
        ("q1", "c", "dense 1"),
        ("q1", "e", "dense 2"),
        ("q2", "b", "bm25 1, dense 2"),
        ("q2", "d", "bm25 2, dense 1"),
    ]
    assert pool.n_judged == 1
    assert [item.text for item in pool] == [CORPUS[item.document] for item in pool]
    assert len(rm.pool(QUESTIONS, RUNS, CORPUS, depth=2, judged=True)) == 6
    assert len(rm.pool(QUERIES, RUNS, CORPUS, depth=2)) == 6
    said = str(pool)
    assert said.startswith("5 documents to grade, of 2 queries")
    assert "dense alone     2" in said
    assert "1 more are judged and were left out" in said


def test_documents_without_an_id_are_refused_and_not_taken_for_one() -> None:
    chunks = [rm.Retrieved(None, text, "gate.md", 40 * at) for at, text in enumerate(CORPUS.values())]
    runs = {"bm25": {"q1": chunks[:3]}}
    with pytest.raises(ValueError, match=r"rank 1 of query 'q1' in 'bm25' \('The guard opens the vault\.'\) has no id"):
        rm.pool(QUERIES, runs)
    pool = rm.pool(QUERIES, runs, match=lambda item: f"{item.source}@{item.start}")
    assert found(pool) == [("q1", f"gate.md@{40 * at}", f"bm25 {at + 1}") for at in range(3)]


def test_scores_and_items_are_ranked_as_they_are_evaluated() -> None:
    scored = {"q1": {"a": 1.0, "b": 3.0, "c": 3.0}}  # of equal scores the larger id is first
    assert [item.document for item in rm.pool(QUERIES, scored, depth=2)] == ["c", "b"]
    items = {"q1": [rm.Retrieved("a", "its own text"), rm.Retrieved("b", "another")]}
    assert [item.text for item in rm.pool(QUERIES, items)] == ["its own text", "another"]
    assert [item.text for item in rm.pool(QUERIES, items, {"a": "of the corpus"})] == ["of the corpus", "another"]


def test_of_judged_quotes_no_document_is_known_to_be_judged() -> None:
    questions = rm.EvaluationSet(QUERIES, {"q1": [rm.Quote("opens the vault")], "q2": []})
    assert rm.pool(questions, RUNS, CORPUS).n_judged == 0


def test_a_limit_takes_the_first_of_every_query_or_what_could_move_a_difference_most() -> None:
    pool = rm.pool(QUESTIONS, RUNS, CORPUS, depth=3, metric="ndcg@3")
    assert {min(item.ranks.values()) for item in pool.top(3)} == {1}
    assert {item.query for item in pool.top(3)} == {"q1", "q2"}
    comparison = rm.compare(QUESTIONS, RUNS, "ndcg@3")
    expected = {(one.query, one.document): one.effect for one in comparison.to_judge(100)}
    assert {(item.query, item.document): item.effect for item in pool} == pytest.approx(expected)
    best = max(expected, key=expected.__getitem__)
    (first,) = pool.top(1, "effect")
    assert expected[first.query, first.document] == expected[best]
    drawn = [tuple(item.document for item in pool.top(3, "random", seed=seed)) for seed in range(8)]
    assert len(set(drawn)) > 1
    assert drawn[0] == tuple(item.document for item in pool.top(3, "random", seed=0))
    with pytest.raises(ValueError, match="the pool has no effects"):
        rm.pool(QUERIES, RUNS).top(2, "effect")
    with pytest.raises(ValueError, match="by must be"):
        pool.top(2, "best")  # type: ignore[arg-type]


def test_the_pool_of_a_sample_keeps_every_document_of_it() -> None:
    pool = rm.pool(QUERIES, RUNS, CORPUS, depth=2)
    sample = pool.sample(1, seed=1)
    held = pool.for_queries(sample)
    assert {item.query for item in held} == set(sample)
    assert len(held) == sum(item.query in sample for item in pool)
    with pytest.raises(KeyError, match="query 'q9' is not among the"):
        pool.for_queries(["q9"])


def test_kinds_say_by_whom_a_passage_was_found_and_how_like_the_question_it_is() -> None:
    kinds = rm.pool(QUERIES, RUNS, CORPUS, depth=3).kinds
    assert kinds["q1", "b"]["found by"] == "bm25 alone"
    assert kinds["q1", "a"]["found by"] == "bm25 and dense"
    assert kinds["q1", "a"]["best rank"] == "1 to 3"
    assert kinds["q2", "b"]["length"].startswith("over ")
    assert kinds["q1", "a"]["words of the question"].startswith("over ")
    assert kinds["q1", "c"]["words of the question"].startswith("up to ")


def test_kinds_at_their_borders() -> None:
    run = {"q1": ["a", "c", "d", "e"]}
    corpus = {"a": "guard", "c": "the vault opens", "d": "opens vault now", "e": "he opens the vault by night"}
    kinds = rm.pool(QUERIES, {"alone": run}, corpus).kinds
    assert [kinds["q1", one]["best rank"] for one in "acde"] == ["1 to 3", "1 to 3", "1 to 3", "beyond 3"]
    # The median itself is not over it: 3 words, and both content words of the question.
    assert [kinds["q1", one]["length"] for one in "acde"] == [*["up to 3 words"] * 3, "over 3 words"]
    assert {kinds["q1", one]["words of the question"] for one in "acde"} == {"up to 100%"}
    assert {kinds["q1", one]["found by"] for one in "acde"} == {"alone"}  # the name of the only system, and no more


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((QUERIES, [["a"]]), "runs must be a run"),
        ((QUERIES, {"elsewhere": {"q9": ["a"]}}), "nothing was retrieved for any of the 2 queries"),
        ((["who?"], RUNS), "questions must be an EvaluationSet"),
        ((QUERIES, RUNS, None, 0), "depth must be a positive integer"),
        ((QUERIES, RUNS, "text"), "a corpus must map ids to texts"),
    ],
)
def test_what_cannot_be_pooled_says_why(arguments: Any, error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        rm.pool(*arguments)


def test_effects_need_two_systems_and_a_metric_whose_change_is_bounded() -> None:
    with pytest.raises(ValueError, match="needs two systems"):
        rm.pool(QUESTIONS, RUNS["bm25"], metric="mrr")
    with pytest.raises(ValueError, match="how far map can have moved without judgments"):
        rm.pool(QUERIES, RUNS, metric="map")


def test_without_judgments_an_effect_is_what_the_place_of_a_document_is_worth() -> None:
    runs = {"one": {"q1": ["a", "b"]}, "other": {"q1": ["b", "c"]}}
    effects = {item.document: item.effect for item in rm.pool({"q1": "what?"}, runs, metric="mrr")}
    assert effects == {"a": 1.0, "b": 0.5, "c": 0.5}  # 1/1 - 0; 1/1 - 1/2; 1/2 - 0


def test_what_cannot_be_graded_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    path = tmp_path / "label.html"
    with pytest.raises(ValueError, match=r"documents have no text, for example 'a'"):
        rm.pool(QUERIES, RUNS).labelling_page(path)
    with pytest.raises(ValueError, match="a rubric must have 4 texts"):
        rm.pool(QUERIES, RUNS, CORPUS).labelling_page(path, rubric=["no", "yes"])
    judged = rm.EvaluationSet(QUERIES, {query: list(CORPUS) for query in QUERIES})
    with pytest.raises(ValueError, match="the pool is empty"):
        rm.pool(judged, RUNS, CORPUS).labelling_page(path)
    assert not path.exists()


def test_the_page_holds_no_system_and_no_rank(tmp_path: Path) -> None:
    path = tmp_path / "label.html"
    rm.pool(QUERIES, RUNS, CORPUS).labelling_page(path)
    data = json.loads(path.read_text().split('id="data">')[1].split("</script>")[0])
    known = {"file", "digest", "label", "grader", "rubric", "rubric_key", "scale", "questions"}
    assert set(data) == known
    for question in data["questions"]:
        assert set(question) == {"query", "text", "passages"}
        assert {tuple(passage) for passage in question["passages"]} == {("document", "text", "key")}
    assert "bm25" not in path.read_text()


def shares(paths: tuple[Path, ...]) -> list[dict[str, int]]:
    """Return the questions of each page, with the number of their passages."""
    found = []
    for path in paths:
        data = json.loads(path.read_text().split('id="data">')[1].split("</script>")[0])
        assert path.stem == f"label-{data['grader'].replace(' ', '-')}"
        found.append({json.loads(one["query"]): len(one["passages"]) for one in data["questions"]})
    return found


@pytest.mark.parametrize(("overlap", "common"), [(0.0, 0), (0.2, 6), (0.21, 7), (1.0, 30)])
def test_assignments_share_whole_questions_out_evenly(tmp_path: Path, overlap: float, common: int) -> None:
    corpus = {f"d{at}": f"text {at}" for at in range(9)}
    texts = {f"q{at}": f"what is {at}?" for at in range(30)}
    run = {query: [f"d{(at + number) % 9}" for at in range(2 + number % 4)] for number, query in enumerate(texts)}
    pooled = rm.pool(texts, {"one": run}, corpus)
    options: dict[str, Any] = {"people": ["Ada", "Ben B", "Cy"], "overlap": overlap}
    paths = pooled.labelling_page(tmp_path / "label.html", **options)
    assert [path.name for path in paths] == ["label-Ada.html", "label-Ben-B.html", "label-Cy.html"]
    first, second, third = held = shares(paths)
    everybody = set(first) & set(second) & set(third)
    assert len(everybody) == common
    assert sum(map(len, held)) == 30 + 2 * common  # nobody else's questions are graded twice
    assert set(first) | set(second) | set(third) == set(texts)
    assert all(number == len(run[query]) for share in held for query, number in share.items())
    passages = [sum(share.values()) for share in held]
    assert max(passages) - min(passages) <= 5  # less than one question
    assert (
        shares(pooled.labelling_page(tmp_path / "label.html", people=["Ada", "Ben B", "Cy"], overlap=overlap)) == held
    )


@pytest.mark.parametrize(
    ("people", "overlap", "error", "words"),
    [
        ("Ada", 0.2, TypeError, "a list of names, got the text 'Ada'"),
        ([3], 0.2, TypeError, "must be names, got 3"),
        ([], 0.2, ValueError, r"must be different names, got \[\]"),
        (["Ada", "Ada"], 0.2, ValueError, "must be different names"),
        (["Ada", " "], 0.2, ValueError, "must be different names"),
        (["A b", "A-b"], 1, ValueError, "equal names of files"),
        (["Ada", "Ben"], 1.5, ValueError, "from 0 to 1, got 1.5"),
        (["Ada", "Ben"], float("nan"), ValueError, "from 0 to 1, got nan"),
        (list("abcdef"), 0, ValueError, "too few for 6 people: nothing is left for"),
    ],
)
def test_assignments_that_make_no_sense_are_refused_before_anything_is_written(
    tmp_path: Path, people: Any, overlap: float, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        rm.pool(QUERIES, RUNS, CORPUS).labelling_page(tmp_path / "label.html", people=people, overlap=overlap)
    assert not list(tmp_path.iterdir())


def test_it_becomes_a_frame() -> None:
    frame = rm.pool(QUESTIONS, RUNS, CORPUS, depth=2).to_pandas()
    assert list(frame.columns) == ["query", "document", "text", "best_rank", "found_by", "effect"]
    assert list(frame["found_by"]) == ["bm25", "dense", "dense", "bm25, dense", "bm25, dense"]


def test_exchanged_arguments_say_so() -> None:
    runs: Any = {"bm25": {"q1": ["d1"]}}
    for questions in ({"q1": "why?"}, rm.EvaluationSet({"q1": "why?"}, {"q1": ["d1"]})):
        with pytest.raises(TypeError, match=r"exchange the first two arguments, pool\(questions, runs\)"):
            rm.pool(runs, questions)  # type: ignore[arg-type]  # that is what is tested

"""Pages on which people grade, and how questions are shared out among them."""

import json
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from vault_runs import CORPUS, QUERIES, RUNS


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
    sections = {"file", "digest", "label", "grader", "rubric", "rubric_key", "scale", "questions"}
    assert set(data) == sections
    for question in data["questions"]:
        assert set(question) == {"query", "text", "passages"}
        assert {tuple(passage) for passage in question["passages"]} == {("document", "text", "key")}
    assert "bm25" not in path.read_text()


def count_passages(paths: tuple[Path, ...]) -> list[dict[str, int]]:
    """Return the questions of each page, with the number of their passages."""
    n_by_page = []
    for path in paths:
        data = json.loads(path.read_text().split('id="data">')[1].split("</script>")[0])
        assert path.stem == f"label-{data['grader'].replace(' ', '-')}"
        n_by_page.append({json.loads(question["query"]): len(question["passages"]) for question in data["questions"]})
    return n_by_page


@pytest.mark.parametrize(("overlap", "n_common"), [(0.0, 0), (0.2, 6), (0.21, 7), (1.0, 30)])
def test_assignments_share_whole_questions_out_evenly(tmp_path: Path, overlap: float, n_common: int) -> None:
    corpus = {f"d{number}": f"text {number}" for number in range(9)}
    texts = {f"q{number}": f"what is {number}?" for number in range(30)}
    run = {}
    for number, query in enumerate(texts):
        run[query] = [f"d{(number + rank) % 9}" for rank in range(2 + number % 4)]
    pooled = rm.pool(texts, {"one": run}, corpus)
    options: dict[str, Any] = {"people": ["Ada", "Ben B", "Cy"], "overlap": overlap}
    paths = pooled.labelling_page(tmp_path / "label.html", **options)
    assert [path.name for path in paths] == ["label-Ada.html", "label-Ben-B.html", "label-Cy.html"]
    first, second, third = pages = count_passages(paths)
    shared = set(first) & set(second) & set(third)
    assert len(shared) == n_common
    assert sum(map(len, pages)) == 30 + 2 * n_common  # nobody else's questions are graded twice
    assert set(first) | set(second) | set(third) == set(texts)
    for n_by_query in pages:
        assert n_by_query == {query: len(run[query]) for query in n_by_query}
    passages = [sum(n_by_query.values()) for n_by_query in pages]
    assert max(passages) - min(passages) <= 5  # less than one question
    assert (
        count_passages(pooled.labelling_page(tmp_path / "label.html", people=["Ada", "Ben B", "Cy"], overlap=overlap))
        == pages
    )


@pytest.mark.parametrize(
    ("people", "overlap", "error", "words"),
    [
        ("Ada", 0.2, TypeError, "a list of names, got the text 'Ada'"),
        ([3], 0.2, TypeError, "must be names, got 3"),
        ([], 0.2, ValueError, r"must be different names, got \[\]"),
        (["Ada", "Ada"], 0.2, ValueError, "must be different names"),
        (["Ada", " "], 0.2, ValueError, "must be different names"),
        (["A b", "A-b"], 1, ValueError, "equal file names"),
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


@pytest.mark.parametrize("people", [["Ada", "ada"], ["Ren\u00e9", "Rene\u0301"]])
def test_names_that_are_one_file_on_many_disks_are_refused(people: list[str], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"different names, got .*; upper and lower case, or two Unicode forms"):
        rm.pool(QUERIES, RUNS, CORPUS).labelling_page(tmp_path / "label.html", people=people)
    assert not list(tmp_path.iterdir())

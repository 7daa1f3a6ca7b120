"""Several retrievers in one call: the same comparison as by hand, with seconds and failures."""

import asyncio
import re
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm

QUESTIONS = [{"id": f"q{number}", "query": f"text {number}", "relevant": [f"d{number}"]} for number in range(12)]
METRICS = ["mrr", "hit_rate@1"]


def bm25(text: str) -> dict[str, float]:
    number = int(text.split()[1])
    return {f"d{number}": 1.0, "x": 2.0 if number % 3 else 0.5}


async def dense(text: str) -> list[str]:
    await asyncio.sleep(0)
    return ["y", "x", f"d{text.split()[1]}"]


def flaky(text: str) -> list[str]:
    if text in {"text 3", "text 5"}:
        raise ConnectionError("no index")
    return [f"d{text.split()[1]}"]


def in_a_script(retrievers: Mapping[str, Any], *arguments: Any, **options: Any) -> rm.Comparison:
    return rm.compare_retrievers(retrievers, *arguments, **options)


def awaited(retrievers: Mapping[str, Any], *arguments: Any, **options: Any) -> rm.Comparison:
    async def work() -> rm.Comparison:
        return await rm.acompare_retrievers(retrievers, *arguments, **options)

    return asyncio.run(work())


DOORS = [in_a_script, awaited]


def without_seconds(comparison: rm.Comparison) -> str:
    return str(comparison).partition("\n\nseconds per query")[0]


@pytest.mark.parametrize("compared", DOORS)
def test_questions_keep_their_sources_and_texts(compared: Callable[..., rm.Comparison]) -> None:
    rows = [{**row, "source": f"page {number // 2}"} for number, row in enumerate(QUESTIONS)]
    questions = rm.EvaluationSet.from_dataset(rows)
    runs = {"bm25": rm.retrieve(bm25, questions), "dense": rm.retrieve(dense, questions)}
    comparison = compared({"bm25": bm25, "dense": dense}, rows, METRICS)
    assert "queries in 6 clusters by source of the judgments" in str(comparison)
    assert without_seconds(comparison) == without_seconds(rm.compare(questions, runs, METRICS))
    assert "clusters" not in str(compared({"bm25": bm25, "dense": dense}, rows, METRICS, clusters=None))


@pytest.mark.parametrize("compared", DOORS)
def test_it_is_what_retrieve_and_compare_give(compared: Callable[..., rm.Comparison]) -> None:
    questions = rm.EvaluationSet.from_dataset(QUESTIONS)
    runs = {"bm25": rm.retrieve(bm25, questions), "dense": rm.retrieve(dense, questions)}
    options: dict[str, Any] = {"baseline": "dense", "level": 0.9, "resamples": 500, "seed": 7}
    by_hand = rm.compare(questions.qrels, runs, METRICS, **options)
    comparison = compared({"bm25": bm25, "dense": dense}, QUESTIONS, METRICS, **options)
    assert without_seconds(comparison) == without_seconds(by_hand)
    assert comparison.systems == ("bm25", "dense")
    assert comparison.baseline == "dense"
    assert comparison.means["mrr"]["dense"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("compared", DOORS)
def test_seconds_and_failures_of_each_system_are_part_of_it(compared: Callable[..., rm.Comparison]) -> None:
    with pytest.warns(rm.RetrievalWarning, match="^flaky: .* failed on 2 of .*'q3'") as caught:
        comparison = compared({"bm25": bm25, "flaky": flaky}, QUESTIONS, METRICS)
    assert [Path(warning.filename).name for warning in caught] == ["test_compare_retrievers.py"]
    assert comparison.evaluations["flaky"].means["hit_rate@1"] == 10 / 12
    assert list(comparison.errors["flaky"]) == ["q3", "q5"]
    assert comparison.errors["bm25"] == {}
    assert {name: len(seconds) for name, seconds in comparison.seconds.items()} == {"bm25": 12, "flaky": 12}
    printed = str(comparison)
    assert re.search(r"^system +failed +median +95th percentile +longest$", printed, re.MULTILINE)
    assert re.search(r"^bm25 +0( +[\d.e-]+){3}$", printed, re.MULTILINE)
    assert re.search(r"^flaky +2( +[\d.e-]+){3}$", printed, re.MULTILINE)
    failures = "flaky failed on 2 of 12 queries, which score 0."
    assert comparison.summary[0] == failures
    assert printed.index(failures) < printed.index(comparison.summary[1])
    assert failures in comparison.to_markdown()
    assert printed.endswith("flaky failed on 2 queries, for example 'q3': ConnectionError: no index")


def test_the_report_shows_them_too(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)
        comparison = rm.compare_retrievers({"bm25": bm25, "flaky": flaky}, QUESTIONS, METRICS)
    comparison.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "seconds per query" in page
    assert "flaky failed on 2 queries" in page
    failures = "flaky failed on 2 of 12 queries, which score 0."
    assert page.index(failures) < page.index("<h2>Ranking")
    assert failures in comparison._repr_html_()


@pytest.mark.parametrize("compared", DOORS)
def test_every_system_is_asked_the_first_question_before_any_is_asked_the_others(
    compared: Callable[..., rm.Comparison],
) -> None:
    calls: list[tuple[str, str]] = []

    def system(name: str, answer: Any) -> Callable[[str], Any]:
        def retriever(text: str) -> Any:
            calls.append((name, text))
            return answer

        return retriever

    with pytest.raises(ValueError, match="needs the lengths of the items") as caught:
        compared({"a": system("a", [rm.Retrieved("d1", "text")]), "b": system("b", ["d1"])}, QUESTIONS, "mrr@9chars")
    assert calls == [("a", "text 0"), ("b", "text 0")]
    assert caught.value.__notes__ == ["this is the first answer of the system 'b', to query 'q0' ('text 0')"]


@pytest.mark.parametrize(
    ("retrievers", "options", "error", "message"),
    [
        ([bm25, dense], {}, TypeError, "retrievers must map the name of each system to its retriever, got list"),
        ({"bm25": bm25}, {}, ValueError, "a comparison needs at least two systems, got 'bm25'"),
        (
            {"bm25": bm25, "dense": dense},
            {"baseline": "none"},
            ValueError,
            "baseline='none' is not one of the systems",
        ),
        ({"bm25": bm25, "dense": dense}, {"sed": 1}, TypeError, "compare_retrievers and compare have no option 'sed'"),
        ({"bm25": bm25, "dense": dense}, {"runs": {}}, TypeError, "compare have no option 'runs'"),
        ({"bm25": bm25, "dense": dense}, {"rules": "mine"}, ValueError, "mine"),
        ({"bm25": bm25, "dense": ["d1"]}, {}, TypeError, "this is the retriever of the system 'dense'"),
    ],
)
def test_wrong_arguments_are_refused_before_anybody_is_asked(
    retrievers: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    for compared in DOORS:
        with pytest.raises(error, match=message):
            compared(retrievers, QUESTIONS, METRICS, **options)


def test_progress_counts_the_questions_of_all_systems(capsys: pytest.CaptureFixture[str]) -> None:
    rm.compare_retrievers({"bm25": bm25, "dense": dense}, QUESTIONS, METRICS, show_progress=True)
    assert "24/24" in capsys.readouterr().err


@pytest.mark.parametrize("compared", DOORS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 2}, "level must be strictly between 0 and 1, got 2"),
        ({"margin": -1}, "margin must be positive, got -1"),
        ({"margin": 5}, "margin must be at most 1, .* got 5. Did you mean 0.05"),
        ({"resamples": 0}, "resamples must be a positive integer, got 0"),
        ({"clusters": {"other": 1}}, "clusters= has none of the judged queries"),
        ({"unjudged": "bound"}, "unjudged must be one of"),
        ({"unjudged": "condensed"}, "only if documents are judged by ID"),
        ({"unjudged": "bounds"}, "only if single documents are judged by ID"),
        ({"rules": "trec_eval", "ties": "any"}, "ties must be one of"),
        ({"metrics": "judged@5"}, "judged measures the judgments"),
        ({"questions": [("text 0", [rm.Quote("long enough")]), ("text 1", [rm.Quote("wiki")])]}, "the quote 'wiki'"),
        ({"questions": [("text 0", {"d": 1.5})], "rules": "trec_eval"}, "takes whole grades only"),
    ],
)
def test_what_the_comparison_refuses_costs_no_call(
    compared: Callable[..., rm.Comparison], options: dict[str, Any], message: str
) -> None:
    calls = []

    def retriever(text: str) -> list[rm.Retrieved]:
        calls.append(text)
        return [rm.Retrieved("d", "long enough")]

    arguments = {"questions": [(f"text {number}", [rm.Quote("long enough")]) for number in range(9)], "metrics": "mrr"}
    arguments |= options
    with pytest.raises(ValueError, match=message) as caught:
        compared({"a": retriever, "b": retriever}, arguments.pop("questions"), arguments.pop("metrics"), **arguments)
    assert not calls
    assert not hasattr(caught.value, "__notes__")


def test_an_interrupted_comparison_goes_on_where_it_stopped(tmp_path: Path) -> None:
    questions = [(f"question {number}", ["d"]) for number in range(8)]
    calls: list[tuple[str, str]] = []

    def retriever(name: str, ranking: list[str], *, ends_at: str = "") -> Any:
        def search(text: str) -> list[str]:
            calls.append((name, text))
            if text == ends_at:
                raise KeyboardInterrupt
            return ranking

        return search

    def compared(*, ends_at: str = "") -> Any:
        retrievers = {"a/b": retriever("a/b", ["d"]), "c": retriever("c", ["x", "d"], ends_at=ends_at)}
        return rm.compare_retrievers(retrievers, questions, "mrr", workers=1, resume=tmp_path / "answers")

    with pytest.raises(KeyboardInterrupt):
        compared(ends_at="question 5")
    before = len(calls)
    result = compared()
    assert sorted(calls[before:]) == [("c", f"question {number}") for number in range(5, 8)]
    assert result.means == {"mrr": {"a/b": 1.0, "c": 0.5}}
    assert sorted(path.name for path in (tmp_path / "answers").iterdir()) == ["a%2Fb.jsonl", "c.jsonl"]
    done = len(calls)
    assert str(compared()) == str(result)
    assert len(calls) == done


def test_a_file_in_place_of_the_folder_of_answers_is_refused_before_a_question_is_asked(tmp_path: Path) -> None:
    def search(_: str) -> list[str]:
        raise AssertionError("nothing may be asked")

    file = tmp_path / "run.jsonl"
    file.write_text("{}\n", encoding="utf-8")
    retrievers = {"a": search, "b": search}
    for path in (file, file / "answers"):
        with pytest.raises(ValueError, match=rf"must be a folder .* '{re.escape(str(path))}' .*; pass a new path"):
            rm.compare_retrievers(retrievers, QUESTIONS, "mrr", resume=path)
    assert file.read_text(encoding="utf-8") == "{}\n"

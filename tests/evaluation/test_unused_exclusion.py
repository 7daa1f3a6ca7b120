"""Where `exclude=` leaves nothing out of a whole run, that is said if the run holds another form of what it lists."""

import random
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.data_warnings import find_data_warnings
from retrieval_metrics.evaluation.unused_exclusion import UnusedExclusion, find_unused_exclusion
from retrieval_metrics.inputs.exclusion import Exclusion
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.integration_api import KeptRows, RowScorer
from run_shapes import in_columns, with_items, with_scores

SHAPES: list[Callable[[Any], Any]] = [dict, with_scores, with_items, in_columns]


def find_unused(qrels: Any, run: Any, exclude: Any, match: Any = "id") -> UnusedExclusion | None:
    read_qrels = rm.Qrels(qrels)
    exclusion = Exclusion(exclude)
    assert exclusion.remove(run, read_qrels, get_match_key(match)).total == 0
    return find_unused_exclusion(exclusion, run, read_qrels, match)


def collect_messages(evaluate: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluate()
    return [str(warning.message) for warning in caught]


def make_run(name_own: Callable[[int], str], n_queries: int = 6) -> tuple[Any, Any]:
    """Return judgments and a run that holds, first, what the query may be called in the corpus."""
    qrels = {f"q{number}": [f"d{number}"] for number in range(n_queries)}
    run = {f"q{number}": [name_own(number), f"d{number}", "x"] for number in range(n_queries)}
    return qrels, run


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("name_own", "kind"),
    [
        (lambda number: f"Q{number}", "case"),
        (lambda number: f"q0{number}", "leading_zeros"),
        (lambda number: f"q{number}#0", "part"),
        (lambda number: f"docs/q{number}", "path"),
        (lambda number: f"q{number}_1", "numbered_part"),
    ],
)
def test_the_querys_own_id_in_another_spelling(shape: Callable[[Any], Any], name_own: Any, kind: str) -> None:
    qrels, run = make_run(name_own)
    unused = find_unused(qrels, shape(run), "query_id")
    assert unused == UnusedExclusion("spelling", "q0", "q0", name_own(0), kind, is_own_id=True)  # type: ignore[arg-type]
    # The advice works.
    own = {query: [ranking[0]] for query, ranking in run.items()}
    assert rm.evaluate(qrels, run, "mrr", exclude=own).means["mrr"] == 1.0


@pytest.mark.parametrize("shape", SHAPES)
def test_a_clean_run_is_silent(shape: Callable[[Any], Any]) -> None:
    # As in ArguAna: arguments of one debate, of which the other is relevant.
    qrels: Any = {f"debate-pro0{number}a": [f"debate-pro0{number}b"] for number in range(1, 9)}
    run = {query: [*documents, "debate-con01a", "debate-con02a"] for query, documents in qrels.items()}
    assert find_unused(qrels, shape(run), "query_id") is None
    # Queries by number, and documents that have numbers too.
    numbers = [str(number) for number in range(20)]
    qrels = {number: [f"doc-{number}"] for number in numbers}
    run = {number: [f"doc-{other}" for other in numbers] for number in numbers}
    assert find_unused(qrels, shape(run), "query_id") is None
    # The name of each query is that of its relevant document, and of a section.
    qrels = {f"a{number}-1": [f"a{number}"] for number in range(8)}
    run = {query: [query.removesuffix("-1"), "b"] for query in qrels}
    assert find_unused(qrels, shape(run), "query_id") is None


def test_generated_clean_runs_are_silent() -> None:
    rng = random.Random(8)
    for form in ("{}", "d{}", "doc-{}", "{:05}", "a/{}.md", "PMC{}"):
        documents = [form.format(number) for number in range(200)]
        qrels: Any = {str(number): rng.sample(documents, 2) for number in range(40)}
        run = {}
        for query in qrels:
            run[query] = [document for document in rng.sample(documents, 30) if document != query]
        assert find_unused(qrels, run, "query_id") is None, form
        listed = {query: [form.format(number) for number in range(500, 520)] for query in qrels}
        assert find_unused(qrels, run, listed) is None, form


def test_one_listed_id_in_another_spelling_is_enough_unless_each_query_lists_one() -> None:
    qrels, run = make_run(lambda number: f"E{number}")
    several = {query: ["y", f"e{query[1:]}", "z"] for query in ("q3", "q4")}
    assert find_unused(qrels, run, several) == UnusedExclusion("spelling", "q3", "e3", "E3", "case")
    assert find_unused(qrels, run, {"q3": ["e3"], "q4": ["y"], "q5": ["z"]}) is None
    assert find_unused(qrels, run, {"q3": ["e3"], "q4": ["e4"], "q5": ["z"]}) is not None


def test_an_id_that_is_retrieved_elsewhere_or_judged_was_simply_not_retrieved_here() -> None:
    qrels, run = make_run(lambda number: f"E{number}")
    assert find_unused(qrels, {**run, "q0": ["e3"]}, {"q3": ["e3", "y"]}) is None
    assert find_unused({**qrels, "q0": {"e3": 0, "d0": 1}}, run, {"q3": ["e3", "y"]}) is None
    # What is relevant is not meant to be left out.
    assert find_unused({**qrels, "q3": ["E3"]}, run, {"q3": ["e3", "y"]}) is None


def test_another_attribute_of_the_items_or_another_type() -> None:
    run = {"q": [rm.Retrieved("c1", source="a.md", metadata={"title": "A"}), rm.Retrieved("c2", source="b.md")]}
    for excluded_id, attribute in (("a.md", "source"), ("A", "metadata:title")):
        unused = find_unused({"q": ["c2"]}, run, {"q": [excluded_id]})
        assert unused == UnusedExclusion("attribute", "q", excluded_id, "c1", attribute=attribute)
    unused = find_unused({"q": ["b.md"]}, run, {"q": ["c1"]}, "source")
    assert unused == UnusedExclusion("attribute", "q", "c1", "a.md", attribute="id", match="source")
    quotes = {"7": [rm.Quote("a lantern in the vault")]}
    numbered = {"7": [rm.Retrieved(7, "a question"), rm.Retrieved(8, "a lantern in the vault")]}
    assert find_unused(quotes, numbered, "query_id") == UnusedExclusion("type", "7", "7", 7, is_own_id=True)


def test_what_can_never_be_left_out() -> None:
    quotes = {"q": [rm.Quote("a lantern in the vault")]}
    nameless = {"q": [rm.Retrieved(None, "a lantern in the vault")]}
    assert find_unused(quotes, nameless, "query_id") == UnusedExclusion("no_value", "q", "q")
    named = {"q": [rm.Retrieved("c", "a lantern in the vault")]}
    unused = find_unused(quotes, named, {"q": ["a.md"]}, "metadata:fiel")
    assert unused == UnusedExclusion("no_value", "q", "a.md", match="metadata:fiel")
    questions = rm.EvaluationSet(queries={"q": "Who?"}, qrels={"q": ["d1"]}, corpus={"d1": "one", "d2": "two"})
    (message,) = collect_messages(lambda: rm.evaluate(questions, {"q": ["d1"]}, "mrr", exclude={"q": ["e1"]}))
    assert "'e1'" in message
    silent: list[Any] = [{"q": ["d2"]}, {"q": ["e1", "d2"]}, "query_id"]
    for exclude in silent:
        evaluate = partial(rm.evaluate, questions, {"q": ["d1"]}, "mrr", exclude=exclude)
        assert collect_messages(evaluate) == []


def test_it_is_said_once_at_every_door(tmp_path: Path) -> None:
    qrels, run = make_run(lambda number: f"Q{number}")
    rm.write_run(with_scores(run), tmp_path / "run.trec")
    streamed = rm.read_run(tmp_path / "run.trec", memory=1)
    questions = rm.EvaluationSet(queries={query: f"Question {query}?" for query in qrels}, qrels=qrels)
    calls: list[Callable[[], Any]] = [
        lambda: rm.evaluate(qrels, run, "mrr", exclude="query_id"),
        lambda: rm.evaluate(qrels, streamed, "mrr", exclude="query_id"),
        lambda: rm.audit(qrels, run, "mrr", exclude="query_id"),
        lambda: questions.lint(runs={"a": run}, exclude="query_id"),
        lambda: rm.compare_retrievers(
            {"a": lambda _: ["Q1", "d1"], "b": lambda _: ["d1"]}, questions, "mrr", exclude={"q1": ["q1", "y"]}
        ),
    ]
    for call in calls:
        messages = [message for message in collect_messages(call) if "exclude=" in message]
        assert len(messages) == 1
        assert "differ in case" in messages[0]
    messages = collect_messages(lambda: rm.compare(qrels, {"a": run, "b": run}, "mrr", exclude="query_id"))
    assert len(messages) == 1
    excluded = {query: [ranking[0]] for query, ranking in run.items()}
    assert collect_messages(lambda: rm.evaluate(qrels, run, "mrr", exclude=excluded)) == []


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
class TestResults:
    """What is printed, reported, saved and concluded says it too."""

    qrels: Any = {f"q{number}": [f"d{number}"] for number in range(12)}
    kept: Any = {f"q{number}": [f"Q{number}", f"d{number}", "y"] for number in range(12)}
    clean: Any = {f"q{number}": [f"q{number}", f"d{number}", "z"] for number in range(12)}
    later: Any = {f"q{number}": [f"q{number}", "x", f"d{number}"] for number in range(12)}

    def test_an_evaluation(self, tmp_path: Path) -> None:
        evaluation = rm.evaluate(self.qrels, self.kept, "mrr", exclude="query_id")
        assert [warning.kind for warning in find_data_warnings(evaluation.scores)] == ["unused_exclusion"]
        evaluation.save(tmp_path / "evaluation.json")
        loaded = rm.load(tmp_path / "evaluation.json")
        assert loaded == evaluation
        for result in (evaluation, loaded):
            assert "exclude= removed no documents" in str(result)
            result.report(tmp_path / "report.html")
            assert "exclude= removed no documents" in (tmp_path / "report.html").read_text()
        assert "exclude= left" not in str(rm.evaluate(self.qrels, self.clean, "mrr", exclude="query_id"))

    def test_a_comparison_of_one_that_kept_the_documents_with_one_that_did_not(self, tmp_path: Path) -> None:
        runs = {"kept": self.kept, "clean": self.clean, "later": self.later}
        comparison = rm.compare(self.qrels, runs, "mrr", exclude="query_id")
        obstacles = {difference.pair: difference.obstacle for difference in comparison.differences}
        assert obstacles == {
            ("clean", "kept"): "unused_exclusion",
            ("later", "kept"): "unused_exclusion",
            ("later", "clean"): "budget",
        }
        assert comparison.conclusions.get("mrr", "later", "clean").kind == "worse"
        assert comparison.conclusions.get("mrr", "later", "kept").kind == "not_comparable"
        (caveat,) = [caveat for caveat in comparison.conclusions.caveats if "exclude=" in caveat]
        assert caveat.startswith("kept: ")
        with pytest.raises(ValueError, match="exclude= removed no documents from one of them"):
            rm.plan(0.05, "mrr", pilot=comparison.difference("mrr", "clean", "kept"))
        comparison.save(tmp_path / "comparison.json")
        assert rm.load(tmp_path / "comparison.json") == comparison
        assert str(rm.load(tmp_path / "comparison.json")) == str(comparison)

    def test_a_comparison_of_two_that_kept_the_documents(self) -> None:
        both = {"a": self.kept, "b": {query: [*ranking[:1], "x", ranking[1]] for query, ranking in self.kept.items()}}
        comparison = rm.compare(self.qrels, both, "mrr", exclude="query_id")
        assert comparison.conclusions[0].kind == "worse"
        assert "exclude=" in comparison.conclusions.caveats[0]

    def test_a_choice_of_a_setting(self, tmp_path: Path) -> None:
        settings = {"later": self.later, "clean": self.clean, "kept": self.kept}
        tuning = rm.tune(settings, self.qrels, "mrr", default="later", exclude="query_id")
        assert (tuning.winner, tuning["kept"].obstacle) == ("clean", "unused_exclusion")
        assert "kept (exclude= removed no documents)" in tuning.conclusion
        assert "exclude= removed no documents" in str(tuning)
        tuning.save(tmp_path / "tuning.json")
        assert str(rm.load(tmp_path / "tuning.json")) == str(tuning)
        with pytest.raises(ValueError, match=r"cannot choose .* kept: exclude= removed no documents"):
            rm.tune(settings, self.qrels, "mrr", default="kept", exclude="query_id")


def test_rows_are_checked_together() -> None:
    scorer = RowScorer("mrr")
    for own, n_messages in (("Q{}", 1), ("other{}", 0), ("q{}", 0)):
        rows = KeptRows()
        early = []
        for number in range(6):
            retrieved = [own.format(number), f"d{number}"]
            scorer.row([f"d{number}"], retrieved.copy, exclude=[f"q{number}"], rows=rows, query=f"case {number}")
            early.append(rows.find_early_warning(scorer))
        messages = [message for message in early if message]
        assert len(messages) == n_messages
        sentences = rows.find_warnings(scorer)
        assert len(sentences) == n_messages
        for message in messages + sentences:
            assert "'q0' in exclude= and the retrieved 'Q0' differ in case" in message

"""A lint finds what is planted, says where, stays quiet where nothing is wrong, and mends only what is safe."""

import copy
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from questions import qrels as example_qrels
from questions import queries as example_queries
import retrieval_metrics as rm
from corpus import passages
from lint_cases import CORPUS, QRELS, QUERIES, SUBJECTS, VAULT, find_queries, lint, list_serious
from retrieval_metrics.datasets.lint_report import COLUMNS, MEANING


class TestQuestions:
    def test_a_clean_set_has_no_error_and_no_warning(self) -> None:
        assert list_serious(lint()) == []

    @pytest.mark.parametrize(
        "text",
        [
            "According to the passage, who holds the key?",
            "What does this section say about the vault?",
            "Which colours are listed in the above table?",
            "What is the vault, as mentioned earlier in the text?",
            "What did he do then?",
            "Why does the author dislike coffee?",
            "What is said in this document on travel?",
        ],
    )
    def test_a_question_that_leans_on_its_passage(self, text: str) -> None:
        assert find_queries(lint({"q1": text}), "dependent_question") == ["q1"]

    @pytest.mark.parametrize(
        "text",
        [
            "What does the author of a pull request have to sign?",
            "How do I parse a table in a text file?",
            "What was the bill's passage through the Senate like?",
            "Is it possible to open two files at once?",
            "My function returns a list. Why does this list change later?",
            "Which documents does the Senate archive for the study of voting?",
        ],
    )
    def test_a_question_that_only_uses_such_words(self, text: str) -> None:
        assert find_queries(lint({"q1": text}), "dependent_question") == []

    @pytest.mark.parametrize("text", ["vault", "Why?", "the vault", "What is it?"])
    def test_a_question_that_says_too_little(self, text: str) -> None:
        assert find_queries(lint({"q1": text}), "short_question") == ["q1"]

    def test_the_same_question_twice_is_taken_out_if_it_is_judged_alike(self) -> None:
        result = lint({"q4": "who is allowed to  unlock the strong room after hours"}, {"q4": ["vault"]})
        assert find_queries(result, "duplicate_question") == ["q4"]
        assert find_queries(result, "contradicting_judgments") == []
        repaired = result.fixed()
        assert repaired.queries == QUERIES
        assert repaired.qrels == QRELS
        assert "q4" in repaired.changes[0]

    def test_the_same_question_judged_otherwise_stays_and_contradicts(self) -> None:
        result = lint({"q4": QUERIES["q1"]}, {"q4": ["coffee"]})
        assert find_queries(result, "contradicting_judgments") == ["q4"]
        assert "q4" in result.fixed().queries

    def test_a_document_that_is_relevant_once_and_not_the_other_time_contradicts(self) -> None:
        result = lint({"q4": QUERIES["q1"]}, {"q1": {"vault": 2}, "q4": {"vault": 0, "travel": 1}})
        (finding,) = result.named("contradicting_judgments")
        assert finding.evidence["opposed"] == ["vault"]

    @pytest.mark.parametrize(
        "text",
        [
            "Please tell me: who is allowed to unlock the strong room after hours?",
            "Who is alowed to unlock the strong room after hours?",
            "After hours, who is allowed to unlock the strong room?",
        ],
    )
    def test_nearly_the_same_question(self, text: str) -> None:
        assert find_queries(lint({"q4": text}, {"q4": ["vault"]}), "near_duplicate_question") == ["q4"]

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("What was the revenue of Acme in 2018?", "What was the revenue of Acme in 2019?"),
            ("What is the capital of Peru?", "What is the capital of Chile?"),
            ("Which problems are solved by direct methods?", "Which problems are solved by indirect methods?"),
            ("Which drinks may be taken into the vault?", "Which drinks may not be taken into the vault?"),
            ("When was the old bridge rebuilt?", "Why was the old bridge rebuilt?"),
        ],
    )
    def test_questions_that_differ_where_it_matters(self, first: str, second: str) -> None:
        result = lint({"q1": first, "q2": second})
        assert find_queries(result, "near_duplicate_question") == find_queries(result, "contradicting_judgments") == []

    def test_a_question_in_the_words_of_its_answer(self) -> None:
        text = "May the vault of the main branch be opened at night by the duty officer together with a second member?"
        (finding,) = lint({"q1": text}).named("echo")
        assert finding.query == "q1"
        assert finding.evidence["longest_run"] == 13
        assert "officer together with a second member" in finding.evidence["run"]

    def test_six_words_of_the_answer_in_a_row_are_an_echo(self) -> None:
        assert find_queries(lint({"q1": "officer together with a second member"}), "echo") == ["q1"]
        assert find_queries(lint({"q1": "together with a second member"}), "echo") == []


class TestBeforeComparing:
    def test_a_quote_that_comparing_refuses(self) -> None:
        (finding,) = lint(qrels={"q1": [rm.Quote("night")]}).named("short_quote")
        assert (finding.query, finding.evidence) == ("q1", {"quote": "night", "length": 5})
        with pytest.raises(ValueError, match="'night' for query 'q1' has 5 characters"):
            rm.evaluate({"q1": [rm.Quote("night")]}, {"q1": [rm.Retrieved("vault", VAULT)]})
        assert not rm.EvaluationSet({"q": QUERIES["q1"]}, {"q": [rm.Quote("at night by")]}).lint().named("short_quote")

    def test_a_folder_is_a_corpus(self, tmp_path: Path) -> None:
        for name, text in CORPUS.items():
            (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
        qrels = {query: [f"{document}.txt" for document in documents] for query, documents in QRELS.items()}
        questions = rm.EvaluationSet(QUERIES, qrels)
        assert list_serious(questions.lint(tmp_path)) == list_serious(questions.lint(str(tmp_path))) == []


class TestLeaks:
    def test_an_answer_appended_to_its_question(self) -> None:
        sentence = VAULT.split(". ", maxsplit=1)[0]
        result = lint({"q1": f"I was asked who may go in after hours and did not know it. {sentence}."})
        assert find_queries(result, "echo") == ["q1"]

    def test_the_id_of_a_document(self) -> None:
        questions = rm.EvaluationSet(
            {"q1": "What does rules-2024.md say about night access?", "q2": "Who opens the vault at night?"},
            {"q1": ["rules-2024.md"], "q2": ["vault"]},
        )
        assert find_queries(questions.lint(), "leaked_id") == ["q1"]

    def test_a_question_without_judgments_is_one_without_an_answer(self) -> None:
        questions = rm.EvaluationSet({"q1": "Who?", "q2": "What is the price of gold?"}, {"q1": ["d"], "q2": []})
        assert questions.unanswerable == ("q2",)
        (finding,) = questions.lint().named("unanswerable")
        assert (finding.query, finding.severity) == ("q2", "note")


class TestResult:
    def test_a_row_per_finding(self) -> None:
        result = lint(qrels={"q1": ["valut"]})
        frame = result.to_pandas()
        assert isinstance(frame, pd.DataFrame)
        assert tuple(frame.columns) == COLUMNS
        assert len(frame) == len(result)
        assert frame["name"][0] == "unknown_document"
        assert frame["severity"][0] == "error"
        assert frame["query"][0] == "q1"

    def test_printing_shows_the_counts_the_first_findings_and_the_repairs(self) -> None:
        result = lint({"q4": QUERIES["q1"]}, {"q1": ["vault"], "q4": ["vault"]})
        for shown in (str(result), result._repr_html_(), result.to_markdown()):
            assert "duplicate_question" in shown
            assert "4 questions" in shown
            assert ".fixed()" in shown

    def test_nothing_found_prints_as_well(self) -> None:
        result = rm.types.Lint(rm.EvaluationSet(QUERIES, QRELS), [])
        assert len(result) == 0
        assert str(result).startswith("3 questions, 0 findings")

    def test_a_name_that_does_not_exist_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="there is no finding 'typo'"):
            lint().named("typo")

    def test_what_is_given_is_not_changed(self) -> None:
        questions = rm.EvaluationSet(
            QUERIES | {"q4": QUERIES["q1"]}, QRELS | {"q4": ["vault"], "q2": {"coffee": 1, "tea": 0}}
        )
        before = copy.deepcopy((questions.queries, questions.qrels))
        repaired: Any = questions.lint(CORPUS | {"copy": VAULT}).fixed()
        assert (questions.queries, questions.qrels) == before
        assert isinstance(repaired, rm.EvaluationSet)
        judged: Any = repaired.qrels
        assert judged["q3"] == QRELS["q3"]
        assert len(repaired.changes) == 3
        assert questions.changes == ()

    def test_judgments_in_columns_are_linted_and_repaired_as_well(self) -> None:
        qrels = rm.Qrels(QRELS | {"q2": {"coffee": 2, "tea": 0}})
        result = rm.EvaluationSet(QUERIES, qrels).lint(CORPUS)  # type: ignore[arg-type]  # what read_qrels returns
        assert find_queries(result, "unknown_document") == ["q2"]
        assert result.fixed().qrels == {"q1": {"vault": 1}, "q2": {"coffee": 2}, "q3": {"travel": 1}}

    def test_every_name_has_a_meaning_in_the_order_of_severity(self) -> None:
        severities = [severity for severity, _ in MEANING.values()]
        assert severities == sorted(severities, key=("error", "warning", "note").index)


class TestInput:
    @pytest.mark.parametrize("corpus", ["a path", 3, [object()], {"d1": 3}])
    def test_a_corpus_of_another_shape(self, corpus: Any) -> None:
        with pytest.raises(TypeError, match="corpus"):
            lint(corpus=corpus)

    def test_an_empty_corpus_and_an_id_twice(self) -> None:
        with pytest.raises(ValueError, match="corpus is empty"):
            lint(corpus={})
        with pytest.raises(ValueError, match="document 'a' twice"):
            lint(corpus=[rm.Retrieved("a", "one"), rm.Retrieved("a", "two")])

    def test_runs_of_another_shape(self) -> None:
        with pytest.raises(TypeError, match="runs must be"):
            lint(runs=["vault"])
        with pytest.raises(TypeError, match="without a query that is judged"):
            lint(runs={"q9": ["vault"]})


class TestOurs:
    def test_our_own_set_is_clean_but_for_what_is_hard_for_bm25(self) -> None:
        pieces = passages()
        items = [rm.Retrieved(p.id, p.text, source=p.topic, start=p.start, end=p.end) for p in pieces]
        result = rm.EvaluationSet(example_queries(), example_qrels(pieces)).lint(items)
        assert result.named("error") == []
        warned = {finding.query for finding in result.named("warning")}
        assert len(warned) <= 0.1 * len(example_queries())

    def test_a_judgment_of_every_question_can_die(self) -> None:
        pieces = passages()
        items = {p.id: p.text for p in pieces if not p.id.startswith("c")}
        dead = set()
        for query, judged in example_qrels(pieces).items():
            for group in [judged] if isinstance(judged, dict) else judged:
                if not items.keys() >= set(group):
                    dead.add(query)
        result = rm.EvaluationSet(example_queries(), example_qrels(pieces)).lint(items)
        assert set(find_queries(result, "unknown_document")) == dead != set()


def test_a_question_in_no_known_language_is_named() -> None:
    texts = {"q1": "Who opens the vault?", "q2": "kuka avaa holvin yöllä ilman avainta"}
    unchecked = rm.EvaluationSet(texts, {"q1": ["a"], "q2": ["a"]}).lint({"a": "The officer opens the vault"}).skipped
    assert any("1 of 2 questions make sense without their passage, such as 'q2'," in note for note in unchecked)


SAME_EVERYWHERE = """
import retrieval_metrics as rm
texts = {f"d{i}": " ".join(f"word{i * i % 7}{word} and" for word in range(30 + i)) for i in range(24)}
queries = {f"q{i}": f"which word {i // 2} comes after word{i // 2}?" for i in range(12)}
qrels = {query: {f"d{i}", f"d{i + 3}", f"gone {i}", f"lost {i}"} for i, query in enumerate(queries)}
grouped = {query: [judged, {"no", "nowhere", query}] for query, judged in qrels.items()}
for judgments in (qrels, grouped):
    lint = rm.EvaluationSet(queries, judgments).lint(texts)
    for finding in [*lint, *lint.fixed().lint(texts)]:
        print(finding)
"""


def test_every_process_finds_the_same_in_the_same_order() -> None:
    outputs = []
    for seed in ("1", "2"):
        process = subprocess.run(
            [sys.executable, "-c", SAME_EVERYWHERE],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.append(process.stdout)
    assert outputs[0] == outputs[1]
    for name in ("contradicting_judgments", "unknown_document", "impossible_group", "unjudged_duplicate"):
        assert f"name='{name}'" in outputs[0]


class TestHowManyQuestions:
    def test_how_many_questions_a_difference_needs(self) -> None:
        (finding,) = rm.EvaluationSet(QUERIES, QRELS).lint(difference=0.3).named("too_few_questions")
        assert finding.evidence["needed"] == rm.plan(0.3, "ndcg@10").range  # one source of what is usual
        assert (finding.query, finding.evidence["questions"]) == (None, 3)

    def test_two_runs_show_how_much_questions_vary(self) -> None:
        runs = {
            "one": {f"q{number}": ["d"] if number % 4 else ["x", "d"] for number in range(40)},
            "other": {f"q{number}": ["d"] for number in range(40)},
        }
        set_of_40 = rm.EvaluationSet({query: f"question number {query}" for query in runs["one"]}, runs["other"])
        assert not set_of_40.lint(runs=runs, metric="mrr", difference=0.5).named("too_few_questions")
        (finding,) = set_of_40.lint(runs=runs, metric="mrr", difference=0.05).named("too_few_questions")
        # A quarter of the questions lose a half: s^2 = (0.25 * 0.75 * 0.5^2) * 40 / 39.
        assert finding.evidence["spread"] == pytest.approx((0.25 * 0.75 * 0.25 * 40 / 39) ** 0.5)
        assert "how much one and other differ" in finding.message

    @pytest.mark.parametrize("difference", [0, -0.1, 2.0, float("nan")])
    def test_a_difference_that_no_metric_can_have(self, difference: float) -> None:
        with pytest.raises(ValueError, match="difference must be"):
            rm.EvaluationSet(QUERIES, QRELS).lint(difference=difference)

    def test_questions_from_few_documents(self) -> None:
        rows = [
            {
                "id": f"q{number}",
                "query": f"Question about {word} number {number}?",
                "relevant": ["d"],
                "source": "only.md",
            }
            for number, word in enumerate(SUBJECTS)
        ]
        (finding,) = rm.EvaluationSet.from_dataset(rows).lint().named("few_sources")
        assert finding.evidence == {"sources": {"only.md": 11}, "effective": 1.0}

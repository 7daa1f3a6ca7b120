"""Questions that make no sense alone, say too little or tell their answer are found, at each threshold."""

import pytest

import retrieval_metrics as rm
from lint_cases import VAULT, find_queries, lint
from retrieval_metrics.datasets.lint_questions import find_longest_shared_run
from words_apart import evidence, text


class TestQuestions:
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

    def test_a_question_in_the_words_of_its_answer(self) -> None:
        text = "May the vault of the main branch be opened at night by the duty officer together with a second member?"
        (finding,) = lint({"q1": text}).named("echo")
        assert finding.query == "q1"
        assert finding.evidence["longest_run"] == 13
        assert "officer together with a second member" in finding.evidence["run"]

    def test_six_words_of_the_answer_in_a_row_are_an_echo(self) -> None:
        assert find_queries(lint({"q1": "officer together with a second member"}), "echo") == ["q1"]
        assert find_queries(lint({"q1": "together with a second member"}), "echo") == []


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


class TestSingleQuestions:
    @pytest.mark.parametrize(
        ("question", "short"),
        [("opens vault", True), ("who opens vault", False), ("who is it", True), ("who is vault", False)],
    )
    def test_three_words_and_one_content_word_are_enough(self, question: str, short: bool) -> None:
        assert bool(evidence("short_question", {"q1": question}, {"q1": ["a"]})) is short

    @pytest.mark.parametrize(
        ("question", "answer", "expected"),
        [
            # 13 of 20 words in a row are 65%.
            (text(slice(13), slice(100, 107)), text(slice(30)), [(13, 0.65)]),
            (text(slice(13), slice(100, 108)), text(slice(30)), []),
            # Without a run: 95% of the content words, ...
            (text(slice(18, None, -1), slice(100, 101)), text(slice(30)), [(1, 0.95)]),
            (text(slice(17, None, -1), slice(100, 101)), text(slice(30)), []),
            # ... which are six or more, ...
            (text(slice(5, None, -1)), text(slice(30)), [(1, 1.0)]),
            (text(slice(4, None, -1)), text(slice(30)), []),
            # ... in a sentence of at most 60 words.
            (text(slice(5, None, -1)), f"{text(slice(10))} {'and ' * 50}", [(1, 1.0)]),
            (text(slice(5, None, -1)), f"{text(slice(10))} {'and ' * 51}", []),
        ],
    )
    def test_an_echo(self, question: str, answer: str, expected: list[tuple[int, float]]) -> None:
        echoes = evidence("echo", {"q1": question}, {"q1": ["a"]}, {"a": answer})
        assert [(echo["longest_run"], echo["share"]) for echo in echoes] == expected


@pytest.mark.parametrize(
    ("left", "right", "run"),
    [("a b c", "x a b", (0, 2)), ("a b c", "c", (2, 1)), ("a", "b", (0, 0)), ("", "a", (0, 0))],
)
def test_the_longest_run_that_two_texts_share(left: str, right: str, run: tuple[int, int]) -> None:
    assert find_longest_shared_run(left.split(), right.split()) == run

"""Judgments that nothing can satisfy are found, and mended only where that is safe."""

from typing import Any

import pytest

import retrieval_metrics as rm
from lint_cases import CORPUS, QRELS, find_queries, lint, list_serious


class TestJudgments:
    def test_an_id_that_is_not_in_the_corpus_leaves_its_group_without_a_way(self) -> None:
        result = lint(qrels={"q1": ["valut"]})
        assert list_serious(result) == [("unknown_document", "q1")]
        (finding,) = result.named("unknown_document")
        assert finding.evidence == {"document": "valut", "grade": 1, "nearest": "vault"}
        assert result.fixed().qrels == result.questions.qrels, "what the ID should be takes a person"

    def test_it_is_taken_out_where_an_alternative_remains_or_where_it_is_not_relevant(self) -> None:
        result = lint(qrels={"q1": [["valut", "vault"]], "q2": {"coffee": 1, "tea": 0}})
        assert find_queries(result, "unknown_document") == ["q1", "q2"]
        assert find_queries(result, "impossible_group") == []
        repaired = result.fixed()
        assert repaired.qrels == QRELS | {"q1": {"vault": 1.0}, "q2": {"coffee": 1}}
        assert list_serious(repaired.lint(CORPUS)) == []

    def test_the_ids_of_the_corpus_are_enough_for_that(self) -> None:
        result = lint(qrels={"q1": ["valut"]}, corpus=list(CORPUS))
        assert find_queries(result, "unknown_document") == ["q1"]
        assert any("only IDs" in sentence for sentence in result.skipped)

    @pytest.mark.parametrize("judged", ["db", "DB.md", "kb/db.md", "db.txt", "dbb.md"])
    def test_the_nearest_document_is_named(self, judged: str) -> None:
        corpus = {"db.md": "The database.", "laptop.md": "The laptop.", "backup.md": "The backup."}
        (finding,) = lint(qrels={"q1": [judged], "q2": [], "q3": []}, corpus=corpus).named("unknown_document")
        assert finding.evidence["nearest"] == "db.md"

    def test_a_file_name_of_several_folders_is_found(self) -> None:
        corpus = {f"/srv/{folder}/README.md": f"About {folder}." for folder in ("payments", "users", "search")}
        questions = rm.EvaluationSet({"q1": "Who gets my money?"}, {"q1": ["README.md"]})
        (finding,) = questions.lint(corpus, match="filename").named("shared_file_name")
        assert finding.evidence == {"document": "README.md", "files": 3, "names": 1}
        by_path = rm.EvaluationSet({"q1": "Who gets my money?"}, {"q1": ["/srv/payments/README.md"]})
        assert not by_path.lint(corpus, match="source").named("shared_file_name")
        chunks = [rm.Retrieved(f"c{number}", "text", source="/srv/README.md") for number in range(3)]
        assert not questions.lint(chunks, match="filename").named("shared_file_name")

    def test_a_judged_query_without_a_text_is_an_error_and_no_question(self) -> None:
        result = lint(qrels={"z1": ["vault"], "z2": ["coffee"]})
        assert list_serious(result) == [("missing_text", "z1"), ("missing_text", "z2")]
        (too_few,) = result.named("too_few_questions")
        assert too_few.message.rpartition("; ")[2].startswith("this set has 3 ")
        assert list_serious(result.fixed().lint(CORPUS)) == list_serious(result)

    def test_nothing_is_relevant(self) -> None:
        result = lint(qrels={"q1": {"vault": 0}, "q2": []})
        assert (find_queries(result, "no_relevant"), find_queries(result, "unanswerable")) == (["q1"], ["q2"])
        assert find_queries(lint(qrels={"q1": {"vault": -1}, "q2": ["vault"]}), "unanswerable") == ["q1"]

    def test_what_is_forbidden_is_counted(self) -> None:
        (finding,) = lint(qrels={"q1": {"vault": -1, "x": -2}, "q2": {"vault": 1, "y": -1}}).named("forbidden")
        assert finding.evidence == {"judgments": 3}
        assert not lint(qrels={"q1": ["vault"]}).named("forbidden")


class TestGroups:
    def lint(self, group: Any, corpus: Any = None) -> Any:
        return rm.EvaluationSet({"q1": "Who has the key?"}, {"q1": [group]}).lint(corpus or {"a": "The guard."})

    def test_an_unknown_document_is_spared_only_if_a_relevant_alternative_remains(self) -> None:
        (spared,) = self.lint({"gone": 1, "a": 1}).named("unknown_document")
        assert spared.fix is not None
        (needed,) = self.lint({"gone": 1, "a": 0}).named("unknown_document")
        assert needed.fix is None

    @pytest.mark.parametrize(
        ("group", "impossible"),
        [
            (["gone"], False),  # which `unknown_document` says
            (["gone", "lost"], True),
            (["gone", "a"], False),
            ({"gone": 1, "a": 0}, True),
            ({"gone": 0, "lost": 0}, False),  # nothing to satisfy
            ([rm.Quote("nobody has ever said this"), rm.Span("lost", 0, 9)], True),
            ([rm.Quote("a guard who opens the vault"), "gone"], False),  # in the source, though the passages cut it
        ],
    )
    def test_are_impossible_if_nothing_relevant_in_them_is_in_the_corpus(
        self,
        group: Any,
        impossible: bool,
    ) -> None:
        text = "There is a guard who opens the vault."
        cut = [rm.Retrieved("a", text[:20], "s", 0, 20), rm.Retrieved("b", text[20:], "s", 20, 37)]
        assert bool(self.lint(group, cut).named("impossible_group")) is impossible


class TestNoJudgments:
    def test_a_question_without_judgments_is_one_without_an_answer(self) -> None:
        questions = rm.EvaluationSet({"q1": "Who?", "q2": "What is the price of gold?"}, {"q1": ["d"], "q2": []})
        assert questions.unanswerable == ("q2",)
        (finding,) = questions.lint().named("unanswerable")
        assert (finding.query, finding.severity) == ("q2", "note")

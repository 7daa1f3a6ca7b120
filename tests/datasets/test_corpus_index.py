"""A corpus is indexed, whatever form it has, and what stands in it twice is known."""

from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from lint_cases import CORPUS, QRELS, QUERIES, lint, list_serious
from scripted_model import Told
from told_questions import ANSWERS, RULES, WRITE, list_groups


class TestInvalidCorpus:
    @pytest.mark.parametrize("corpus", ["a path", 3, [object()], {"d1": 3}])
    def test_a_corpus_of_another_shape(self, corpus: Any) -> None:
        with pytest.raises(TypeError, match="corpus"):
            lint(corpus=corpus)

    def test_an_empty_corpus_and_an_id_twice(self) -> None:
        with pytest.raises(ValueError, match="corpus is empty"):
            lint(corpus={})
        with pytest.raises(ValueError, match="document 'a' twice"):
            lint(corpus=[rm.Retrieved("a", "one"), rm.Retrieved("a", "two")])


class TestFolder:
    def test_a_folder_is_a_corpus(self, tmp_path: Path) -> None:
        for name, text in CORPUS.items():
            (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
        qrels = {query: [f"{document}.txt" for document in documents] for query, documents in QRELS.items()}
        questions = rm.EvaluationSet(QUERIES, qrels)
        assert list_serious(questions.lint(tmp_path)) == list_serious(questions.lint(str(tmp_path))) == []


def test_what_stands_in_two_documents_is_judged_in_both() -> None:
    corpus = {"vault": RULES["vault"], "copy": f"Old rules. {RULES['vault']}"}
    generated = rm.generate_questions(corpus, Told(WRITE, ANSWERS), 1, kinds="one_passage")
    assert {piece.source for piece in list_groups(generated)[0] if isinstance(piece, rm.Span)} == {"vault", "copy"}
    assert "ambiguous_quote" not in generated.questions.lint(corpus).counts
    five_copies = {f"d{number}": RULES["vault"] for number in range(5)}
    assert {*rm.generate_questions(five_copies, Told(WRITE), 1, kinds="one_passage").reasons} == {"quote too common"}


class TestNamedBySource:
    """Documents of a framework may have no ids; their files are judged."""

    CORPUS = [
        rm.Retrieved(None, "The vault opens at nine for those who have a key.", source="/docs/vault.md"),
        rm.Retrieved(None, "Visitors sign the book at the door.", source="/docs/visits.md"),
        rm.Retrieved(None, "They leave before six.", source="/docs/visits.md"),
    ]
    QUERIES = {"q1": "When does the vault open?", "q2": "Who signs the book?"}

    def find_unknown(self, judged: str, corpus: Any, **options: Any) -> tuple[list[Any], list[str]]:
        questions = rm.EvaluationSet(self.QUERIES, {"q1": [judged], "q2": ["visits.md"]})
        result = questions.lint(corpus, **options)
        unknown = [finding.evidence["document"] for finding in result if finding.name == "unknown_document"]
        return unknown, [text for text in result.skipped if "needs their IDs" in text]

    def test_without_ids_nothing_is_called_unknown_and_the_way_on_is_named(self) -> None:
        unknown, skipped = self.find_unknown("vault.md", self.CORPUS)
        assert unknown == []
        assert len(skipped) == 1

    def test_file_names_are_known(self) -> None:
        assert self.find_unknown("vault.md", self.CORPUS, match="filename") == ([], [])
        assert self.find_unknown("vaults.md", self.CORPUS, match="filename") == (["vaults.md"], [])
        assert self.find_unknown("/docs/vault.md", self.CORPUS, match="source")[0] == ["visits.md"]

    def test_texts_by_path_are_named_by_it(self) -> None:
        texts = {item.source: item.text for item in self.CORPUS[:2]}
        assert self.find_unknown("vault.md", texts, match="filename") == ([], [])

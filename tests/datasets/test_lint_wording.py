"""The sentences about what a lint finds, fixes and skips."""

from pathlib import Path

import retrieval_metrics as rm
from retrieval_metrics.datasets import lint_wording as wording
from retrieval_metrics.datasets.lint_report import MEANING, LintFinding

GOLDEN = Path(__file__).parent / "golden" / "lint_wording.txt"
QUESTION = "Who opens the vault at night?"
LONG_QUESTION = "Who of all the members of staff, of whom there are many, opens the vault of the main branch at night?"
SPAN = rm.Span("rules", 10, 30)
MOVED = rm.Span("rules", 14, 34)

SENTENCES = [
    wording.dependent_question("What does this passage say?", "this passage"),
    wording.dependent_question(LONG_QUESTION, "of whom"),
    wording.unknown_languages_skipped(["q2", "q3"], 1200, ["English", "German", "French"]),
    wording.short_question("vault", 1, 1),
    wording.short_question("is it", 2, 0),
    wording.leaked_id("What does rules-2024.md say?", "rules-2024.md"),
    wording.echo(QUESTION, "vault", 0.953, "opens the vault", 3),
    wording.echo(QUESTION, SPAN, 1.0, "opens the vault", 3),
    wording.duplicate_question(QUESTION, "q1"),
    wording.duplicate_question_fix("q1", "q4"),
    wording.near_duplicate_question("Who opened the vault at night?", "q1", QUESTION, 0.8),
    wording.contradicting_judgments(QUESTION, "q1", wording.opposed_grades("vault")),
    wording.contradicting_judgments(QUESTION, 1, wording.different_relevant(1, "'coffee'", 4, "'vault'")),
    wording.few_sources({"a.md": 9}, 9, 1.0),
    wording.few_sources({"a.md": 9, "b.md": 3}, 12, 1.6),
    wording.too_few_questions(
        metric="ndcg@10", difference=0.05, n_needed=(300, 1300), n_questions=40, spread=0.312, runs=[]
    ),
    wording.too_few_questions(
        metric="mrr", difference=0.1, n_needed=(30, 50), n_questions=4, spread=0.25, runs=["bm25", "dense"]
    ),
    wording.forbidden(3, 2),
    wording.unanswerable(0),
    wording.unanswerable(2),
    wording.no_relevant(3),
    wording.CORPUS_SKIPPED,
    wording.TEXTS_SKIPPED,
    wording.unknown_document("valut", 1.0, 12000),
    wording.unknown_document_fix("valut", is_relevant=True),
    wording.unknown_document_fix("valut", is_relevant=False),
    wording.impossible_group(2, 3, ["gone", rm.Quote("opened at night")]),
    wording.short_quote("night", 5, 10),
    wording.ambiguous_quote("opened at night", ["a", "b", "c", "d", "e", "f"], 7),
    wording.ambiguous_quote("opened at night", ["a"], 2),
    wording.cut_quote("opened at night", "rules"),
    wording.cut_quote_fix(SPAN),
    wording.missing_quote("opened, at night", 1200, None),
    wording.missing_quote("opened, at night", 1200, "opened at night"),
    wording.missing_quote_fix("opened at night"),
    wording.unknown_source(SPAN),
    wording.span_after_end(SPAN, 20),
    wording.uncovered_span(SPAN, 5, 20),
    wording.cut_span(SPAN, "pens the vaul", "he opens the vault at"),
    wording.moved_span(SPAN, "opens the vault", "opened at night", None),
    wording.moved_span(SPAN, "opens the vault", "opened at night", (14, 34)),
    wording.moved_span_fix(SPAN, MOVED),
    wording.agreement_skipped(has_pieces=False),
    wording.agreement_skipped(has_pieces=True),
    wording.unjudged_at_top(QUESTION, "d1", 3, ["bm25", "dense"]),
    wording.similar_passage("copy", "vault", 1.0, None),
    wording.similar_passage("copy", "vault", 0.654, "rare words"),
    wording.copy_fix("copy", "vault"),
    wording.text_elsewhere(SPAN, "opens the vault", "copy"),
    wording.DIFFICULTY_SKIPPED,
    wording.SEARCH_SKIPPED,
    wording.few_passages_skipped(20),
    wording.unanswered_by_bm25(QUESTION, 0.304),
    wording.judgments_of_other_question(QUESTION, "When does the vault open?"),
    wording.easy_for_bm25(QUESTION),
    wording.unanswered_skipped([f"q{number}" for number in range(22)], 1000),
    wording.unanswered_by_runs(QUESTION, ["bm25"]),
    wording.easy_for_runs(QUESTION, ["bm25", "dense"]),
    wording.finding_note(LintFinding("forbidden", None, "3 judgments are below 0")),
    wording.finding_note(LintFinding("easy", "q1", "BM25 finds it")),
    wording.further_findings_note(4),
    wording.fixes_note(1),
    wording.fixes_note(2),
    wording.title(1, 0),
    wording.title(3, 12),
]


def test_sentences_are_the_golden_ones() -> None:
    expected = GOLDEN.read_text(encoding="utf-8").splitlines()
    assert expected == SENTENCES


def test_every_finding_has_a_sentence_or_several() -> None:
    # Some findings have a sentence for each way in which they are found.
    sentences_by_finding = {
        "moved_span": ["moved_span", "span_after_end"],
        "unjudged_duplicate": ["similar_passage"],
        "possible_answer": ["similar_passage", "text_elsewhere"],
        "unanswered": ["unanswered_by_bm25", "unanswered_by_runs", "judgments_of_other_question"],
        "easy": ["easy_for_bm25", "easy_for_runs"],
    }
    for finding in MEANING:
        for sentence in sentences_by_finding.get(finding, [finding]):
            assert callable(getattr(wording, sentence))

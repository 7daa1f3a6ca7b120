"""The sentences about what a lint finds, fixes and skips."""

from pathlib import Path

import retrieval_metrics as rm
from golden_texts import check_golden_texts
from retrieval_metrics.datasets import lint_wording as wording
from retrieval_metrics.datasets.lint_report import SEVERITY_BY_FINDING, LintFinding
from retrieval_metrics.evaluation.chance import Chance

GOLDEN = Path(__file__).parent / "golden" / "lint_wording.txt"
QUESTION = "Who opens the vault at night?"
LONG_QUESTION = "Who of all the members of staff, of whom there are many, opens the vault of the main branch at night?"
SPAN = rm.Span("rules", 10, 30)
MOVED = rm.Span("rules", 14, 34)

SENTENCES = [
    wording.format_missing_text("q9"),
    wording.format_dependent_question("What does this passage say?", "this passage"),
    wording.format_dependent_question(LONG_QUESTION, "of whom"),
    wording.format_unknown_languages_skipped(["q2", "q3"], 1200, ["English", "German", "French"]),
    wording.format_short_question("vault", 1, 1),
    wording.format_short_question("is it", 2, 0),
    wording.format_leaked_id("What does rules-2024.md say?", "rules-2024.md"),
    wording.format_echo(QUESTION, "vault", 0.953, "opens the vault", 3),
    wording.format_echo(QUESTION, SPAN, 1.0, "opens the vault", 3),
    wording.format_duplicate_question(QUESTION, "q1"),
    wording.format_duplicate_question_fix("q1"),
    wording.format_near_duplicate_question("Who opened the vault at night?", "q1", QUESTION, 0.8),
    wording.format_conflicting_judgments(QUESTION, "q1", wording.format_opposed_grades("vault")),
    wording.format_conflicting_judgments(QUESTION, 1, wording.format_different_relevant(1, "'coffee'", 4, "'vault'")),
    wording.format_few_sources({"a.md": 9}, 9, 1.0),
    wording.format_few_sources({"a.md": 9, "b.md": 3}, 12, 1.6),
    wording.format_few_sources({"a.md": 9, "b.md": 3}, 12, 1.6, are_clusters=False),
    wording.format_too_few_questions(
        metric="ndcg@10", difference=0.05, needed_range=(300, 1300), n_questions=40, spread=0.312, runs=[]
    ),
    wording.format_too_few_questions(
        metric="mrr", difference=0.1, needed_range=(30, 50), n_questions=4, spread=0.25, runs=["bm25", "dense"]
    ),
    wording.format_forbidden(3, 2),
    wording.format_unanswerable(0),
    wording.format_unanswerable(2),
    wording.format_no_relevant(3),
    wording.CORPUS_SKIPPED,
    wording.TEXTS_SKIPPED,
    wording.format_unknown_document("valut", 1.0, 12000),
    wording.format_unknown_document("valut", 1.0, 12000, "vault"),
    wording.format_shared_file_name("README.md", 3, "source"),
    wording.format_unknown_document_fix("valut", is_relevant=True),
    wording.format_unknown_document_fix("valut", is_relevant=False),
    wording.format_impossible_group(2, 3, ["gone", rm.Quote("opened at night")]),
    wording.format_short_quote("night", 5, 10),
    wording.format_ambiguous_quote("opened at night", ["a", "b", "c", "d", "e", "f"], 7),
    wording.format_ambiguous_quote("opened at night", ["a"], 2),
    wording.format_cut_quote("opened at night", "rules"),
    wording.format_cut_quote_fix(SPAN),
    wording.format_missing_quote("opened, at night", 1200, None),
    wording.format_missing_quote("opened, at night", 1200, "opened at night"),
    wording.format_missing_quote_fix("opened at night"),
    wording.format_unknown_source(SPAN),
    wording.format_span_after_end(SPAN, 20),
    wording.format_uncovered_span(SPAN, 5, 20),
    wording.format_cut_span(SPAN, "pens the vaul", "he opens the vault at"),
    wording.format_moved_span(SPAN, "opens the vault", "opened at night", None),
    wording.format_moved_span(SPAN, "opens the vault", "opened at night", (14, 34)),
    wording.format_moved_span_fix(SPAN, MOVED),
    wording.format_agreement_skipped(has_pieces=False),
    wording.format_agreement_skipped(has_pieces=True),
    wording.format_unjudged_at_top(QUESTION, "d1", 3, ["bm25", "dense"]),
    wording.format_similar_passage("copy", "vault", 1.0, None),
    wording.format_similar_passage("copy", "vault", 0.654, "rare words"),
    wording.format_copy_fix("copy", "vault"),
    wording.format_text_elsewhere(SPAN, "opens the vault", "copy"),
    wording.DIFFICULTY_SKIPPED,
    wording.SEARCH_SKIPPED,
    wording.format_few_passages_skipped(20),
    wording.format_unanswered_by_bm25(QUESTION, 0.304),
    wording.format_judgments_of_other_question(QUESTION, "When does the vault open?"),
    wording.format_easy_for_bm25(QUESTION),
    wording.format_unanswered_skipped([f"q{number}" for number in range(22)], 1000),
    wording.format_unanswered_by_runs(QUESTION, ["bm25"]),
    wording.format_easy_for_runs(QUESTION, ["bm25", "dense"]),
    wording.format_ignores_query("bm25", Chance("mrr", 0.5, 0.48, 0.31, 60)),
    wording.format_finding(LintFinding("forbidden", None, "3 judgments are below 0")),
    wording.format_finding(LintFinding("easy", "q1", "BM25 finds it")),
    wording.format_further_findings(4),
    wording.format_fixes(1),
    wording.format_fixes(2),
    wording.format_skipped("the corpus is unknown"),
    wording.format_title(1, 0),
    wording.format_title(3, 12),
]


def test_sentences_are_the_golden_ones() -> None:
    check_golden_texts(GOLDEN, {"lint": SENTENCES})


def test_every_finding_has_a_sentence_or_several() -> None:
    # Some findings have a sentence for each way in which they are found.
    sentences_by_finding = {
        "moved_span": ["moved_span", "span_after_end"],
        "unjudged_duplicate": ["similar_passage"],
        "possible_answer": ["similar_passage", "text_elsewhere"],
        "unanswered": ["unanswered_by_bm25", "unanswered_by_runs", "judgments_of_other_question"],
        "easy": ["easy_for_bm25", "easy_for_runs"],
    }
    for finding in SEVERITY_BY_FINDING:
        for sentence in sentences_by_finding.get(finding, [finding]):
            assert callable(getattr(wording, f"format_{sentence}"))

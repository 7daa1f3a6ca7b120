"""Questions that runs or BM25 find easy or hard, and where that says nothing."""

import math
from typing import Any, ClassVar

import pytest

import retrieval_metrics as rm
from lint_cases import CORPUS, QUERIES, VAULT, find_queries, lint
from retrieval_metrics.datasets.corpus_index import CorpusIndex
from retrieval_metrics.datasets.lint_input import LintInput
from retrieval_metrics.datasets.retrievability import Search
from retrieval_metrics.datasets.search_quality import SearchQuality

TOOLS = [first + last for first in "bdfgklmn" for last in ("aro", "eki", "ilo", "omu", "uta")]


def lint_tools(n_strange: int, n_questions: int = len(TOOLS)) -> Any:
    """Lint questions about tools, the first of which use words that are not in the corpus."""
    corpus = {tool: f"Whoever needs a {tool} finds the {tool} in room {tool}room." for tool in TOOLS}
    queries = {}
    for number, tool in enumerate(TOOLS[:n_questions]):
        queries[tool] = f"Where is a {tool} found?"
        if number < n_strange:
            queries[tool] = f"Wherever might one borrow such odd gadget {number}?"
    return rm.EvaluationSet(queries, {tool: [tool] for tool in queries}).lint(corpus)


class TestDifficulty:
    def test_runs_say_what_is_always_and_what_is_never_found(self) -> None:
        runs = {
            "one": {"q1": ["vault"], "q2": ["travel"], "q3": ["coffee", "travel"]},
            "other": {"q1": ["vault", "coffee"], "q2": ["vault"], "q3": ["travel"]},
        }
        result = lint(runs=runs)
        assert find_queries(result, "easy") == ["q1"]
        assert find_queries(result, "unanswered") == ["q2"]
        assert result.named("easy")[0].evidence["runs"] == ["one", "other"]

    def test_a_single_run_may_be_given_without_a_name(self) -> None:
        assert find_queries(lint(runs={"q1": ["vault"], "q2": ["coffee"], "q3": []}), "unanswered") == ["q3"]

    def test_runs_of_items_are_matched_with_quotes_and_spans(self) -> None:
        items = [rm.Retrieved("c1", VAULT, source="vault", start=0)]
        qrels = {
            "q1": [rm.Quote(VAULT[:40].rsplit(" ", 1)[0])],
            "q2": [rm.Span("coffee", 0, 30)],
            "q3": [rm.Span("vault", 0, 40)],
        }
        result = lint(qrels=qrels, runs=dict.fromkeys(QUERIES, items))
        assert (find_queries(result, "easy"), find_queries(result, "unanswered")) == (["q1", "q3"], ["q2"])

    def test_without_runs_bm25_searches_the_corpus(self) -> None:
        filler = {f"filler{i}": f"Paragraph {i} is about subject number {i} and nothing else." for i in range(40)}
        queries = {
            "q1": "Who may open the vault at night with the duty officer?",
            "q2": "How much is the fine for parking?",
        }
        result = lint(queries, corpus=CORPUS | filler)
        assert "q1" in find_queries(result, "easy")
        assert find_queries(result, "unanswered")[0] == "q2"

    def test_judgments_copied_from_another_question_are_found_though_words_are_shared(self) -> None:
        corpus = CORPUS | {f"filler{i}": f"Paragraph {i} is about subject {i} and nothing else." for i in range(40)}
        corpus["door"] = (
            "The door of the vault is painted; what is written about the vault door is painted at night too."
        )
        queries = {
            "q1": "Who may open the vault at night with the duty officer?",
            "q2": "May the duty officer open the painted door of the vault at night?",
        }
        qrels = {"q1": ["vault"], "q2": ["vault"]}
        (finding,) = lint(queries, qrels, corpus=corpus).named("unanswered")
        assert (finding.query, finding.evidence["same_judgments_as"]) == ("q2", "q1")
        assert find_queries(lint(queries, qrels | {"q2": ["door"]}, corpus=corpus), "unanswered") == []

    def test_what_cannot_be_looked_at_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert len(lint(corpus=None).skipped) == 3
        assert "20 passages" in lint().skipped[0]
        monkeypatch.setattr("retrieval_metrics.datasets.bm25.find_spec", lambda _: None)
        assert "retrieval-metrics[questions]" in lint().skipped[0]


def test_where_bm25_finds_too_little_for_too_many_it_says_so_and_reports_none_of_them() -> None:
    few = lint_tools(9)
    many = lint_tools(30)
    assert len(few.named("unanswered")) == 9
    assert not many.named("unanswered")
    assert any("ranks the relevant passages low for 30 of 40, probably" in note for note in many.skipped)
    (note,) = [note for note in many.skipped if "unconfirmed suspects, worst first" in note]
    named_queries = set(note.partition("worst first: ")[2].removesuffix(" and 10 more").split(", "))
    assert len(named_queries) == 20
    assert named_queries <= {repr(query) for query in list(many.questions.queries)[:30]}


class TestSearching:
    QUERIES: ClassVar = {"q1": "Where does the copper kettle whistle?"}

    def lint(self, judged: Any, passages: int = 20) -> Any:
        filler = {f"d{i}": f"Filler paragraph number{i} concerns subject{i} alone." for i in range(passages - 2)}
        corpus = {"a": "Copper kettle whistle whistle copper kettle.", "b": "The kettle stands here alone."} | filler
        return rm.EvaluationSet(self.QUERIES, {"q1": judged}).lint(corpus)

    @pytest.mark.parametrize(
        ("judged", "chance"),
        [
            (["a"], 0.5 / 20),
            (["b"], 1.5 / 20),
            ([["a", "b"]], 1 - (1 - 0.5 / 20) ** 2),  # the better of two
            # Fisher: p (1 - ln p) for the product p of two probabilities.
            ([["a"], ["b"]], 0.025 * 0.075 * (1 - math.log(0.025 * 0.075))),
        ],
    )
    def test_the_probability_that_random_passages_rank_as_well(self, judged: Any, chance: float) -> None:
        (finding,) = [finding for finding in self.lint(judged) if finding.name in {"easy", "unanswered"}]
        assert finding.evidence["chance"] == pytest.approx(chance)

    def test_ranks_among_twenty_passages_tell_something(self) -> None:
        assert len(self.lint(["a"]).named("easy")) == 1
        too_small = self.lint(["a"], passages=19)
        assert not too_small.named("easy")
        assert any("at least 20 passages" in note for note in too_small.skipped)

    def judge(self, chance: float, share: float, better: str | None = None) -> list[str]:
        passages = CorpusIndex.from_corpus({"a": "Copper kettle."})
        search = Search(LintInput(self.QUERIES, rm.Qrels({"q1": ["a"]}), passages), passages)
        # BM25 gives no such round scores.
        finding = search.judge_quality("q1", SearchQuality(chance, share, is_easy=False), better)
        return [] if finding is None else [finding.name]

    @pytest.mark.parametrize(
        ("chance", "below"),
        [(0.13, 0.7), (0.129, 0.35), (0.005, 0.35), (0.0049, 0.0)],
    )
    def test_unanswered_is_what_ranks_by_chance_and_scores_low(self, chance: float, below: float) -> None:
        assert self.judge(chance, below - 0.001 if below else 0.0) == ["unanswered"]
        assert self.judge(chance, below or 0.001) == []

    def test_so_is_what_another_question_with_the_same_judgments_finds_better(self) -> None:
        assert self.judge(0.001, 0.899, better="q1") == ["unanswered"]
        assert self.judge(0.001, 0.9, better="q1") == []

    @pytest.mark.parametrize(
        ("strange", "questions", "reported"),
        [(9, 12, 9), (10, 40, 10), (11, 40, 0)],  # fewer than ten; a quarter; more than a quarter
    )
    def test_a_quarter_of_the_questions_or_nine_may_be_unanswered(
        self, strange: int, questions: int, reported: int
    ) -> None:
        result = lint_tools(strange, questions)
        assert len(result.named("unanswered")) == reported


@pytest.mark.parametrize(
    ("count", "windows"), [(400, [400]), (401, [200, 200, 200, 101, 1]), (500, [200, 200, 200, 200, 100])]
)
def test_documents_of_more_than_400_words_are_searched_in_windows_of_200(count: int, windows: list[int]) -> None:
    passages = CorpusIndex.from_corpus({"a": " ".join(f"w{number}" for number in range(count))})
    search = Search(LintInput({"q1": "why?"}, rm.Qrels({"q1": [rm.Quote("w0 w1 w2 w3 w4 w5")]}), passages), passages)
    tokens = [(item.text or "").split() for item in search.passages.items]
    assert list(map(len, tokens)) == windows
    assert [window[0] for window in tokens] == [f"w{100 * number}" for number in range(len(windows))]
    by_id = Search(LintInput({"q1": "why?"}, rm.Qrels({"q1": ["a"]}), passages), passages)
    assert len(by_id.passages.items) == 1

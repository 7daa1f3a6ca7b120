"""Questions that runs or BM25 find easy or hard, and where that says nothing."""

import math
from typing import Any, ClassVar

import pytest

import retrieval_metrics as rm
from lint_cases import CORPUS, QUERIES, VAULT, found, lint
from retrieval_metrics.datasets.corpus_index import CorpusIndex
from retrieval_metrics.datasets.lint_input import LintInput
from retrieval_metrics.datasets.retrievability import Search, SearchQuality


class TestDifficulty:
    def test_runs_say_what_is_always_and_what_is_never_found(self) -> None:
        runs = {
            "one": {"q1": ["vault"], "q2": ["travel"], "q3": ["coffee", "travel"]},
            "other": {"q1": ["vault", "coffee"], "q2": ["vault"], "q3": ["travel"]},
        }
        result = lint(runs=runs)
        assert found(result, "easy") == ["q1"]
        assert found(result, "unanswered") == ["q2"]
        assert result.named("easy")[0].evidence["runs"] == ["one", "other"]

    def test_a_single_run_may_be_given_without_a_name(self) -> None:
        assert found(lint(runs={"q1": ["vault"], "q2": ["coffee"], "q3": []}), "unanswered") == ["q3"]

    def test_runs_of_items_are_matched_with_quotes_and_spans(self) -> None:
        items = [rm.Retrieved("c1", VAULT, source="vault", start=0)]
        qrels = {
            "q1": [rm.Quote(VAULT[:40].rsplit(" ", 1)[0])],
            "q2": [rm.Span("coffee", 0, 30)],
            "q3": [rm.Span("vault", 0, 40)],
        }
        result = lint(qrels=qrels, runs=dict.fromkeys(QUERIES, items))
        assert (found(result, "easy"), found(result, "unanswered")) == (["q1", "q3"], ["q2"])

    def test_without_runs_bm25_searches_the_corpus(self) -> None:
        rest = {f"filler{at}": f"Paragraph {at} is about subject number {at} and nothing else." for at in range(40)}
        queries = {
            "q1": "Who may open the vault at night with the duty officer?",
            "q2": "How much is the fine for parking?",
        }
        result = lint(queries, corpus=CORPUS | rest)
        assert "q1" in found(result, "easy")
        assert found(result, "unanswered")[0] == "q2"

    def test_judgments_copied_from_another_question_are_found_though_words_are_shared(self) -> None:
        rest = {f"filler{at}": f"Paragraph {at} is about subject {at} and nothing else." for at in range(40)}
        rest["door"] = "The door of the vault is painted; what is written about the vault door is painted at night too."
        queries = {
            "q1": "Who may open the vault at night with the duty officer?",
            "q2": "May the duty officer open the painted door of the vault at night?",
        }
        qrels = {"q1": ["vault"], "q2": ["vault"]}
        (finding,) = lint(queries, qrels, corpus=CORPUS | rest).named("unanswered")
        assert (finding.query, finding.evidence["same_judgments_as"]) == ("q2", "q1")
        assert found(lint(queries, qrels | {"q2": ["door"]}, corpus=CORPUS | rest), "unanswered") == []

    def test_what_cannot_be_looked_at_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert len(lint(corpus=None).skipped) == 3
        assert "20 passages" in lint().skipped[0]
        monkeypatch.setattr("retrieval_metrics.datasets.bm25.find_spec", lambda _: None)
        assert "retrieval-metrics[questions]" in lint().skipped[0]


def test_where_bm25_finds_too_little_for_too_many_it_says_so_and_reports_none_of_them() -> None:
    def linted(strange: int) -> Any:
        things = [f"{one}{other}" for one in "bdfgklmn" for other in ("aro", "eki", "ilo", "omu", "uta")]
        corpus = {thing: f"Whoever needs a {thing} finds the {thing} in room {thing}room." for thing in things}
        texts = {
            thing: f"Wherever might one borrow such odd gadget {at}?" if at < strange else f"Where is a {thing} found?"
            for at, thing in enumerate(things)
        }
        return rm.EvaluationSet(texts, {thing: [thing] for thing in things}).lint(corpus)

    few, many = linted(9), linted(30)
    assert len(few.named("unanswered")) == 9
    assert not many.named("unanswered")
    assert any("hardly finds what is relevant to 30 of 40: they use other words" in one for one in many.skipped)
    (said,) = [one for one in many.skipped if "suspected most are" in one]
    named = set(said.partition("suspected most are ")[2].removesuffix(" and 10 more").split(", "))
    assert len(named) == 20
    assert named <= {repr(one) for one in [*many.questions.queries][:30]}


class TestSearching:
    QUERIES: ClassVar = {"q1": "Where does the copper kettle whistle?"}

    def lint(self, judged: Any, passages: int = 20) -> Any:
        filler = {f"d{at}": f"Filler paragraph number{at} concerns subject{at} alone." for at in range(passages - 2)}
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
        chances = [one.evidence["chance"] for one in self.lint(judged) if one.name in {"easy", "unanswered"}]
        assert chances == pytest.approx([chance])

    def test_ranks_among_twenty_passages_tell_something(self) -> None:
        assert len(self.lint(["a"]).named("easy")) == 1
        few = self.lint(["a"], passages=19)
        assert not few.named("easy")
        assert any("at least 20 passages" in one for one in few.skipped)

    def found(self, chance: float, share: float, better: str | None = None) -> list[str]:
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
        assert self.found(chance, below - 0.001 if below else 0.0) == ["unanswered"]
        assert self.found(chance, below or 0.001) == []

    def test_so_is_what_another_question_with_the_same_judgments_finds_better(self) -> None:
        assert self.found(0.001, 0.899, better="q1") == ["unanswered"]
        assert self.found(0.001, 0.9, better="q1") == []

    @pytest.mark.parametrize(
        ("strange", "questions", "reported"),
        [(9, 12, 9), (10, 40, 10), (11, 40, 0)],  # fewer than ten; a quarter; more than a quarter
    )
    def test_a_quarter_of_the_questions_or_nine_may_be_unanswered(
        self, strange: int, questions: int, reported: int
    ) -> None:
        things = [f"{one}{other}" for one in "bdfgklmn" for other in ("aro", "eki", "ilo", "omu", "uta")]
        corpus = {thing: f"Whoever needs a {thing} finds the {thing} in room {thing}room." for thing in things}
        texts = {
            thing: f"Wherever might one borrow such odd gadget {at}?" if at < strange else f"Where is a {thing} found?"
            for at, thing in enumerate(things[:questions])
        }
        result = rm.EvaluationSet(texts, {thing: [thing] for thing in texts}).lint(corpus)
        assert len(result.named("unanswered")) == reported


@pytest.mark.parametrize(
    ("count", "windows"), [(400, [400]), (401, [200, 200, 200, 101, 1]), (500, [200, 200, 200, 200, 100])]
)
def test_documents_of_more_than_400_words_are_searched_in_windows_of_200(count: int, windows: list[int]) -> None:
    passages = CorpusIndex.from_corpus({"a": " ".join(f"w{at}" for at in range(count))})
    search = Search(LintInput({"q1": "why?"}, rm.Qrels({"q1": [rm.Quote("w0 w1 w2 w3 w4 w5")]}), passages), passages)
    assert [len((item.text or "").split()) for item in search.passages.items] == windows
    assert [(item.text or "").split()[0] for item in search.passages.items] == [
        f"w{100 * at}" for at in range(len(windows))
    ]
    by_id = Search(LintInput({"q1": "why?"}, rm.Qrels({"q1": ["a"]}), passages), passages)
    assert len(by_id.passages.items) == 1

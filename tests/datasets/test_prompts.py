"""Comparisons, conversations, unanswerable questions and answers are verified like everything else."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from corpus import topics
from retrieval_metrics.datasets.candidate import Candidate, WantedQuestion
from scripted_model import ScriptedModel, Told

VAULT = (
    "The vault may be opened at night by the duty officer. A second member of staff has to be present. "
    "Both sign the book that lies beside the door."
)
OPENED, SECOND = "opened at night by the duty officer", "A second member of staff has to be present."
RULES = {"vault": VAULT}
NIGHT = {"question": "Who gets into the strong room after hours?", "quotes": [OPENED]}
YES: Callable[[str], Any] = lambda prompt: {"answerable": OPENED in prompt}  # noqa: E731
WRITE: tuple[str, Any] = ("Write one question", NIGHT)
ANSWERS: tuple[str, Any] = ("Can the question be answered", YES)


def one(model: Any, kind: str, corpus: Any = None, **how: Any) -> rm.types.GeneratedQuestions:
    return rm.generate_questions(RULES if corpus is None else corpus, model, 1, kinds=kind, **how)


class TestAnswers:
    def made(self, answer: Any, supported: Any, **how: Any) -> tuple[rm.types.GeneratedQuestions, Told]:
        model = Told(("Write one", {**NIGHT, "answer": answer}), ANSWERS, ("what the answer says", supported))
        return one(model, "one_passage", **how), model

    def test_an_answer_that_the_quotes_bear_out_is_kept(self, tmp_path: Path) -> None:
        made, model = self.made("The duty officer.", {"supported": True})
        assert [*made.questions.answers.values()] == ["The duty officer."]
        assert "1 have a reference answer that says what their quotes say" in str(made)
        (asked,) = [prompt for prompt in model.asked if "<answer>" in prompt]
        assert OPENED in asked
        assert SECOND not in asked, "the quotes alone have to bear it out"
        assert made.to_pandas()["answer"].tolist() == ["The duty officer."]
        assert made.questions.to_ragas()[0]["reference"] == "The duty officer."
        made.questions.save(tmp_path / "set.json")
        assert rm.load(tmp_path / "set.json").answers == made.questions.answers

    @pytest.mark.parametrize("supported", [{"supported": False}, "I would rather not say."])
    def test_another_is_left_out_and_counted_and_the_question_stays(self, supported: Any) -> None:
        made, _ = self.made("The cook.", supported)
        assert len(made) == 1
        assert made.questions.answers == {}
        assert "1 were left out, because it could not be confirmed" in str(made)

    def test_a_number_that_stands_nowhere_is_left_out_whatever_the_model_says(self) -> None:
        made, model = self.made("The duty officer, with 2 others.", {"supported": True})
        assert made.questions.answers == {}
        assert not [prompt for prompt in model.asked if "<answer>" in prompt]

    def test_without_the_check_there_is_no_answer(self) -> None:
        assert self.made("The duty officer.", {"supported": True}, checks=["answerable"])[0].questions.answers == {}

    def test_a_model_need_not_give_one(self) -> None:
        made = one(Told(WRITE, ANSWERS), "one_passage")
        assert len(made) == 1
        assert "reference answer" not in str(made)


class TestConversations:
    TALK: dict[str, Any] = {  # noqa: RUF012  (nobody changes it)
        "first": "Who has to be there when the vault is opened?",
        "said": [SECOND],
        "question": "And who opens it after hours?",
        "quotes": [OPENED],
        "answer": "The duty officer.",
    }

    def model(self, *told: tuple[str, Any], **other: Any) -> Told:
        both: Callable[[str], Any] = lambda prompt: {  # noqa: E731
            "answerable": (OPENED if self.TALK["question"] in prompt else SECOND) in between_texts(prompt)
        }
        return Told(
            ("Write two questions", {**self.TALK, **other}),
            ("Can the question be answered", both),
            ('"clear"', {"clear": False}),
            ("what the answer says", {"supported": True}),
            *told,
        )

    def test_what_was_said_is_in_one_field_in_the_words_of_the_passage(self) -> None:
        made = one(self.model(), "conversational")
        ((query, said),) = made.questions.conversation.items()
        texts: Any = made.questions.queries
        assert said == (
            {"role": "user", "content": self.TALK["first"]},
            {"role": "assistant", "content": SECOND},
        )
        assert texts[query] == "And who opens it after hours?"
        assert made.questions.answers == {query: "The duty officer."}
        (in_context,) = made.questions.with_conversation().queries.values()
        assert in_context.startswith(self.TALK["first"])

    @pytest.mark.parametrize(
        ("changed", "reason"),
        [
            ({"said": ["A third member of staff has to be present."]}, "quote not found"),
            ({"said": [OPENED]}, "said before"),
            ({"said": []}, "nothing said before"),
            ({"first": "What does this passage say?"}, "dependent question"),
        ],
    )
    def test_a_reply_that_cannot_be_used_is_rejected_by_reason(self, changed: Any, reason: str) -> None:
        made = one(self.model(**changed), "conversational")
        assert {*made.reasons} == {reason}

    def test_a_question_that_is_understood_alone_is_no_follow_up(self) -> None:
        assert one(self.model(('"clear"', {"clear": True})), "conversational").reasons["understood alone"] >= 1

    def test_what_is_said_has_to_answer_the_first_question(self) -> None:
        only = lambda prompt: {"answerable": OPENED in between_texts(prompt)}  # noqa: E731
        made = one(self.model(("Can the question be answered", only)), "conversational")
        assert made.reasons["wrong history"] >= 1

    def test_sentences_can_be_named_by_number(self) -> None:
        told = {**self.TALK, "said": [2], "sentences": [1]}
        del told["quotes"]
        made = one(self.model(("Write two questions", told)), "conversational", evidence="sentences")
        assert [said[1]["content"] for said in made.questions.conversation.values()] == [SECOND]

    def test_the_same_follow_up_after_something_else_is_another_question(self) -> None:
        corpus = {**RULES, "gate": VAULT.replace("vault", "gate").replace("door", "wall")}

        def write(prompt: str) -> Any:
            thing, beside = ("gate", "wall") if "gate" in prompt else ("vault", "door")
            return {
                **self.TALK,
                "first": f"Who has to be there when the {thing} is opened?",
                "said": [f"book that lies beside the {beside}"],
                "quotes": [f"The {thing} may be {OPENED}"],
            }

        model = Told(("Write two questions", write))
        made = rm.generate_questions(corpus, model, 2, kinds="conversational", checks=["duplicates"])
        assert len(made) == 2
        assert set(made.questions.queries.values()) == {"And who opens it after hours?"}


class TestUnanswerable:
    ASKED: dict[str, Any] = {"question": "What does the vault weigh?"}  # noqa: RUF012  (as above)
    WRITE: tuple[str, Any] = ("does not answer", ASKED)
    CONTROL: tuple[str, Any] = ("Does the text say this?", {"answerable": True})
    NO: tuple[str, Any] = ("Can the question be answered", {"answerable": False})

    def test_nothing_is_judged_and_every_passage_that_is_found_was_looked_at(self) -> None:
        corpus = {**RULES, "doors": "The doors of the vault are checked by the fire brigade once a year."}
        model = Told(self.WRITE, self.NO, self.CONTROL)
        made = one(model, "unanswerable", corpus)
        (query,) = made.questions.unanswerable
        assert made.questions.provenance_values("kind") == {query: "unanswerable"}
        asked = [prompt for prompt in model.asked if "<text>" in prompt and "Does the text" not in prompt]
        assert sum("fire brigade" in prompt for prompt in asked) == sum(SECOND in prompt for prompt in asked) == 1
        assert "unanswerable" in made.questions.lint().counts
        run: Any = {query: ["vault"], "q": ["d"]}
        result = rm.evaluate(made.questions.merge(rm.EvaluationSet({"q": "why?"}, {"q": ["d"]})), run, "mrr")
        assert result.means == {"mrr": 1.0}

    def test_a_passage_that_answers_makes_it_answerable(self) -> None:
        corpus = {**RULES, "weights": "In weight the vault comes to nine tons without what lies in it."}
        tons = ("Can the question be answered", lambda prompt: {"answerable": "nine tons" in prompt})
        made = one(Told(self.WRITE, tons, self.CONTROL), "unanswerable", corpus)
        assert len(made) == 0
        assert {*made.reasons} <= {"answered", "duplicate question"}
        assert "'weights'" in made.rejected[0].message

    def test_what_the_retriever_finds_is_looked_at_too(self) -> None:
        corpus = {**RULES, "odd": "Neun Tonnen bringt der Tresor auf die Waage, wenn er leer ist."}
        tonnes = ("Can the question be answered", lambda prompt: {"answerable": "Neun Tonnen" in prompt})
        by_words = one(Told(self.WRITE, tonnes, self.CONTROL), "unanswerable", {"vault": VAULT * 2, **corpus})
        found = one(Told(self.WRITE, tonnes, self.CONTROL), "unanswerable", corpus, retriever=lambda _: ["odd"])
        assert len(by_words) >= len(found) == 0

    def test_a_model_that_denies_everything_is_not_believed(self) -> None:
        made = one(Told(self.WRITE, self.NO), "unanswerable")
        assert len(made) == 0
        assert made.reasons["not believed"] >= 1

    def test_it_has_to_be_about_what_the_passage_is_about(self) -> None:
        made = one(Told(("does not answer", {"question": "How many moons circle Saturn?"})), "unanswerable")
        assert {*made.reasons} == {"off the subject"}

    def test_it_needs_the_check(self) -> None:
        with pytest.raises(ValueError, match="'unanswerable' questions need the check 'answerable'"):
            one(Told(), "unanswerable", checks=["needed"])


class TestComparisons:
    def test_the_quotes_come_from_two_documents(self) -> None:
        made = rm.generate_questions(topics(), ScriptedModel(), 8, kinds="comparison")
        assert len(made) == 8
        qrels: dict[Any, Any] = dict(made.questions.qrels)
        for groups in qrels.values():
            first, second = (next(one for one in group if isinstance(one, rm.Span)) for group in groups)
            assert first.source != second.source

    def test_one_document_cannot_be_compared(self) -> None:
        with pytest.raises(ValueError, match="the corpus is one document, which cannot be compared"):
            one(Told(), "comparison", {"vault": VAULT * 40})

    def test_both_are_needed(self) -> None:
        corpus = {**RULES, "gate": "The gate may be opened at night by the night watch, and by nobody else."}
        told = {
            "question": "Who opens which door after hours?",
            "quotes": [OPENED, "by the night watch, and by nobody else"],
        }
        always = ("Can the question be answered", {"answerable": True})
        made = one(Told(("that compares", told), always), "comparison", corpus)
        assert len(made) == 0
        assert made.reasons["not all needed"] >= 1
        lazy = one(Told(("that compares", {**told, "quotes": [OPENED]}), always), "comparison", corpus)
        assert {*lazy.reasons} == {"not every passage"}


def test_a_lying_model_fills_a_set_of_all_kinds_and_nothing_false_gets_in(tmp_path: Path) -> None:
    kinds = ["one_passage", "several_passages", "comparison", "conversational", "unanswerable"]
    model = ScriptedModel(lies=0.3, fails=0.1)
    made = rm.generate_questions(topics(), rm.Model(model, cache=tmp_path / "replies.jsonl"), 50, kinds=kinds)
    assert Counter(made.questions.provenance_values("kind").values()) == dict.fromkeys(kinds, 10)
    assert len(made.questions.unanswerable) == 10
    assert len(made.questions.conversation) == 10
    texts = topics()
    everything = re.sub(r"\s+", "", "".join(texts.values()))
    for answer in made.questions.answers.values():
        assert re.sub(r"\s+", "", answer) in everything
    for said in made.questions.conversation.values():
        assert re.sub(r"\s+", "", said[1]["content"]) in everything
    assert model.done["lied in the answer"] > 5
    again = ScriptedModel(lies=0.3, fails=0.1)
    same = rm.generate_questions(topics(), rm.Model(again, cache=tmp_path / "replies.jsonl"), 50, kinds=kinds)
    assert same.questions == made.questions
    assert not again.asked


def between_texts(prompt: str) -> str:
    return prompt[prompt.index("<text>") :] if "<text>" in prompt else json.dumps(prompt)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Who opens the vault at night, and how?", "opens-vault-night-"),
        ("谁在夜里打开金库，怎么打开？", "谁在夜里打开金库怎么打开-"),  # noqa: RUF001  (as Chinese writes them)
        ("金库 24 小时开放吗", "金库-24-小时开放吗-"),
        ("ห้องนิรภัยเปิดเมื่อไหร่", "ห้องนิรภัยเป-"),
        ("금고는 누가 엽니까?", "금고는-누가-엽니까-"),
        ("???", ""),
    ],
)
def test_ids_can_be_read_in_every_script(question: str, named: str) -> None:
    made = Candidate(WantedQuestion("one_passage", (0,)), question, [], 0.0).id
    assert re.fullmatch(f"{named}[0-9a-f]{{6}}", made)


class TestForm:
    """What a model writes in another language, or at great length, is no question of the set."""

    def asked(self, question: str, text: str = VAULT, quote: str = OPENED, **how: Any) -> rm.types.GeneratedQuestions:
        model = Told(("Write one", {"question": question, "quotes": [quote], "answer": "so " * 400}), ANSWERS)
        return one(model, "one_passage", {"vault": text}, checks=(), **how)

    @pytest.mark.parametrize(
        ("question", "language"),
        [
            ("Wer darf den Raum mit den Fächern nach Feierabend noch betreten?", "German"),
            ("Quién puede entrar en la cámara después de las ocho?", "Spanish"),
            ("谁可以在晚上进入金库呢", "a script without spaces"),
        ],
    )
    def test_a_question_in_another_language_is_asked_for_again_and_rejected(self, question: str, language: str) -> None:
        made = self.asked(question)
        assert set(made.reasons) == {"other language"}
        assert f"is in {language}; write in English" in made.rejected[0].message
        assert len(made) == 0

    @pytest.mark.parametrize(("others", "kept"), [("English", 0), ("mixed", 1)])
    def test_of_code_the_language_is_that_of_the_corpus(self, others: str, kept: int) -> None:
        code = (
            "lent = book.lent\n>>> lent.add(key)\n>>> lent.remove_every_key_of(guest)\nguest.key\n>>> sorted(lent)[:2]"
        )
        german = "Der Tresor darf in der Nacht von dem Wachmann geöffnet werden, und es muss noch jemand dabei sein."
        corpus = {
            "code": code,
            "one": VAULT,
            "two": VAULT.replace("vault", "cellar") if others == "English" else german,
        }
        question = "Wie kann man den Gast aus der Liste wieder entfernen?"
        asked = {"question": question, "quotes": [">>> lent.remove_every_key_of(guest)"]}
        model = Told(("Write one", asked), ("Can the question be answered", {"answerable": True}))
        made = rm.generate_questions(corpus, model, 3, kinds="one_passage", checks=())
        assert ("other language" in made.reasons) == (not kept)
        assert len(made) == kept

    def test_the_language_that_was_asked_for_counts_and_one_that_cannot_be_told_is_let_be(self) -> None:
        german = rm.QuestionPrompts(language="German")
        assert len(self.asked("Wer darf den Raum nach Feierabend noch betreten?", prompts=german)) == 1
        assert set(self.asked("Who may still enter the room after hours?", prompts=german).reasons) == {
            "other language"
        }
        latin = rm.QuestionPrompts(language="Latin")
        assert len(self.asked("Quis noctu cellam aperire potest, custos an servus?", prompts=latin)) == 1
        assert len(self.asked("Quis noctu cellam aperire potest, custos an servus?")) == 1

    def test_a_question_of_a_thousand_words_is_rejected(self) -> None:
        made = self.asked("Who opens the " + "very " * 300 + "strong room after hours?")
        assert set(made.reasons) == {"long question"}
        assert re.search(r"has 1,\d{3} characters; ask in at most 600", made.rejected[0].message)

    def test_an_answer_that_goes_on_and_on_is_left_out(self) -> None:
        question = {"question": "Who gets into the strong room after hours?", "quotes": [OPENED]}
        model = Told(
            ("Write one", {**question, "answer": "duty officer " * 100}),
            ANSWERS,
            ("what the answer says", {"supported": True}),
        )
        made = one(model, "one_passage", checks=("answers",))
        assert made.questions.answers == {}
        assert "1 were left out" in str(made)

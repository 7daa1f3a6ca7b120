"""Comparisons, conversations, unanswerable questions and answers are verified like everything else."""

import json
import re
from collections import Counter
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
OPENED = "opened at night by the duty officer"
SECOND = "A second member of staff has to be present."
RULES = {"vault": VAULT}
NIGHT = {"question": "Who gets into the strong room after hours?", "quotes": [OPENED]}
WRITE: tuple[str, Any] = ("Write one question", NIGHT)


def is_answerable(prompt: str) -> dict[str, bool]:
    return {"answerable": OPENED in prompt}


ANSWERS: tuple[str, Any] = ("Can the question be answered", is_answerable)


def generate_one(model: Any, kind: str, corpus: Any = None, **options: Any) -> rm.types.GeneratedQuestions:
    return rm.generate_questions(RULES if corpus is None else corpus, model, 1, kinds=kind, **options)


class TestAnswers:
    def generate(self, answer: Any, supported: Any, **options: Any) -> tuple[rm.types.GeneratedQuestions, Told]:
        model = Told(("Write one", {**NIGHT, "answer": answer}), ANSWERS, ("what the answer says", supported))
        return generate_one(model, "one_passage", **options), model

    def test_an_answer_that_the_quotes_bear_out_is_kept(self, tmp_path: Path) -> None:
        generated, model = self.generate("The duty officer.", {"supported": True})
        assert [*generated.questions.answers.values()] == ["The duty officer."]
        assert "1 have a reference answer that says what their quotes say" in str(generated)
        (answer_prompt,) = [prompt for prompt in model.prompts if "<answer>" in prompt]
        assert OPENED in answer_prompt
        assert SECOND not in answer_prompt, "the quotes alone have to bear it out"
        assert generated.to_pandas()["answer"].tolist() == ["The duty officer."]
        assert generated.questions.to_ragas()[0]["reference"] == "The duty officer."
        generated.questions.save(tmp_path / "set.json")
        assert rm.load(tmp_path / "set.json").answers == generated.questions.answers

    @pytest.mark.parametrize("supported", [{"supported": False}, "I would rather not say."])
    def test_another_is_left_out_and_counted_and_the_question_stays(self, supported: Any) -> None:
        generated, _ = self.generate("The cook.", supported)
        assert len(generated) == 1
        assert generated.questions.answers == {}
        assert "1 were left out, because it could not be confirmed" in str(generated)

    def test_a_number_that_stands_nowhere_is_left_out_whatever_the_model_says(self) -> None:
        generated, model = self.generate("The duty officer, with 2 others.", {"supported": True})
        assert generated.questions.answers == {}
        assert not [prompt for prompt in model.prompts if "<answer>" in prompt]

    def test_without_the_check_there_is_no_answer(self) -> None:
        assert self.generate("The duty officer.", {"supported": True}, checks=["answerable"])[0].questions.answers == {}

    def test_a_model_need_not_give_one(self) -> None:
        generated = generate_one(Told(WRITE, ANSWERS), "one_passage")
        assert len(generated) == 1
        assert "reference answer" not in str(generated)


class TestConversations:
    TALK: dict[str, Any] = {  # noqa: RUF012  (nobody changes it)
        "first": "Who has to be there when the vault is opened?",
        "said": [SECOND],
        "question": "And who opens it after hours?",
        "quotes": [OPENED],
        "answer": "The duty officer.",
    }

    def answers(self, prompt: str) -> dict[str, bool]:
        answer = OPENED if self.TALK["question"] in prompt else SECOND
        return {"answerable": answer in between_texts(prompt)}

    def model(self, *replies: tuple[str, Any], **changes: Any) -> Told:
        return Told(
            ("Write two questions", {**self.TALK, **changes}),
            ("Can the question be answered", self.answers),
            ('"clear"', {"clear": False}),
            ("what the answer says", {"supported": True}),
            *replies,
        )

    def test_what_was_said_is_in_one_field_in_the_words_of_the_passage(self) -> None:
        generated = generate_one(self.model(), "conversational")
        ((query, messages),) = generated.questions.conversation.items()
        texts: Any = generated.questions.queries
        assert messages == (
            {"role": "user", "content": self.TALK["first"]},
            {"role": "assistant", "content": SECOND},
        )
        assert texts[query] == "And who opens it after hours?"
        assert generated.questions.answers == {query: "The duty officer."}
        (in_context,) = generated.questions.with_conversation().queries.values()
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
        generated = generate_one(self.model(**changed), "conversational")
        assert {*generated.reasons} == {reason}

    def test_a_question_that_is_understood_alone_is_no_follow_up(self) -> None:
        assert generate_one(self.model(('"clear"', {"clear": True})), "conversational").reasons["understood alone"] >= 1

    def test_what_is_said_has_to_answer_the_first_question(self) -> None:
        def only(prompt: str) -> dict[str, bool]:
            return {"answerable": OPENED in between_texts(prompt)}

        generated = generate_one(self.model(("Can the question be answered", only)), "conversational")
        assert generated.reasons["wrong history"] >= 1

    def test_sentences_can_be_named_by_number(self) -> None:
        reply = {**self.TALK, "said": [2], "sentences": [1]}
        del reply["quotes"]
        generated = generate_one(self.model(("Write two questions", reply)), "conversational", evidence="sentences")
        assert [messages[1]["content"] for messages in generated.questions.conversation.values()] == [SECOND]

    def test_the_same_follow_up_after_something_else_is_another_question(self) -> None:
        corpus = {**RULES, "gate": VAULT.replace("vault", "gate").replace("door", "wall")}

        def write(prompt: str) -> Any:
            subject = "gate" if "gate" in prompt else "vault"
            place = "wall" if "gate" in prompt else "door"
            return {
                **self.TALK,
                "first": f"Who has to be there when the {subject} is opened?",
                "said": [f"book that lies beside the {place}"],
                "quotes": [f"The {subject} may be {OPENED}"],
            }

        model = Told(("Write two questions", write))
        generated = rm.generate_questions(corpus, model, 2, kinds="conversational", checks=["duplicates"])
        assert len(generated) == 2
        assert set(generated.questions.queries.values()) == {"And who opens it after hours?"}


class TestUnanswerable:
    WRITE: tuple[str, Any] = ("does not answer", {"question": "What does the vault weigh?"})
    CONTROL: tuple[str, Any] = ("Does the text say this?", {"answerable": True})
    NO: tuple[str, Any] = ("Can the question be answered", {"answerable": False})

    def test_nothing_is_judged_and_every_passage_that_is_found_was_looked_at(self) -> None:
        corpus = {**RULES, "doors": "The doors of the vault are checked by the fire brigade once a year."}
        model = Told(self.WRITE, self.NO, self.CONTROL)
        generated = generate_one(model, "unanswerable", corpus)
        (query,) = generated.questions.unanswerable
        assert generated.questions.provenance_values("kind") == {query: "unanswerable"}
        checks = [prompt for prompt in model.prompts if "<text>" in prompt and "Does the text" not in prompt]
        assert sum("fire brigade" in prompt for prompt in checks) == 1
        assert sum(SECOND in prompt for prompt in checks) == 1
        assert "unanswerable" in generated.questions.lint().counts
        run: Any = {query: ["vault"], "q": ["d"]}
        result = rm.evaluate(generated.questions.merge(rm.EvaluationSet({"q": "why?"}, {"q": ["d"]})), run, "mrr")
        assert result.means == {"mrr": 1.0}

    def test_a_passage_that_answers_makes_it_answerable(self) -> None:
        corpus = {**RULES, "weights": "In weight the vault comes to nine tons without what lies in it."}
        tons = ("Can the question be answered", lambda prompt: {"answerable": "nine tons" in prompt})
        generated = generate_one(Told(self.WRITE, tons, self.CONTROL), "unanswerable", corpus)
        assert len(generated) == 0
        assert {*generated.reasons} <= {"answered", "duplicate question"}
        assert "'weights'" in generated.rejected[0].message

    def test_what_the_retriever_finds_is_looked_at_too(self) -> None:
        corpus = {**RULES, "odd": "Neun Tonnen bringt der Tresor auf die Waage, wenn er leer ist."}
        tonnes = ("Can the question be answered", lambda prompt: {"answerable": "Neun Tonnen" in prompt})
        by_words = generate_one(Told(self.WRITE, tonnes, self.CONTROL), "unanswerable", {"vault": VAULT * 2, **corpus})
        by_retriever = generate_one(
            Told(self.WRITE, tonnes, self.CONTROL), "unanswerable", corpus, retriever=lambda _: ["odd"]
        )
        assert len(by_words) >= len(by_retriever) == 0

    def test_a_model_that_denies_everything_is_not_believed(self) -> None:
        generated = generate_one(Told(self.WRITE, self.NO), "unanswerable")
        assert len(generated) == 0
        assert generated.reasons["not believed"] >= 1

    def test_it_has_to_be_about_what_the_passage_is_about(self) -> None:
        generated = generate_one(
            Told(("does not answer", {"question": "How many moons circle Saturn?"})), "unanswerable"
        )
        assert {*generated.reasons} == {"off the subject"}

    def test_it_needs_the_check(self) -> None:
        with pytest.raises(ValueError, match="'unanswerable' questions need the check 'answerable'"):
            generate_one(Told(), "unanswerable", checks=["needed"])


class TestComparisons:
    def test_the_quotes_come_from_two_documents(self) -> None:
        generated = rm.generate_questions(topics(), ScriptedModel(), 8, kinds="comparison")
        assert len(generated) == 8
        qrels: dict[Any, Any] = dict(generated.questions.qrels)
        for groups in qrels.values():
            spans = [next(judged for judged in group if isinstance(judged, rm.Span)) for group in groups]
            assert len({span.source for span in spans}) == 2

    def test_one_document_cannot_be_compared(self) -> None:
        with pytest.raises(ValueError, match="the corpus is one document, which cannot be compared"):
            generate_one(Told(), "comparison", {"vault": VAULT * 40})

    def test_both_are_needed(self) -> None:
        corpus = {**RULES, "gate": "The gate may be opened at night by the night watch, and by nobody else."}
        reply = {
            "question": "Who opens which door after hours?",
            "quotes": [OPENED, "by the night watch, and by nobody else"],
        }
        always = ("Can the question be answered", {"answerable": True})
        generated = generate_one(Told(("that compares", reply), always), "comparison", corpus)
        assert len(generated) == 0
        assert generated.reasons["not all needed"] >= 1
        lazy = generate_one(Told(("that compares", {**reply, "quotes": [OPENED]}), always), "comparison", corpus)
        assert {*lazy.reasons} == {"not every passage"}


def test_a_lying_model_fills_a_set_of_all_kinds_and_nothing_false_gets_in(tmp_path: Path) -> None:
    kinds = ["one_passage", "several_passages", "comparison", "conversational", "unanswerable"]
    model = ScriptedModel(lies=0.3, fails=0.1)
    generated = rm.generate_questions(topics(), rm.Model(model, cache=tmp_path / "replies.jsonl"), 50, kinds=kinds)
    assert Counter(generated.questions.provenance_values("kind").values()) == dict.fromkeys(kinds, 10)
    assert len(generated.questions.unanswerable) == 10
    assert len(generated.questions.conversation) == 10
    texts = topics()
    everything = re.sub(r"\s+", "", "".join(texts.values()))
    for answer in generated.questions.answers.values():
        assert re.sub(r"\s+", "", answer) in everything
    for messages in generated.questions.conversation.values():
        assert re.sub(r"\s+", "", messages[1]["content"]) in everything
    assert model.done["lied in the answer"] > 5
    again = ScriptedModel(lies=0.3, fails=0.1)
    regenerated = rm.generate_questions(topics(), rm.Model(again, cache=tmp_path / "replies.jsonl"), 50, kinds=kinds)
    assert regenerated.questions == generated.questions
    assert not again.prompts


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
    generated = Candidate(WantedQuestion("one_passage", (0,)), question, [], 0.0).id
    assert re.fullmatch(f"{named}[0-9a-f]{{6}}", generated)


class TestForm:
    """What a model writes in another language, or at great length, is no question of the set."""

    def ask(self, question: str, text: str = VAULT, quote: str = OPENED, **options: Any) -> rm.types.GeneratedQuestions:
        model = Told(("Write one", {"question": question, "quotes": [quote], "answer": "so " * 400}), ANSWERS)
        return generate_one(model, "one_passage", {"vault": text}, checks=(), **options)

    @pytest.mark.parametrize(
        ("question", "language"),
        [
            ("Wer darf den Raum mit den Fächern nach Feierabend noch betreten?", "German"),
            ("Quién puede entrar en la cámara después de las ocho?", "Spanish"),
            ("谁可以在晚上进入金库呢", "a script without spaces"),
        ],
    )
    def test_a_question_in_another_language_is_asked_for_again_and_rejected(self, question: str, language: str) -> None:
        generated = self.ask(question)
        assert set(generated.reasons) == {"other language"}
        assert f"is in {language}; write in English" in generated.rejected[0].message
        assert len(generated) == 0

    @pytest.mark.parametrize(("other_language", "n_accepted"), [("English", 0), ("mixed", 1)])
    def test_of_code_the_language_is_that_of_the_corpus(self, other_language: str, n_accepted: int) -> None:
        code = (
            "lent = book.lent\n>>> lent.add(key)\n>>> lent.remove_every_key_of(guest)\nguest.key\n>>> sorted(lent)[:2]"
        )
        german = "Der Tresor darf in der Nacht von dem Wachmann geöffnet werden, und es muss noch jemand dabei sein."
        corpus = {
            "code": code,
            "one": VAULT,
            "two": VAULT.replace("vault", "cellar") if other_language == "English" else german,
        }
        question = "Wie kann man den Gast aus der Liste wieder entfernen?"
        reply = {"question": question, "quotes": [">>> lent.remove_every_key_of(guest)"]}
        model = Told(("Write one", reply), ("Can the question be answered", {"answerable": True}))
        generated = rm.generate_questions(corpus, model, 3, kinds="one_passage", checks=())
        assert ("other language" in generated.reasons) == (n_accepted == 0)
        assert len(generated) == n_accepted

    def test_the_language_that_was_asked_for_counts_and_one_that_cannot_be_told_is_let_be(self) -> None:
        german = rm.QuestionPrompts(language="German")
        assert len(self.ask("Wer darf den Raum nach Feierabend noch betreten?", prompts=german)) == 1
        assert set(self.ask("Who may still enter the room after hours?", prompts=german).reasons) == {"other language"}
        latin = rm.QuestionPrompts(language="Latin")
        assert len(self.ask("Quis noctu cellam aperire potest, custos an servus?", prompts=latin)) == 1
        assert len(self.ask("Quis noctu cellam aperire potest, custos an servus?")) == 1

    def test_a_question_of_a_thousand_words_is_rejected(self) -> None:
        generated = self.ask("Who opens the " + "very " * 300 + "strong room after hours?")
        assert set(generated.reasons) == {"long question"}
        assert re.search(r"has 1,\d{3} characters; ask in at most 600", generated.rejected[0].message)

    def test_an_answer_that_goes_on_and_on_is_left_out(self) -> None:
        question = {"question": "Who gets into the strong room after hours?", "quotes": [OPENED]}
        model = Told(
            ("Write one", {**question, "answer": "duty officer " * 100}),
            ANSWERS,
            ("what the answer says", {"supported": True}),
        )
        generated = generate_one(model, "one_passage", checks=("answers",))
        assert generated.questions.answers == {}
        assert "1 were left out" in str(generated)

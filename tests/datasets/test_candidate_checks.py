"""Questions, conversations and answers are verified by asking the model again about texts."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from corpus import topics
from scripted_model import ScriptedModel, Told
from told_questions import (
    ANSWERS,
    NIGHT,
    OPENED,
    RULES,
    WRITE,
    generate_from_corpus,
    generate_one,
    list_groups,
)

VAULT = RULES["vault"]
VAULT_ONLY = {"vault": VAULT}
SECOND = "A second member of staff has to be present."


def generate_of_kind(model: Any, kind: str, corpus: Any = None, **options: Any) -> rm.types.GeneratedQuestions:
    return rm.generate_questions(VAULT_ONLY if corpus is None else corpus, model, 1, kinds=kind, **options)


class TestAnswers:
    def generate(self, answer: Any, supported: Any, **options: Any) -> tuple[rm.types.GeneratedQuestions, Told]:
        model = Told(("Write one", {**NIGHT, "answer": answer}), ANSWERS, ("what the answer says", supported))
        return generate_of_kind(model, "one_passage", **options), model

    def test_an_answer_that_the_quotes_bear_out_is_kept(self, tmp_path: Path) -> None:
        generated, model = self.generate("The duty officer.", {"supported": True})
        assert [*generated.questions.answers.values()] == ["The duty officer."]
        assert generated.findings.n_unsupported == 0
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
        assert generated.findings.n_unsupported == 1

    def test_a_number_that_stands_nowhere_is_left_out_whatever_the_model_says(self) -> None:
        generated, model = self.generate("The duty officer, with 2 others.", {"supported": True})
        assert generated.questions.answers == {}
        assert not [prompt for prompt in model.prompts if "<answer>" in prompt]

    def test_without_the_check_there_is_no_answer(self) -> None:
        assert self.generate("The duty officer.", {"supported": True}, checks=["answerable"])[0].questions.answers == {}

    def test_a_model_need_not_give_one(self) -> None:
        generated = generate_of_kind(Told(WRITE, ANSWERS), "one_passage")
        assert len(generated) == 1
        assert generated.findings.n_unsupported == 0


class TestConversations:
    TALK: dict[str, Any] = {
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
        generated = generate_of_kind(self.model(), "conversational")
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
            ({"said": [OPENED]}, "already answered"),
            ({"said": []}, "no earlier turn"),
            ({"first": "What does this passage say?"}, "dependent question"),
        ],
    )
    def test_a_reply_that_cannot_be_used_is_rejected_by_reason(self, changed: Any, reason: str) -> None:
        generated = generate_of_kind(self.model(**changed), "conversational")
        assert {*generated.reasons} == {reason}

    def test_a_question_that_is_understood_alone_is_no_follow_up(self) -> None:
        assert (
            generate_of_kind(self.model(('"clear"', {"clear": True})), "conversational").reasons[
                "self-contained follow-up"
            ]
            >= 1
        )

    def test_what_is_said_has_to_answer_the_first_question(self) -> None:
        def only(prompt: str) -> dict[str, bool]:
            return {"answerable": OPENED in between_texts(prompt)}

        generated = generate_of_kind(self.model(("Can the question be answered", only)), "conversational")
        assert generated.reasons["wrong earlier turn"] >= 1

    def test_sentences_can_be_named_by_number(self) -> None:
        reply = {**self.TALK, "said": [2], "sentences": [1]}
        del reply["quotes"]
        generated = generate_of_kind(self.model(("Write two questions", reply)), "conversational", evidence="sentences")
        assert [messages[1]["content"] for messages in generated.questions.conversation.values()] == [SECOND]

    def test_the_same_follow_up_after_something_else_is_another_question(self) -> None:
        corpus = {**VAULT_ONLY, "gate": VAULT.replace("vault", "gate").replace("door", "wall")}

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
        corpus = {**VAULT_ONLY, "doors": "The doors of the vault are checked by the fire brigade once a year."}
        model = Told(self.WRITE, self.NO, self.CONTROL)
        generated = generate_of_kind(model, "unanswerable", corpus)
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
        corpus = {**VAULT_ONLY, "weights": "In weight the vault comes to nine tons without what lies in it."}
        tons = ("Can the question be answered", lambda prompt: {"answerable": "nine tons" in prompt})
        generated = generate_of_kind(Told(self.WRITE, tons, self.CONTROL), "unanswerable", corpus)
        assert len(generated) == 0
        assert {*generated.reasons} <= {"answered", "duplicate question"}
        assert "'weights'" in generated.rejected[0].message

    def test_what_the_retriever_finds_is_looked_at_too(self) -> None:
        corpus = {**VAULT_ONLY, "odd": "Neun Tonnen bringt der Tresor auf die Waage, wenn er leer ist."}
        tonnes = ("Can the question be answered", lambda prompt: {"answerable": "Neun Tonnen" in prompt})
        by_words = generate_of_kind(
            Told(self.WRITE, tonnes, self.CONTROL), "unanswerable", {"vault": VAULT * 2, **corpus}
        )
        by_retriever = generate_of_kind(
            Told(self.WRITE, tonnes, self.CONTROL), "unanswerable", corpus, retriever=lambda _: ["odd"]
        )
        assert len(by_words) >= len(by_retriever) == 0

    def test_a_model_that_denies_everything_is_not_believed(self) -> None:
        generated = generate_of_kind(Told(self.WRITE, self.NO), "unanswerable")
        assert len(generated) == 0
        assert generated.reasons["control question failed"] >= 1

    def test_it_has_to_be_about_what_the_passage_is_about(self) -> None:
        generated = generate_of_kind(
            Told(("does not answer", {"question": "How many moons circle Saturn?"})), "unanswerable"
        )
        assert {*generated.reasons} == {"off topic"}

    def test_it_needs_the_check(self) -> None:
        with pytest.raises(ValueError, match="'unanswerable' questions need the check 'answerable'"):
            generate_of_kind(Told(), "unanswerable", checks=["needed"])


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
            generate_of_kind(Told(), "comparison", {"vault": VAULT * 40})

    def test_both_are_needed(self) -> None:
        corpus = {**VAULT_ONLY, "gate": "The gate may be opened at night by the night watch, and by nobody else."}
        reply = {
            "question": "Who opens which door after hours?",
            "quotes": [OPENED, "by the night watch, and by nobody else"],
        }
        always = ("Can the question be answered", {"answerable": True})
        generated = generate_of_kind(Told(("that compares", reply), always), "comparison", corpus)
        assert len(generated) == 0
        assert generated.reasons["passage not needed"] >= 1
        lazy = generate_of_kind(Told(("that compares", {**reply, "quotes": [OPENED]}), always), "comparison", corpus)
        assert {*lazy.reasons} == {"passage not quoted"}


@pytest.mark.thorough
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


class AlwaysSays(ScriptedModel):
    """Says yes, or no, whatever it is asked in a check."""

    def __init__(self, verdict: bool) -> None:
        super().__init__()
        self.verdict = verdict

    def __call__(self, prompt: str) -> str:
        reply = json.loads(super().__call__(prompt))
        for name, value in reply.items():
            if isinstance(value, bool):
                reply[name] = self.verdict
        return json.dumps(reply)


def long_topics() -> dict[str, str]:
    """Return the beginnings of the topics that fill a passage.

    A quote that is a whole passage leaves nothing that could be asked without it, and the topics of each version of
    Python have other short passages.
    """
    n_words = 120
    beginnings = {}
    for name, text in topics().items():
        ends = [match.end() for match in re.finditer(r"\S+", text)]
        if len(ends) >= n_words:
            beginnings[name] = text[: ends[n_words - 1]]
    return beginnings


@pytest.mark.parametrize("verdict", [True, False])
def test_a_model_that_says_the_same_to_everything_is_named(verdict: bool) -> None:
    generated = rm.generate_questions(long_topics(), AlwaysSays(verdict), 4, kinds="one_passage")
    assert len(generated) == 0
    assert generated.findings.count_contradicted(answer=verdict) >= 10
    assert generated.findings.count_contradicted(answer=not verdict) == 0
    assert generated.stop_reason is not None


def test_a_model_that_tells_texts_apart_is_not_suspected() -> None:
    findings = rm.generate_questions(topics(), ScriptedModel(), 12).findings
    assert findings.count_contradicted(answer=True) == findings.count_contradicted(answer=False) == 0
    never_refuted = rm.generate_questions(topics(), AlwaysSays(verdict=True), 12, checks=("answerable",))
    assert len(never_refuted) == 12
    assert never_refuted.findings.count_contradicted(answer=True) == 0, "it was never asked what should be denied"


def test_a_question_that_its_quotes_do_not_answer_is_rejected_and_the_check_can_be_left_out() -> None:
    never = ("Can the question be answered", {"answerable": False})
    generated = generate_one(Told(WRITE, never))
    assert generated.reasons["not answerable"] >= 1
    assert generated.rejected[0].question == NIGHT["question"]
    assert len(generate_one(Told(WRITE, never), checks=["needed"])) == 1


def test_a_question_that_is_answered_without_its_quotes_is_rejected_and_the_check_can_be_left_out() -> None:
    model = Told(WRITE, ("Can the question be answered", {"answerable": True}))
    assert generate_one(model).reasons["answerable without its quotes"] >= 1
    (remainder,) = {prompt for prompt in model.prompts if "[...]" in prompt}
    assert OPENED not in remainder
    assert "A second member of staff has to be present." in remainder
    assert len(generate_one(Told(WRITE, ("Can the", {"answerable": True})), checks=["answerable"])) == 1


def test_a_question_that_could_not_be_checked_does_not_get_in() -> None:
    generated = generate_one(Told(WRITE, ("Can the question be answered", "perhaps")))
    assert len(generated) == 0
    assert generated.rejected[0].reason == "not checked"
    assert "not JSON" in generated.rejected[0].message


COPY = "Night rules: a duty officer may open the strong room after hours, whoever asks. Nobody else gets in."


def test_another_passage_that_answers_becomes_a_judgment_once_it_answers_alone() -> None:
    corpus = {**RULES, "night": COPY}
    quote = "a duty officer may open the strong room after hours"
    truth = ("Can the question be answered", lambda prompt: {"answerable": OPENED in prompt or quote in prompt})
    other_answers = ("Which of the passages", {"quotes": [quote]})
    only_vault = Told(WRITE, truth, other_answers)
    generated = generate_from_corpus(corpus, only_vault)
    assert [quote_.text for quote_ in list_groups(generated)[0] if isinstance(quote_, rm.Quote)] == [OPENED, quote]
    assert rm.Span("night", 13, 13 + len(quote)) in list_groups(generated)[0]
    assert generated.findings.n_other_answers == 1
    # Asked about that passage alone, the model says no: it is no judgment.
    doubted = generate_from_corpus(corpus, Told(WRITE, ANSWERS, other_answers))
    assert len(list_groups(doubted)[0]) == 2
    assert doubted.findings.n_refused == 1
    unasked = generate_from_corpus(corpus, Told(WRITE, ANSWERS), checks=["answerable"])
    assert len(list_groups(unasked)[0]) == 2

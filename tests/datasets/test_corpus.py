"""A corpus is taken in every form, and cut into passages."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from scripted_model import Told
from told_questions import ANSWERS, NO_OTHERS, OPENED, RULES, WRITE, generate_one, list_groups


def test_a_corpus_is_texts_items_or_a_folder(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "vault.md").write_text(RULES["vault"])
    (tmp_path / ".hidden.md").write_text("nobody reads this, whatever it may say")
    (tmp_path / "logo.png").write_bytes(b"\x89PNG")
    with pytest.warns(rm.RetrievalWarning, match=r"1 file not read.*logo\.png"):
        of_folder = generate_one(Told(WRITE, ANSWERS), tmp_path)
    assert [*of_folder.questions.provenance_values("source").values()] == ["rules/vault.md"]
    items = [rm.Retrieved("c1", RULES["vault"], source="book.md", start=1000)]
    of_items = generate_one(Told(WRITE, ANSWERS), items)
    start = 1000 + RULES["vault"].index(OPENED)
    assert list_groups(of_items)[0][1] == rm.Span("book.md", start, start + len(OPENED))
    no_offsets = generate_one(Told(WRITE, ANSWERS), [rm.Retrieved("c1", RULES["vault"], source="book.md")])
    assert list_groups(no_offsets)[0][1].source == "c1"
    assert [*no_offsets.questions.provenance_values("source").values()] == ["book.md"]
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"_id": "vault", "text": RULES["vault"]}))
    assert [
        *generate_one(Told(WRITE, ANSWERS), str(tmp_path / "corpus.jsonl"))
        .questions.provenance_values("source")
        .values()
    ] == ["vault"]


NO_MODEL = Told()


@pytest.mark.parametrize(
    ("corpus", "error", "message"),
    [
        ({}, ValueError, "the corpus is empty"),
        ([], ValueError, "the corpus is empty"),
        ({"d1": "", "d2": "too short"}, ValueError, "none of the 2 texts of the corpus has 5 words"),
        (["d1", "d2"], TypeError, "only IDs"),
        ("no such folder", TypeError, "got str 'no such folder', and no file or folder has that path"),
        (7, TypeError, "a corpus must map IDs to texts"),
        ({"d1": 3}, TypeError, "'d1'"),
        ([rm.Retrieved("d1", RULES["vault"])] * 1 + [rm.Retrieved("d1", RULES["coffee"])], ValueError, "'d1' twice"),
        ([rm.Retrieved(None, RULES["vault"])], ValueError, "neither an ID nor a source"),
    ],
)
def test_a_bad_corpus_is_refused_before_the_first_call(corpus: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.generate_questions(corpus, NO_MODEL, 1)
    assert not NO_MODEL.prompts


def test_a_long_text_is_cut_for_the_prompts_and_its_places_stay_those_of_the_text() -> None:
    filler = "Nothing of any interest happens in these words, which only make it long. " * 40
    corpus = {"long": filler + "\n\n" + RULES["vault"] + "\n\n" + filler}
    model = Told(WRITE, ANSWERS, NO_OTHERS)
    generated = rm.generate_questions(corpus, model, 1, kinds="one_passage", passage_length=500)
    span = next(judged for judged in list_groups(generated)[0] if isinstance(judged, rm.Span))
    assert corpus["long"][span.start : span.end] == OPENED
    passages = re.findall(r"<passage>\n(.*?)\n</p", "\n".join(model.prompts), re.DOTALL)
    assert max(map(len, passages)) <= 500


def test_scripts_without_spaces_have_sentences_quotes_and_keywords() -> None:
    corpus = {"规则": "金库夜间可由值班人员打开。必须有第二名工作人员在场。两人都要在登记簿上签字。"}
    reply = {"question": "谁能在下班以后进入保险库房", "quotes": ["金库夜间可由值班人员打开"]}
    by_quote = generate_one(Told(("Write one question", reply)), corpus, checks=())
    assert list_groups(by_quote) == [[rm.Quote("金库夜间可由值班人员打开"), rm.Span("规则", 0, 12)]]
    model = Told(("search box", {"question": "夜间 打开金库", "sentences": [2]}))
    by_number = rm.generate_questions(corpus, model, 1, kinds="keywords", evidence="sentences", checks=())
    assert list_groups(by_number)[0][0] == rm.Quote("必须有第二名工作人员在场。")

"""What is judged but not among the documents is an error that names the nearest document."""

from typing import Any

import pytest

import retrieval_metrics as rm

TEXTS = {"docs/onboarding.md": "Who starts gets a key on the first day.", "docs/boarding.md": "Dogs may board."}
DOCUMENTS = [rm.Retrieved(None, text, source=name) for name, text in TEXTS.items()]
RUN: Any = {"q": [rm.Retrieved("c1", "Dogs may board.", source="docs/boarding.md")]}


def evaluate(judgments: Any, match: Any, documents: Any = TEXTS) -> rm.Evaluation:
    return rm.evaluate({"q": judgments}, RUN, "mrr", match=match, documents=documents)


@pytest.mark.parametrize("documents", [TEXTS, DOCUMENTS])
@pytest.mark.parametrize(
    ("judgments", "match", "message"),
    [
        (
            ["docs/boarding.md", "docs/onboard.md"],
            "source",
            r"1 judged name .*'docs/onboard.md' \(did you mean 'docs/o",
        ),
        (["onboard.md"], "filename", r"1 judged name .*'onboard.md' \(did you mean 'onboarding.md'\?\)"),
        (["x", "boarding.md"], rm.Matching(by="filename"), r"1 judged name is not among the documents: 'x'$"),
        (["boarding.md"], lambda item: item.source, "1 judged name"),
        (
            [rm.Quote("Cats may board.")],
            "id",
            "1 judged quote is in none of the documents, such as 'Cats may board.'",
        ),
        (
            [rm.Span("docs/boarding.md", 0, 3), rm.Span("docs/bored.md", 0, 3)],
            "id",
            "judged span source .*mean",
        ),
    ],
)
def test_what_is_missing_is_named(judgments: Any, match: Any, message: str, documents: Any) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(judgments, match, documents)


@pytest.mark.parametrize(
    ("judgments", "match"),
    [
        (["docs/boarding.md"], "source"),
        (["boarding.md"], "filename"),
        ({"boarding.md": 1, "deleted.md": 0}, "filename"),
        ([rm.Quote("dogs may\nboard")], "id"),
        ([[rm.Quote("dogs may board"), rm.Quote("an earlier wording")]], "id"),
        (["c1"], "id"),
    ],
)
def test_what_is_known_is_accepted(judgments: Any, match: Any) -> None:
    assert evaluate(judgments, match, iter(DOCUMENTS)).means["mrr"] == 1.0


def test_ids_of_documents_are_looked_for_once_some_are_known() -> None:
    documents = [rm.Retrieved("d1", "a"), rm.Retrieved("d2", "b")]
    with pytest.raises(ValueError, match=r"1 judged ID .*'d02' \(did you mean 'd2'\?\)"):
        evaluate(["d1", "d02"], "id", documents)


def test_a_file_name_that_two_documents_have_is_ambiguous() -> None:
    documents = {"a/readme.md": "one", "b/readme.md": "two", "b/other.md": "three"}
    with pytest.raises(ValueError, match=r"named 'readme.md': 'a/readme.md' and 'b/readme.md'; judge by full path"):
        evaluate(["readme.md"], "filename", documents)


def test_pages_of_one_file_share_its_name_whatever_ids_their_framework_gives_them() -> None:
    pages = [
        rm.Retrieved(f"p{page}", "text", source=f"5f2c-{page}", metadata={"file_path": "docs/boarding.pdf"})
        for page in range(2)
    ]
    other = rm.Retrieved("p3", "text", source="5f2c-3", metadata={"file_path": "old/boarding.pdf"})
    qrels = {"q1": ["boarding.pdf"]}
    run = {"q1": [pages[1]]}
    result = rm.evaluate(qrels, run, "mrr", match="filename", documents=pages)
    assert result.means["mrr"] == 1.0
    with pytest.raises(ValueError, match=r"judge by full path, with match='metadata:file_path'"):
        rm.evaluate(qrels, run, "mrr", match="filename", documents=[*pages, other])


def test_many_missing_names_are_counted() -> None:
    with pytest.raises(ValueError, match=r"5 judged names .*'q', 'r', 's', 2 more"):
        evaluate(["q", "r", "s", "t", "u"], "source")

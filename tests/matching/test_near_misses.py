"""Near misses are found by share and per query, and different documents of similar ids are none."""

import random
from collections.abc import Callable
from typing import Any
from unicodedata import normalize

import pytest

import retrieval_metrics as rm
from data_warning_kinds import find_kinds, find_origin
from retrieval_metrics.matching import near_misses
from retrieval_metrics.matching.near_ids import NearIdKind
from retrieval_metrics.matching.near_misses import NO_NEAR_MISSES, NearMisses, find_near_misses
from run_shapes import in_columns, with_items, with_scores

IDS = [f"Café {number:03d}.md" for number in range(20)]
QRELS: Any = {f"q{number}": [document] for number, document in enumerate(IDS)}


def search(qrels: Any, run: Any, **options: Any) -> NearMisses:
    origin = find_origin(qrels, run, **options)
    return find_near_misses(origin.judged, origin.run, origin.match)


def change_some(change: Callable[[str], str], n_changed: int = 6) -> Any:
    """Return the perfect run, in which the ids of the first queries are changed."""
    run = {}
    for number, document in enumerate(IDS):
        run[f"q{number}"] = ["other", change(document) if number < n_changed else document]
    return run


CHANGES: dict[NearIdKind, Callable[[str], str]] = {
    "unicode_form": lambda text: normalize("NFD", text),
    "invisible_characters": lambda text: text + "\u200b",
    "blanks": lambda text: text.replace(" ", "\u00a0"),
    "case": str.upper,
    "percent_encoding": lambda text: text.replace(" ", "%20"),
    "leading_zeros": lambda text: text.replace("00", ""),
    "several": lambda text: normalize("NFD", text).upper(),
    "path": lambda text: f"/data/{text}",
    "part": lambda text: f"{text}#1",
    "numbered_part": lambda text: text.replace(".md", "_1.md"),
    "file_extension": lambda text: text.removesuffix(".md"),
    "quotation_marks": lambda text: f"b'{text}'",
    "separators": lambda text: text.replace(" ", "_"),
    "prefix": lambda text: f"doc_{text}",
    "version": lambda text: text.replace(".md", "v2.md"),
    "printed": lambda text: f"('{text}', 0.5)",
}


@pytest.mark.parametrize("kind", CHANGES)
def test_six_of_twenty_are_counted(kind: NearIdKind) -> None:
    result = search(QRELS, change_some(CHANGES[kind]))
    assert (dict(result.count_by_kind()), result.n_missing) == ({kind: 6}, 6)
    first = result.entries[0]
    assert (first.query, first.judged_id, first.retrieved_id) == ("q0", IDS[0], CHANGES[kind](IDS[0]))
    assert find_kinds(QRELS, change_some(CHANGES[kind])) == ["near_misses"]


def test_one_of_a_hundred_ids_that_matches_hides_nothing() -> None:
    qrels: Any = {f"q{number}": [f"doc{number}.pdf"] for number in range(100)}
    run: Any = {query: [f"{judged[0]}#0"] for query, judged in qrels.items()} | {"q0": ["doc0.pdf"]}
    result = search(qrels, run)
    assert (len(result), result.n_missing) == (99, 99)


@pytest.mark.parametrize("shape", [with_scores, in_columns, with_items])
def test_every_shape_of_run_is_searched_alike(shape: Callable[[Any], Any]) -> None:
    run = change_some(CHANGES["part"])
    assert search(QRELS, shape(run)) == search(QRELS, run)


def test_items_are_compared_as_match_says() -> None:
    run = {"q": [rm.Retrieved("n1", source="/docs/a.md"), rm.Retrieved("n2", source="b.md")]}
    result = search({"q": ["a.md", "b.md"]}, run, match="source")
    assert [(near_miss.retrieved_id, near_miss.kind) for near_miss in result.entries] == [("/docs/a.md", "path")]


@pytest.mark.parametrize("shape", [dict, with_scores, with_items])
def test_ids_that_are_all_alike_begin_no_search(shape: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(near_misses, "_Search")
    qrels: Any = {"q1": ["d1"], "q2": ["d2"]}
    if shape is with_items:
        qrels["q1"].append(rm.Quote("a passage"))
    assert len(search(qrels, shape({"q1": ["d3", "d4"], "q2": ["d5"]}))) == 0


def test_nothing_is_searched_where_everything_relevant_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(near_misses, "_Search")
    assert search({"q": {"a": 1, "b": 0}}, {"q": ["x", "a"]}) is NO_NEAR_MISSES
    assert search({"q": ["a"], "r": ["b"]}, {"q": ["a"], "r": []}) is NO_NEAR_MISSES
    assert search({"q": [["a", "A"], ["b"]]}, {"q": ["a", "b"]}) is NO_NEAR_MISSES
    assert search({"q": [1]}, {"q": [2]}) is NO_NEAR_MISSES


def test_an_alternative_is_missing_only_with_its_whole_group() -> None:
    assert search({"q": [["a", "b"], ["c"]]}, {"q": ["a", "C"]}).entries[0].judged_id == "c"


def test_a_large_run_is_sampled_first_and_then_searched_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_misses, "MAX_SAMPLED_QUERIES", 4)
    monkeypatch.setattr(near_misses, "MAX_SAMPLED_IDS", 8)
    assert len(search(QRELS, change_some(CHANGES["blanks"]))) == 6
    assert len(search(QRELS, in_columns(change_some(CHANGES["part"])))) == 6


def test_a_run_on_disk_is_searched(tmp_path: Any) -> None:
    lines = [f"q{number} Q0 {document}#1 0 1.0 tag\n" for number, document in enumerate(["a", "b", "c"])]
    path = tmp_path / "run.trec"
    path.write_text("".join(lines))
    run = rm.read_run(path, memory=1)
    assert len(search({"q0": ["a"], "q1": ["b"], "q2": ["c"]}, run)) == 3


@pytest.mark.parametrize("separator", "_-:/#")
def test_ids_that_begin_with_their_query_are_found(separator: str) -> None:
    qrels: Any = {f"q{number}": [f"d{number}z"] for number in range(4)} | {"found": ["found"]}
    run: Any = {f"q{number}": ["x", f"q{number}{separator}d{number}z"] for number in range(4)} | {"found": ["found"]}
    assert dict(search(qrels, run).count_by_kind()) == {"query_prefix": 4}
    prefixed = {query: [ranking[-1]] for query, ranking in run.items()}
    assert dict(search(prefixed, qrels).count_by_kind()) == {"query_prefix": 4}
    others = {f"q{number}": ["x", f"q{number + 1}{separator}d{number}z"] for number in range(4)} | {"found": ["found"]}
    assert search(qrels, others).count_by_kind()["query_prefix"] == 0


def test_ids_that_are_cut_off_at_one_length_are_found_and_other_words_are_not() -> None:
    names = [f"{number:x}f3a9c0b7e21d4456aa10" for number in range(16)]
    qrels: Any = {f"q{number}": [name] for number, name in enumerate(names)}
    run: Any = {query: ["x", documents[0][:12]] for query, documents in qrels.items()}
    run["q0"] = qrels["q0"]
    assert dict(search(qrels, run).count_by_kind()) == {"truncated": 15}
    whole: Any = {query: [documents[-1]] for query, documents in run.items()}
    assert dict(search(whole, qrels).count_by_kind()) == {"truncated": 15}
    words: Any = {"a": ["retrieval"], "b": ["evaluate"], "c": ["found"]}
    longer: Any = {"a": ["retrievalists"], "b": ["evaluateall"], "c": ["found"]}
    assert len(search(words, longer)) == 0


def test_only_judgments_hold_several_ids_in_one() -> None:
    qrels: Any = {f"q{number}": [f"d{number},e{number}"] for number in range(4)} | {"found": ["found"]}
    run: Any = {f"q{number}": ["x", f"e{number}"] for number in range(4)} | {"found": ["found"]}
    assert dict(search(qrels, run).count_by_kind()) == {"joined": 4}
    assert len(search(run | {f"q{number}": [f"e{number}"] for number in range(4)}, qrels)) == 0


def test_a_single_id_that_ends_in_a_number_says_nothing() -> None:
    assert len(search({"q": ["covid"], "r": ["b"]}, {"q": ["covid-19"], "r": ["b"]})) == 0
    assert len(search({"q": ["plan.md"], "r": ["b"]}, {"q": ["plan-2024.md"], "r": ["b"]})) == 0


@pytest.mark.parametrize(
    "retrieved", ["vpn", "vpn.txt", "vpn.md_0", "vpn.md-chunk-0", "vpn.md (part 1)", "vpn-1.md", "vpn.md#0", "VPN.md"]
)
def test_a_single_file_under_another_name_is_found(retrieved: str) -> None:
    qrels: Any = {"q": ["vpn.md"], "r": ["b.md"], "s": ["c.md"]}
    result = search(qrels, {"q": ["b.md", retrieved], "r": ["b.md"], "s": ["feature_flags.md", "b.md"]})
    assert [near_miss.retrieved_id for near_miss in result.entries] == [retrieved]


# The beginning of each id, and how another index writes it.
FORMS_OF_ANOTHER_INDEX: dict[str, tuple[str, Callable[[str], str]]] = {
    "extension": ("page", lambda document: document + ".txt"),
    "case": ("page", str.upper),
    "separators": ("page-", lambda document: document.replace("-", "_")),
    "diacritics": ("caf\u00e9", lambda document: document.replace("\u00e9", "e")),
    "decimal point": ("", lambda document: document + ".0"),
    "leading zeros": ("", lambda document: document.zfill(4)),
}


def make_run_of_two_indexes(prefix: str, change: Callable[[str], str]) -> tuple[Any, Any]:
    """Return judgments of ten documents for 30 queries, and a run with all ids of the last six queries changed."""
    qrels = {f"q{number}": [f"{prefix}{1 + number % 10}"] for number in range(30)}
    run = {}
    for number, query in enumerate(qrels):
        ranking = [f"{prefix}{1 + (number + step) % 10}" for step in range(4)]
        run[query] = list(map(change, ranking)) if number >= 24 else ranking
    return qrels, run


@pytest.mark.parametrize("form", FORMS_OF_ANOTHER_INDEX)
def test_queries_that_another_index_answered_are_found_though_the_run_holds_both_forms(form: str) -> None:
    qrels, run = make_run_of_two_indexes(*FORMS_OF_ANOTHER_INDEX[form])
    result = search(qrels, run)
    assert (len(result), result.n_missing) == (6, 6)
    assert {near_miss.query for near_miss in result.entries} == {f"q{number}" for number in range(24, 30)}
    assert find_kinds(qrels, run) == ["near_misses"]


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document + "/3",
        lambda document: document + "-1",
        lambda document: "de/" + document,
        lambda document: "Talk:" + document,
        lambda document: document + "v2",
    ],
)
def test_queries_that_found_only_parts_or_translations_are_none_of_another_index(change: Callable[[str], str]) -> None:
    assert search(*make_run_of_two_indexes("page", change)).entries == ()


FORMS: dict[str, Callable[[int], list[str]]] = {
    "zeros": lambda n: [f"doc{n}", f"doc0{n}"],
    "path": lambda n: [f"a{n}.md", f"b/a{n}.md"],
    "case": lambda n: [f"Page{n}", f"page{n}"],
    "part": lambda n: [f"p{n}", f"p{n}#1", f"p{n}#2"],
    "number": lambda n: [f"s{n}", f"s{n}-1", f"s{n}-2"],
    "decimal": lambda n: [str(n), f"{n}.0"],
    "separators": lambda n: [f"page {n}", f"page_{n}"],
    "prefix": lambda n: [f"x{n}", f"doc_x{n}"],
    "urls": lambda n: [f"http://a.org/{n}", f"https://a.org/{n}", f"https://a.org/{n}/"],
    "extensions": lambda n: [f"m{n}.md", f"m{n}.pdf"],
    "extension or none": lambda n: [f"m{n}.md", f"m{n}"],
    "copies": lambda n: [f"m{n}.md", f"m{n}-1.md"],
    "quoted": lambda n: [f"x{n}", f"'x{n}'"],
    "brackets": lambda n: [f"x{n}", f"[x{n}]"],
    "versions": lambda n: [f"x{n}", f"x{n}v1", f"x{n}v2"],
    "accents": lambda n: [f"caf\u00e9{n}", f"cafe{n}"],
    "hyphens": lambda n: [f"doc-{n}", f"doc{n}", f"doc_{n}"],
    "letters": lambda n: [f"{n}", f"d{n}"],
    "places": lambda n: [f"Paris{n}, Texas", f"Paris{n}"],
    "long numbers": lambda n: [str(10**18 + n), str(10**18)],
    "all": lambda n: [f"doc{n}", f"doc0{n}", f"x/doc{n}", f"doc{n}.md"],
}


def make_collection_of_similar_ids(form: str, seed: int) -> tuple[Any, Any]:
    """Return judgments and a run of a collection whose different documents have similar ids, often side by side."""
    rng = random.Random(seed)
    families = [FORMS[form](number) for number in range(1, rng.choice([30, 100]))]
    qrels: dict[str, Any] = {}
    run: dict[str, Any] = {}
    for number in range(rng.choice([10, 20, 60])):
        family = rng.choice(families)
        relevant = rng.choice(family)
        retrieved = [document for document in [*family, *rng.choice(families)] if rng.random() < 0.7]
        rng.shuffle(retrieved)
        qrels[f"q{number}"] = [relevant]
        run[f"q{number}"] = list(dict.fromkeys(retrieved))
    return qrels, run


@pytest.mark.parametrize("form", FORMS)
def test_different_documents_of_similar_ids_raise_no_alarm(form: str) -> None:
    alarms = [seed for seed in range(12) if search(*make_collection_of_similar_ids(form, seed)).entries]
    assert alarms == []


def test_one_document_judged_in_two_spellings_hides_no_near_miss_of_the_others() -> None:
    documents = [f"doc{letter}.md" for letter in "abcdefghi"]
    qrels = {f"q{number}": [document.replace("doc", "Doc")] for number, document in enumerate(documents)}
    run = {f"q{number}": [document, "other.md"] for number, document in enumerate(documents)}
    qrels["q9"] = ["doca.md"]
    run["q9"] = ["doca.md"]
    with pytest.warns(rm.RetrievalWarning, match="8 of 9 missing relevant documents .* differ in case"):
        assert rm.evaluate(qrels, run, "recall@5").counts["near_misses"] == 8

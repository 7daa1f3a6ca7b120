"""A span is matched by its words, even in a text with other line endings than the one it was written against."""

import random
import warnings
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics import Quote, Retrieved, Span
from retrieval_metrics.inputs.source_text import SourceText
from retrieval_metrics.matching.line_endings import repair_line_endings
from retrieval_metrics.matching.text_normalisation import normalise

RULES = [
    f"Rule {number}: a{' very' * (number % 7)} large order of class {number} is sent after {number + 2} days."
    for number in range(60)
]


# As Python's `open` reads the file.
READ = "\n\n".join(RULES)


# As its bytes are decoded.
RAW = READ.replace("\n", "\r\n")


def span_of(line: str, text: str) -> Span:
    start = text.index(line)
    return Span("rules.txt", start, start + len(line))


def chunks(text: str, recorded_in: str = RAW) -> list[Retrieved]:
    """Chunks of one text whose offsets were recorded in another."""
    return [
        Retrieved(
            line.split(":")[0], line, source="rules.txt", start=start, end=start + len(line), offsets_unverified=True
        )
        for line in RULES
        if line in text
        for start in [recorded_in.index(line)]
    ]


NOTHING = pytest.mark.filterwarnings("ignore:no retrieved document is judged")


def recall_of(truth: Any, line: int, source: str, recorded_in: str, metric: str = "recall") -> float:
    retrieved = chunks(source, recorded_in)
    return rm.evaluate({"q": truth}, {"q": [retrieved[line]]}, metric, documents={"rules.txt": source}).means[metric]


@NOTHING
@pytest.mark.parametrize("written", [RAW, READ], ids=["raw", "read"])
@pytest.mark.parametrize("source", [RAW, READ], ids=["raw", "read"])
@pytest.mark.parametrize("recorded", [RAW, READ], ids=["raw", "read"])
class TestASpanMeansItsWords:
    def test_with_its_quote(self, written: str, source: str, recorded: str) -> None:
        for judged in (0, 1, 30, 59):
            truth = [[span_of(RULES[judged], written), Quote(RULES[judged])]]
            for retrieved in {judged, max(judged - 1, 0), min(judged + 1, 59), 20}:
                hit = float(retrieved == judged)
                assert recall_of(truth, retrieved, source, recorded) == hit
                assert recall_of(truth, retrieved, source, recorded, "coverage") == hit
                assert recall_of(truth, retrieved, source, recorded, "density") == hit

    def test_without_it_that_is_said(self, written: str, source: str, recorded: str) -> None:
        for judged in (10, 32, 45):
            truth = [span_of(RULES[judged], written)]
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                coverage = recall_of(truth, judged, source, recorded, "coverage")
            messages = [
                str(warning.message)
                for warning in caught
                if "1 span starts or ends inside a word" in str(warning.message)
            ]
            assert all("Pass documents= (the texts that the spans refer to)" in message for message in messages)
            doubted = bool(messages)
            assert doubted == (written != source)
            assert doubted or coverage == 1


def read(*spans: Span, text: str = RAW, quote: str | None = None) -> tuple[list[Span], list[int]]:
    beside = {} if quote is None else {0: [normalise(quote)]}
    repaired, doubtful = repair_line_endings(dict(enumerate(spans)), {"rules.txt": SourceText(text)}, beside)
    return [*repaired.values()], doubtful


def test_spans_are_in_doubt_if_more_than_four_times_as_many_fit_only_otherwise() -> None:
    certain = span_of(RULES[30], RAW)
    otherwise_fitting = [span_of(line, READ) for line in RULES[20:25]]
    assert read(certain, *otherwise_fitting[:4]) == ([certain, *otherwise_fitting[:4]], [])
    assert read(certain, *otherwise_fitting) == ([certain, *otherwise_fitting], [1, 2, 3, 4, 5])


def test_a_span_that_fits_as_well_either_way_stays_and_says_nothing_of_others() -> None:
    text = "x\r\n!!!! one two"
    either, otherwise = Span("rules.txt", 3, 4), Span("rules.txt", 7, 10)  # the second means "one", and holds " on"
    assert read(either, text=text) == ([either], [])
    assert read(either, otherwise, text=text) == ([either, otherwise], [1])
    for quote in ("!", "another text"):  # which is at both places, or at neither
        assert read(either, text=text, quote=quote) == ([either], [])
    assert read(otherwise, text=text, quote="one") == ([Span("rules.txt", 8, 11)], [])


@pytest.mark.parametrize(
    ("text", "stretch", "doubted"),
    [
        ("x\r\n!!! one two", (3, 9), True),  # "!!! on", or "!! one"
        ("x\r\n!!! one two", (3, 10), False),  # "!!! one", or "!! one "
        ("x\n\n\nab", (5, 6), False),  # "b", or nothing
        ("x\r\nab", (3, 5), False),  # "ab", or what is beyond the end
        ("x\r\n !ab", (4, 6), True),  # "!a", or "ab"
    ],
)
def test_a_span_fits_if_it_begins_and_ends_with_whole_words(
    text: str, stretch: tuple[int, int], *, doubted: bool
) -> None:
    span = Span("rules.txt", *stretch)
    assert read(span, text=text) == ([span], [0] if doubted else [])


def test_spans_that_cut_words_both_ways_are_not_doubted() -> None:
    generator = random.Random(4)
    starts = [generator.randrange(200, len(RAW) - 80) for _ in range(60)]
    qrels = {str(start): [Span("rules.txt", start, start + 80)] for start in starts}
    run = {query: chunks(RAW) for query in qrels}
    for text in (RAW, READ + " " * 200):
        assert rm.evaluate(qrels, run, "coverage", documents={"rules.txt": text}).means["coverage"] > 0.99


def test_a_text_that_stands_twice_is_found_by_its_offsets() -> None:
    raw = ("The same line.\n" * 8).replace("\n", "\r\n")
    judged = Span("s", 5 * 16, 5 * 16 + 14)
    twins = [
        Retrieved(
            position, "The same line.", source="s", start=position * 15, end=position * 15 + 14, offsets_unverified=True
        )
        for position in (4, 5)
    ]
    result = rm.evaluate({"q": [judged]}, {"q": twins}, ["recall@1", "recall@2"], documents={"s": raw})
    assert (result.means["recall@1"], result.means["recall@2"]) == (0, 1)


def test_a_kept_source_is_not_changed_by_the_ends_of_its_lines() -> None:
    questions = rm.EvaluationSet.from_dataset(
        [{"id": "q", "query": "Which?", "relevant": [[span_of(RULES[9], READ), Quote(RULES[9])]]}]
    )
    with_sources = questions.with_sources({"rules.txt": READ})
    result = rm.evaluate(with_sources, {"q": [chunks(RAW)[9]]}, "coverage", documents={"rules.txt": RAW})
    assert result.means["coverage"] == 1


def test_lint_reads_spans_as_judging_does() -> None:
    relevant = [[span_of(RULES[9], READ), Quote(RULES[9])]]
    questions = rm.EvaluationSet.from_dataset([{"id": "q", "query": "When is class nine sent?", "relevant": relevant}])
    names = {finding.name for finding in questions.lint({"rules.txt": RAW})}
    assert not names & {"moved_span", "cut_span"}


def test_an_explanation_shows_the_words_that_are_meant() -> None:
    truth = {"q": [[span_of(RULES[30], READ), Quote(RULES[30])]]}
    result = rm.evaluate(truth, {"q": [chunks(RAW)[30]]}, "coverage", documents={"rules.txt": RAW})
    assert "class 30 is sent" in str(result.explain("q"))
    assert "class 29" not in str(result.explain("q"))

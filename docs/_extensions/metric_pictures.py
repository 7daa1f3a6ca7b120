"""Draw the values of a metric for one small ranking, and for a single relevant document at each rank.

The picture is SVG within the page, in the colour of its text, so it follows the reader from day to night.
"""

import warnings
from collections.abc import Sequence
from html import escape
from math import isnan
from typing import Any, NamedTuple

from situations import chunk

import retrieval_metrics as rm
from retrieval_metrics.metrics.base.definition import Definition
from retrieval_metrics.reports.line_styles import COLOURS

WIDTH = 344
LEFT = 10
COLUMN = 54
BAR = 64
"""Height of a bar of 1."""
CUT = 5
"""The cutoff of the second row: the last column lies behind it."""


class Example(NamedTuple):
    """A ranking to draw.

    Attributes:
        boxes: What stands in each rank: a name, a word below it, and whether it is relevant.
        qrels: What is relevant.
        ranking: What came back.
        alone: What is relevant where a single document is.
    """

    boxes: Sequence[tuple[str, str, bool]]
    qrels: Any
    ranking: Sequence[Any]
    alone: Any


GRADES = {"b": 1, "x": 0, "u": None, "a": 3, "y": 0, "c": 1}
FLAT = Example(
    [(name, "unjudged" if grade is None else f"grade {grade}", bool(grade)) for name, grade in GRADES.items()],
    {"d": 2, **{name: grade for name, grade in GRADES.items() if grade is not None}},
    list(GRADES),
    None,
)
GROUPS = Example(
    [
        ("a", "topic 1", True),
        ("b", "topic 1", True),
        ("x", "", False),
        ("c", "topic 2", True),
        ("y", "", False),
        ("z", "", False),
    ],
    [["a", "b"], ["c"]],
    ["a", "b", "x", "c", "y", "z"],
    None,
)
CHUNKS = [chunk(str(number), 100 * number, 100 * number + 100) for number in (4, 1, 9, 2, 8, 3)]
PLACES = Example(
    [
        ("400", "", False),
        ("100", "half", True),
        ("900", "", False),
        ("200", "whole", True),
        ("800", "", False),
        ("300", "half", True),
    ],
    [rm.Span("guide", 150, 350)],
    CHUNKS,
    [rm.Span("guide", 100, 200)],
)

BELOW = {"x": 0, "u": None, "b": -1, "a": 1, "y": 0, "c": -2}
FORBIDDEN = Example(
    [(name, "unjudged" if grade is None else f"grade {grade}", bool(grade)) for name, grade in BELOW.items()],
    {name: grade for name, grade in BELOW.items() if grade is not None},
    list(BELOW),
    None,
)


def picture(definition: Definition) -> str:
    """Return the picture of a metric, as HTML on one line."""
    example = _example(definition)
    ranks = range(1, len(example.boxes) + 1)
    growing = [_value(definition, None, example.qrels, example.ranking[:rank]) for rank in ranks]
    name = definition.name
    if definition.takes_cutoff:
        growing = [_value(definition, rank, example.qrels, example.ranking) for rank in ranks]
    cut = CUT if definition.takes_cutoff else None
    alone = [_value(definition, cut, *_alone(definition, example, rank)) for rank in ranks]
    over_k = f"{name}@k for k = 1 to 6" if definition.takes_cutoff else f"{name} if the ranking ended here"
    single = "judged" if name == "judged" else "relevant" if definition.higher_is_better else "forbidden"
    metric_name = f"{name}@{CUT}" if cut else name
    rows = [
        _boxes(example),
        _bars(growing, 62, over_k, COLOURS[0]),
        _bars(alone, 170, f"{metric_name} of one {single} document at each rank", COLOURS[1]),
    ]
    label = f"{over_k}: {_listed(growing)}. {metric_name} of one {single} document at each rank: {_listed(alone)}."
    caption = _caption(definition)
    return (
        f'<figure class="metric"><svg viewBox="0 0 {WIDTH} 264" role="img" aria-label="{escape(label)}" '
        f'fill="currentColor">{"".join(rows)}</svg><figcaption>{caption}</figcaption></figure>'
    )


def _example(definition: Definition) -> Example:
    if definition.higher_is_better:
        return PLACES if definition.needs_places else GROUPS if definition.name == "alpha_ndcg" else FLAT
    if definition.name == "false_answer":  # nothing is relevant
        return FORBIDDEN._replace(qrels={name: grade for name, grade in FORBIDDEN.qrels.items() if grade <= 0})
    return FORBIDDEN


def _caption(definition: Definition) -> str:
    if not definition.higher_is_better:
        also = (
            ", and a would be relevant to another question" if definition.name == "false_answer" else "; a is relevant"
        )
        return f"Two documents must not come back: b (grade -1) and c (grade -2){also}. Lower is better."
    if definition.needs_places:
        return (
            "Characters 150 to 350 are relevant. Each box is a chunk of 100 characters and shows where it starts. In "
            "the lower row, exactly one chunk is relevant."
        )
    if definition.name == "alpha_ndcg":
        return "Two topics are relevant: a and b repeat each other, c is about something else."
    return "Four documents are relevant: a (grade 3), d (grade 2, not retrieved), b and c (grade 1)."


def _alone(definition: Definition, example: Example, rank: int) -> tuple[Any, Sequence[Any]]:
    if example.alone is not None:
        other_items = [item for item in example.ranking if item.id != "1"]
        return example.alone, [*other_items[: rank - 1], chunk("1", 100, 200), *other_items[rank - 1 :]]
    ranking = [f"x{number}" for number in range(1, len(example.boxes) + 1)]
    other_items: dict[str, int] = {} if definition.name == "judged" else dict.fromkeys(ranking, 0)
    if not definition.higher_is_better:
        elsewhere = {} if definition.name == "false_answer" else {"not retrieved": 1}
        return {**other_items, **elsewhere, ranking[rank - 1]: -1}, ranking
    return {**other_items, ranking[rank - 1]: 1}, ranking


def _value(definition: Definition, k: int | None, qrels: Any, ranking: Sequence[Any]) -> float:
    metric = rm.Metric(definition.name, k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)
        return rm.evaluate({"q": qrels}, {"q": list(ranking)}, [metric]).means[metric]


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)


def _boxes(example: Example) -> str:
    drawn = []
    for number, (name, note, relevant) in enumerate(example.boxes):
        x = LEFT + number * COLUMN
        fill = f'fill="{COLOURS[2]}" fill-opacity="0.35"' if relevant else 'fill="none"'
        drawn.append(
            f'<rect x="{x + 3}" y="2" width="{COLUMN - 6}" height="26" rx="4" stroke="currentColor" '
            f'stroke-opacity="0.5" {fill}/>{_text(x, 20, name, 14)}{_text(x, 42, note, 10.5)}'
        )
    return "".join(drawn)


def _bars(values: Sequence[float], top: int, title: str, colour: str) -> str:
    largest = max(1.0, *(value for value in values if not isnan(value)))
    floor = top + 18 + BAR
    drawn = [f'<text x="{LEFT + 3}" y="{top + 2}" font-size="12">{escape(title)}</text>']
    drawn.append(f'<path d="M{LEFT} {floor}h{COLUMN * len(values)}" stroke="currentColor" stroke-opacity="0.5"/>')
    for number, value in enumerate(values):
        high = 0 if isnan(value) else value / largest * (BAR - 14)
        x = LEFT + number * COLUMN
        shown = "-" if isnan(value) else f"{value:.2f}"
        drawn.append(
            f'<rect x="{x + 10}" y="{floor - high:.1f}" width="{COLUMN - 20}" height="{high:.1f}" fill="{colour}"/>'
            f"{_text(x, floor - high - 4, shown, 11.5)}"
        )
    return "".join(drawn)


def _text(x: float, y: float, words: str, size: float) -> str:
    return f'<text x="{x + COLUMN / 2}" y="{y:.1f}" font-size="{size}" text-anchor="middle">{escape(words)}</text>'

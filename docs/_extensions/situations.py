"""Rankings that libraries treat differently, and how the libraries spell the names of metrics."""

from typing import Any, NamedTuple

import retrieval_metrics as rm
from retrieval_metrics.metrics.base.definition import Definition

LIBRARIES = {
    "trec_eval": "trec_eval",
    "llama_index": "LlamaIndex",
    "haystack": "Haystack",
    "ragas": "Ragas",
    "autorag": "AutoRAG",
    "mlflow": "MLflow",
}
"""The rule sets by the names of their libraries."""

SPELLINGS = {
    "trec_eval": (
        *("ndcg_cut_10", "map_cut_10", "recip_rank", "P_10", "recall_10", "success_10", "Rprec", "bpref", "set_recall"),
    ),
    "ir_measures": (
        *("nDCG@10", "AP@10", "RR@10", "P@10", "R@10", "Success@10", "Rprec", "ERR@10", "RBP(p=0.8)", "Bpref"),
        *("Judged@10", "alpha_nDCG@10"),
    ),
    "MLflow": ("ndcg_at_10", "precision_at_10", "recall_at_10"),
}
"""Names of other tools, each of which must be understood."""


class Situation(NamedTuple):
    """One query: what is relevant, what came back, and the two in words."""

    words: str
    needed: str
    returned: str
    qrels: Any
    run: Any


SITUATIONS = (
    Situation("two relevant documents", "`a b`", "`a x b`", ["a", "b"], {"q": ["a", "x", "b"]}),
    Situation("a relevant document twice", "`a b`", "`a a x`", ["a", "b"], {"q": ["a", "a", "x"]}),
    Situation("fewer than k retrieved", "`a b`", "`a`", ["a", "b"], {"q": ["a"]}),
    Situation("more than k relevant", "`a b c d e`", "`a x b`", list("abcde"), {"q": ["a", "x", "b"]}),
    Situation("grades, best last", "`a` 3, `b` 1", "`b x a`", {"a": 3, "b": 1}, {"q": ["b", "x", "a"]}),
    Situation("a negative grade", "`a` 1, `x` -1", "`x a`", {"a": 1, "x": -1}, {"q": ["x", "a"]}),
    Situation("a group: either one is enough", "`a` or `b`", "`a x`", [["a", "b"]], {"q": ["a", "x"]}),
    Situation("equal scores", "`a`", "`a` and `x`, both 0.5", ["a"], {"q": {"a": 0.5, "x": 0.5}}),
    Situation("nothing retrieved", "`a`", "nothing", ["a"], {"q": []}),
    Situation("query missing from the run", "`a`", "-", ["a"], {}),
    Situation("no relevant document", "`x` 0", "`x`", {"x": 0}, {"q": ["x"]}),
)


def chunk(name: str, start: int, end: int) -> rm.Retrieved:
    """Return a chunk of a source, without its text."""
    return rm.Retrieved(name, source="guide", start=start, end=end)


SPAN = [rm.Span("guide", 100, 200)]
PLACES = (
    Situation("one chunk contains the span", "100 to 200", "0 to 200", SPAN, {"q": [chunk("a", 0, 200)]}),
    Situation(
        "two chunks contain half each", "100 to 200", "0 to 150, 150 to 300", SPAN,
        {"q": [chunk("a", 0, 150), chunk("b", 150, 300)]},
    ),
    Situation("part of it retrieved", "100 to 200", "0 to 125", SPAN, {"q": [chunk("a", 0, 125)]}),
    Situation(
        "chunks overlap", "100 to 200", "50 to 175, 125 to 250", SPAN,
        {"q": [chunk("a", 50, 175), chunk("b", 125, 250)]},
    ),
    Situation(
        "one chunk twice", "100 to 200", "0 to 150, twice", SPAN,
        {"q": [chunk("a", 0, 150), chunk("a", 0, 150)]},
    ),
    Situation("nothing retrieved", "100 to 200", "nothing", SPAN, {"q": []}),
    Situation("judged by id", "`a`", "`a`, 0 to 200", ["a"], {"q": [chunk("a", 0, 200)]}),
)  # fmt: skip
"""For metrics of places: characters of one source."""


def situations_of(definition: Definition) -> tuple[Situation, ...]:
    """Return the situations that a metric can tell apart."""
    return PLACES if definition.needs_places else SITUATIONS

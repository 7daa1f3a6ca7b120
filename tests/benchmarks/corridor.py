"""Count how much code a call goes through: files entered, functions called, changes of file.

    python tests/benchmarks/corridor.py
    python tests/benchmarks/corridor.py --list "evaluate, print"        # what is entered, in order

Three queries, two systems; the second call of each, when everything is imported. Comprehensions do not count.
"""

import argparse
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import retrieval_metrics as rm

OURS = (str(Path(rm.__file__).parent), str(Path(__file__).parents[2] / "integrations"))
NOT_COUNTED = {"<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<lambda>", "<module>"}

QRELS: dict[str, Any] = {"q1": ["d7"], "q2": {"d1": 2, "d2": 1}, "q3": ["d4", "d5"]}
RUN = {"q1": ["d3", "d7"], "q2": ["d2", "x", "d1"], "q3": ["d5", "d4"]}
TWO = {"q1": ["d7"], "q2": ["x", "d1"], "q3": ["d5", "z", "d4"]}
SCORED = {
    query: {document: -float(rank // 2) for rank, document in enumerate(ranking)} for query, ranking in RUN.items()
}


class Way(NamedTuple):
    """The files entered, the functions called, and how often a call goes from one file into another."""

    files: int
    calls: int
    changes: int


def way(call: Callable[[], object]) -> Way:
    """Measure a call that has been made once before."""
    files = [file for file, _, _ in entered_by(call)]
    changes = sum(earlier != later for earlier, later in zip(["", *files], files, strict=False))
    return Way(len(set(files)), len(files), changes)


class Entered(NamedTuple):
    """A function that was entered: its file, its name, and how deep it stands below the call."""

    file: str
    function: str
    depth: int


def entered_by(call: Callable[[], object]) -> list[Entered]:
    """Return what a call that has been made once before enters, in order."""
    call()
    entered: list[Entered] = []

    def record_call(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and _counts(frame):
            entered.append(Entered(frame.f_code.co_filename, frame.f_code.co_qualname, _depth(frame)))

    threading.setprofile(record_call)
    sys.setprofile(record_call)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return entered


def _counts(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(OURS) and frame.f_code.co_name not in NOT_COUNTED


def _depth(frame: FrameType) -> int:
    outer = frame.f_back
    depth = 0
    while outer is not None:
        depth += _counts(outer)
        outer = outer.f_back
    return depth


def ways(metrics: list[str]) -> dict[str, Callable[[], object]]:
    """Return what is measured, by name."""
    ranking = {
        "evaluate, print": lambda: str(rm.evaluate(QRELS, RUN, metrics)),
        'evaluate, ties="expected"': lambda: str(rm.evaluate(QRELS, SCORED, metrics, ties="expected")),
        "compare": lambda: rm.compare(QRELS, {"one": RUN, "two": TWO}, metrics),
        "compare, print": lambda: str(rm.compare(QRELS, {"one": RUN, "two": TWO}, metrics)),
        "audit, print": lambda: str(rm.audit(QRELS, RUN, metrics)),
    }
    return {**ranking, **llama_index_way(metrics)}


def llama_index_way(metrics: list[str]) -> dict[str, Callable[[], object]]:
    """Return the evaluation of a dataset, if LlamaIndex is installed."""
    try:
        from llama_index.core.base.base_retriever import BaseRetriever
        from llama_index.core.schema import NodeWithScore, TextNode

        from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator, ranking_metrics
    except ImportError:
        return {}

    class Known(BaseRetriever):
        def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
            ranking = RUN[query_bundle.query_str.removeprefix("text of ")]
            return [
                NodeWithScore(node=TextNode(id_=document, text=document), score=-float(position))
                for position, document in enumerate(ranking)
            ]

    dataset = {"queries": {query: f"text of {query}" for query in QRELS}, "relevant_docs": QRELS}
    evaluator = RetrieverEvaluator(retriever=Known(), metrics=ranking_metrics(metrics))
    return {"LlamaIndex: evaluate_dataset": lambda: evaluator.evaluate_dataset(dataset, workers=1, show_progress=False)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", metavar="CALL", help="list what one of the calls enters, with one metric")
    named = parser.parse_args().list
    warnings.simplefilter("ignore")
    if named is not None:
        return _list(ways(["mrr"]), named)
    print(f"{'files / calls / changes of file':<32} {'one metric':>20} {'seven':>20}")
    single_metric = ways(["mrr"])
    default_metrics = ways(list(rm.DEFAULT_METRICS))
    for name, call in single_metric.items():
        print(f"{name:<32} {_printed(way(call)):>20} {_printed(way(default_metrics[name])):>20}")
    return 0


def _list(calls: dict[str, Callable[[], object]], named: str) -> int:
    if named not in calls:
        print(f"{named!r} is not one of " + "; ".join(calls), file=sys.stderr)
        return 2
    for file, function, depth in entered_by(calls[named]):
        root = next(folder for folder in OURS if file.startswith(folder))
        print(f"{Path(file).relative_to(root)!s:<44} {'  ' * depth}{function}")
    return 0


def _printed(measured: Way) -> str:
    return " / ".join(f"{number:,}" for number in measured)


if __name__ == "__main__":
    sys.exit(main())

"""Save any result, and load any saved result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from retrieval_metrics.comparing.comparison import Comparison
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.inputs import resumed
from retrieval_metrics.keeping.comparisons import compared_of
from retrieval_metrics.keeping.document import Section, read_document, write_document
from retrieval_metrics.keeping.evaluations import evaluation_of, scale_of
from retrieval_metrics.keeping.question_sets import questions_of
from retrieval_metrics.keeping.rankings import Texts, of_run, run_of
from retrieval_metrics.labelling.labels import labels_of
from retrieval_metrics.questions.evaluation_set import EvaluationSet
from retrieval_metrics.questions.sample import sample_of
from retrieval_metrics.results.scores import Scores
from retrieval_metrics.results.totals import Totals, totals_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.keeping.document import Document, Labels
    from retrieval_metrics.types import RunMapping


SMALL: Mapping[str, Callable[[Document], Any]] = {
    "comparison": lambda document: Comparison(**compared_of(document)),
    "labels": labels_of,
    "sample": sample_of,
}
"""What reads the kinds of files that nothing else is to be said of."""


def save_run(run: RunMapping | Run, path: str | PathLike[str], *, labels: Labels | None = None) -> None:
    """Write a run with everything that is known of it to a file that `load` reads.

    That is more than `write_run` can write: texts and metadata of items, ids of either type, queries for which nothing
    was retrieved, the failures of a retriever and the seconds it took.

    Args:
        run: What `evaluate` takes.
        path: The file, JSON; with a further `.gz` or `.zst` it is compressed.
        labels: Labels of your own, such as `{"chunking": "400 tokens"}`.

    Raises:
        TypeError: If a ranking has another type.
        ValueError: If JSON cannot hold something, such as a date in the metadata of an item, before anything is
            written.
        OSError: If it cannot be written; a file that was there stays as it was.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> import retrieval_metrics as rm
        >>> path = Path(mkdtemp()) / "run.json.gz"
        >>> rm.save_run({"q1": [rm.Retrieved("d7", "a text", source="a.md")]}, path)
        >>> rm.load(path)["q1"][0].text
        'a text'
    """
    texts = Texts()
    said = of_run(run, texts)
    write_document(path, "run", {"texts": texts.table(), "run": Section(said)}, labels)


def load(path: str | PathLike[str]) -> Any:
    """Return whatever was saved: an `Evaluation`, a `Comparison`, an `EvaluationSet`, `Labels`, a `Sample` or a run.

    Loaded, everything works as before: explanations, slices, reports, comparisons, merging; every number is the same to
    the last bit. Nothing in a file is ever run: a metric of your own must be defined before, by importing the module
    that defines it.

    Args:
        path: A file of `Evaluation.save`, `Comparison.save`, `EvaluationSet.save` or `save_run`, compressed or not, or
            one that `retrieve(..., resume=path)` writes, or one that a labelling page exports.

    Raises:
        OSError: If it cannot be opened.
        ValueError: If it is another file, is damaged (the message says where), is of a newer version, or holds a metric
            that is not known here.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> import retrieval_metrics as rm
        >>> path = Path(mkdtemp()) / "result.json"
        >>> rm.evaluate({"q1": ["d7"]}, {"q1": ["d3", "d7"]}, "mrr").save(path, labels={"model": "small"})
        >>> result = rm.load(path)
        >>> result.means, result.labels
        ({'mrr': 0.5}, {'model': 'small'})
    """
    document = read_document(path)
    content = document.content
    if document.kind in SMALL:
        return SMALL[document.kind](document)
    match document.kind:
        case "evaluation":
            with document.place("evaluation"):
                texts, said = content["texts"], content["evaluation"]
            return _evaluation(evaluation_of(said, document, texts), said, document)
        case "questions":
            with document.place("questions"):
                entries = list(content["questions"])
            found = questions_of(entries, document)
            return EvaluationSet(found.queries, found.qrels, found.provenance)
        case "run":
            with document.place("run"):
                return run_of(content["run"], content["texts"])
        case resumed.KIND:
            return resumed.Answers(path).run()
        case "history":
            raise ValueError(f"{document.name} is a history; rm.History(path) reads it")
        case _:
            raise ValueError(f"{document.name} holds a {document.kind}, which load does not read")


def _evaluation(record: Scores | Totals, said: Mapping[str, Any], document: Document) -> Evaluation:
    totals = None
    if isinstance(record, Scores) and record.origin is None:
        with document.place("scale"):
            totals = replace(totals_of(record), scale=scale_of(said))  # values alone do not know it
    return Evaluation(record, totals=totals, labels=document.labels)

"""Load any saved result, and save runs, which are plain mappings without a method `save`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, NoReturn

from retrieval_metrics.comparison.comparison import Comparison
from retrieval_metrics.comparison.comparison_file import decode_comparison, decode_systems
from retrieval_metrics.comparison.tuning_choice import choose_setting
from retrieval_metrics.comparison.tuning_result import TuningRule
from retrieval_metrics.datasets.evaluation_set import EvaluationSet
from retrieval_metrics.datasets.human_model_estimate import Estimate
from retrieval_metrics.datasets.labels import decode_labels
from retrieval_metrics.datasets.pool import Pool
from retrieval_metrics.datasets.sample import Sample
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.evaluation.evaluation_file import decode_evaluation
from retrieval_metrics.evaluation.threshold import Threshold
from retrieval_metrics.files.saved_fields import decode_saved_fields
from retrieval_metrics.files.saved_format import Lines, parse_saved_file, read_saved_file, write_saved_file
from retrieval_metrics.files.saved_questions import decode_questions, decode_sources
from retrieval_metrics.files.saved_records import decode_record
from retrieval_metrics.files.saved_run import decode_run, encode_run
from retrieval_metrics.inputs.input_hints import refuse_open_file
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.retrieval.answer_log import RUN_LOG_KIND, AnswerLog

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

    from retrieval_metrics.comparison.tuning_result import Tuning
    from retrieval_metrics.files.saved_fields import SavedFields
    from retrieval_metrics.files.saved_format import LabelMapping, SavedFile
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.run import Run


def _read_tuning(saved_file: SavedFile) -> Tuning:
    """Return a tuning; its choice is computed again from the saved scores of the settings and the saved rule."""
    scores_by_setting = decode_systems(saved_file)
    with saved_file.name_place_in_errors("rule"):
        rule = TuningRule(**decode_record(saved_file.content["rule"]))
        evaluations = {name: Evaluation(scores) for name, scores in scores_by_setting.items()}
        return choose_setting(evaluations, rule)


def _read_comparison(saved_file: SavedFile) -> Comparison:
    return Comparison(**decode_comparison(saved_file))


def _read_evaluation(saved_file: SavedFile) -> Evaluation:
    with saved_file.name_place_in_errors("evaluation"):
        texts = saved_file.content["texts"]
        section = saved_file.content["evaluation"]
    return Evaluation(decode_evaluation(section, saved_file, texts), labels=saved_file.labels)


def _read_questions(saved_file: SavedFile) -> EvaluationSet:
    with saved_file.name_place_in_errors("questions"):
        entries = list(saved_file.content["questions"])
    questions = decode_questions(entries, saved_file)
    with saved_file.name_place_in_errors("the judgments of the questions"):
        as_qrels(questions)
    return EvaluationSet.from_dataset(replace(questions, sources=decode_sources(saved_file.content, saved_file)))


def _read_run(saved_file: SavedFile) -> Any:
    with saved_file.name_place_in_errors("run"):
        return decode_run(saved_file.content["run"], saved_file.content["texts"])


def _read_answers(saved_file: SavedFile) -> Any:
    return AnswerLog(saved_file.name).read_run()


def _refuse_history(saved_file: SavedFile) -> NoReturn:
    raise ValueError(f"{saved_file.name} is a history; rm.History(path) reads it")


# Results whose files hold their fields.
FIELD_RESULTS: tuple[type[SavedFields], ...] = (Estimate, Pool, Sample, Threshold)
# The function that reads each kind of file.
READERS: Mapping[str, Callable[[SavedFile], Any]] = {
    "comparison": _read_comparison,
    "evaluation": _read_evaluation,
    "history": _refuse_history,
    "labels": decode_labels,
    "questions": _read_questions,
    "run": _read_run,
    "tuning": _read_tuning,
    RUN_LOG_KIND: _read_answers,
    **{result_class.kind: partial(decode_saved_fields, result_class) for result_class in FIELD_RESULTS},
}


def save_run(run: RunMapping | Run, path: str | PathLike[str], *, labels: LabelMapping | None = None) -> None:
    """Save a complete run to a file that `load` reads.

    It keeps what `write_run` cannot: texts and metadata of items, ids of either type, queries without results, and
    the errors and timings of a retriever.

    Args:
        run: A run, as for `evaluate`.
        path: The JSON file; a further `.gz` or `.zst` compresses it.
        labels: Labels of your own, such as `{"chunking": "400 tokens"}`.

    Raises:
        TypeError: If a ranking has another type.
        ValueError: If something cannot be written as JSON, such as a date in the metadata of an item. Nothing is
            written then.
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
    texts: dict[str, int] = {}
    section = encode_run(run, texts)
    write_saved_file(path, "run", {"texts": Lines(texts), "run": section}, labels)


def load(path: str | PathLike[str]) -> Any:
    """Load any saved result: an evaluation, comparison, tuning, question set, pool, sample, labels, estimate or run.

    A loaded object works as before it was saved: explanations, slices, reports, comparisons, merging. Every number is
    the same to the last bit. Loading runs no code from the file, so import the module that defines a metric of your own
    before you load a result with it.

    Args:
        path: A file written by the method `save` of any of these, by `save_run` or `retrieve(..., resume=path)`, or
            exported from a labelling page. It can be compressed.

    Raises:
        OSError: If the file cannot be opened.
        TypeError: If an open file is given in place of its path.
        ValueError: If it is not such a file, is damaged (the message says where), is of a newer version, or holds an
            unknown metric.

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
    refuse_open_file(path, "load")
    return _read_result(read_saved_file(path))


def format_saved(result: Any, **options: Any) -> str:
    """Return the text that the method `save` of a result writes, for hosts that keep results in their own files."""
    file = BytesIO()
    result.save(file, **options)
    return file.getvalue().decode()


def parse_saved(text: str) -> Any:
    """Return the result in a text that `format_saved` returned, as `load` does.

    Raises:
        ValueError: If it is damaged.

    Example:
        >>> import retrieval_metrics as rm
        >>> parse_saved(format_saved(rm.evaluate({"q1": ["d7"]}, {"q1": ["d3", "d7"]}, "mrr"))).means
        {'mrr': 0.5}
    """
    return _read_result(parse_saved_file(text.encode(), "the saved result"))


def _read_result(saved_file: SavedFile) -> Any:
    if saved_file.kind not in READERS:
        raise ValueError(f"{saved_file.name} is of kind {saved_file.kind!r}, which load does not read")
    return READERS[saved_file.kind](saved_file)

"""Check the rows that `ragas.evaluate` scores one by one as the run that they are together."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ragas_retrieval_metrics.gathered_rows import gather_rows, score_gathered
from ragas_retrieval_metrics.id_advice import advise_on_rows
from ragas_retrieval_metrics.ragas_imports import BaseCallbackHandler
from ragas_retrieval_metrics.rows import Row
from retrieval_metrics.integration_api import Scorer, warn
from retrieval_metrics.integration_api.batches import system_wide_warnings

if TYPE_CHECKING:
    import retrieval_metrics as rm
    from ragas_retrieval_metrics.metric_names import By
    from ragas_retrieval_metrics.ragas_imports import SingleTurnSample
    from ragas_retrieval_metrics.references import References
    from retrieval_metrics.types import Scores

# The packages between the line that calls ragas and a callback.
HOSTS = ("ragas", "langchain_core")


class ComparedRows:
    """The rows of a run that are compared alike.

    Attributes:
        metric: One of the metrics.
        by: What is compared.
        references: The judgments, if they are not in the rows.
        row_by_sample: The rows, each once, by the identity of their samples.
    """

    def __init__(self, metric: rm.Metric, by: By, references: References | None) -> None:
        self.metric = metric
        self.by = by
        self.references = references
        self.row_by_sample: dict[int, Row] = {}

    def find_warnings(self) -> list[str]:
        """Return what concerns every number of the rows, in the words of ragas."""

        def score_rows(qrels: rm.Qrels, run: rm.RetrievedRun) -> Scores:
            return Scorer(self.metric, match=gathered.match).run(qrels, run)

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of single rows, and of the time when they were scored
                gathered = gather_rows(list(self.row_by_sample.values()), self.by, self.references)
                scores = score_gathered(gathered, [self.metric], score_rows)
        except (TypeError, ValueError):
            # Rows that cannot be scored are errors of the metric, which ragas shows.
            return []
        return [advise_on_rows(sentence, self.references) for sentence in system_wide_warnings({"": scores})]


class RunCheck(BaseCallbackHandler):
    """Warns once, when `ragas.evaluate` has all values, of what is wrong with its rows as a whole.

    Ragas hands a metric the callbacks of its row, and ends the first row when the last one is scored.
    """

    raise_error = True  # LangChain would log a warning that a filter turned into an error

    def __init__(self) -> None:
        """Create the check of no rows yet."""
        self._rows_by_options: dict[tuple[By, int], ComparedRows] = {}

    @classmethod
    def find(cls, callbacks: Any) -> RunCheck | None:
        """Return the check of the run to which the callbacks of a row belong; None outside of `ragas.evaluate`."""
        row_manager = getattr(callbacks, "parent_run_manager", None)
        handlers = getattr(row_manager, "handlers", None)
        if not isinstance(handlers, list):
            return None
        for handler in handlers:
            if isinstance(handler, cls):
                return handler
        check = cls()
        handlers.append(check)  # all rows of a run have this list
        return check

    def note(self, sample: SingleTurnSample, metric: rm.Metric, by: By, references: References | None) -> None:
        """Keep a row that a metric scores."""
        compared = self._rows_by_options.setdefault((by, id(references)), ComparedRows(metric, by, references))
        compared.row_by_sample[id(sample)] = Row(*(getattr(sample, field) for field in Row._fields))

    def on_chain_end(self, outputs: Any, **_: Any) -> None:
        """Warn when the first row ends, and forget all rows."""
        rows_by_options = self._rows_by_options
        self._rows_by_options = {}
        sentences: dict[str, None] = {}
        for compared in rows_by_options.values():
            sentences.update(dict.fromkeys(compared.find_warnings()))
        for sentence in sentences:
            warn(sentence, host=HOSTS)

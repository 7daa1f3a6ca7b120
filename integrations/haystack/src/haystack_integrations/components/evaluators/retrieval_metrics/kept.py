"""An evaluation that Haystack can write down, so that a pipeline resumes from a breakpoint behind it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from retrieval_metrics import Evaluation, load


class PipelineEvaluation(Evaluation):
    """An evaluation of the core that is saved with the state of a pipeline.

    Haystack writes down what has `to_dict`, and trusts `from_dict` of classes in `haystack_integrations`.
    """

    @classmethod
    def of(cls, evaluation: Evaluation) -> Self:
        """Return an evaluation as one that Haystack can write down."""
        return cls(evaluation.record, labels=evaluation.labels)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file that `save` writes.

        Raises:
            ValueError: If JSON cannot hold something, such as a date in the metadata of a document.
        """
        with TemporaryDirectory() as folder:
            path = Path(folder) / "evaluation.json"
            self.save(path)
            return {"file": path.read_text(encoding="utf-8")}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the evaluation of `to_dict`, equal to the last bit.

        Raises:
            ValueError: If the content is damaged.
        """
        with TemporaryDirectory() as folder:
            path = Path(folder) / "evaluation.json"
            path.write_text(data["file"], encoding="utf-8")
            return cls.of(load(path))

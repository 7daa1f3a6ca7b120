"""Read the files of other tools whose columns have no names: MS MARCO, Tevatron, ColBERT and NTCIR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics.files.formats import POSITIONAL_FORMATS, Format
from retrieval_metrics.files.tabular_rows import FileTable, TextTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from retrieval_metrics.files.opening import Reader


@dataclass(frozen=True, slots=True)
class _Layouts:
    """The columns of the files of a tool, which may have one of several layouts.

    Attributes:
        run: The layouts of its runs.
        qrels: The layouts of its judgments; none if they are TREC files.
    """

    run: tuple[tuple[str, ...], ...] = ()
    qrels: tuple[tuple[str, ...], ...] = ()

    def of(self, kind: Literal["run", "qrels"]) -> tuple[tuple[str, ...], ...]:
        """Return the layouts of runs or of judgments."""
        return self.run if kind == "run" else self.qrels


_LAYOUTS: Mapping[str, _Layouts] = {
    "msmarco": _Layouts(run=(("query", "document", "rank"),)),
    "tevatron": _Layouts(run=(("query", "document", "score"),)),
    "colbert": _Layouts(run=(("query", "document", "rank", "score"), ("query", "document", "rank"))),
    "ntcir": _Layouts(qrels=(("query", "document", "grade"),)),
}
# A grade of NTCIR: L0 is not relevant, L3 is the highest of most test collections.
_NTCIR_GRADE = r"^L(-?\d+)$"


def read_positional_table(source: Reader, format: str, kind: Literal["run", "qrels"]) -> FileTable:
    """Return the rows of a file whose columns have no names.

    Raises:
        ValueError: If the tool has no such files, or a line has another number of columns.
    """
    layouts = _LAYOUTS[format].of(kind)
    if not layouts:
        others = "judgments" if kind == "run" else "runs"
        trec_kind = "runs" if kind == "run" else "judgments"
        raise ValueError(
            f"format={format!r} is for {others}; {trec_kind} of {POSITIONAL_FORMATS[format]} are TREC files: pass "
            "format='trec'"
        )
    import_optional("polars", f"reading {POSITIONAL_FORMATS[format]}")
    text = b"".join(source.pieces())
    first_line = text.lstrip().split(b"\n", 1)[0]
    separator = "\t" if b"\t" in first_line else " "
    table = TextTable(text, source, Format((), separator, has_names=False), has_header=False)
    names = _find_layout(layouts, len(table.header))
    if names is None:
        expected = " or ".join(" ".join(layout) for layout in layouts)
        raise ValueError(
            f"{source.name}, line 1: {first_line.decode(errors='replace')}: {len(table.header)} columns where "
            f"{POSITIONAL_FORMATS[format]} has {expected}"
        )
    frame = table.frame()
    frame = frame.rename(dict(zip(frame.columns, names, strict=True)))
    if format == "ntcir":
        frame = _read_ntcir_grades(frame)
    return FileTable(frame.lazy(), list(names), table.locate_row)


def _find_layout(layouts: tuple[tuple[str, ...], ...], n_columns: int) -> tuple[str, ...] | None:
    for layout in layouts:
        if len(layout) == n_columns:
            return layout
    return None


def _read_ntcir_grades(frame: pl.DataFrame) -> pl.DataFrame:
    """Return judgments with `L2` read as the grade 2; a grade of another form is left for the error that names it."""
    import polars as pl

    return frame.with_columns(pl.col("grade").str.replace(_NTCIR_GRADE, "$1"))

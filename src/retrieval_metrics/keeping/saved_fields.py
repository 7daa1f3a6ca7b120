"""Results that are their fields: they are equal if these are, and their files hold them, one after the other."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from retrieval_metrics.keeping.document import Document, Lines, Section, write_document
from retrieval_metrics.keeping.records import RECORDS, of_record, record_of
from retrieval_metrics.presentation.tables import Printed

if TYPE_CHECKING:
    from os import PathLike

SavedT = TypeVar("SavedT", bound="SavedFields")


class SavedFields(Printed):
    """A dataclass, declared with `eq=False`, that can be saved and that equals what is loaded again.

    What its fields must fulfil is checked in `__post_init__`, and so in what is loaded, too.

    Attributes:
        kind: The kind of its files.
        records: The records that its fields hold, which `load` may then create.
    """

    __slots__ = ()
    kind: ClassVar[str]
    records: ClassVar[tuple[type, ...]] = ()
    __hash__ = None  # type: ignore[assignment]  # its fields are mappings

    def __init_subclass__(cls) -> None:
        RECORDS.update({each.__name__: each for each in (cls, *cls.records)})

    def save(self, path: str | PathLike[str]) -> None:
        """Save it to a file that `load` reads.

        Args:
            path: The JSON file; a further `.gz` or `.zst` compresses it.

        Raises:
            ValueError: If JSON cannot hold something, such as a date. Nothing is written then.
            OSError: If the file cannot be written; an existing file stays as it was.
        """
        write_document(path, self.kind, {name: _in_lines(value) for name, value in self._written().items()})

    def __eq__(self, other: object) -> bool:
        return self._written() == other._written() if isinstance(other, type(self)) else NotImplemented

    def _written(self) -> dict[str, Any]:
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]  # it is a dataclass
        return {name: of_record(getattr(self, name), f"{name} of the {self.kind}") for name in names}


def of_saved_fields(kind: type[SavedT], document: Document) -> SavedT:
    """Return what was saved.

    Raises:
        ValueError: If something is not understood, naming its place.
    """
    found = {}
    for field in fields(kind):  # type: ignore[arg-type]  # it is a dataclass
        with document.place(field.name):
            found[field.name] = record_of(document.content[field.name])
    with document.place(", ".join(found)):
        return kind(**found)


def _in_lines(said: Any) -> Any:
    """Return a value with one line per entry, if it has entries."""
    if not isinstance(said, dict):
        return said
    return Section({name: Lines(value) if isinstance(value, list) else value for name, value in said.items()})

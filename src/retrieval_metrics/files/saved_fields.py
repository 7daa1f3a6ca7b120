"""Save results whose file holds their fields, one after the other."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from retrieval_metrics.files.record_classes import register_record
from retrieval_metrics.files.saved_format import Lines, SavedFile, Section, write_saved_file
from retrieval_metrics.files.saved_records import decode_record, encode_record
from retrieval_metrics.reports.tables import Printed

if TYPE_CHECKING:
    from os import PathLike


SavedT = TypeVar("SavedT", bound="SavedFields")


class SavedFields(Printed):
    """A dataclass, declared with `eq=False`, that can be saved and that equals what is loaded again.

    Attributes:
        kind: The kind of its files.
        records: The classes of the records in its fields, which `load` may then create.
    """

    __slots__ = ()
    kind: ClassVar[str]
    records: ClassVar[tuple[type, ...]] = ()
    __hash__ = None  # type: ignore[assignment]  # its fields are mappings

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for record_class in (cls, *cls.records):
            register_record(record_class)

    def save(self, path: str | PathLike[str]) -> None:
        """Save the result to a file that `load` reads."""
        sections = {name: _with_entry_lines(value) for name, value in self._encode().items()}
        write_saved_file(path, self.kind, sections)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._encode() == other._encode()

    def require_usable(self) -> None:
        """Raise, with whatever error, unless the fields have the types that printing and saving need.

        A file may hold anything, so what is wrong in it is found when it is loaded, and not when it is used.
        """
        try:
            repr(self)
            str(self)
            self._encode()
        except StopIteration:  # which a context manager would take for its own
            raise ValueError("a field lacks what another one refers to") from None

    def _encode(self) -> dict[str, Any]:
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]  # it is a dataclass
        return {name: encode_record(getattr(self, name), f"{name} of the {self.kind}") for name in names}


def decode_saved_fields(saved_class: type[SavedT], saved_file: SavedFile) -> SavedT:
    """Return the result that a saved file holds."""
    values = {}
    for field in fields(saved_class):  # type: ignore[arg-type]  # it is a dataclass
        with saved_file.name_place_in_errors(field.name):
            values[field.name] = decode_record(saved_file.content[field.name])
    with saved_file.name_place_in_errors(", ".join(values)):
        result = saved_class(**values)
        result.require_usable()
        return result


def _with_entry_lines(value: Any) -> Any:
    """Return a value such that a file holds the entries of each of its lists on lines of their own."""
    if not isinstance(value, dict):
        return value
    section = Section()
    for name, entries in value.items():
        section[name] = Lines(entries) if isinstance(entries, list) else entries
    return section

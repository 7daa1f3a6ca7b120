"""Find the inputs of components that take the text of a query, and the outputs that hold documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin

from haystack import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from haystack.core.component.types import InputSocket

# An input, as a component or as a pipeline describes it.
DescribedInput: TypeAlias = "InputSocket | Mapping[str, Any]"

# What an output of documents may be declared as; `get_origin` returns these for the aliases of `typing` too.
DOCUMENT_COLLECTIONS = (list, tuple, Sequence, Collection, Iterable)

# The name of inputs for the text of a query; rankers can take it without requiring it.
QUERY_INPUT = "query"


class OutputPlace(NamedTuple):
    """An output of a component of a pipeline."""

    component: str
    output: str

    @property
    def full_name(self) -> str:
        """The names of component and output, or only that of the output if the component is in no pipeline."""
        if not self.component:
            return self.output
        return f"{self.component}.{self.output}"


def format_places(places: list[OutputPlace]) -> str:
    """Return the full names of some outputs."""
    return ", ".join(place.full_name for place in places) or "none"


def get_sockets(component: object, side: Literal["input", "output"]) -> dict[str, Any]:
    """Return the inputs or outputs of a component by name; an empty dict for an object that is no component."""
    sockets = getattr(component, f"__haystack_{side}__", None)
    if sockets is None:
        return {}
    socket_by_name: dict[str, Any] = sockets._sockets_dict  # noqa: SLF001  (public only once it is in a pipeline)
    return socket_by_name


def list_document_outputs(component: object) -> list[str]:
    """Return the names of the outputs of a component that hold documents."""
    return _list_outputs_of(component, (Document,))


def list_id_outputs(component: object) -> list[str]:
    """Return the names of the outputs of a component that can hold ids of documents: lists of texts or whole numbers.

    Queries that were rewritten and replies of a model are lists of texts too, so only the user knows which hold ids.
    """
    return _list_outputs_of(component, (str, int))


def describe_outputs(component: object) -> dict[str, str]:
    """Return the declared type of each output of a component, by name, as a message shows it."""
    type_by_name = {}
    for name, socket in get_sockets(component, "output").items():
        if isinstance(socket.type, type) and not get_args(socket.type):
            type_by_name[name] = socket.type.__name__
        else:
            type_by_name[name] = str(socket.type).replace("typing.", "")
    return type_by_name


def _list_outputs_of(component: object, item_classes: tuple[type, ...]) -> list[str]:
    """Return the names of the outputs of a component that hold lists of some classes."""
    names = []
    for name, socket in get_sockets(component, "output").items():
        if any(_is_list_of(member, item_classes) for member in _union_members(socket.type)):
            names.append(name)
    return names


def _is_list_of(annotation: Any, item_classes: tuple[type, ...]) -> bool:
    """Return whether a type is a list of some classes, in any spelling: `list`, `List`, `Sequence`, `Iterable`."""
    item_types = [argument for argument in get_args(annotation) if argument is not Ellipsis]
    if get_origin(annotation) not in DOCUMENT_COLLECTIONS or len(item_types) != 1:
        return False
    item_type = item_types[0]
    return isinstance(item_type, type) and issubclass(item_type, item_classes)


def find_query_inputs(
    inputs: Mapping[str, DescribedInput], owner: str, fixed_inputs: Mapping[str, Any]
) -> dict[str, bool]:
    """Return the names of the inputs that receive the query, each with whether it takes a list of texts.

    These are the required inputs and the one named `query`, unless they have a fixed value.

    Args:
        inputs: The inputs of a component, by name.
        owner: The name of the component, for messages.
        fixed_inputs: The values of other inputs, by name; they do not receive the query.
    """
    takes_list: dict[str, bool] = {}
    for name, socket in inputs.items():
        if isinstance(socket, Mapping):
            input_type = socket["type"]
            is_required = socket["is_mandatory"]
        else:
            input_type = socket.type
            is_required = socket.is_mandatory
        if name in fixed_inputs or not (is_required or name == QUERY_INPUT):
            continue
        accepted_types = set(_union_members(input_type))
        if accepted_types & {str, Any}:
            takes_list[name] = False
        elif any(get_origin(accepted) is list and get_args(accepted) == (str,) for accepted in accepted_types):
            takes_list[name] = True
        elif is_required:
            raise TypeError(
                f"{owner} needs {name!r}, which is not a text; put a component that makes it from the query before it, "
                f"such as a text embedder in a pipeline, or give {name!r} a value by PipelineRetriever(..., inputs=)"
            )
    return takes_list


def _union_members(annotation: Any) -> Iterator[Any]:
    """Yield the members of a union, or any other type itself."""
    if get_origin(annotation) is Annotated:
        yield from _union_members(get_args(annotation)[0])
    elif get_origin(annotation) in {Union, UnionType}:
        for member in get_args(annotation):
            yield from _union_members(member)
    else:
        yield annotation

"""Import the public names of a package when they are first used, as the Scientific Python project advises (SPEC 1).

The names of such a package or module are listed once, in the stub beside it, a `.pyi` file that type checkers and
editors read too. It has one line for each name: `from module import name as name`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


# One thread imports at a time, because several threads that import modules of one package could wait for each other.
_IMPORT_LOCK = RLock()


def lazy_module(
    owner: str, find_hint: Callable[[str], str] = lambda _: ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the `__getattr__`, `__dir__` and `__all__` of a package or module with a stub.

    Args:
        owner: The name of the package or module.
        find_hint: `find_hint(name)` returns the text to append to the error message about an unknown name.
    """
    spec: Any = sys.modules[owner].__spec__
    stub: bytes = spec.loader.get_data(f"{spec.origin.removesuffix('c')}i")  # also from an archive
    module_by_name = {}
    for line in stub.decode().splitlines():
        match line.split(" "):
            case ["from", module, "import", name, "as", _]:
                module_by_name[name] = module

    def get(name: str) -> Any:
        if name not in module_by_name:
            hint = "" if name.startswith("_") else find_hint(name)
            raise AttributeError(f"module {owner!r} has no attribute {name!r}{hint}", name=name, obj=sys.modules[owner])
        module = module_by_name[name]
        with _IMPORT_LOCK:
            # A name that the stub imports from the owner itself is one of its modules.
            if module == owner or not hasattr(import_module(module), name):
                import_module(f"{module}.{name}")
            value = getattr(sys.modules[module], name)
        setattr(sys.modules[owner], name, value)
        return value

    public = [name for name in module_by_name if not name.startswith("_")]
    return get, lambda: public, public

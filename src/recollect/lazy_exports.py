"""Public names of a package that are imported when they are first used (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_exports(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """
    Return the ``__getattr__`` of *package*, so that importing the package stays cheap.

    *homes* has the names, separated by spaces, that each module defines. ``dir`` of the package
    lists them too: it is given a ``__dir__``.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def exported(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found: object = getattr(import_module(home_of[name]), name)
        setattr(sys.modules[package], name, found)
        return found

    module = vars(sys.modules[package])
    module["__dir__"] = lambda: sorted({*module, *home_of})
    return exported

"""Imports of optional packages, and imports that wait until a module is first needed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from importlib import import_module
from importlib.util import find_spec

from recollect.errors import MissingExtraError

_LOADED: set[str] = set()


@contextmanager
def needs_extra(extra: str, package: str) -> Iterator[None]:
    """Raise `MissingExtraError` if the block fails to import the *package* of an extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("recollect"):
            raise  # a fault of this package, which installing the extra would not repair
        raise MissingExtraError(extra, package) from error


def check_installed(extra: str, package: str) -> None:
    """Raise `MissingExtraError` if the *package* of an extra is not installed; import nothing."""
    # A module that a program made itself has no spec, of which `find_spec` would complain.
    if sys.modules.get(package) is None and find_spec(package) is None:
        raise MissingExtraError(extra, package)


async def load_modules(*names: str) -> None:
    """
    Import modules, on a worker thread if an event loop runs on this one.

    Formation, ranking and schema validation take tenths of a second to import. A function that
    needs one of them awaits this first; its own import statement then only looks the module up.
    Without a running event loop (see `recollect.stores.in_place`) they are imported on this thread.
    """
    missing = [each for each in names if each not in _LOADED]
    if not missing:
        return
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        _load(missing)
    else:
        await loop.run_in_executor(None, copy_context().run, _load, missing)


def _load(names: list[str]) -> None:
    for each in names:
        import_module(each)
        # Only after the import: `sys.modules` also lists a module that another thread is still
        # importing, so it cannot tell whether a module is ready.
        _LOADED.add(each)

"""Modules that are loaded when they are first needed, and never on an event loop."""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from importlib import import_module

_LOADED: set[str] = set()


async def load_modules(*names: str) -> None:
    """
    Import modules, on a worker thread if an event loop runs on this one.

    Formation, ranking and schema validation take tenths of a second to import. A function that
    needs one of them awaits this first; its own import statement then only looks the module up.
    Without an event loop (see `recollect.stores.in_place`) they are imported here.
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
        # Only now: `sys.modules` also holds a module that another thread is still importing.
        _LOADED.add(each)

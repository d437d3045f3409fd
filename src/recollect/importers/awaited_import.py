"""Imports that are awaited, and say so to a program that awaits nothing."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from recollect.errors import UsageError
from recollect.memory.facade import Recollect

P = ParamSpec("P")
ResultT = TypeVar("ResultT")


def awaited_import(
    work: Callable[P, Coroutine[Any, Any, ResultT]],
) -> Callable[P, Coroutine[Any, Any, ResultT]]:
    """
    Return an import that refuses a memory of `recollect.open_sync` when it is called.

    Otherwise it would return a coroutine that such a program awaits nowhere.
    """

    @wraps(work)
    def checked(*args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, ResultT]:
        memory = args[0] if args else kwargs.get("memory")
        if not isinstance(memory, Recollect):
            name = work.__name__
            raise UsageError(
                f"{name} is awaited and needs a memory of recollect.open, not {memory!r}; with one "
                f"of open_sync write memory.call(lambda opened: {name}(opened, …))"
            )
        return work(*args, **kwargs)

    return checked

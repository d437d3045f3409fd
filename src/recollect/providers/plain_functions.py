"""Functions of users: whether one is awaited, or called in a thread."""

from __future__ import annotations

from inspect import iscoroutinefunction

from recollect.errors import UsageError
from recollect.providers.object_names import identity_of


def is_async(function: object) -> bool:
    """
    Return True if calling *function* returns a coroutine, as far as its definition says.

    >>> async def ask(request): ...
    >>> is_async(ask), is_async(len)
    (True, False)
    """
    return iscoroutinefunction(function) or iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 (an object may have an async one)
    )


def check_plain(function: object, what: str) -> None:
    """
    Raise if a function that is called in a thread is defined with ``async def``.

    Raises:
        UsageError: It is; *what* says in its message what the function is for.
    """
    if is_async(function):
        raise UsageError(
            f"the {what} {identity_of(function)} is async: define it with `def`; it is called in a "
            "thread, so it may block"
        )

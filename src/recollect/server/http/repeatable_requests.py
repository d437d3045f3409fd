"""Requests under an `Idempotency-Key`: each is carried out once, and answered the same again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from recollect.errors import RepeatedRequestError
from recollect.memory.facade import Recollect
from recollect.records import Scope
from recollect.server.http.scope_access import Reach

AnswerT = TypeVar("AnswerT")


class RepeatableRequest:
    """
    A request that changes something, and may have come with a key.

    *request* is all by which it is told from another one: the operation, what its path names,
    and its body. It is kept as a digest.
    """

    def __init__(self, reach: Reach, key: str | None, *request: object) -> None:
        self._reach = reach
        self._key = key
        self._request: Final = (*reach.scope, *request)

    async def answer(
        self,
        act: Callable[[Recollect], Awaitable[AnswerT]],
        again: Callable[[RepeatedRequestError], Awaitable[AnswerT]],
        *,
        scope: Scope | None = None,
        is_audited: bool = True,
    ) -> AnswerT:
        """
        Carry the request out and return its answer, or that to its repetition.

        Args:
            act: Makes one change at most through the memory that it is given.
            again: Answers what was carried out before.
            scope: The scope that is changed, and keeps the key; the request's own by default.
            is_audited: Whether the change is audited as the caller's.

        Raises:
            ConflictError: The key was used for another request.
            GoneError: All that the request wrote was erased since.
        """
        reach = self._reach
        memory = reach.service.memory
        as_caller = reach.acting if is_audited else _unchanged
        if self._key is None:
            return await act(reach.memory if is_audited else memory)
        # A scope of the service's own is shared by all callers.
        owner = () if scope is None else reach.scope
        store = memory.store.once(self._key, *self._request, owner=owner)
        try:
            # Before anything else is looked at: what was carried out may not be possible again.
            await store.check_not_repeated(reach.scope if scope is None else scope)
            return await act(as_caller(memory.over(store)))
        except RepeatedRequestError as repeated:
            return await again(repeated)

    async def note_count(self, count: int) -> None:
        """
        Keep the key, if there is one, after a request of several changes that were made without.

        A repetition raises `RepeatedRequestError` with this *count*.
        """
        if self._key is not None:
            store = self._reach.service.memory.store.once(self._key, *self._request)
            await store.note_count(self._reach.scope, count)


def _unchanged(memory: Recollect) -> Recollect:
    return memory

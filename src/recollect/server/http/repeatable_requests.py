"""Carry out a request with an `Idempotency-Key` once, and repeat its response."""

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
    A request that changes something, with an idempotency key if it has one.

    *request* identifies it: the operation, the names in its path, and its body. The store keeps a
    digest, so that the same key with another request is a conflict.
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
        Carry the request out, or answer its repetition.

        Args:
            act: Makes at most one change, through the memory that it is given.
            again: Answers a request that was carried out before.
            scope: The scope that is changed and holds the key; the request's own by default.
            is_audited: Whether the change is audited as the caller's.

        Raises:
            ConflictError: The key was used for another request.
            GoneError: Everything that the request wrote was erased since.
        """
        reach = self._reach
        memory = reach.service.memory
        as_caller = reach.acting if is_audited else (lambda given: given)
        if self._key is None:
            return await act(reach.memory if is_audited else memory)
        # The service's own scopes are shared by all callers: tell their keys apart by scope.
        owner = () if scope is None else reach.scope
        store = memory.store.once(self._key, *self._request, owner=owner)
        try:
            # Check first: `act` may fail on a state that the first request has already changed.
            await store.check_not_repeated(reach.scope if scope is None else scope)
            return await act(as_caller(memory.over(store)))
        except RepeatedRequestError as repeated:
            return await again(repeated)

    async def note_count(self, count: int) -> None:
        """
        Record the key, if any, after a request that made several changes without it.

        A repetition then raises `RepeatedRequestError` with this *count*.
        """
        if self._key is not None:
            store = self._reach.service.memory.store.once(self._key, *self._request)
            await store.note_count(self._reach.scope, count)

"""`MemoryTools`: what an agent does with the memory of one user, in the middle of a talk."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import wraps
from typing import Any, Final, ParamSpec

from recollect.app import Recollect
from recollect.errors import UsageError, VersionConflictError
from recollect.formation.answer import read_answer
from recollect.formation.citing import cited_words
from recollect.formation.completing import completed
from recollect.formation.config import FormationSettings
from recollect.formation.ground import grounds_of
from recollect.formation.offer import Offer, offer_of
from recollect.formation.outcomes import Grounded, Outcome
from recollect.formation.reconcile import reconcile
from recollect.formation.tool_names import PATCH
from recollect.formation.types import MemoryType
from recollect.formation.types.builtin import DEFAULT_TYPES
from recollect.formation.types.schema import violations
from recollect.formation.window import Waiting, Window, window_of
from recollect.formation.wording.quotes import find_quote
from recollect.graph.twins import twins
from recollect.home import AnyRecollect, Home
from recollect.ports import ModelAnswer, Tool, ToolCall
from recollect.recall.budget import estimated_tokens
from recollect.recaller import Where
from recollect.records import Json, JsonObject, Memory, Scope
from recollect.stores.plans.erase import EraseMemory
from recollect.stores.validate import check_id, check_scope
from recollect.tools.offering import FORGET, RESULTS_MAX, SAVE, SEARCH, UPDATE, tools_of
from recollect.tools.tokens import position_of, token_for
from recollect.worker.reading import read_offer, read_present

MESSAGES_SEEN: Final = 40
"""A tool may quote so many of the newest messages of its thread."""
TRIES_MAX: Final = 5
DEFAULT_RESULTS: Final = 5
_CALL: Final = "call"

P = ParamSpec("P")


def _told(
    work: Callable[P, Awaitable[JsonObject]],
) -> Callable[P, Coroutine[Any, Any, JsonObject]]:
    """Let what an agent may not ask for be answered with the reason, and end no run of his."""

    @wraps(work)
    async def told(*args: P.args, **kwargs: P.kwargs) -> JsonObject:
        try:
            return await work(*args, **kwargs)
        except UsageError as error:
            return _refused(str(error))

    return told


class MemoryTools:
    """
    Four tools over the memories of one scope, for an agent that talks in one of its threads.

    Every function is there twice: ``save_memory`` waits, ``asave_memory`` is awaited; `schemas`
    are what a model is offered, and `call` carries out what it called. Each returns an object
    for the model: ``status``, what became of it, and why. What an agent does wrong is told there
    and changes nothing; only the memory's own failures raise.

    A memory must rest on quoted words of the thread, and is grounded and reconciled as one that
    is formed in the background: the same is kept once, whoever keeps it, what was rejected stays
    so, and what is in doubt waits for a person. So keep a message before the agent answers it.

    Args:
        types: What may be remembered; *parameters* of a type are part of the tool's schema.
        secret: With what the tokens for forgetting are made; give one where the calls of a
            talk may come to different processes.
    """

    def __init__(
        self,
        memory: AnyRecollect,
        scope: Scope,
        thread: str,
        *,
        types: Sequence[MemoryType] = DEFAULT_TYPES,
        secret: bytes | None = None,
    ) -> None:
        self.home = Home(memory)
        self.scope = check_scope(scope)
        self.thread = check_id(thread, "a thread")
        self.types = {each.name: each for each in types}
        if not self.types:
            msg = "no memory type is given: name at least one that may be remembered"
            raise UsageError(msg)
        self._secret = secrets.token_bytes(32) if secret is None else secret

    @property
    def schemas(self) -> tuple[Tool, ...]:
        """The tools as a model is offered them."""
        return tools_of(tuple(self.types.values()))

    @_told
    async def _save_memory(
        self,
        memory: Recollect,
        type: str,  # noqa: A002 (as the model calls it)
        value: JsonObject,
        quotes: Sequence[str],
    ) -> JsonObject:
        """Keep a memory of *type*, which rests on *quotes* of the thread."""
        if type not in self.types:
            return _refused(f"there is no type {type[:80]!r}; there are {', '.join(self.types)}")
        return await self._done(memory, type, {"value": value}, quotes)

    save_memory, asave_memory = twins(_save_memory)

    @_told
    async def _update_memory(
        self,
        memory: Recollect,
        id: str,  # noqa: A002 (as the model calls it)
        changes: Sequence[JsonObject],
        quotes: Sequence[str],
    ) -> JsonObject:
        """Change the memory with this *id* by JSON Patch, as *quotes* of the thread say."""
        found = await self._found(memory, id)
        if found is None:
            return _refused(_unknown(id))
        return await self._done(memory, PATCH, {"changes": changes}, quotes, found)

    update_memory, aupdate_memory = twins(_update_memory)

    @_told
    async def _search_memory(
        self,
        memory: Recollect,
        query: str,
        type: str | None = None,  # noqa: A002 (as the model calls it)
        limit: int = DEFAULT_RESULTS,
    ) -> JsonObject:
        """Return what is remembered and bears on *query*, best first."""
        if not query.strip():
            return _refused("the query is empty: say what to look for")
        if type is not None and type not in self.types:
            return _refused(f"there is no type {type[:80]!r}; there are {', '.join(self.types)}")
        if limit not in range(1, RESULTS_MAX + 1):
            return _refused(f"limit {limit} is no whole number from 1 to {RESULTS_MAX}")
        types = tuple(self.types) if type is None else (type,)
        where = Where(messages=False, types=types)
        recall = await memory.recall(self.scope, query, limit=int(limit), where=where)
        found: list[Json] = [
            {"id": each.source, "value": each.content.value, "since": each.time.isoformat()}
            for each in recall.entries
            if isinstance(each.content, Memory)
        ]
        return {"status": "found", "memories": found}

    search_memory, asearch_memory = twins(_search_memory)

    @_told
    async def _forget_memory(
        self,
        memory: Recollect,
        id: str,  # noqa: A002 (as the model calls it)
        token: str = "",
    ) -> JsonObject:
        """
        Erase the memory with this *id*, once the user has agreed.

        Without *token*, one is returned. It serves for the memory as it is now, and only after
        the user has said something more in the thread.
        """
        found = await self._found(memory, id)
        if found is None:
            return _refused(_unknown(id))
        newest = await self._newest_of_user(memory)
        asked_at = position_of(self._secret, self.thread, found, token) if token else None
        if asked_at is None:
            status = "refused" if token else "confirm"
            said = "the token is not for this memory as it is now" if token else "ask the user"
            fresh = token_for(self._secret, self.thread, found, newest)
            about = f"{said}: forget {dict(found.value)!r}?"
            return {"status": status, "reason": about, "token": fresh}
        if newest <= asked_at:
            return _refused("the user has said nothing since: ask, and wait for the answer")
        await memory.erase(self.scope, EraseMemory(type=found.type, key=found.key))
        return {"status": "forgotten", "id": id, "reason": ""}

    forget_memory, aforget_memory = twins(_forget_memory)

    async def _call(self, memory: Recollect, name: str, arguments: JsonObject) -> JsonObject:
        """Carry out one call of a model, whose *arguments* are not checked yet."""
        tool = next((each for each in self.schemas if each.name == name), None)
        if tool is None:
            return _refused(f"there is no tool {name[:80]!r}")
        checker = MemoryType(
            name=name, description="", update_mode="insert", parameters=tool.parameters
        )
        if wrong := violations(checker, arguments):
            return _refused("; ".join(wrong))
        given = dict(arguments)
        if name == SAVE:
            kept = given.pop("memory")
            given |= kept if isinstance(kept, Mapping) else {}
        work: dict[str, Any] = {
            SAVE: self._save_memory,
            SEARCH: self._search_memory,
            UPDATE: self._update_memory,
            FORGET: self._forget_memory,
        }
        result: JsonObject = await work[name](memory, **given)
        return result

    call, acall = twins(_call)

    async def _done(
        self,
        memory: Recollect,
        tool: str,
        arguments: Mapping[str, Json],
        quotes: Sequence[str],
        target: Memory | None = None,
    ) -> JsonObject:
        """Carry out an operation as a formation does; anew if somebody wrote meanwhile."""
        window = await self._window(memory)
        cited, unsaid = _citations(quotes, window)
        if unsaid:
            return _refused(unsaid)
        for attempt in range(1, TRIES_MAX + 1):
            offer = await self._offer(memory, window, target)
            call = ToolCall(name=tool, arguments=_arguments(arguments, cited, target), id=_CALL)
            outcomes, wrong = await self._outcomes(memory, window, offer, call)
            if wrong:
                return _refused(wrong)
            writes = [each.write for each in outcomes if each.write is not None]
            try:
                if writes:
                    await memory.apply(self.scope, writes)
            except VersionConflictError:
                if attempt == TRIES_MAX:
                    raise
                if target is not None:
                    id_ = _id_of(target)
                    target = await self._found(memory, id_)
                    if target is None:
                        return _refused(_unknown(id_))
                continue
            break
        return _receipt(outcomes)

    async def _outcomes(
        self, memory: Recollect, window: Window, offer: Offer, call: ToolCall
    ) -> tuple[list[Outcome], str]:
        """Return what becomes of a call, or what is wrong with it."""
        reading = read_answer(ModelAnswer(calls=(call,)), offer)
        faults = [each.reason for each in reading.faults]
        grounded: list[Grounded] = []
        for read in reading.operations:
            operation = completed(read, window, offer)
            grounds = grounds_of(operation, window, offer)
            faults += [each.reason for each in grounds.faults]
            grounded.append(Grounded(operation=operation, grounds=grounds))
        if faults:
            return [], "; ".join(faults)
        present = await read_present(
            memory.store, window, offer, [each.operation for each in grounded]
        )
        return reconcile(grounded, present), ""

    async def _window(self, memory: Recollect) -> Window:
        """Return the newest messages of the thread, all of which may be quoted."""
        newest = await memory.last_messages(self.scope, self.thread, limit=MESSAGES_SEEN)
        waiting = Waiting(
            thread=self.thread,
            formed=newest[0].position - 1 if newest else 0,
            last=newest[-1].position if newest else 0,
            before=(),
            new=newest,
        )
        every = sum(estimated_tokens(each.text) for each in newest) * 4 + 1_000
        return window_of(
            self.scope,
            [waiting],
            messages_max=MESSAGES_SEEN,
            tokens_max=every,
            count=estimated_tokens,
        )

    async def _offer(self, memory: Recollect, window: Window, target: Memory | None) -> Offer:
        types = tuple(self.types.values())
        if target is not None:
            return offer_of(types, [target], "")

        async def search(
            scope: Scope, query: str, names: Sequence[str], limit: int
        ) -> list[Memory]:
            where = Where(messages=False, types=names)
            found = await memory.recall(scope, query, limit=limit, where=where)
            return [each.content for each in found.entries if isinstance(each.content, Memory)]

        settings = FormationSettings(types=types)
        offer = await read_offer(memory.store, search, window, settings)
        # A document that exists may be saved to as well: what is said of it is reconciled.
        return offer_of(types, [e for e in offer.known.values() if e.key != e.type], "")

    async def _found(self, memory: Recollect, id_: str) -> Memory | None:
        type_, _, key = id_.partition("/")
        if type_ not in self.types or not key:
            return None
        found = await memory.get(self.scope, type_, key)
        return found if found is not None and found.state == "active" else None

    async def _newest_of_user(self, memory: Recollect) -> int:
        newest = await memory.last_messages(self.scope, self.thread, limit=MESSAGES_SEEN)
        return max((each.position for each in newest if each.role == "user"), default=0)


def _citations(quotes: Sequence[str], window: Window) -> tuple[list[str], str]:
    """Return the quotes as citations of messages, or which of them nobody said."""
    cited: list[str] = []
    for quote in quotes:
        saying = [line for line in window.lines if find_quote(quote, line.text)]
        if not saying:
            return [], f"nobody said {quote[:200]!r} in this talk: quote its exact words"
        best = max(saying, key=lambda line: (line.message.role == "user", line.number))
        cited.append(cited_words(best.number, quote))
    return cited, "" if cited else "quote the words of this talk that say so"


def _arguments(
    arguments: Mapping[str, Json], cited: Sequence[str], target: Memory | None
) -> JsonObject:
    if target is None:
        return {**arguments, "because": list(cited)}
    changes = arguments["changes"]
    rows = changes if isinstance(changes, Sequence) and not isinstance(changes, str) else []
    return {
        "id": "m1",
        "changes": [
            {**each, "because": list(cited)} if isinstance(each, Mapping) else each for each in rows
        ],
    }


def _receipt(outcomes: Sequence[Outcome]) -> JsonObject:
    """Return what became of a call: of its own memory, and what it ended."""
    if not outcomes:
        return {"status": "unchanged", "id": "", "reason": "it is so already"}
    own = outcomes[-1]
    ended: list[Json] = [f"{e.type}/{e.key}" for e in outcomes[:-1] if e.action == "ended"]
    receipt: dict[str, Json] = {
        "status": own.action,
        "id": f"{own.type}/{own.key}",
        "reason": own.reason,
    }
    return {**receipt, "ended": ended} if ended else receipt


def _refused(reason: str) -> JsonObject:
    return {"status": "refused", "id": "", "reason": reason}


def _unknown(id_: str) -> str:
    return f"there is no memory {id_[:200]!r}: take an id from search_memory"


def _id_of(memory: Memory) -> str:
    return f"{memory.type}/{memory.key}"

"""`MemoryTools`: the functions by which an agent saves, finds, changes and erases memories."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from typing import Final, ParamSpec

from recollect.agents.tools.call_attempt import MESSAGES_SEEN, CallAttempt
from recollect.agents.tools.tool_answers import id_of, moment_in, refused, results_within, unknown
from recollect.agents.tools.tool_definitions import (
    ERASE,
    RESULTS_MAX,
    SAVE,
    SEARCH,
    UPDATE,
    shape_of,
    tools_of,
)
from recollect.agents.tools.tool_findings import CallSource, source_of
from recollect.agents.tools.tool_quotes import Hearing, quoted_messages, quotes_wrong
from recollect.errors import QuotaError, StaleReadError, UsageError, VersionConflictError
from recollect.formation.tool_names import PATCH
from recollect.formation.types import MemoryType
from recollect.formation.types.builtin import DEFAULT_TYPES
from recollect.formation.types.schema import violations
from recollect.memory.erasure_guard import guarded
from recollect.memory.facade import Recollect
from recollect.ports import Tool
from recollect.recall.query import Where
from recollect.records import UNRECALLED_TYPES, Json, JsonObject, Memory, ScopeLike
from recollect.stores.plans.erase_targets import EraseMemory, EraseQuotedMemory
from recollect.stores.validation import check_id, check_scope, check_text
from recollect.sync.bridge import Awaited
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import AnyRecollect, Home

_MAC_BYTES = 16
FOUND_TOKENS_MAX: Final = 8_000
"""Tokens of all values in a search result, at most; the best result is always shown."""
TRIES_MAX: Final = 5
"""Attempts of a call when concurrent writers come first."""
DEFAULT_RESULTS: Final = 5

P = ParamSpec("P")


def _answer_refusals(
    work: Callable[P, Awaitable[JsonObject]],
) -> Callable[P, Awaited[JsonObject]]:
    """Return a `UsageError` to the agent as an answer, so that it does not end the agent's run."""

    @wraps(work)
    async def answered(*args: P.args, **kwargs: P.kwargs) -> JsonObject:
        try:
            return await work(*args, **kwargs)
        except UsageError as error:
            return refused(str(error))

    return answered


class MemoryTools:
    """
    Four memory tools for an agent in one thread of a scope.

    Every function exists twice: ``save_memory`` blocks, ``asave_memory`` is awaited. `schemas` are
    the tool definitions for a model, and `call` runs a tool call. Each returns an object for the
    model with ``status``, result and reason. Invalid calls are reported there and change nothing;
    only failures of the memory raise.

    A memory must quote messages of the thread, so store a message before the agent answers it. It
    is grounded and reconciled like one formed in the background: duplicates are merged, rejected
    values stay rejected, and doubtful ones are quarantined.

    A finding of the agent itself needs no quote. *found_in* names the lines of a file, as in
    ``{"path": "Makefile", "line": 12, "text": "test:"}``; the file is not opened. *found_by_agent*
    marks a finding that is in no file. A finding has the trust ``agent``, never counts as a user's
    words, and cannot change or end a memory that rests on them: such a change waits for review.

    Args:
        types: The memory types that may be saved; their *parameters* are part of the tool's schema.
        others: More types whose memories may be changed. If given, memories of every recallable
            type, not of *types* alone, can be found and erased.
        secret: The key of erasure tokens; give one if the calls of a conversation may reach
            different processes.
        hearing: Stores quotes as user messages if nothing else stores the conversation in the
            thread, in the transaction of the memory that cites them. A call that is refused, or
            changes nothing, stores no message; an erase takes the quotes of the memory along.
        source: The program's name in its findings, so that `EraseSource` can erase all of them.
    """

    def __init__(
        self,
        memory: AnyRecollect,
        scope: ScopeLike,
        thread: str,
        *,
        types: Sequence[MemoryType] = DEFAULT_TYPES,
        others: Sequence[MemoryType] | None = None,
        secret: bytes | None = None,
        hearing: Hearing | None = None,
        source: str | None = None,
    ) -> None:
        self.home = Home(memory)
        self.scope = check_scope(scope)
        self.thread = check_id(thread, "a thread")
        self.types = {each.name: each for each in types}
        if not self.types:
            raise UsageError("types is empty: give at least one memory type that may be saved")
        self._finds_all = others is not None
        self._known = {each.name: each for each in (*(others or ()), *types)}
        self._secret = secrets.token_bytes(32) if secret is None else secret
        self._hearing = hearing
        self._source = None if source is None else check_id(source, "a source")

    @property
    def schemas(self) -> tuple[Tool, ...]:
        """The tool definitions for a model."""
        return tools_of(tuple(self.types.values()), finds_all=self._finds_all)

    @_answer_refusals
    async def _save_memory(
        self,
        memory: Recollect,
        type: str,  # noqa: A002 (as the model calls it)
        value: JsonObject,
        quotes: Sequence[str] = (),
        *,
        found_in: Mapping[str, Json] | None = None,
        found_by_agent: bool = False,
    ) -> JsonObject:
        """Save a memory of *type*, with *quotes* of the thread or a finding as its evidence."""
        if check_text(type, "a type") not in self.types:
            return refused(f"there is no type {type[:80]!r}; there are {', '.join(self.types)}")
        source = source_of(quotes, found_in, found_by_agent=found_by_agent)
        return await self._run(memory, type, {"value": value}, source)

    save_memory, asave_memory = method_pair(_save_memory)

    @_answer_refusals
    async def _update_memory(
        self,
        memory: Recollect,
        id: str,  # noqa: A002 (as the model calls it)
        changes: Sequence[JsonObject] | None = None,
        quotes: Sequence[str] = (),
        version: int | None = None,
        *,
        value: JsonObject | None = None,
        found_in: Mapping[str, Json] | None = None,
        found_by_agent: bool = False,
    ) -> JsonObject:
        """
        Change the memory with this *id* to the whole new *value*, or by a JSON Patch.

        The evidence is *quotes* of the thread, or a finding. With *version*, as shown by a search,
        the change applies to that version only. Changes of list elements require it, as positions
        may have shifted.
        """
        if (changes is None) == (value is None):
            return refused("give 'value', the whole new value, or 'changes', a JSON Patch: one")
        source = source_of(quotes, found_in, found_by_agent=found_by_agent)
        found = await self._find(memory, id)
        if found is None:
            return refused(unknown(id))
        if found.type not in self._known:
            return refused(f"no type {found.type!r} says what {id!r} may become")
        change: JsonObject = {"changes": changes, "value": value, "version": version}
        return await self._run(memory, PATCH, change, source, found)

    update_memory, aupdate_memory = method_pair(_update_memory)

    @_answer_refusals
    async def _search_memory(
        self,
        memory: Recollect,
        query: str,
        type: str | None = None,  # noqa: A002 (as the model calls it)
        limit: int = DEFAULT_RESULTS,
        *,
        since: str | None = None,
        until: str | None = None,
    ) -> JsonObject:
        """
        Return the memories relevant to *query*, best first, and the names of the known types.

        With *since* or *until* (ISO 8601, UTC if no offset is given), memories that were valid
        then are returned, even if they no longer are.
        """
        if not check_text(query, "the query").strip():
            return refused("the query is empty: say what to look for")
        known = type is None or check_text(type, "a type") in self.types
        if type is not None and not (known or self._finds_all):
            return refused(f"there is no type {type[:80]!r}; there are {', '.join(self.types)}")
        if limit not in range(1, RESULTS_MAX + 1):
            return refused(f"limit {limit} is no whole number from 1 to {RESULTS_MAX}")
        every = None if self._finds_all else tuple(self.types)
        types = every if type is None else (type,)
        first, last = moment_in(since, "since"), moment_in(until, "until")
        where = Where(
            messages=False,
            types=types,
            since=first,
            until=last,
            valid_at="ever" if first or last else "now",
        )
        recall = await memory.recall(self.scope, query, limit=int(limit), where=where)
        found = [each.content for each in recall.entries if isinstance(each.content, Memory)]
        shown = results_within(found, FOUND_TOKENS_MAX)
        more = len(found) - len(shown)
        answer: JsonObject = {"status": "found", "memories": shown, "types": list(self.types)}
        return {**answer, "left_out": more} if more else answer

    search_memory, asearch_memory = method_pair(_search_memory)

    @_answer_refusals
    async def _erase_memory(
        self,
        memory: Recollect,
        id: str,  # noqa: A002 (as the model calls it)
        token: str = "",
    ) -> JsonObject:
        """
        Erase the memory with this *id* after the user's confirmation.

        Without *token*, a token is returned. It is valid for the memory as it is now, and only
        after a further message of the user in the thread.
        """
        found = await self._find(memory, id)
        if found is None:
            return refused(unknown(id))
        check_text(token, "a token")
        newest, of_user = await self._newest_positions(memory)
        asked_at = position_of(self._secret, self.thread, found, token) if token else None
        if asked_at is None:
            status = "refused" if token else "confirm"
            said = "the token is not for this memory as it is now" if token else "ask the user"
            fresh = token_for(self._secret, self.thread, found, newest)
            about = f"{said}: erase {dict(found.value)!r}?"
            return {"status": status, "reason": about, "token": fresh}
        answer = self._hearing.answer.strip() if self._hearing else ""
        has_answered = bool(answer) if self._hearing else of_user > asked_at
        if not has_answered:
            return refused("the user has said nothing since: ask, and wait for the answer")
        if self._hearing:
            agreed = quoted_messages(memory.store, [answer])
            with suppress(QuotaError):  # an erase is done also where no message may be stored
                await self._hearing.keep(memory, self.scope, self.thread, agreed, [])
        try:
            await memory.erase(self.scope, self._target_of(found))
        except VersionConflictError:
            return refused("it was changed meanwhile: ask again")
        return {"status": "erased", "id": id, "reason": ""}

    erase_memory, aerase_memory = method_pair(_erase_memory)

    async def _call(self, memory: Recollect, name: str, arguments: JsonObject) -> JsonObject:
        """Run one tool call of a model, after checking its *arguments*."""
        kinds = [shape_of(each) for each in self.types.values()]
        tools = tools_of(kinds, finds_all=self._finds_all)
        tool = next((each for each in tools if each.name == name), None)
        if tool is None:
            return refused(f"there is no tool {name[:80]!r}")
        checker = MemoryType(
            name=name, description="", update_mode="insert", parameters=tool.parameters
        )
        if wrong := violations(checker, arguments):
            return refused("; ".join(wrong))
        given = dict(arguments)
        if name == SAVE:
            kept = given.pop("memory")
            given |= kept if isinstance(kept, Mapping) else {}
        work: dict[str, Callable[..., Awaitable[JsonObject]]] = {
            SAVE: self._save_memory,
            SEARCH: self._search_memory,
            UPDATE: self._update_memory,
            ERASE: self._erase_memory,
        }
        return await work[name](memory, **given)

    call, acall = method_pair(_call)

    async def _run(
        self,
        memory: Recollect,
        tool: str,
        arguments: Mapping[str, Json],
        source: CallSource,
        target: Memory | None = None,
    ) -> JsonObject:
        """
        Run an operation as a formation does, under the scope's lock.

        If a concurrent write or erase interferes, run it again on the new state.
        """
        if source.finding is None and (wrong := quotes_wrong(source.quotes)):
            return refused(wrong)
        left = TRIES_MAX
        async with memory.turns.of(self.scope):
            while True:
                attempt = CallAttempt(
                    memory=await guarded(memory, self.scope),
                    scope=self.scope,
                    thread=self.thread,
                    types=self.types,
                    known=self._known,
                    hearing=self._hearing,
                    program=self._source,
                )
                try:
                    return await attempt.run(tool, arguments, source, target)
                except (VersionConflictError, StaleReadError):
                    left -= 1
                    if not left:
                        raise
                if target is not None:
                    id_ = id_of(target)
                    target = await self._find(memory, id_)
                    if target is None:
                        return refused(unknown(id_))

    async def _find(self, memory: Recollect, id_: str) -> Memory | None:
        type_, _, key = check_text(id_, "an id").partition("/")
        is_other = self._finds_all and type_ not in UNRECALLED_TYPES
        if not key or not (is_other or type_ in self.types):
            return None
        found = await memory.get(self.scope, type_, key)
        return found if found is not None and found.state == "active" else None

    def _target_of(self, found: Memory) -> EraseMemory:
        """Return the target that erases a memory as it was found, with the quotes kept for it."""
        type_, key, version = found.type, found.key, found.version
        if self._hearing is None:
            return EraseMemory(type=type_, key=key, expected=version)
        return EraseQuotedMemory(type=type_, key=key, expected=version, thread=self.thread)

    async def _newest_positions(self, memory: Recollect) -> tuple[int, int]:
        """Return the positions of the newest message and of the user's newest one; 0 if none."""
        newest = await memory.last_messages(self.scope, self.thread, limit=MESSAGES_SEEN)
        of_user = max((each.position for each in newest if each.role == "user"), default=0)
        return (newest[-1].position if newest else 0), of_user


def token_for(secret: bytes, thread: str, memory: Memory, position: int) -> str:
    """Return the token to erase *memory* as it is; *position* is that of the newest message."""
    # A memory that was erased and stored again has the same key and version: bind the token to
    # its time and text as well.
    kept = [memory.version, memory.created_at.isoformat(), memory.text]
    about = [list(memory.scope), thread, memory.type, memory.key, *kept, position]
    said = json.dumps(about, ensure_ascii=False).encode()
    return f"{position}.{hmac.digest(secret, said, hashlib.sha256)[:_MAC_BYTES].hex()}"


def position_of(secret: bytes, thread: str, memory: Memory, token: str) -> int | None:
    """Return the position in a *token*; ``None`` if it is invalid for *memory* as it is."""
    given = token.partition(".")[0]
    if not (given.isascii() and given.isdecimal() and len(given) < len("9" * 17)):
        return None
    expected = token_for(secret, thread, memory, int(given))
    is_right = hmac.compare_digest(expected.encode(), token.encode("utf-8", "replace"))
    return int(given) if is_right else None

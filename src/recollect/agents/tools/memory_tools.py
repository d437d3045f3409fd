"""`MemoryTools`: what an agent does with the memory of one user, in the middle of a talk."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from typing import Any, Final, ParamSpec

from anyio import to_thread

from recollect.agents.tools.confirmation_tokens import position_of, token_for
from recollect.agents.tools.tool_answers import (
    arguments_of,
    id_of,
    moment_in,
    outdated,
    receipt_of,
    refused,
    shown_of,
    unknown,
)
from recollect.agents.tools.tool_definitions import (
    ERASE,
    RESULTS_MAX,
    SAVE,
    SEARCH,
    UPDATE,
    shape_of,
    tools_of,
)
from recollect.agents.tools.tool_findings import (
    UNCITED,
    CallSource,
    Finding,
    as_patch,
    changed_type,
    grounds_of_finding,
    is_known,
    source_of,
)
from recollect.agents.tools.tool_quotes import (
    Hearing,
    as_kept,
    citations,
    quotes_wrong,
    rests_already,
    said_now,
)
from recollect.errors import StaleReadError, UsageError, VersionConflictError
from recollect.formation.answer import read_answer
from recollect.formation.config import FormationSettings
from recollect.formation.grounding.grounds import decide
from recollect.formation.offer import Offer, offer_of
from recollect.formation.operation_outcomes import Grounded, OperationOutcome
from recollect.formation.reconciliation import reconcile
from recollect.formation.support import HeardWindow
from recollect.formation.tool_names import PATCH
from recollect.formation.types import MemoryType
from recollect.formation.types.builtin import DEFAULT_TYPES
from recollect.formation.types.schema import violations
from recollect.formation.window import Waiting, Window, window_of
from recollect.memory.erasure_guard import guarded
from recollect.memory.facade import Recollect
from recollect.ports import ModelAnswer, Tool, ToolCall
from recollect.recall.query import QUERY_CHARACTERS_MAX, Where
from recollect.records import (
    UNRECALLED_TYPES,
    Evidence,
    Json,
    JsonObject,
    Memory,
    NewMessage,
    PutMemory,
    Scope,
    ScopeLike,
    Write,
)
from recollect.stores.plans.erase_targets import EraseMemory
from recollect.stores.validation import check_id, check_scope, check_text, to_datetime
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import AnyRecollect, Home
from recollect.text.searchable import memory_text
from recollect.text.token_estimate import estimated_tokens
from recollect.worker.formation_input import read_offer, read_present, read_speakers

MESSAGES_SEEN: Final = 40
"""A tool may quote so many of the newest messages of its thread."""
FOUND_TOKENS_MAX: Final = 8_000
"""Most tokens of the values that a search returns together; the best one always fits."""
TRIES_MAX: Final = 5
DEFAULT_RESULTS: Final = 5
SEEN_MAX: Final = 20
"""So many memories that have words of a value count as what the agent may have taken them from."""
_CALL: Final = "call"

P = ParamSpec("P")


def _told(
    work: Callable[P, Awaitable[JsonObject]],
) -> Callable[P, Coroutine[Any, Any, JsonObject]]:
    """Return refusals to the agent as an answer, instead of ending its run with an error."""

    @wraps(work)
    async def told(*args: P.args, **kwargs: P.kwargs) -> JsonObject:
        try:
            return await work(*args, **kwargs)
        except UsageError as error:
            return refused(str(error))

    return told


class MemoryTools:
    """
    Four memory tools for an agent that talks in one thread of a scope.

    Every function exists twice: ``save_memory`` blocks, ``asave_memory`` is awaited. `schemas` are
    the tool definitions for a model, and `call` runs a tool call. Each returns an object for the
    model with ``status``, result and reason. Invalid calls are reported there and change nothing;
    only failures of the memory raise.

    A memory quotes messages of the thread, and is grounded and reconciled like one formed in the
    background: duplicates are merged, rejected values stay rejected, and doubtful ones are
    quarantined. So store a message before the agent answers it.

    What the agent found out itself needs no quote: *found_in* names the lines of a file, as in
    ``{"path": "Makefile", "line": 12, "text": "test:"}``, which nothing here opens;
    *found_by_agent* says that it stands in none. It has the trust ``agent``, is never taken for a
    user's words, and changes or ends nothing that rests on them: such a change waits for a person.

    Args:
        types: What may be remembered; *parameters* of a type are part of the tool's schema.
        others: Where memories of every recallable type are to be found and forgotten, not of
            *types* alone: the further types that are known, whose memories may be changed too.
        secret: With what the tokens for erasing are made; give one where the calls of a
            talk may come to different processes.
        hearing: Where nobody keeps the talk in the thread: keeps what is quoted as what the user
            said, in the transaction of what rests on it. A call that is refused, or changes
            nothing, leaves no word.
        source: Names the program in its findings, so that `EraseSource` takes all of them.
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
            msg = "no memory type is given: name at least one that may be remembered"
            raise UsageError(msg)
        self._finds_all = others is not None
        self._known = {each.name: each for each in (*(others or ()), *types)}
        self._secret = secrets.token_bytes(32) if secret is None else secret
        self._hearing = hearing
        self._source = None if source is None else check_id(source, "a source")

    @property
    def schemas(self) -> tuple[Tool, ...]:
        """The tools as a model is offered them."""
        return tools_of(tuple(self.types.values()), finds_all=self._finds_all)

    @_told
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
        """Keep a memory of *type*, which rests on *quotes* of the thread, or was found."""
        if check_text(type, "a type") not in self.types:
            return refused(f"there is no type {type[:80]!r}; there are {', '.join(self.types)}")
        source = source_of(quotes, found_in, found_by_agent=found_by_agent)
        return await self._done(memory, type, {"value": value}, source)

    save_memory, asave_memory = method_pair(_save_memory)

    @_told
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
        Change the memory with this *id*: to the whole new *value*, or by JSON Patch.

        It rests on *quotes* of the thread, or was found. With *version*, as shown by a search, the
        change applies to that version only. Changes to list elements require it, as positions may
        have shifted.
        """
        if (changes is None) == (value is None):
            return refused("give 'value', the whole new value, or 'changes', a JSON Patch: one")
        source = source_of(quotes, found_in, found_by_agent=found_by_agent)
        found = await self._found(memory, id)
        if found is None:
            return refused(unknown(id))
        if found.type not in self._known:
            return refused(f"no type {found.type!r} says what {id!r} may become")
        change: JsonObject = {"changes": changes, "value": value, "version": version}
        return await self._done(memory, PATCH, change, source, found)

    update_memory, aupdate_memory = method_pair(_update_memory)

    @_told
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
        Return the memories relevant to *query*, best first, and the types that there are.

        With *since* or *until* (ISO 8601, UTC without an offset), those that were true then, also
        if they are no more.
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
        shown = shown_of(found, FOUND_TOKENS_MAX)
        more = len(found) - len(shown)
        told: JsonObject = {"status": "found", "memories": shown, "types": list(self.types)}
        return {**told, "left_out": more} if more else told

    search_memory, asearch_memory = method_pair(_search_memory)

    @_told
    async def _erase_memory(
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
            return refused(unknown(id))
        check_text(token, "a token")
        newest, of_user = await self._newest(memory)
        asked_at = position_of(self._secret, self.thread, found, token) if token else None
        if asked_at is None:
            status = "refused" if token else "confirm"
            said = "the token is not for this memory as it is now" if token else "ask the user"
            fresh = token_for(self._secret, self.thread, found, newest)
            about = f"{said}: erase {dict(found.value)!r}?"
            return {"status": status, "reason": about, "token": fresh}
        answer = self._hearing.answer.strip() if self._hearing else ""
        if not answer if self._hearing else of_user <= asked_at:
            return refused("the user has said nothing since: ask, and wait for the answer")
        if answer:
            await self._keep(memory, self._said(memory, [answer]), [])
        target = EraseMemory(type=found.type, key=found.key, expected=found.version)
        try:
            await memory.erase(self.scope, target)
        except VersionConflictError:
            return refused("it was changed meanwhile: ask again")
        return {"status": "erased", "id": id, "reason": ""}

    erase_memory, aerase_memory = method_pair(_erase_memory)

    async def _call(self, memory: Recollect, name: str, arguments: JsonObject) -> JsonObject:
        """Carry out one call of a model, whose *arguments* are not checked yet."""
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
        work: dict[str, Any] = {
            SAVE: self._save_memory,
            SEARCH: self._search_memory,
            UPDATE: self._update_memory,
            ERASE: self._erase_memory,
        }
        result: JsonObject = await work[name](memory, **given)
        return result

    call, acall = method_pair(_call)

    async def _done(
        self,
        memory: Recollect,
        tool: str,
        arguments: Mapping[str, Json],
        source: CallSource,
        target: Memory | None = None,
    ) -> JsonObject:
        """
        Carry out an operation as a formation does, after those before it in the scope.

        Where others write or erase meanwhile, it is done anew on what is there then.
        """
        if source.finding is None and (wrong := quotes_wrong(source.quotes)):
            return refused(wrong)
        left = TRIES_MAX
        async with memory.turns.of(self.scope):
            while True:
                try:
                    return await self._tried(memory, tool, arguments, source, target)
                except (VersionConflictError, StaleReadError):
                    left -= 1
                    if not left:
                        raise
                if target is not None:
                    id_ = id_of(target)
                    target = await self._found(memory, id_)
                    if target is None:
                        return refused(unknown(id_))

    async def _tried(
        self,
        memory: Recollect,
        tool: str,
        arguments: Mapping[str, Json],
        source: CallSource,
        target: Memory | None,
    ) -> JsonObject:
        """
        Carry out an operation on what is there now.

        Raises:
            VersionConflictError: Somebody else wrote meanwhile, and nothing was written.
            StaleReadError: Somebody erased something meanwhile; the same.
        """
        memory = await guarded(memory, self.scope)
        words, finding = list(dict.fromkeys(source.quotes)), source.finding
        said = self._said(memory, words) if self._hearing else []
        window = await self._window(memory, said)
        cited, wrong = ([UNCITED], "") if finding else citations(words, window)
        if not wrong and target is not None:
            wrong = outdated(target, arguments)
            arguments = as_patch(arguments, target, source)
        if wrong or not arguments:
            return receipt_of(()) if not wrong else refused(wrong)
        seen = await self._seen(memory, arguments)
        offer = await self._offer(memory, window, target, seen if finding else None)
        call = ToolCall(name=tool, arguments=arguments_of(arguments, cited, target), id=_CALL)
        decided = partial(_decided_finding, finding=finding) if finding else _decided
        # Deciding is CPU-bound: run it on a thread so that the loop is not blocked.
        grounded, faults = await to_thread.run_sync(decided, window, offer, call)
        if faults:
            return refused("; ".join(faults))
        present = await read_present(
            memory.store, window, offer, [each.operation for each in grounded]
        )
        id_ = memory.store.new_name()
        evidence = finding.evidence(self.thread, id_, self._source) if finding else None
        present = replace(present, seen=seen, finding=evidence)
        outcomes = await to_thread.run_sync(reconcile, grounded, present)
        outcomes = await self._anew(memory, outcomes, words, evidence)
        if writes := [each.write for each in outcomes if each.write is not None]:
            await self._keep(memory, said, writes)
        return receipt_of(outcomes)

    def _said(self, memory: Recollect, words: Sequence[str]) -> list[NewMessage]:
        store = memory.store
        return said_now(words, [store.new_name() for _ in words], to_datetime(store.now()))

    async def _anew(
        self,
        memory: Recollect,
        outcomes: Sequence[OperationOutcome],
        words: Sequence[str],
        found: Evidence | None,
    ) -> list[OperationOutcome]:
        """Return the outcomes; what only has the same words again, or is found, writes nothing."""
        is_kept_here = self._hearing is not None or found is not None
        write = outcomes[0].write if is_kept_here and len(outcomes) == 1 else None
        if not isinstance(write, PutMemory):
            return list(outcomes)
        standing = await memory.get(self.scope, write.type, write.key)
        if standing is None:
            return list(outcomes)
        if found is None and not rests_already(standing, write, self.thread, words):
            return list(outcomes)
        if found is not None and not is_known(standing, write, found):
            return list(outcomes)
        reason = "it is remembered already, from the same place"
        return [replace(outcomes[0], action="unchanged", reason=reason, write=None)]

    async def _keep(
        self, memory: Recollect, said: Sequence[NewMessage], writes: Sequence[Write]
    ) -> None:
        """Keep what was said and what rests on it, all of it or nothing."""
        if self._hearing and said:
            await self._hearing.keep(memory, self.scope, self.thread, said, writes)
        else:
            await memory.apply(self.scope, writes)

    async def _seen(self, memory: Recollect, arguments: Mapping[str, Json]) -> list[Memory]:
        """Return the memories that have words of a call: a search may have shown them before."""
        said = memory_text({"call": arguments})[:QUERY_CHARACTERS_MAX]
        if not said.strip():
            return []
        where = Where(messages=False, valid_at="ever")
        found = await memory.recall(self.scope, said, limit=SEEN_MAX, where=where)
        return [each.content for each in found.entries if isinstance(each.content, Memory)]

    async def _window(self, memory: Recollect, said: Sequence[NewMessage]) -> Window:
        """Return the newest messages of the thread and what is *said*: all may be quoted."""
        kept = await memory.last_messages(self.scope, self.thread, limit=MESSAGES_SEEN)
        newest = [*kept, *as_kept(said, self.thread, kept[-1].position if kept else 0)]
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
            messages_max=len(newest),
            tokens_max=every,
            count=estimated_tokens,
        )

    async def _offer(
        self,
        memory: Recollect,
        window: Window,
        target: Memory | None,
        seen: Sequence[Memory] | None,
    ) -> Offer:
        """Return the memory to change, or those that may say the same: of a finding, the *seen*."""
        types = tuple(self.types.values())
        if target is not None:
            known = {**self.types, target.type: self._known[target.type]}
            whose = await read_speakers(memory.store, window, [known[target.type]])
            return offer_of(tuple(known.values()), [target], "", whose)

        if seen is not None:
            entries = [e for e in seen if e.type in self.types and not e.is_document]
            return offer_of(types, entries, "")

        async def search(
            scope: Scope, query: str, names: Sequence[str], limit: int
        ) -> list[Memory]:
            where = Where(messages=False, types=names)
            found = await memory.recall(scope, query, limit=limit, where=where)
            return [each.content for each in found.entries if isinstance(each.content, Memory)]

        settings = FormationSettings(types=types)
        offer = await read_offer(memory.store, search, window, settings)
        # Saving to an existing document is allowed as well: it is reconciled.
        entries = [each for each in offer.known.values() if not each.is_document]
        return offer_of(types, entries, "", offer.whose)

    async def _found(self, memory: Recollect, id_: str) -> Memory | None:
        type_, _, key = check_text(id_, "an id").partition("/")
        is_other = self._finds_all and type_ not in UNRECALLED_TYPES
        if not key or not (is_other or type_ in self.types):
            return None
        found = await memory.get(self.scope, type_, key)
        return found if found is not None and found.state == "active" else None

    async def _newest(self, memory: Recollect) -> tuple[int, int]:
        """Return the positions of the newest message, and of the user's newest one."""
        newest = await memory.last_messages(self.scope, self.thread, limit=MESSAGES_SEEN)
        of_user = max((each.position for each in newest if each.role == "user"), default=0)
        return (newest[-1].position if newest else 0), of_user


def _decided(window: Window, offer: Offer, call: ToolCall) -> tuple[list[Grounded], list[str]]:
    """Return the grounded operations of a call, and its faults."""
    reading = read_answer(ModelAnswer(calls=(call,)), offer)
    faults = [each.reason for each in reading.faults]
    heard = HeardWindow(window, offer)
    grounded: list[Grounded] = []
    for read in reading.operations:
        operation, grounds = decide(read, heard)
        faults += [each.reason for each in grounds.faults]
        grounded.append(Grounded(operation=operation, grounds=grounds))
    return grounded, faults


def _decided_finding(
    _window: Window, offer: Offer, call: ToolCall, *, finding: Finding
) -> tuple[list[Grounded], list[str]]:
    """Return the operations of a call that rests on a finding, and the call's faults."""
    reading = read_answer(ModelAnswer(calls=(call,)), offer)
    grounded = [
        Grounded(
            operation=each, grounds=grounds_of_finding(each, changed_type(each, offer), finding)
        )
        for each in reading.operations
    ]
    return grounded, [each.reason for each in reading.faults]

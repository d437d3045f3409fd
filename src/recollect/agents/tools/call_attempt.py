"""One attempt of a tool call: ground it in the thread, reconcile it, and store the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from anyio import to_thread

from recollect.agents.tools.tool_answers import arguments_of, outdated, receipt_of, refused
from recollect.agents.tools.tool_findings import (
    UNCITED,
    CallSource,
    Finding,
    as_patch,
    changed_type,
    grounds_of_finding,
    is_known,
)
from recollect.agents.tools.tool_quotes import (
    Hearing,
    as_stored,
    citations,
    quoted_messages,
    rests_already,
)
from recollect.formation.answer import read_answer
from recollect.formation.config import FormationSettings
from recollect.formation.grounding.grounds import decide
from recollect.formation.offer import Offer, offer_of
from recollect.formation.operation_outcomes import Grounded, OperationOutcome
from recollect.formation.reconciliation import reconcile
from recollect.formation.support import HeardWindow
from recollect.formation.types import MemoryType
from recollect.formation.window import Waiting, Window, window_of
from recollect.memory.facade import Recollect
from recollect.ports import ModelAnswer, ToolCall
from recollect.recall.query import QUERY_CHARACTERS_MAX, Where
from recollect.records import (
    Evidence,
    Json,
    JsonObject,
    Memory,
    NewMessage,
    PutMemory,
    Scope,
    Write,
)
from recollect.text.searchable import memory_text
from recollect.text.token_estimate import estimated_tokens
from recollect.worker.formation_input import read_offer, read_present, read_speakers

MESSAGES_SEEN: Final = 40
"""The newest messages of the thread that a tool call may quote."""
SEEN_MAX: Final = 20
"""Memories sharing words with a call that may be its source, as an earlier search showed them."""
_CALL: Final = "call"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallAttempt:
    """
    One attempt of a call that saves or changes a memory, on the current state of the scope.

    *memory* refuses its writes if anything is erased after the attempt begins. *types* may be
    saved, *known* ones changed. *program* is the source of findings.
    """

    memory: Recollect
    scope: Scope
    thread: str
    types: Mapping[str, MemoryType]
    known: Mapping[str, MemoryType]
    hearing: Hearing | None
    program: str | None

    async def run(
        self,
        tool: str,
        arguments: Mapping[str, Json],
        source: CallSource,
        target: Memory | None,
    ) -> JsonObject:
        """
        Run an operation on the current state.

        Raises:
            VersionConflictError: Another writer came first; nothing was written.
            StaleReadError: Something was erased meanwhile; nothing was written.
        """
        memory = self.memory
        words, finding = list(dict.fromkeys(source.quotes)), source.finding
        said = quoted_messages(memory.store, words) if self.hearing else []
        window = await self._window(said)
        cited, wrong = ([UNCITED], "") if finding else citations(words, window)
        if not wrong and target is not None:
            wrong = outdated(target, arguments)
            arguments = as_patch(arguments, target, source)
        if wrong:
            return refused(wrong)
        if not arguments:
            return receipt_of(())
        seen = await self._related(arguments)
        offer = await self._offer(window, target, seen if finding else None)
        call = ToolCall(name=tool, arguments=arguments_of(arguments, cited, target), id=_CALL)
        decided = partial(_ground_finding, finding=finding) if finding else _ground_call
        # Grounding is CPU-bound: run it in a thread, off the event loop.
        grounded, faults = await to_thread.run_sync(decided, window, offer, call)
        if faults:
            return refused("; ".join(faults))
        present = await read_present(
            memory.store, window, offer, [each.operation for each in grounded]
        )
        id_ = memory.store.new_name()
        evidence = finding.evidence(self.thread, id_, self.program) if finding else None
        present = replace(present, seen=seen, finding=evidence)
        outcomes = await to_thread.run_sync(reconcile, grounded, present)
        outcomes = await self._drop_repeats(outcomes, words, evidence)
        if writes := [each.write for each in outcomes if each.write is not None]:
            await self._keep(said, writes)
        return receipt_of(outcomes)

    async def _drop_repeats(
        self,
        outcomes: Sequence[OperationOutcome],
        words: Sequence[str],
        found: Evidence | None,
    ) -> list[OperationOutcome]:
        """Return *outcomes* without a write that only repeats known evidence."""
        is_kept_here = self.hearing is not None or found is not None
        write = outcomes[0].write if is_kept_here and len(outcomes) == 1 else None
        if not isinstance(write, PutMemory):
            return list(outcomes)
        standing = await self.memory.get(self.scope, write.type, write.key)
        if standing is None:
            return list(outcomes)
        if found is None and not rests_already(standing, write, self.thread, words):
            return list(outcomes)
        if found is not None and not is_known(standing, write, found):
            return list(outcomes)
        reason = "it is remembered already, from the same place"
        return [replace(outcomes[0], action="unchanged", reason=reason, write=None)]

    async def _keep(self, said: Sequence[NewMessage], writes: Sequence[Write]) -> None:
        """Store the quoted messages and the memories that cite them, atomically."""
        if self.hearing and said:
            await self.hearing.keep(self.memory, self.scope, self.thread, said, writes)
        else:
            await self.memory.apply(self.scope, writes)

    async def _related(self, arguments: Mapping[str, Json]) -> list[Memory]:
        """Return memories that share words with a call, which a search may have shown before."""
        said = memory_text({"call": arguments})[:QUERY_CHARACTERS_MAX]
        if not said.strip():
            return []
        where = Where(messages=False, valid_at="ever")
        found = await self.memory.recall(self.scope, said, limit=SEEN_MAX, where=where)
        return [each.content for each in found.entries if isinstance(each.content, Memory)]

    async def _window(self, said: Sequence[NewMessage]) -> Window:
        """Return the newest messages of the thread and the new ones (*said*): all can be quoted."""
        kept = await self.memory.last_messages(self.scope, self.thread, limit=MESSAGES_SEEN)
        newest = [*kept, *as_stored(said, self.thread, kept[-1].position if kept else 0)]
        waiting = Waiting(
            thread=self.thread,
            formed=newest[0].position - 1 if newest else 0,
            last=newest[-1].position if newest else 0,
            before=(),
            new=newest,
        )
        # Generous, so that no message is cut: the window is built for its lines, not for a model.
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
        window: Window,
        target: Memory | None,
        seen: Sequence[Memory] | None,
    ) -> Offer:
        """Return the memory to change, or candidates for a duplicate; for a finding, *seen*."""
        types = tuple(self.types.values())
        if target is not None:
            known = {**self.types, target.type: self.known[target.type]}
            whose = await read_speakers(self.memory.store, window, [known[target.type]])
            return offer_of(tuple(known.values()), [target], "", whose)
        if seen is not None:
            entries = [e for e in seen if e.type in self.types and not e.is_document]
            return offer_of(types, entries, "")

        async def search(
            scope: Scope, query: str, names: Sequence[str], limit: int
        ) -> list[Memory]:
            where = Where(messages=False, types=names)
            found = await self.memory.recall(scope, query, limit=limit, where=where)
            return [each.content for each in found.entries if isinstance(each.content, Memory)]

        settings = FormationSettings(types=types)
        offer = await read_offer(self.memory.store, search, window, settings)
        # Leave documents out, so that a save to an existing one is reconciled instead of refused.
        entries = [each for each in offer.known.values() if not each.is_document]
        return offer_of(types, entries, "", offer.whose)


def _ground_call(window: Window, offer: Offer, call: ToolCall) -> tuple[list[Grounded], list[str]]:
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


def _ground_finding(
    _window: Window, offer: Offer, call: ToolCall, *, finding: Finding
) -> tuple[list[Grounded], list[str]]:
    """Return the grounded operations of a call based on a finding, and its faults."""
    reading = read_answer(ModelAnswer(calls=(call,)), offer)
    grounded = [
        Grounded(
            operation=each, grounds=grounds_of_finding(each, changed_type(each, offer), finding)
        )
        for each in reading.operations
    ]
    return grounded, [each.reason for each in reading.faults]
